"""How alike two nodes are that share a topic: the mean Jaccard similarity of their interests, J.

A draw is a random subscription (of a topic that has another subscriber) and a random other subscriber of its topic.
J' leaves the shared topic itself out of both interests; two nodes that follow nothing else are then counted as 0.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ropewalk.arrays.chance import stream
from ropewalk.arrays.compiled import compiled
from ropewalk.arrays.hashing import mixed_long
from ropewalk.arrays.lists import Longs, others_picked, shared_in_pairs
from ropewalk.tables.frames import chance_column
from ropewalk.universes.distributions import Distribution
from ropewalk.universes.interests import Interests, flat, pairs_of
from ropewalk.universes.rewire import PASSES, TIMES, rewired

DRAWS = 100_000

Batches = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over draws, and its standard error."""

    value: float
    standard_error: float

    def document(self) -> dict[str, float]:
        """For JSON."""
        return {"value": self.value, "standard_error": self.standard_error}


@dataclass(frozen=True, slots=True)
class Overlap:
    """J and J' over so many draws."""

    draws: int
    whole: Mean
    without_topic: Mean


def measure_overlap(interests: Interests, popularity: Distribution, seed: int, draws: int = DRAWS) -> dict[str, Any]:
    """J and J' of a universe, J0 and J0' of the same rewired, as a document; draws is 0 where no topic is shared."""
    eligible = interests.subscription_count - int(popularity.counts[popularity.values == 1].sum())
    if not eligible:
        return {"asked": draws, "draws": 0}
    found = overlap_of(interests, interests.nodes, eligible, seed, draws)
    shuffled = rewired(interests.nodes, interests.subscription_count, seed).persist(StorageLevel.DISK_ONLY)
    try:
        expected = overlap_of(interests, shuffled, eligible, seed, draws)
    finally:
        shuffled.unpersist()
    means = {
        "J": found.whole,
        "J0": expected.whole,
        "J/J0": ratio_of(found.whole, expected.whole),
        "J'": found.without_topic,
        "J0'": expected.without_topic,
        "J'/J0'": ratio_of(found.without_topic, expected.without_topic),
    }
    return {
        "asked": draws,
        "draws": found.draws,
        **{name: mean.document() if mean is not None else None for name, mean in means.items()},
        "rewiring": {"passes": PASSES, "swaps_per_subscription": PASSES * TIMES},
    }


def overlap_of(interests: Interests, nodes: DataFrame, eligible: int, seed: int, draws: int = DRAWS) -> Overlap:
    """J and J' of `nodes`: rows (node, topics) that are `interests.nodes`, or those rewired.

    `eligible` is how many subscriptions have another subscriber: at least one.
    """
    drawn = _drawn(nodes, interests.topics, eligible, seed, draws)
    pairs = _paired(nodes, drawn, seed)
    rows = _shared(nodes, pairs).groupBy("shared", "together").count().collect()  # one row per different outcome
    outcomes = np.array(sorted(tuple(row) for row in rows), np.int64).reshape(-1, 3)
    shared, together, counts = outcomes.T
    return Overlap(
        draws=int(counts.sum()),
        whole=_mean(shared / together, counts),
        without_topic=_mean((shared - 1) / np.maximum(together - 1, 1), counts),
    )


def ratio_of(a: Mean, b: Mean) -> Mean | None:
    """A / b of two independent means, with its standard error; None where b is 0."""
    if b.value == 0:
        return None
    relative = math.hypot(a.standard_error / a.value, b.standard_error / b.value) if a.value else 0.0
    return Mean(a.value / b.value, a.value / b.value * relative)


def _drawn(nodes: DataFrame, topics: DataFrame, eligible: int, seed: int, draws: int) -> DataFrame:
    """Rows (node, topic, turn): those with the lowest chances; a small universe is drawn from in several turns."""
    turns = -(-draws // eligible)
    chance = chance_column(seed, "overlap", F.col("node"), F.col("topic"), F.col("turn"))
    all_turns = F.explode(F.sequence(F.lit(0).cast("long"), F.lit(turns - 1).cast("long"))).alias("turn")
    every = pairs_of(nodes).select("node", "topic", all_turns if turns > 1 else F.lit(0).cast("long").alias("turn"))
    every = every.withColumn("chance", chance)
    share = (draws + 8 * math.sqrt(draws)) / (eligible * turns)  # enough, with all but certainty
    if share < 1:
        every = every.filter(F.col("chance") < F.lit(int(share * 2**63)))
    not_alone = topics.filter("subscribers > 1").select("topic")
    few = every.join(not_alone, "topic", "left_semi")
    return few.orderBy("chance", "node", "topic", "turn").limit(draws).select("node", "topic", "turn")


def _paired(nodes: DataFrame, drawn: DataFrame, seed: int) -> DataFrame:
    """Rows (node, topic, turn, other)."""
    asked = drawn.groupBy("topic").agg(F.collect_list("node").alias("drawn"), F.collect_list("turn").alias("turns"))
    members = (
        pairs_of(nodes)
        .join(F.broadcast(asked.select("topic")), "topic", "left_semi")
        .groupBy("topic")
        .agg(F.sort_array(F.collect_list("node")).alias("members"))
    )
    return members.join(asked, "topic").mapInArrow(_picking(seed), "node long, topic long, turn long, other long")


def _picking(seed: int) -> Batches:
    def picking(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            starts, members = flat(batch.column("members"))
            draw_starts, drawn = flat(batch.column("drawn"))
            _, turns = flat(batch.column("turns"))
            rows = np.repeat(np.arange(batch.num_rows), np.diff(draw_starts))
            topics = batch.column("topic").to_numpy()[rows]
            states = _states(drawn, topics, turns, stream(seed, "overlap other"))
            others = others_picked(starts, members, rows, drawn, states)
            columns = {"node": drawn, "topic": topics, "turn": turns, "other": others}
            yield pa.RecordBatch.from_pydict({name: pa.array(values) for name, values in columns.items()})

    return picking


@compiled
def _states(nodes: Longs, topics: Longs, turns: Longs, state: np.uint64) -> NDArray[np.uint64]:
    found = np.empty(nodes.size, np.uint64)
    for draw in range(nodes.size):
        found[draw] = mixed_long(turns[draw], mixed_long(topics[draw], mixed_long(nodes[draw], state)))
    return found


def _shared(nodes: DataFrame, pairs: DataFrame) -> DataFrame:
    """Rows (shared, together), one per draw: each end brings its topics, and the two meet."""
    key = ("node", "topic", "turn")
    ends = pairs.select(
        *(F.col(name).alias(f"drawn_{name}") for name in key), F.explode(F.array("node", "other")).alias("node")
    )
    brought = nodes.join(F.broadcast(ends), "node")
    met = brought.groupBy(*(f"drawn_{name}" for name in key)).agg(F.collect_list("topics").alias("lists"))
    return met.select("lists").mapInArrow(_sharing, "shared long, together long")


def _sharing(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        shared, together = shared_in_pairs(*flat(batch.column("lists").flatten()))
        yield pa.RecordBatch.from_pydict({"shared": pa.array(shared), "together": pa.array(together)})


def _mean(values: NDArray[np.float64], counts: Longs) -> Mean:
    """Of values that occur `counts` times each, in an order of their own: the same sum wherever they came from."""
    draws = int(counts.sum())
    mean = math.fsum((values * counts).tolist()) / draws
    square = math.fsum((values * values * counts).tolist()) / draws
    return Mean(mean, math.sqrt(max(square - mean * mean, 0.0) / max(draws - 1, 1)))

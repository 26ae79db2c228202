"""Self-contained universes cut out of a trace: many candidates at once, each a bit of a mask.

Papers: StaN section 3.3 (LiveJournal, Wikipedia), Magnet section 4.5 (plain random topics). A candidate starts from random
topics, the seeds. Whoever follows one is in; each of them adds a topic: their own journal (livejournal), or a random one of
theirs (wikipedia). Topics with too few subscribers are pruned, and whoever is then left without a topic goes.
The paper makes 100 candidates and keeps the one with the median of topics per node.

Up to 64 candidates share each pass over the trace: what belongs to which is a 64-bit mask per topic and per node, and
joining masks over the subscriptions answers for all of them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ropewalk.arrays.chance import permuted, pick, stream
from ropewalk.arrays.compiled import compiled
from ropewalk.arrays.hashing import mixed_long
from ropewalk.errors import InputError, UsageError
from ropewalk.universes.interests import flat
from ropewalk.universes.numbering import ranked

Rule = Literal["wikipedia", "livejournal", "random-topics"]
Population = Literal["seeds", "closed"]
PruneCount = Literal["inside", "trace"]
Longs = NDArray[np.int64]

LOT = 64  # candidates that share a mask
ALL = 0  # seeds: every topic
PRUNED_BELOW: dict[Rule, int] = {
    "wikipedia": 30,
    "livejournal": 30,
    "random-topics": 1,
}  # StaN 3.3; Magnet prunes nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """How universes are cut out. The two readings of the papers are settings (docs/papers/stan.md, reading 10)."""

    rule: Rule
    seeds: int  # topics to start from; ALL for every topic
    population: Population = (
        "seeds"  # nodes: who follows a seed; or, to the letter, who follows any topic of the enlarged set
    )
    prune_count: PruneCount = "inside"  # subscribers that count for pruning: those in the universe, or all
    candidates: int = 100  # StaN 3.3
    min_subscribers: int | None = None

    def __post_init__(self) -> None:
        for name, found, least in (
            ("seeds", self.seeds, ALL),
            ("candidates", self.candidates, 1),
            ("min-subscribers", self.least, 1),
        ):
            if found < least:
                raise UsageError(f"{name} is {found}, but must be at least {max(least, 1)}.")

    @property
    def least(self) -> int:
        """Subscribers that a topic needs to stay."""
        return PRUNED_BELOW[self.rule] if self.min_subscribers is None else self.min_subscribers


@dataclass(frozen=True, slots=True)
class Candidate:
    """The size of one universe that could be cut out."""

    number: int
    nodes: int
    topics: int
    subscriptions: int

    @property
    def ratio(self) -> float:
        """Topics per node: what the paper orders candidates by."""
        return self.topics / self.nodes if self.nodes else 0.0


@dataclass(frozen=True, slots=True)
class Lot:
    """The masks of up to 64 candidates: (topic, mask) of topics that stay, (node, mask) of nodes that may."""

    first: int
    topics: DataFrame
    nodes: DataFrame


class Sampler:
    """All candidates of one trace, and any of them as subscriptions. Give it back with `unpersist`."""

    def __init__(self, subscriptions: DataFrame, cut: Cut, seed: int) -> None:
        self._cut = cut
        self._seed = seed
        self._kept: list[DataFrame] = []
        self._pairs = subscriptions
        ids, self.topic_count, ordered = ranked(subscriptions, "topic")
        self._kept.append(ordered)
        self._topics = ids
        if not self.topic_count:
            raise InputError("the trace has no subscriptions, so there is nothing to cut out of it.")
        if cut.seeds > self.topic_count:
            raise UsageError(
                f"seeds is {cut.seeds}, but the trace has {self.topic_count} topics; ask for fewer, or `all`."
            )
        self._popular = self._keep(
            subscriptions.groupBy("topic")
            .agg(F.count("*").alias("subscribers"))
            .filter(F.col("subscribers") >= cut.least)
        )
        self._lists: DataFrame | None = None
        self._lots: list[Lot] = []

    def candidates(self) -> list[Candidate]:
        """The size of every candidate."""
        found: list[Candidate] = []
        for first in range(0, self._cut.candidates, LOT):
            lot = self._lot(first, min(LOT, self._cut.candidates - first))
            self._lots.append(lot)
            found += self._counted(lot)
        return found

    def subscriptions(self, candidate: int) -> DataFrame:
        """The pairs of one candidate."""
        lot = self._lots[candidate // LOT]
        is_in = F.shiftright("mask", candidate % LOT).bitwiseAND(F.lit(1)) == 1
        return self._inside(lot).filter(is_in).select("node", "topic")

    def unpersist(self) -> None:
        """Give back what is kept on disk."""
        for frame in self._kept:
            frame.unpersist()
        self._kept.clear()

    def _keep(self, frame: DataFrame) -> DataFrame:
        kept = frame.persist(StorageLevel.DISK_ONLY)
        self._kept.append(kept)
        return kept

    def _lot(self, first: int, count: int) -> Lot:
        seeds = self._keep(self._seeds(first, count))
        users = self._keep(self._followers(seeds))
        topics = seeds
        if self._cut.rule != "random-topics":
            added = self._own_journals(users) if self._cut.rule == "livejournal" else self._random_topics(users, first)
            topics = self._keep(_joined(seeds.unionByName(added), "topic"))
        nodes = self._keep(self._followers(topics)) if self._cut.population == "closed" else users
        return Lot(first, self._keep(self._pruned(topics, nodes)), nodes)

    def _seeds(self, first: int, count: int) -> DataFrame:
        """(topic, mask): for each candidate exactly as many topics as asked for, by a shuffle of all of them."""
        wanted, total = self._cut.seeds or self.topic_count, self.topic_count
        state = stream(self._seed, "seed topic")

        def draw(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                masks = _seed_masks(batch.column("rank").to_numpy(), total, wanted, first, count, state)
                yield pa.RecordBatch.from_arrays([batch.column("topic"), pa.array(masks)], names=["topic", "mask"])

        return self._topics.mapInArrow(draw, "topic long, mask long").filter("mask != 0")

    def _followers(self, topics: DataFrame) -> DataFrame:
        """(node, mask): the candidates in which a node follows one of the topics."""
        return _joined(self._pairs.join(topics, "topic").select("node", "mask"), "node")

    def _own_journals(self, users: DataFrame) -> DataFrame:
        """A user's own journal is the topic of the same name, so of the same id; who has none adds nothing."""
        return users.select(F.col("node").alias("topic"), "mask").join(self._topics, "topic", "leftsemi")

    def _random_topics(self, users: DataFrame, first: int) -> DataFrame:
        """One random topic of each user's own, drawn anew for each candidate."""
        if self._lists is None:
            listed = self._pairs.groupBy("node").agg(F.sort_array(F.collect_list("topic")).alias("topics"))
            self._lists = self._keep(listed)
        state = stream(self._seed, "random topic")

        def draw(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                topics, masks = _drawn(
                    batch.column("node").to_numpy(),
                    *flat(batch.column("topics")),
                    batch.column("mask").to_numpy(),
                    first,
                    state,
                )
                yield pa.RecordBatch.from_arrays([pa.array(topics), pa.array(masks)], names=["topic", "mask"])

        return (
            self._lists.join(users, "node").select("node", "topics", "mask").mapInArrow(draw, "topic long, mask long")
        )

    def _pruned(self, topics: DataFrame, nodes: DataFrame) -> DataFrame:
        """Topics with enough subscribers. In a closed population all subscribers of a topic are inside."""
        popular = topics.join(self._popular.select("topic"), "topic", "leftsemi")  # fewer in the trace, fewer inside
        least = self._cut.least
        if self._cut.prune_count == "trace" or self._cut.population == "closed" or least <= 1:
            return popular
        inside = self._inside(Lot(0, popular, nodes))

        def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                masks = _often_enough(*flat(batch.column("masks")), least)
                yield pa.RecordBatch.from_arrays([batch.column("topic"), pa.array(masks)], names=["topic", "mask"])

        listed = inside.groupBy("topic").agg(F.collect_list("mask").alias("masks"))
        return listed.mapInArrow(count, "topic long, mask long").filter("mask != 0")

    def _inside(self, lot: Lot) -> DataFrame:
        """(node, topic, mask): the candidates in which both are."""
        both = F.col("topic_mask").bitwiseAND(F.col("node_mask"))
        return (
            self._pairs.join(lot.topics.withColumnRenamed("mask", "topic_mask"), "topic")
            .join(lot.nodes.withColumnRenamed("mask", "node_mask"), "node")
            .select("node", "topic", both.alias("mask"))
            .filter("mask != 0")
        )

    def _counted(self, lot: Lot) -> list[Candidate]:
        inside = self._keep(self._inside(lot))
        count = min(LOT, self._cut.candidates - lot.first)
        topics = bits_of(_joined(inside.select("topic", "mask"), "topic"))
        nodes = bits_of(_joined(inside.select("node", "mask"), "node"))
        pairs = bits_of(inside)
        inside.unpersist()
        return [
            Candidate(lot.first + bit, nodes.get(bit, 0), topics.get(bit, 0), pairs.get(bit, 0)) for bit in range(count)
        ]


def median_of(candidates: list[Candidate]) -> Candidate:
    """The candidate with the median of topics per node; of two in the middle, the lower."""
    ordered = sorted(candidates, key=lambda each: (each.ratio, each.number))
    return ordered[(len(ordered) - 1) // 2]


def bits_of(frame: DataFrame) -> dict[int, int]:
    """How often each bit is set in a column `mask`."""
    counted = frame.select("mask").mapInArrow(_counter(), "bit int, count long")
    return dict(counted.groupBy("bit").agg(F.sum("count")).collect())  # 64 rows


def _counter() -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        totals = np.zeros(LOT, np.int64)
        for batch in batches:
            _count_bits(batch.column("mask").to_numpy(), totals)
        yield pa.RecordBatch.from_arrays(
            [pa.array(np.arange(LOT, dtype=np.int32)), pa.array(totals)], names=["bit", "count"]
        )

    return count


def _joined(frame: DataFrame, key: str) -> DataFrame:
    """One row per key, with the masks of all its rows together."""
    return frame.groupBy(key).agg(F.bit_or("mask").alias("mask")).filter("mask != 0")


@compiled
def _seed_masks(ranks: Longs, total: int, wanted: int, first: int, count: int, state: np.uint64) -> Longs:
    masks = np.zeros(ranks.size, np.int64)
    for bit in range(count):
        own = mixed_long(np.int64(first + bit), state)
        for row in range(ranks.size):
            if permuted(np.int64(ranks[row]), total, own) < wanted:
                masks[row] |= np.int64(1) << np.int64(bit)
    return masks


@compiled
def _drawn(
    nodes: Longs, starts: Longs, topics: Longs, masks: Longs, first: int, state: np.uint64
) -> tuple[Longs, Longs]:
    """The topics drawn by some nodes, with the candidates in which they are."""
    found = np.zeros(topics.size, np.int64)
    for row in range(nodes.size):
        start, size = starts[row], starts[row + 1] - starts[row]
        own = mixed_long(nodes[row], state)
        for bit in range(LOT):
            if (masks[row] >> np.int64(bit)) & np.int64(1):
                place = pick(mixed_long(np.int64(first + bit), own), np.int64(size))
                found[start + place] |= np.int64(1) << np.int64(bit)
    is_drawn = found != 0
    return topics[is_drawn], found[is_drawn]


@compiled
def _often_enough(starts: Longs, masks: Longs, least: int) -> Longs:
    """For each list of masks, the bits that are set in at least so many of them."""
    found = np.zeros(starts.size - 1, np.int64)
    counts = np.zeros(LOT, np.int64)
    for row in range(starts.size - 1):
        counts[:] = 0
        _count_bits(masks[starts[row] : starts[row + 1]], counts)
        for bit in range(LOT):
            if counts[bit] >= least:
                found[row] |= np.int64(1) << np.int64(bit)
    return found


@compiled
def _count_bits(masks: Longs, totals: Longs) -> None:
    for mask in masks:
        for bit in range(LOT):
            totals[bit] += (mask >> np.int64(bit)) & np.int64(1)

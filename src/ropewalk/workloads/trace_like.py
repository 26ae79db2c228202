"""Universes like those that StaN was evaluated on: as large, as skewed and as alike as subscriptions in real traces.

Paper: StaN sections 3.1 and 3.2, Table 1: universes cut from LiveJournal and Wikipedia, which nobody has any more. It prints how many
nodes and topics they had (the sets L0 to L8 and W0 to W8), that both laws are power laws, and that topics with fewer than
30 subscribers were left out of all but L0 and W0. Exponents, means and correlations are ours: see `SETS`.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ropewalk.arrays.chance import stream
from ropewalk.errors import UsageError
from ropewalk.parameters import parameter, refuse_unless
from ropewalk.workloads.matching import States, dealt, placed, subscribed
from ropewalk.workloads.power_law import Sizes, power_law_sizes
from ropewalk.workloads.saturation import Handed, handed_out, lost_share

Longs = NDArray[np.int64]

LARGEST = 10_000_000  # of nodes or topics: every task holds some numbers for each
MOST_PAIRS = 300_000_000  # products of two such numbers fit 63 bits, with room for parts of a card
STEEPEST = 6.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceLike:
    """Power laws on both sides, tied together by the mean: their upper ends are as far out as it needs.

    Where a law ends at its bound and the mean is not reached, its lower end rises above the least asked for.
    """

    name: ClassVar[str] = "trace-like"
    topic_key: ClassVar[str] = "topic"
    sentence: ClassVar[str] = (
        "Power laws of popularity and of subscriptions, as correlated as you like: the sizes of StaN's traces."
    )

    nodes: int = parameter("How many nodes.")
    topics: int = parameter("How many topics.")
    mean_subscriptions: float = parameter("Mean subscriptions of a node.")
    popularity_exponent: float = parameter("Of subscribers per topic: the share that has x falls as x^-exponent.")
    interest_exponent: float = parameter("Of subscriptions per node, likewise.")
    min_subscribers: int = parameter("Least subscribers of a topic.", default=30)  # StaN section 3.1
    min_subscriptions: int = parameter("Least subscriptions of a node.", default=1)  # ours: nobody is there for nothing
    max_subscriptions: int = parameter("Most subscriptions of a node; 0: every topic.", default=0)  # ours: no limit
    correlation: float = parameter("0: independent subscriptions; 1: as alike as can be.", default=0.5)  # ours: between
    overlay: str = "fixed"  # StaN section 3.3: every subscriber of a topic picks as many neighbours
    connectivity: float = 0.99  # StaN section 3.3

    def __post_init__(self) -> None:
        refuse_unless(1, LARGEST, nodes=self.nodes, topics=self.topics)
        refuse_unless(1, self.nodes, min_subscribers=self.min_subscribers)
        refuse_unless(0, LARGEST, max_subscriptions=self.max_subscriptions)
        refuse_unless(1, self._most, min_subscriptions=self.min_subscriptions)
        refuse_unless(
            0, STEEPEST, popularity_exponent=self.popularity_exponent, interest_exponent=self.interest_exponent
        )
        refuse_unless(0, 1, correlation=self.correlation)
        refuse_unless(0, LARGEST, mean_subscriptions=self.mean_subscriptions)  # not a number is none of these
        fewest = max(self.nodes * self.min_subscriptions, self.topics * self.min_subscribers)
        most = min(self.nodes * self._most, MOST_PAIRS)
        if not fewest <= self.pairs_asked <= most:
            raise UsageError(
                f"mean-subscriptions is {self.mean_subscriptions:g}, but {self.nodes} nodes that follow at least"
                f" {self.min_subscriptions} of {self.topics} topics, each with at least {self.min_subscribers}"
                f" subscribers, can only have from {fewest / self.nodes:g} to {most / self.nodes:g}."
            )

    @property
    def pairs_asked(self) -> int:
        """How many subscriptions there will be."""
        return round(self.nodes * self.mean_subscriptions)

    @property
    def _most(self) -> int:
        return min(self.max_subscriptions or self.topics, self.topics)

    def subscriptions(self, spark: SparkSession, seed: int) -> DataFrame:
        """One row (node_key, topic_key) per subscription; made in parallel over nodes, alike for any partitioning."""
        slices = int(spark.conf.get("spark.sql.shuffle.partitions") or 1)
        pairs = spark.range(0, self.nodes, numPartitions=slices).mapInArrow(
            _subscriber(self.plan(), seed), "node long, topic long"
        )
        return pairs.select(
            F.concat(F.lit("node-"), "node").alias("node_key"), F.concat(F.lit("topic-"), "topic").alias("topic_key")
        )

    def all_pairs(self, seed: int) -> tuple[Longs, Longs]:
        """All subscriptions as (node, topic) index pairs, made here."""
        return self.plan().pairs(seed)(np.arange(self.nodes))

    def plan(self) -> "Plan":
        """All that has to be known to make any part of it, and no more."""
        pairs, least = self.pairs_asked, self.min_subscribers
        nodes = power_law_sizes(self.nodes, pairs, self.interest_exponent, self.min_subscriptions, self._most)
        topics = power_law_sizes(self.topics, pairs, self.popularity_exponent, least, self.nodes)
        _, places = dealt(nodes.each(), least)
        if places.min() < self.topics:
            raise UsageError(
                f"mean-subscriptions is {self.mean_subscriptions:g}, just too low to find {least} different subscribers"
                f" for each of {self.topics} topics; ask for a little more."
            )
        crowded = (
            float(np.sum(nodes.values**2 * nodes.counts)) / pairs / self.topics
        )  # of topics, by whoever follows one
        loose = self._loose(max(3.0 * lost_share(nodes, topics, least), 1.4 * math.sqrt(crowded)))
        return Plan(nodes, handed_out(nodes, topics, least, loose), least, loose)

    def _loose(self, skipped: float) -> float:
        """The share of cards that strangers get.

        Two nodes are alike where both have theirs from neighbours, so overlap grows with the square of the rest. Where
        topics or nodes are so large that strangers have much in common, it falls at first, as neighbours have apart
        what strangers share; that stretch is skipped. How long it is was measured, and is bounded from above here.
        """
        if self.correlation == 0.0:
            return 1.0
        skipped = min(skipped, 0.9)
        return 1.0 - math.sqrt(skipped + (1.0 - skipped) * self.correlation)


@dataclass(frozen=True, slots=True)
class Plan:
    """The numbers on both sides; small enough to be sent to every task, which works the rest out."""

    nodes: Sizes
    handed: Handed
    strata: int
    loose: float

    def pairs(self, seed: int) -> Callable[[Longs], tuple[Longs, Longs]]:
        """What tells the (node, topic) pairs of nodes by their numbers; topic 0 is the most popular."""
        cards = self.handed.starts()
        sizes = self.nodes.each()
        states = States(*(stream(seed, f"trace-like {name}") for name in States._fields))
        stratum_of, totals = dealt(sizes, self.strata)
        places = placed(sizes, stratum_of, totals, cards.size - 1, states)

        def told(nodes: Longs) -> tuple[Longs, Longs]:
            runs = np.split(nodes, np.flatnonzero(np.diff(nodes) != 1) + 1)
            found = [subscribed(run[0], run[-1] + 1, places, cards, self.loose, states) for run in runs if run.size]
            if not found:
                return np.empty(0, np.int64), np.empty(0, np.int64)
            return np.concatenate([of for of, _ in found]), np.concatenate([topics for _, topics in found])

        return told


def _subscriber(plan: Plan, seed: int) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def subscribe(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        told = plan.pairs(seed)
        for batch in batches:
            nodes, topics = told(batch.column(0).to_numpy())
            yield pa.RecordBatch.from_arrays([pa.array(nodes), pa.array(topics)], names=["node", "topic"])

    return subscribe


# The paper prints nodes and topics. The rest is ours:
# - Exponents: one pair for each trace, as its figures 3 and 4 show one shape for all universes of a trace. Wikipedia's
#   topics are many for its nodes (each node needs 12 to 24 of them before any topic is above 30), so its popularity has
#   to be steep and its nodes follow 3 topics at least. L0 and W0 are not pruned, so their laws begin at 1 subscriber;
#   to have as many subscriptions as L1 and W1 they have to be flatter.
# - Means: as high as it takes for both laws to run far enough to be told from steeper ones. Where a fit with no upper
#   end is made, as is usual, it finds exponents up to 5 % too steep.
# - Correlation: overlap is to be that of real traces against the same ones rewired, 5.5 for friends on LiveJournal and
#   1.1 for edits of Wikipedia; the largest universes come near, small ones are too crowded to get far (L8 1.25, W8 1.35).
def _like_livejournal(nodes: int, topics: int, mean: float) -> TraceLike:
    return TraceLike(
        nodes=nodes, topics=topics, mean_subscriptions=mean, popularity_exponent=2.0, interest_exponent=1.7,
        correlation=0.95,
    )  # fmt: skip


def _like_wikipedia(nodes: int, topics: int, mean: float) -> TraceLike:
    return TraceLike(
        nodes=nodes, topics=topics, mean_subscriptions=mean, popularity_exponent=2.8, interest_exponent=1.7,
        min_subscriptions=3, correlation=0.1,
    )  # fmt: skip


SETS: dict[str, TraceLike] = {
    "L0": replace(_like_livejournal(301_315, 28_904, 8.0), popularity_exponent=1.5, min_subscribers=1),
    "L1": _like_livejournal(267_230, 13_652, 8.5),
    "L2": _like_livejournal(237_612, 13_129, 9.0),
    "L3": _like_livejournal(214_642, 12_608, 9.0),
    "L4": _like_livejournal(182_828, 11_674, 9.5),
    "L5": _like_livejournal(130_577, 9_331, 10.0),
    "L6": _like_livejournal(40_407, 3_215, 10.0),
    "L7": _like_livejournal(23_657, 1_805, 9.0),
    "L8": _like_livejournal(4_689, 253, 6.6),
    "W0": replace(
        _like_wikipedia(2_015_060, 715_710, 22.0), popularity_exponent=1.5, min_subscribers=1, min_subscriptions=1
    ),
    "W1": _like_wikipedia(761_225, 328_145, 27.5),
    "W2": _like_wikipedia(497_854, 245_977, 31.4),
    "W3": _like_wikipedia(277_474, 162_448, 37.0),
    "W4": _like_wikipedia(175_152, 114_646, 41.5),
    "W5": _like_wikipedia(108_620, 77_338, 45.0),
    "W6": _like_wikipedia(33_956, 26_525, 49.0),
    "W7": _like_wikipedia(5_957, 3_858, 40.0),
    "W8": _like_wikipedia(1_381, 576, 24.5),
}

USUAL = TraceLike(
    nodes=10_000, topics=1_000, mean_subscriptions=10.0, popularity_exponent=2.2, interest_exponent=1.7
)  # ours: small enough for a minute at a laptop

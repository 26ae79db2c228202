"""MULTI-MODAL: topics fall into categories, and a node follows topics of the few categories it has chosen.

Paper: Magnet section 4.2. A node takes `categories_per_node` of the `categories` at random and draws topics from them
by popularity rank^-exponent, until the average node follows as many topics as was asked for.

Drawing until the *average* is met is a race: if all nodes draw at the same pace, the first time that a node draws a
topic of probability p is exponential with rate p, independently of its other topics. So no draw is made in vain: each
(node, topic) has its time, and the subscriptions are the earliest of all, cut where their number is right.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ropewalk.arrays.chance import permuted, stream, unit
from ropewalk.arrays.compiled import Long, compiled
from ropewalk.arrays.hashing import mixed_long
from ropewalk.errors import UsageError
from ropewalk.parameters import parameter, refuse_unless
from ropewalk.workloads.thresholds import ALWAYS, BINS, cut_for, key_of, slices_of, tally_key, tally_over

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]

LARGEST = 10_000_000  # of nodes or topics: each task holds the popularity of every topic
STEEPEST = 8.0  # beyond, the least popular of a thousand topics is wanted once in 10^24 draws


@dataclass(frozen=True, slots=True, kw_only=True)
class MultiModal:
    """Topics are numbered category by category, the most popular of a category first."""

    name: ClassVar[str] = "multi-modal"
    topic_key: ClassVar[str] = "topic"
    sentence: ClassVar[str] = "Topics in categories: a node follows popular topics of the few categories it has chosen."

    nodes: int = parameter("How many nodes (Magnet 4.2).", default=10_000)
    topics: int = parameter("How many topics (Magnet 4.2).", default=1000)
    # Magnet 4.2 has no usual b_p and b_n: it goes from 1 of 10 or 1 of 5 to 5 of 50 or 5 of 25. The first is ours.
    categories: int = parameter("How many categories the topics fall into evenly: b_n.", default=10)
    categories_per_node: int = parameter("How many of them a node chooses: b_p.", default=1)
    subscriptions_per_node: float = parameter("Topics that the average node follows (Magnet 4.2).", default=50.0)
    exponent: float = parameter("Popularity in a category is rank^-exponent (Magnet 4.2).", default=1.0)
    overlay: str = "fixed"  # ours, as for StaN: Magnet builds trees, for which fan-out means nothing
    connectivity: float = 0.99  # likewise

    def __post_init__(self) -> None:
        refuse_unless(1, LARGEST, nodes=self.nodes, topics=self.topics)
        refuse_unless(1, self.topics, categories=self.categories)
        refuse_unless(1, self.categories, categories_per_node=self.categories_per_node)
        refuse_unless(0.0, STEEPEST, exponent=self.exponent)
        offered = self.categories_per_node * (self.topics // self.categories)
        if not 1 <= self.subscriptions_per_node <= offered:
            raise UsageError(
                f"subscriptions-per-node is {self.subscriptions_per_node}, but must be from 1 to {offered},"
                f" the topics in {self.categories_per_node} of {self.categories} categories."
            )

    def subscriptions(self, spark: SparkSession, seed: int) -> DataFrame:
        """One row (node_key, topic_key) per subscription: a few passes to find the cut, one to take what is below."""
        cut = self.cut(lambda low, shift: tally_over(spark, self.nodes, self._counter(seed, low, shift)))
        pairs = spark.range(0, self.nodes, numPartitions=slices_of(spark)).mapInArrow(
            self._subscriber(seed, cut), "node long, topic long"
        )
        return pairs.select(
            F.concat(F.lit("node-"), "node").alias("node_key"), F.concat(F.lit("topic-"), "topic").alias("topic_key")
        )

    def all_pairs(self, seed: int) -> tuple[Longs, Longs]:
        """All subscriptions as (node, topic) index pairs, made here."""
        nodes = np.arange(self.nodes)
        return self.pairs(nodes, seed, self.cut(lambda low, shift: self.tally(nodes, seed, low, shift)))

    def cut(self, tally: Callable[[int, int], Longs]) -> int:
        """The key of the time at which the average node follows enough."""
        return cut_for(round(self.nodes * self.subscriptions_per_node), tally)

    def tally(self, nodes: Longs, seed: int, low: int, shift: int) -> Longs:
        """How many subscriptions of some nodes fall into each bin of time."""
        counts = np.zeros(BINS + 1, np.int64)
        _tallied(nodes, *self._categories(), self.categories_per_node, self._states(seed), counts, low, shift)
        return counts

    def pairs(self, nodes: Longs, seed: int, cut: int) -> tuple[Longs, Longs]:
        """The subscriptions of some nodes up to the cut, as (node, topic) index pairs."""
        return _followed(nodes, *self._categories(), self.categories_per_node, self._states(seed), cut)

    def _categories(self) -> tuple[Longs, Floats]:
        """Where each category's topics begin, and the probability of each topic in a draw of a node that chose it."""
        starts = np.arange(self.categories + 1, dtype=np.int64) * self.topics // self.categories
        sizes = np.diff(starts)
        ranks = np.arange(1, self.topics + 1) - np.repeat(starts[:-1], sizes)
        popularity = ranks.astype(np.float64) ** -self.exponent
        sums = np.add.reduceat(popularity, starts[:-1])
        return starts, popularity / np.repeat(sums, sizes) / self.categories_per_node

    @staticmethod
    def _states(seed: int) -> tuple[np.uint64, np.uint64]:
        return stream(seed, "multi-modal category"), stream(seed, "multi-modal time")

    def _counter(self, seed: int, low: int, shift: int) -> Callable[[Iterator[Longs]], Longs]:
        def counted(batches: Iterator[Longs]) -> Longs:
            return sum((self.tally(nodes, seed, low, shift) for nodes in batches), np.zeros(BINS + 1, np.int64))

        return counted

    def _subscriber(self, seed: int, cut: int) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
        def subscribe(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                nodes, topics = self.pairs(batch.column(0).to_numpy(), seed, cut)
                yield pa.RecordBatch.from_arrays([pa.array(nodes), pa.array(topics)], names=["node", "topic"])

        return subscribe


@compiled
def _timed(
    node: Long,
    starts: Longs,
    probabilities: Floats,
    chosen: int,
    states: tuple[np.uint64, np.uint64],
    topics: Longs,
    keys: Longs,
) -> int:
    """Fill in the topics that a node could follow and the keys of their times; the answer is how many.

    The node's first topic gets a time before all others: a node that follows nothing would not be in the universe.
    """
    category_state, time_state = mixed_long(node, states[0]), mixed_long(node, states[1])
    offered, first, earliest = 0, 0, np.inf
    for choice in range(chosen):
        category = permuted(choice, starts.size - 1, category_state)
        for topic in range(starts[category], starts[category + 1]):
            time = -np.log1p(-unit(mixed_long(topic, time_state))) / probabilities[topic]
            topics[offered], keys[offered] = topic, key_of(time)
            if time < earliest:
                first, earliest = offered, time
            offered += 1
    keys[first] = ALWAYS
    return offered


@compiled
def _room(starts: Longs, chosen: int) -> int:
    """The most topics that a node can choose from."""
    most = 0
    for category in range(starts.size - 1):
        most = max(most, starts[category + 1] - starts[category])
    return chosen * most


@compiled
def _tallied(
    nodes: Longs,
    starts: Longs,
    probabilities: Floats,
    chosen: int,
    states: tuple[np.uint64, np.uint64],
    counts: Longs,
    low: int,
    shift: int,
) -> None:
    room = _room(starts, chosen)
    topics, keys = np.empty(room, np.int64), np.empty(room, np.int64)
    for node in nodes:
        offered = _timed(node, starts, probabilities, chosen, states, topics, keys)
        for each in range(offered):
            tally_key(counts, keys[each], low, shift)


@compiled
def _followed(
    nodes: Longs, starts: Longs, probabilities: Floats, chosen: int, states: tuple[np.uint64, np.uint64], cut: int
) -> tuple[Longs, Longs]:
    room = _room(starts, chosen)
    topics, keys = np.empty(room, np.int64), np.empty(room, np.int64)
    found_nodes, found_topics = np.empty(1024, np.int64), np.empty(1024, np.int64)
    found = 0
    for node in nodes:
        offered = _timed(node, starts, probabilities, chosen, states, topics, keys)
        while found + offered > found_nodes.size:
            found_nodes = np.concatenate((found_nodes, np.empty_like(found_nodes)))
            found_topics = np.concatenate((found_topics, np.empty_like(found_topics)))
        for each in range(offered):
            if keys[each] < cut:
                found_nodes[found], found_topics[found] = node, topics[each]
                found += 1
    return found_nodes[:found].copy(), found_topics[:found].copy()

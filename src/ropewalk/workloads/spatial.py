"""SPATIAL: nodes on a unit square, each with a topic of its own; a node follows the topics of those near it.

Paper: Magnet section 4.3. Positions are uniform, and one radius holds for all nodes. On an infinite plane of the same
density, sqrt(t / (pi N)) would put t others within it. On the square there are fewer near the edges, so distances are
counted, and the radius is the one at which the measured mean is t.

A node follows its own topic, too: it lies within any radius of itself, it publishes there, and so nobody is left out
for want of neighbours. It counts as one of the t.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ropewalk.arrays.chance import stream, unit
from ropewalk.arrays.compiled import Long, compiled
from ropewalk.arrays.hashing import mixed_long
from ropewalk.parameters import parameter, refuse_unless
from ropewalk.workloads.thresholds import ALWAYS, BINS, Tally, cut_for, key_of, slices_of, tally_key, tally_over

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]
Cells = tuple[int, Longs, Longs, Floats, Floats]  # side of the grid; where each cell begins; the nodes in it, x, y

LARGEST = 10_000_000  # of nodes: each task holds every position
CLOSE_ENOUGH = 0.001  # of the mean that was asked for; one more topic is two more subscriptions, so it cannot be exact
DIAGONAL = math.sqrt(2.0)
INNER = 0.25  # a first radius up to here doubles to one that suffices even with the edges


@dataclass(frozen=True, slots=True, kw_only=True)
class Spatial:
    """The topic of a node has the name of the node."""

    name: ClassVar[str] = "spatial"
    topic_key: ClassVar[str] = "node"
    sentence: ClassVar[str] = "Nodes on a square, each with its own topic: a node follows the topics of those near it."

    nodes: int = parameter("How many nodes, and so topics (Magnet Figure 6: up to 10000).", default=10_000)
    # Magnet 4.3 takes 8, 16 and 32. The middle one is ours.
    subscriptions_per_node: float = parameter(
        "Topics that the average node follows, its own included: t.", default=16.0
    )
    overlay: str = "fixed"  # ours, as for StaN: Magnet builds trees, for which fan-out means nothing
    connectivity: float = 0.99  # likewise

    def __post_init__(self) -> None:
        refuse_unless(1, LARGEST, nodes=self.nodes)
        refuse_unless(1, self.nodes, subscriptions_per_node=self.subscriptions_per_node)

    def subscriptions(self, spark: SparkSession, seed: int) -> DataFrame:
        """One row (node_key, topic_key) per subscription; no task looks at more than a node's surroundings."""
        cut, reach = self.radius(
            lambda reach: lambda low, shift: tally_over(spark, self.nodes, self._counter(seed, reach, low, shift))
        )
        pairs = spark.range(0, self.nodes, numPartitions=slices_of(spark)).mapInArrow(
            self._subscriber(seed, reach, cut), "node long, topic long"
        )
        return pairs.select(*(F.concat(F.lit("node-"), of).alias(f"{of}_key") for of in ("node", "topic")))

    def all_pairs(self, seed: int) -> tuple[Longs, Longs]:
        """All subscriptions as (node, topic) index pairs, made here."""
        nodes = np.arange(self.nodes)

        def tally_within(reach: float) -> Tally:
            cells = self.cells(seed, reach)
            return lambda low, shift: self.tally(nodes, cells, seed, reach, low, shift)

        cut, reach = self.radius(tally_within)
        return self.pairs(nodes, self.cells(seed, reach), seed, cut)

    def radius(self, tally_within: Callable[[float], Tally]) -> tuple[int, float]:
        """The key of the squared radius at which the average node follows enough, and a bound on that radius.

        `tally_within(reach)` counts the pairs that are no further apart than `reach`.
        """
        wanted = round(self.nodes * self.subscriptions_per_node)
        first = math.sqrt(self.subscriptions_per_node / (math.pi * self.nodes))
        for reach in (2.0 * first, DIAGONAL):
            if reach == DIAGONAL or first <= INNER:
                cut = cut_for(wanted, tally_within(reach), slack=round(wanted * CLOSE_ENOUGH))
                squared = float(np.int64(cut).view(np.float64))
                if squared <= reach * reach:
                    return cut, math.sqrt(squared) * (1.0 + 1e-9)  # rounded up: cells are as wide as this
        return cut, DIAGONAL * (1.0 + 1e-9)

    def cells(self, seed: int, reach: float) -> Cells:
        """All nodes by cells at least `reach` wide (and not so small that most would be empty)."""
        side = max(1, math.floor(min(1.0 / max(reach, 1e-9), math.sqrt(self.nodes))))
        return side, *_gathered(self.nodes, side, stream(seed, "spatial place"))

    def tally(self, nodes: Longs, cells: Cells, seed: int, reach: float, low: int, shift: int) -> Longs:
        """How many topics of some nodes lie in each bin of squared distance."""
        counts = np.zeros(BINS + 1, np.int64)
        _tallied(nodes, *cells, stream(seed, "spatial place"), reach * reach, counts, low, shift)
        return counts

    def pairs(self, nodes: Longs, cells: Cells, seed: int, cut: int) -> tuple[Longs, Longs]:
        """The subscriptions of some nodes, as (node, topic) index pairs."""
        return _followed(nodes, *cells, stream(seed, "spatial place"), cut)

    def _counter(self, seed: int, reach: float, low: int, shift: int) -> Callable[[Iterator[Longs]], Longs]:
        def counted(batches: Iterator[Longs]) -> Longs:
            cells = self.cells(seed, reach)
            tallies = (self.tally(nodes, cells, seed, reach, low, shift) for nodes in batches)
            return sum(tallies, np.zeros(BINS + 1, np.int64))

        return counted

    def _subscriber(
        self, seed: int, reach: float, cut: int
    ) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
        def subscribe(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            cells = self.cells(seed, reach)
            for batch in batches:
                nodes, topics = self.pairs(batch.column(0).to_numpy(), cells, seed, cut)
                yield pa.RecordBatch.from_arrays([pa.array(nodes), pa.array(topics)], names=["node", "topic"])

        return subscribe


@compiled
def place_of(node: Long, state: np.uint64) -> tuple[float, float]:
    """Where a node stands."""
    label = mixed_long(node, state)
    return unit(mixed_long(np.int64(0), label)), unit(mixed_long(np.int64(1), label))


@compiled
def _gathered(nodes: int, side: int, state: np.uint64) -> tuple[Longs, Longs, Floats, Floats]:
    """The nodes sorted by their cell (a counting sort), with the place where each cell begins."""
    starts = np.zeros(side * side + 1, np.int64)
    for node in range(nodes):
        x, y = place_of(node, state)
        starts[np.int64(y * side) * side + np.int64(x * side) + 1] += 1
    starts = np.cumsum(starts)
    free = starts[:-1].copy()
    members, xs, ys = np.empty(nodes, np.int64), np.empty(nodes), np.empty(nodes)
    for node in range(nodes):
        x, y = place_of(node, state)
        cell = np.int64(y * side) * side + np.int64(x * side)
        members[free[cell]], xs[free[cell]], ys[free[cell]] = node, x, y
        free[cell] += 1
    return starts, members, xs, ys


@compiled
def _key_between(node: Long, x: float, y: float, other: Long, other_x: float, other_y: float) -> np.int64:
    if node == other:
        return np.int64(ALWAYS)
    dx, dy = other_x - x, other_y - y
    return key_of(dx * dx + dy * dy)


@compiled
def _around(coordinate: float, side: int) -> tuple[int, int]:
    """The first of the three cells around a coordinate, and the one after the last."""
    cell = int(coordinate * side)
    return max(cell - 1, 0), min(cell + 2, side)


@compiled
def _tallied(
    nodes: Longs,
    side: int,
    starts: Longs,
    members: Longs,
    xs: Floats,
    ys: Floats,
    state: np.uint64,
    furthest: float,
    counts: Longs,
    low: int,
    shift: int,
) -> None:
    limit = key_of(furthest)
    for node in nodes:
        x, y = place_of(node, state)
        left, right = _around(x, side)
        for row in range(*_around(y, side)):
            for at in range(starts[row * side + left], starts[row * side + right]):
                key = _key_between(node, x, y, members[at], xs[at], ys[at])
                if key <= limit:
                    tally_key(counts, key, low, shift)


@compiled
def _followed(
    nodes: Longs, side: int, starts: Longs, members: Longs, xs: Floats, ys: Floats, state: np.uint64, cut: int
) -> tuple[Longs, Longs]:
    found_nodes, found_topics = np.empty(1024, np.int64), np.empty(1024, np.int64)
    found = 0
    for node in nodes:
        x, y = place_of(node, state)
        left, right = _around(x, side)
        for row in range(*_around(y, side)):
            for at in range(starts[row * side + left], starts[row * side + right]):
                if _key_between(node, x, y, members[at], xs[at], ys[at]) < cut:
                    if found == found_nodes.size:
                        found_nodes = np.concatenate((found_nodes, np.empty_like(found_nodes)))
                        found_topics = np.concatenate((found_topics, np.empty_like(found_topics)))
                    found_nodes[found], found_topics[found] = node, members[at]
                    found += 1
    return found_nodes[:found].copy(), found_topics[:found].copy()

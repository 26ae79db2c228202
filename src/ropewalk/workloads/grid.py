"""The papers' synthetic universe: nodes and topics on a plane, nodes subscribe to what lies within their radius.

Papers: StAN section 3, StaN section 3.2. A node has a position and a radius of interest; a topic is placed at several
points. Radii and numbers of points follow power laws, positions are uniform. Nodes that are close share interests.
The papers print no parameters; the sets below were fitted to their tables (docs/papers/stan.md, readings 7 to 9).
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

from ropewalk.arrays.chance import permuted, stream, unit
from ropewalk.arrays.compiled import Long, compiled
from ropewalk.arrays.hashing import mixed_long
from ropewalk.parameters import parameter, refuse_unless

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]

LARGEST = 10_000_000  # of nodes or topics: every node looks at every point


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A unit square: `radius` and `points` are power laws (exponent, smallest, largest) with density x^-exponent."""

    name: ClassVar[str] = "grid"
    sentence: ClassVar[str] = (
        "Nodes and topics on a plane: a node subscribes to what lies within its radius of interest."
    )

    nodes: int = parameter("How many nodes.")
    topics: int = parameter("How many topics.")
    radius: tuple[float, float, float]  # of a node's interest
    points: tuple[float, float, float]  # where one topic lies, rounded down
    torus: bool  # whether the square's edges meet
    overlay: str  # what the paper built on this universe, and
    connectivity: float  # how connected: defaults for whoever simulates it

    def __post_init__(self) -> None:
        refuse_unless(1, LARGEST, nodes=self.nodes, topics=self.topics)

    def subscriptions(self, spark: SparkSession, seed: int) -> DataFrame:
        """One row (node_key, topic_key) per subscription; made in parallel over nodes, alike for any partitioning."""
        slices = int(spark.conf.get("spark.sql.shuffle.partitions") or 1)
        pairs = spark.range(0, self.nodes, numPartitions=slices).mapInArrow(
            self._subscriber(seed), "node long, topic long"
        )
        return pairs.select(
            F.concat(F.lit("node-"), "node").alias("node_key"), F.concat(F.lit("topic-"), "topic").alias("topic_key")
        )

    def pairs(self, nodes: Longs, seed: int) -> tuple[Longs, Longs]:
        """The subscriptions of some nodes, as (node, topic) index pairs."""
        return self._subscribed(nodes, self._points(seed), seed)

    def _points(self, seed: int) -> tuple[Longs, Floats, Floats]:
        counts = _points_per_topic(self.topics, self.points, stream(seed, "grid topic size"))
        starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
        return starts, *_places(starts, stream(seed, "grid place"))

    def _subscribed(self, nodes: Longs, points: tuple[Longs, Floats, Floats], seed: int) -> tuple[Longs, Longs]:
        states = (stream(seed, "grid node"), stream(seed, "grid radius"))
        return _within(nodes, self.nodes, self.radius, *points, self.torus, states)

    def _subscriber(self, seed: int) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
        def subscribe(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            points = self._points(seed)
            for batch in batches:
                nodes, topics = self._subscribed(batch.column(0).to_numpy(), points, seed)
                yield pa.RecordBatch.from_arrays([pa.array(nodes), pa.array(topics)], names=["node", "topic"])

        return subscribe


WORKSHOP = math.exp(-1.0)  # the connectivity of StAN's overlays: mean degree ln n, that is c = 0 and exp(-exp(-0))

SETS: dict[str, Grid] = {
    "G": Grid(
        nodes=1000, topics=100, radius=(1.92, 0.028, 0.88), points=(2.20, 2, 225), torus=True,
        overlay="erdos-renyi", connectivity=WORKSHOP,
    ),
    "F": Grid(
        nodes=1000, topics=100, radius=(1.89, 0.033, 0.94), points=(1.91, 1, 585), torus=True,
        overlay="erdos-renyi", connectivity=WORKSHOP,
    ),
    "E": Grid(
        nodes=1000, topics=100, radius=(2.00, 0.030, 1.414), points=(1.70, 1, 300), torus=False,
        overlay="erdos-renyi", connectivity=WORKSHOP,
    ),
    "fig6": Grid(
        nodes=100, topics=16, radius=(1.00, 0.005, 1.414), points=(2.20, 2, 30), torus=True,
        overlay="fixed", connectivity=0.99,
    ),
}  # fmt: skip


@compiled
def _power_law(quantile: float, law: tuple[float, float, float]) -> float:
    """The inverse of the distribution with density x^-exponent between its bounds."""
    exponent, low, high = law
    if exponent == 1.0:
        return float(low * (high / low) ** quantile)
    power = 1.0 - exponent
    return float((low**power + quantile * (high**power - low**power)) ** (1.0 / power))


@compiled
def _stratified(index: Long, count: Long, state: np.uint64) -> float:
    """One quantile per 1/count slice, the slices shuffled: the smooth tables of the papers suggest such a draw."""
    slice_ = permuted(index, count, mixed_long(np.int64(0), state))
    return float((slice_ + unit(mixed_long(index, mixed_long(np.int64(1), state)))) / count)


@compiled
def _points_per_topic(topics: int, law: tuple[float, float, float], state: np.uint64) -> Longs:
    counts = np.empty(topics, np.int64)
    for topic in range(topics):
        counts[topic] = np.int64(_power_law(_stratified(topic, topics, state), law))
    return counts


@compiled
def _places(starts: Longs, state: np.uint64) -> tuple[Floats, Floats]:
    xs, ys = np.empty(starts[-1]), np.empty(starts[-1])
    for topic in range(starts.size - 1):
        for point in range(starts[topic], starts[topic + 1]):
            label = mixed_long(point - starts[topic], mixed_long(np.int64(topic), state))
            xs[point], ys[point] = unit(mixed_long(np.int64(0), label)), unit(mixed_long(np.int64(1), label))
    return xs, ys


@compiled
def _within(
    nodes: Longs,
    population: int,
    law: tuple[float, float, float],
    starts: Longs,
    xs: Floats,
    ys: Floats,
    torus: bool,
    states: tuple[np.uint64, np.uint64],
) -> tuple[Longs, Longs]:
    """(node, topic) wherever a point of the topic lies within the node's radius; the nearest topic if none does."""
    node_state, radius_state = states
    found_nodes, found_topics = np.empty(1024, np.int64), np.empty(1024, np.int64)
    found = 0
    for node in nodes:
        label = mixed_long(node, node_state)
        x, y = unit(mixed_long(np.int64(0), label)), unit(mixed_long(np.int64(1), label))
        radius = _power_law(_stratified(node, population, radius_state), law)
        before, nearest, nearest_topic = found, np.inf, 0
        for topic in range(starts.size - 1):
            closest = np.inf
            for point in range(starts[topic], starts[topic + 1]):
                dx, dy = abs(xs[point] - x), abs(ys[point] - y)
                if torus:
                    dx, dy = min(dx, 1.0 - dx), min(dy, 1.0 - dy)
                closest = min(closest, dx * dx + dy * dy)
            if closest < nearest:
                nearest, nearest_topic = closest, topic
            if closest <= radius * radius or (topic == starts.size - 2 and found == before):
                if found == found_nodes.size:
                    found_nodes = np.concatenate((found_nodes, np.empty_like(found_nodes)))
                    found_topics = np.concatenate((found_topics, np.empty_like(found_topics)))
                found_nodes[found] = node
                found_topics[found] = topic if closest <= radius * radius else nearest_topic
                found += 1
    return found_nodes[:found].copy(), found_topics[:found].copy()

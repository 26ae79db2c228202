"""HIERARCHICAL-TOPICS: topics are the leaves of a binary tree, and nodes take up topics close to those they follow.

Paper: Magnet section 4.4. First every topic gets a node and every node a home topic, and more subscriptions are added
at random, popular topics first by a power law, until the average node follows Z * initFrac topics. Then, until it
follows Z: take a topic t by its popularity and a node p that follows it, which is to take any subscription alike; draw
a distance l with probability e^(-homophily * l); p follows a topic that is drawn from those at distance l from t.

Each step depends on all before it, so one kernel in one task grows the whole universe. The chance of a step is
labelled by its number.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ropewalk.arrays.chance import drawn_by, permuted, pick, stream, unit
from ropewalk.arrays.compiled import Long, compiled
from ropewalk.arrays.hashing import mixed_long
from ropewalk.errors import RunError, UsageError
from ropewalk.workloads.contract import parameter, refuse_unless

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]

Law = Literal["rank", "density"]
Repeats = Literal["redrawn", "avoided", "counted"]
Leaves = Literal["shuffled", "ranked"]

LARGEST = 1 << 24  # subscriptions in all: one task makes them, in about 60 bytes each
STEEPEST = 8.0
TRIES = 1000  # steps for each wanted subscription, on average, before we give up
ROWS = 1 << 16  # of a batch handed on


@dataclass(frozen=True, slots=True, kw_only=True)
class HierarchicalTopics:
    """Topic t and t' are at distance l if l is the height of the smallest subtree that holds both."""

    name: ClassVar[str] = "hierarchical-topics"
    sentence: ClassVar[str] = (
        "Topics as leaves of a tree: popular topics spread, and nodes take up topics close to those they follow."
    )

    nodes: int = parameter("How many nodes (Magnet 4.4).", default=1 << 14)
    topics: int = parameter(
        "How many topics (Magnet 4.4); if no power of two, the last places of the tree stay empty.", default=1 << 14
    )
    subscriptions_per_node: float = parameter("Topics that the average node follows: Z (Magnet 4.4).", default=16.0)
    initial_share: float = parameter(
        "Share of them that is drawn without regard to the tree: initFrac (Magnet 4.4). One for each topic and each"
        " node is drawn in any case.",
        default=0.1,
    )
    exponent: float = parameter("Of the popularity among those: alpha_0 (Magnet 4.4).", default=2.0)
    homophily: float = parameter(
        "A distance is e^-homophily as likely as the next smaller one (Magnet 4.4).", default=2.0
    )
    # Ours: the text has both meanings (its footnote 3 says density, section 4.2 can only mean rank). By rank the density
    # of the final popularities comes out as Figure 7 prints it; having chosen by that figure, we do not test it by it.
    law: Law = parameter(
        "The exponent is that of popularity by rank, or of the density of popularities.", default="rank"
    )
    # Ours: subscribing again changes nothing, and the text repeats the steps until the average is met.
    repeats: Repeats = parameter(
        "A step to a topic that the node follows already is redrawn, avoided (a distance and a topic are drawn from"
        " those that are left), or counted as if it had brought a subscription.",
        default="redrawn",
    )
    # Ours: the text organises the topics "as the leaves" after they were populated, and says no order.
    leaves: Leaves = parameter("How topics are laid out: shuffled, or ranked by first popularity.", default="shuffled")
    overlay: str = "fixed"  # ours, as for StaN: Magnet builds trees, for which fan-out means nothing
    connectivity: float = 0.99  # likewise

    def __post_init__(self) -> None:
        refuse_unless(1, LARGEST, nodes=self.nodes)
        refuse_unless(2, LARGEST, topics=self.topics)
        refuse_unless(1, self.topics, subscriptions_per_node=self.subscriptions_per_node)
        refuse_unless(0.0, 1.0, initial_share=self.initial_share)
        refuse_unless(0.0, STEEPEST, homophily=self.homophily)
        for name, allowed in (("law", Law), ("repeats", Repeats), ("leaves", Leaves)):
            if getattr(self, name) not in get_args(allowed):
                raise UsageError(
                    f"{name} is {getattr(self, name)!r}, but must be one of: {', '.join(get_args(allowed))}."
                )
        refuse_unless(0.0 if self.law == "rank" else 1.1, STEEPEST, exponent=self.exponent)
        least = max(self.nodes, self.topics)
        if not least <= self.wanted <= LARGEST:
            raise UsageError(
                f"nodes times subscriptions-per-node is {self.wanted}, but must be from {least}, so that every node and"
                f" every topic has one, to {LARGEST}, since one task makes them all."
            )

    @property
    def wanted(self) -> int:
        """How many subscriptions there are in the end."""
        return round(self.nodes * self.subscriptions_per_node)

    @property
    def initial(self) -> int:
        """How many of them are made before the tree counts."""
        return max(self.nodes, self.topics, round(self.wanted * self.initial_share))

    def subscriptions(self, spark: SparkSession, seed: int) -> DataFrame:
        """One row (node_key, topic_key) per subscription, made in one task."""
        pairs = spark.range(0, 1, numPartitions=1).mapInArrow(self._subscriber(seed), "node long, topic long")
        return pairs.select(
            F.concat(F.lit("node-"), "node").alias("node_key"), F.concat(F.lit("topic-"), "topic").alias("topic_key")
        )

    def pairs(self, seed: int) -> tuple[Longs, Longs]:
        """All subscriptions, as (node, topic) index pairs in the order in which they were made."""
        nodes, topics = np.empty(self.wanted, np.int64), np.empty(self.wanted, np.int64)
        taken = np.full(1 << (2 * self.wanted - 1).bit_length(), -1, np.int64)
        made = _populated(
            nodes, topics, taken, self._popularity(), (self.nodes, self.topics, self.initial),
            self.leaves == "shuffled", (stream(seed, "hierarchy leaf"), stream(seed, "hierarchy start")),
        )  # fmt: skip
        if made == self.initial:
            made = _spread(
                nodes, topics, taken, made, (self.nodes, self.topics), self._likely(),
                get_args(Repeats).index(self.repeats), stream(seed, "hierarchy step"),
            )  # fmt: skip
        if made < self.wanted and self.repeats != "counted":
            raise RunError(
                f"After {TRIES} steps for each subscription, only {made} of {self.wanted} were new; lower the"
                " homophily, the exponent or the subscriptions per node, or let repeats be avoided."
            )
        return nodes[:made], topics[:made]

    def _popularity(self) -> Floats:
        """How likely it is that one of the first subscriptions goes to a topic up to this rank."""
        # If popularity is rank^-e, then the share of topics of popularity x falls as x^-(1 + 1/e).
        by_rank = self.exponent if self.law == "rank" else 1.0 / (self.exponent - 1.0)
        sums = np.cumsum(np.arange(1, self.topics + 1, dtype=np.float64) ** -by_rank)
        return np.asarray(sums / sums[-1], np.float64)

    def _likely(self) -> Floats:
        """How likely a distance of 1, 2, ... is, up to a factor. At most the height of the tree."""
        height = (self.topics - 1).bit_length()
        return np.exp(-self.homophily * np.arange(height, dtype=np.float64))

    def _subscriber(self, seed: int) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
        def subscribe(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for _ in batches:  # one batch of one row: the signal to start
                nodes, topics = self.pairs(seed)
                for start in range(0, nodes.size, ROWS):
                    rows = [pa.array(column[start : start + ROWS]) for column in (nodes, topics)]
                    yield pa.RecordBatch.from_arrays(rows, names=["node", "topic"])

        return subscribe


REDRAWN, AVOIDED, COUNTED = range(3)  # as in Repeats


@compiled
def _slot(taken: Longs, node: Long, topic: Long, topics: int) -> tuple[np.int64, bool]:
    """Where a pair is kept in an open hash table, and whether it is there yet."""
    key = np.int64(node) * topics + topic
    mask = np.int64(taken.size - 1)
    slot = np.int64(mixed_long(key, np.uint64(0))) & mask
    while taken[slot] != -1 and taken[slot] != key:
        slot = (slot + 1) & mask
    return slot, taken[slot] == key


@compiled
def _populated(
    nodes: Longs,
    topics: Longs,
    taken: Longs,
    popularity: Floats,
    sizes: tuple[int, int, int],
    shuffled: bool,
    states: tuple[np.uint64, np.uint64],
) -> int:
    """The first subscriptions; the answer is how many there are, fewer than wanted if they would not come about.

    The topic of rank i and node i find each other; where there are more nodes, the rest draw their home by popularity,
    where there are more topics, the rest draw a node.
    """
    node_count, topic_count, wanted = sizes
    leaf_state, state = states
    made = 0
    for attempt in range(TRIES * wanted):
        if made == wanted:
            break
        label = mixed_long(attempt, state)
        rank = np.int64(made) if made < topic_count else drawn_by(popularity, mixed_long(np.int64(0), label))
        node = np.int64(made) if made < node_count else pick(mixed_long(np.int64(1), label), node_count)
        topic = permuted(rank, topic_count, leaf_state) if shuffled else rank
        slot, known = _slot(taken, node, topic, topic_count)
        if not known:
            taken[slot] = node * topic_count + topic
            nodes[made], topics[made] = node, topic
            made += 1
    return made


@compiled
def _spread(
    nodes: Longs,
    topics: Longs,
    taken: Longs,
    made: int,
    sizes: tuple[int, int],
    likely: Floats,
    repeats: int,
    state: np.uint64,
) -> int:
    """The other subscriptions, step by step; the answer is how many there are then in all."""
    node_count, topic_count = sizes
    earlier, latest = np.full(nodes.size, -1, np.int64), np.full(node_count, -1, np.int64)  # chains, one per node
    for each in range(made):
        earlier[each], latest[nodes[each]] = latest[nodes[each]], each
    left = np.ones(likely.size, np.int64)  # by distance - 1: how many topics there are to draw from
    started = made
    for step in range(TRIES * (nodes.size - started)):
        if made == nodes.size or (repeats == COUNTED and started + step == nodes.size):
            break
        label = mixed_long(step, state)
        chosen = pick(mixed_long(np.int64(0), label), made)
        node, topic = nodes[chosen], topics[chosen]
        if repeats == AVOIDED:
            _count_left(left, topic, topics, earlier, latest[node], topic_count)
        below = _distance_below(likely, left, unit(mixed_long(np.int64(1), label)))
        if below < 0:
            continue  # this node follows every topic
        subtree, target_state = (topic >> below) ^ 1, mixed_long(np.int64(2), label)
        if repeats == AVOIDED:
            target = _unfollowed(pick(target_state, left[below]), subtree, below, topics, earlier, latest[node])
        else:
            target = (subtree << below) + pick(target_state, np.int64(1) << below)
        slot, known = _slot(taken, node, target, topic_count)
        if not known and target < topic_count:
            taken[slot] = node * topic_count + target
            nodes[made], topics[made] = node, target
            earlier[made], latest[node] = latest[node], made
            made += 1
    return made


@compiled
def _distance_below(likely: Floats, left: Longs, share: float) -> np.int64:
    """The distance less one, drawn from those where something is left; -1 if nothing is."""
    total = 0.0
    for below in range(likely.size):
        if left[below] > 0:
            total += likely[below]
    rest, drawn = share * total, np.int64(-1)
    for below in range(likely.size):
        if left[below] > 0:
            drawn = np.int64(below)
            rest -= likely[below]
            if rest < 0.0:
                break
    return drawn


@compiled
def _count_left(left: Longs, topic: Long, topics: Longs, earlier: Longs, latest: Long, topic_count: int) -> None:
    """At each distance from a topic, how many topics a node does not follow."""
    for below in range(left.size):
        start = ((topic >> below) ^ 1) << below
        left[below] = max(min(start + (1 << below), topic_count) - start, 0)
    at = latest
    while at >= 0:
        apart, below = topics[at] ^ topic, -1
        while apart > 0:
            apart >>= 1
            below += 1
        if below >= 0:
            left[below] -= 1
        at = earlier[at]


@compiled
def _unfollowed(index: Long, subtree: Long, below: Long, topics: Longs, earlier: Longs, latest: Long) -> np.int64:
    """The topic number `index` among those of a subtree that a node does not follow."""
    count, at = 0, latest
    while at >= 0:
        count += topics[at] >> below == subtree
        at = earlier[at]
    followed = np.empty(count, np.int64)
    at = latest
    while at >= 0:
        if topics[at] >> below == subtree:
            count -= 1
            followed[count] = topics[at]
        at = earlier[at]
    followed.sort()
    found = np.int64((subtree << below) + index)
    for each in followed:
        if each <= found:
            found += 1
    return found

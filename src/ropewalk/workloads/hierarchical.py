"""HIERARCHICAL-TOPICS: topics are the leaves of a binary tree, and nodes take up topics close to those they follow.

Paper: Magnet section 4.4. First every topic gets a node and every node a home topic, and more subscriptions are added
at random, popular topics first by a power law, until the average node follows Z * initFrac topics. Then, until it
follows Z: take a topic t by its popularity and a node p that follows it, which is to take any subscription alike; draw
a distance l with probability e^(-homophily * l); p follows a topic that is drawn from those at distance l from t.

Each step depends on all before it, so one kernel in one task grows the whole universe. The chance of a step is
labelled by its number (`topic_tree`).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ropewalk.arrays.chance import stream
from ropewalk.errors import RunError, UsageError
from ropewalk.parameters import parameter, refuse_unless
from ropewalk.workloads.topic_tree import REPEATS, TRIES, populated, spread

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]

Law = Literal["rank", "density"]
Repeats = Literal["redrawn", "avoided", "counted"]
Leaves = Literal["shuffled", "ranked"]

LARGEST = 1 << 24  # subscriptions in all: one task makes them, in some 50 bytes each
STEEPEST = 8.0
ROWS = 1 << 16  # of a batch handed on


@dataclass(frozen=True, slots=True, kw_only=True)
class HierarchicalTopics:
    """Topic t and t' are at distance l if l is the height of the smallest subtree that holds both."""

    name: ClassVar[str] = "hierarchical-topics"
    topic_key: ClassVar[str] = "topic"
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

    def all_pairs(self, seed: int) -> tuple[Longs, Longs]:
        """All subscriptions, as (node, topic) index pairs in the order in which they were made."""
        nodes, topics = np.empty(self.wanted, np.int64), np.empty(self.wanted, np.int64)
        sizes = (self.nodes, self.topics)
        made = populated(
            nodes, topics, self._popularity(), sizes, self.initial, self.leaves == "shuffled",
            (stream(seed, "hierarchy leaf"), stream(seed, "hierarchy start")),
        )  # fmt: skip
        is_populated = made == self.initial
        if is_populated:
            repeats = REPEATS.index(self.repeats)
            made = spread(nodes, topics, made, sizes, self._likely(), repeats, stream(seed, "hierarchy step"))
        if made < self.wanted and not (is_populated and self.repeats == "counted"):
            raise RunError(
                f"In {TRIES} steps for each subscription, only {made} of {self.wanted} came about; lower the exponent,"
                " the initial share or the subscriptions per node."
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
                nodes, topics = self.all_pairs(seed)
                for start in range(0, nodes.size, ROWS):
                    rows = [pa.array(column[start : start + ROWS]) for column in (nodes, topics)]
                    yield pa.RecordBatch.from_arrays(rows, names=["node", "topic"])

        return subscribe

"""A universe node by node: one row (node, topics) each, topics ascending, as the describing kernels want it."""

from dataclasses import dataclass
from typing import cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ropewalk.errors import InputError

Longs = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Interests:
    """`nodes` has one row (node, topics) per node, `topics` one row (topic, subscribers) per topic; both are kept."""

    nodes: DataFrame
    topics: DataFrame
    node_count: int
    topic_count: int
    subscription_count: int

    def unpersist(self) -> None:
        """Give back what is kept on disk."""
        self.nodes.unpersist()
        self.topics.unpersist()


def gather(subscriptions: DataFrame) -> Interests:
    """Gather each node's topics and count each topic's subscribers; refuse nulls and repeats."""
    nodes = subscriptions.groupBy("node").agg(F.sort_array(F.collect_list("topic")).alias("topics"))
    nodes = nodes.persist(StorageLevel.DISK_ONLY)
    topics = subscriptions.groupBy("topic").agg(F.count("*").alias("subscribers")).persist(StorageLevel.DISK_ONLY)
    try:
        node_count, subscription_count = _counted(nodes)
        topic_count = _refusing_nulls(topics, "topic")
    except BaseException:
        nodes.unpersist()
        topics.unpersist()
        raise
    return Interests(nodes, topics, node_count, topic_count, subscription_count)


def _counted(nodes: DataFrame) -> tuple[int, int]:
    size, distinct = F.size("topics"), F.size(F.array_distinct("topics"))
    row = nodes.agg(F.sum(size), F.sum(size - distinct)).first()
    subscriptions, repeated = (row[0], row[1]) if row is not None else (0, 0)
    if not subscriptions:
        raise InputError("the universe has no subscriptions, so there is nothing to describe.")
    if repeated:
        raise InputError(f"subscriptions has {repeated} rows that are there twice; make the store again.")
    return _refusing_nulls(nodes, "node"), subscriptions


def _refusing_nulls(frame: DataFrame, column: str) -> int:
    row = frame.agg(F.count("*"), F.count(column)).first()
    count, known = (row[0], row[1]) if row is not None else (0, 0)
    if count != known:
        raise InputError(f"subscriptions has a row without a {column}; make the store again.")
    return int(count)


def pairs_of(nodes: DataFrame) -> DataFrame:
    """Rows (node, topic) again."""
    return nodes.select("node", F.explode("topics").alias("topic"))


def flat(column: "pa.Array[pa.Scalar[pa.DataType]] | pa.ChunkedArray[pa.Scalar[pa.DataType]]") -> tuple[Longs, Longs]:
    """An Arrow column of lists as kernels take it: where each begins, and all their values end to end."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(whole, pa.ChunkedArray):  # of no rows at all
        return np.zeros(1, np.int64), np.empty(0, np.int64)
    lists = cast("pa.ListArray[pa.Scalar[pa.DataType]]", whole)
    offsets = lists.offsets.to_numpy().astype(np.int64)
    return offsets - offsets[0], np.asarray(lists.flatten().to_numpy(), np.int64)


def lists_of(starts: Longs, values: Longs) -> "pa.Array[pa.Scalar[pa.DataType]]":
    """The same as an Arrow column."""
    return pa.ListArray.from_arrays(pa.array(starts.astype(np.int32)), pa.array(values))

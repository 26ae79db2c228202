"""A universe as kernels want it: nodes numbered by the rank of their id, one row per topic with its members in order.

The rank is for transport only (4 bytes, and a range of ranks is a bucket of nodes); weights and digests use the id.
"""

from dataclasses import dataclass

from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ropewalk.errors import InputError

_ROW_BITS = 33  # monotonically_increasing_id: the partition above these bits, the row within it below


@dataclass(frozen=True, slots=True)
class Packed:
    """`nodes` has one row (node, rank) per node; `topics` one row (topic, members, ranks) per topic."""

    nodes: DataFrame
    topics: DataFrame
    node_count: int
    topic_count: int
    subscription_count: int
    kept: tuple[DataFrame, ...]

    def unpersist(self) -> None:
        """Give back what packing keeps on disk."""
        for frame in self.kept:
            frame.unpersist()


def pack(subscriptions: DataFrame, partitions: int) -> Packed:
    """Number the nodes and gather each topic's members, ascending, spread over `partitions`."""
    _refuse_nulls(subscriptions)
    nodes, node_count, ordered = ranked(subscriptions, "node")
    members = F.sort_array(F.collect_list(F.struct("node", "rank")))
    topics = (
        subscriptions.join(nodes, "node")
        .repartition(partitions, "topic")
        .groupBy("topic")
        .agg(members.alias("pairs"))
        .select("topic", F.col("pairs.node").alias("members"), F.col("pairs.rank").alias("ranks"))
        .sortWithinPartitions(F.size("members").desc())  # the largest topic first: none is left to run alone at the end
        .persist(StorageLevel.DISK_ONLY)
    )
    kept = (ordered, topics)
    try:
        topic_count, subscription_count = _counted(topics)
    except BaseException:
        for frame in kept:
            frame.unpersist()
        raise
    return Packed(nodes, topics, node_count, topic_count, subscription_count, kept)


def _refuse_nulls(subscriptions: DataFrame) -> None:
    if subscriptions.filter("node is null or topic is null").limit(1).count():
        raise InputError("subscriptions has a row without a node or a topic; make the store again.")


def _counted(topics: DataFrame) -> tuple[int, int]:
    """How many topics and subscriptions there are, once it is clear that no subscription is there twice."""
    size, distinct = F.size("members"), F.size(F.array_distinct("members"))
    (counts,) = topics.agg(F.count("*"), F.sum(size), F.sum(size - distinct)).collect()
    topic_count, subscription_count, repeated = counts
    if not topic_count:
        raise InputError("the universe has no subscriptions, so there is nothing to run on.")
    if repeated:
        raise InputError(f"subscriptions has {repeated} rows that are there twice; make the store again.")
    return topic_count, subscription_count


def ranked(subscriptions: DataFrame, column: str) -> tuple[DataFrame, int, DataFrame]:
    """Rows (column, rank), how many, and what is kept on disk for them: rank counts the smaller ids.

    No single task sees them all.
    """
    # Sorted over partitions, and kept: the counts and the ranks must see the same partitions.
    ordered = (
        subscriptions.select(column)
        .distinct()
        .sort(column)
        .withColumn("row", F.monotonically_increasing_id())
        .persist(StorageLevel.DISK_ONLY)
    )
    partition = F.shiftright("row", _ROW_BITS).alias("partition")
    first, firsts = 0, []
    for number, count in sorted(ordered.groupBy(partition).count().collect()):  # one row per partition
        firsts.append((number, first))
        first += count
    offsets = ordered.sparkSession.createDataFrame(firsts, "partition long, first long")
    within = F.col("row").bitwiseAND(F.lit((1 << _ROW_BITS) - 1))
    rank = (F.col("first") + within).cast("int").alias("rank")
    found = ordered.withColumn("partition", partition).join(F.broadcast(offsets), "partition").select(column, rank)
    return found, first, ordered

"""Numbers for ids, in their order, without any single task seeing them all."""

from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

_ROW_BITS = 33  # monotonically_increasing_id: the partition above these bits, the row within it below


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

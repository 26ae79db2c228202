"""traffic -> measures: how many messages of each kind all nodes sent together, and how many bytes."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ropewalk.measures.named import measures_of, named


def sent(traffic: DataFrame) -> DataFrame:
    """`sent.messages` and `sent.bytes`, with the kind of message as group."""
    summed = traffic.groupBy("run", F.col("kind").alias("group")).agg(
        F.sum("messages").alias("messages"), F.sum("bytes").alias("bytes")
    )
    return measures_of(summed, F.array(*(named(f"sent.{what}", F.col(what)) for what in ("messages", "bytes"))))

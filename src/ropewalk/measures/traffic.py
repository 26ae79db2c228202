"""overlays -> measures: what rounds cost in messages, and in ids where those were counted."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ropewalk.measures.named import measures_of, named

COUNTED = ("messages", "ids")


def traffic(overlays: DataFrame) -> DataFrame:
    """`traffic.messages` and `traffic.ids`: all that were sent since the stage before; no row for what was not counted."""
    counts = overlays.unpivot(["run", "stage"], list(COUNTED), "what", "count").filter("count is not null")
    row = named(F.concat_ws(".", F.lit("traffic"), "what"), F.col("total"))
    summed = counts.groupBy("run", F.col("stage").alias("group"), "what").agg(F.sum("count").alias("total"))
    return measures_of(summed, F.array(row))

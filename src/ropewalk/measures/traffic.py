"""overlays -> measures: what rounds cost in messages, and in ids where those were counted."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ropewalk.tables.frames import conform
from ropewalk.tables.schema import MEASURES

COUNTED = ("messages", "ids")


def traffic(overlays: DataFrame) -> DataFrame:
    """`traffic.messages` and `traffic.ids`: all that were sent since the stage before; no row for what was not counted."""
    counts = overlays.unpivot(["run", "stage"], list(COUNTED), "what", "count").filter("count is not null")
    summed = counts.groupBy("run", F.col("stage").alias("group"), "what").agg(F.sum("count").alias("value"))
    measure = F.concat_ws(".", F.lit("traffic"), "what").alias("measure")
    return conform(MEASURES, summed.select("run", measure, "group", "value", F.lit(None).alias("spread")))

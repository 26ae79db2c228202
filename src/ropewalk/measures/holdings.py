"""views -> measures: how many links, neighbours and connections nodes hold at each stage: mean, largest, percentiles."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ropewalk.measures.exact import deviation_of, mean_of
from ropewalk.measures.named import measures_of, named, named_percentiles, percentiles_of

HELD = ("lvs", "pvs", "connections", "in_links")


def holdings(views: DataFrame) -> DataFrame:
    """`lvs.mean` (spread: its standard deviation over nodes), `lvs.max`, `lvs.p0` to `lvs.p100`, and so for the rest."""
    counts = views.withColumnRenamed("stage", "group").unpivot(["run", "group"], list(HELD), "held", "count")
    summed = counts.groupBy("run", "group", "held").agg(
        mean_of(F.col("count")).alias("mean"),
        deviation_of(F.col("count")).alias("deviation"),
        F.max("count").alias("max"),
        percentiles_of("count").alias("percentiles"),
    )
    mean = named(F.concat("held", F.lit(".mean")), F.col("mean"), F.col("deviation"))
    largest = named(F.concat("held", F.lit(".max")), F.col("max"))
    return measures_of(summed, F.concat(F.array(mean, largest), named_percentiles(F.col("held"), F.col("percentiles"))))

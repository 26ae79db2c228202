"""views -> measures: how many links, neighbours and connections nodes hold at each stage: mean, largest, percentiles."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ropewalk.measures.exact import deviation_of, mean_of
from ropewalk.tables.frames import conform
from ropewalk.tables.schema import MEASURES

HELD = ("lvs", "pvs", "connections", "in_links")
PERCENTILES = tuple(range(101))  # p0 to p100: enough to draw the distribution from


def holdings(views: DataFrame) -> DataFrame:
    """`lvs.mean` (spread: its standard deviation over nodes), `lvs.max`, `lvs.p0` to `lvs.p100`, and so for the rest."""
    counts = views.unpivot(["run", "stage"], list(HELD), "held", "count")
    shares = F.array(*(F.lit(percentile / 100) for percentile in PERCENTILES))
    summed = counts.groupBy("run", "stage", "held").agg(
        mean_of(F.col("count")).alias("mean"),
        deviation_of(F.col("count")).alias("deviation"),
        F.max("count").alias("max"),
        F.percentile("count", shares).alias("percentiles"),
    )
    ranked = F.transform("percentiles", lambda value, at: _row(F.concat(F.lit("p"), at.cast("string")), value))
    named = F.array(_row(F.lit("mean"), F.col("mean"), F.col("deviation")), _row(F.lit("max"), F.col("max")))
    rows = summed.select("run", "stage", "held", F.explode(F.concat(named, ranked)).alias("row"))
    measure = F.concat_ws(".", "held", "row.name").alias("measure")
    return conform(MEASURES, rows.select("run", measure, F.col("stage").alias("group"), "row.value", "row.spread"))


def _row(name: Column, value: Column, spread: Column | None = None) -> Column:
    no_spread = F.lit(None).cast("double")
    return F.struct(
        name.alias("name"),
        value.cast("double").alias("value"),
        (no_spread if spread is None else spread).alias("spread"),
    )

"""routing -> measures: how large routing tables are, of what they consist, and what comes in."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ropewalk.measures.exact import deviation_of, mean_of
from ropewalk.measures.named import measures_of, named, named_percentiles, percentiles_of

COUNTED = ("table", "covering", "covered", "neighbours", "incoming", "ring", "cells", "bits", "received", "unwanted")
OF_PRIMARIES = ("table", "incoming", "bits", "cells")


def routing(found: DataFrame) -> DataFrame:
    """`routing.table.mean` (spread: its standard deviation over nodes), `.p0` to `.p100`, and so for the other counts.

    A table is what a node links to: others by kind, and who wants the same. `routing.of_primaries.table` and so on: of those only
    that others link to; `routing.primaries`: their share; `routing.copied.mean`: of tables, where everybody else has copied that of
    its primary (Kato III-C) and holds it besides the links of its ring; `routing.links_per_bit`: the most covered and neighbour links
    of a node for each bit of its id.
    """
    picked = F.col("covering") + F.col("covered") + F.col("neighbours")
    table = picked + F.col("ring")
    sized = found.withColumn("table", table).withColumn("group", F.col("stage"))
    primaries = sized.filter("primary")
    spreads = _counted(sized, COUNTED, "routing.").unionByName(
        _counted(primaries, OF_PRIMARIES, "routing.of_primaries.")
    )
    shares = sized.groupBy("run", "group").agg(
        F.avg(F.col("primary").cast("double")).alias("primaries"),
        F.avg(F.col("ring") + F.when(F.col("primary"), F.col("alike") * picked).otherwise(0)).alias("copied"),
        F.max((F.col("covered") + F.col("neighbours")) / F.col("bits")).alias("per bit"),
    )
    rows = F.array(
        named("routing.primaries", F.col("primaries")),
        named("routing.copied.mean", F.col("copied")),
        named("routing.links_per_bit", F.col("per bit")),
    )
    return spreads.unionByName(measures_of(shares, rows))


def _counted(found: DataFrame, names: tuple[str, ...], prefix: str) -> DataFrame:
    counts = found.select("run", "group", *(F.col(name).cast("double") for name in names))
    each = counts.unpivot(["run", "group"], list(names), "what", "value")
    summed = each.groupBy("run", "group", F.concat(F.lit(prefix), "what").alias("what")).agg(
        mean_of(F.col("value")).alias("mean"),
        deviation_of(F.col("value")).alias("deviation"),
        percentiles_of("value").alias("percentiles"),
    )
    mean = named(F.concat("what", F.lit(".mean")), F.col("mean"), F.col("deviation"))
    return measures_of(summed, F.concat(F.array(mean), named_percentiles(F.col("what"), F.col("percentiles"))))

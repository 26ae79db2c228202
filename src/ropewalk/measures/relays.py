"""relays -> measures: how much nodes carry for others, and how many children they have."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ropewalk.measures.exact import deviation_of, mean_of
from ropewalk.measures.named import measures_of, named, named_percentiles, percentiles_of

CARRIED = ("load", "children")


def relays(found: DataFrame) -> DataFrame:
    """`relay.load.mean` (spread: its standard deviation over nodes), `.p0` to `.p100`, and so `relay.children`."""
    counts = found.select("run", F.col("stage").alias("group"), *(F.col(name).cast("double") for name in CARRIED))
    each = counts.unpivot(["run", "group"], list(CARRIED), "what", "value")
    summed = each.groupBy("run", "group", F.concat(F.lit("relay."), "what").alias("what")).agg(
        mean_of(F.col("value")).alias("mean"),
        deviation_of(F.col("value")).alias("deviation"),
        percentiles_of("value").alias("percentiles"),
    )
    mean = named(F.concat("what", F.lit(".mean")), F.col("mean"), F.col("deviation"))
    return measures_of(summed, F.concat(F.array(mean), named_percentiles(F.col("what"), F.col("percentiles"))))

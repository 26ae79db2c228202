"""spreads -> measures: who gets events without wanting them, who wants them and does not, how far they go, what it takes."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ropewalk.measures.named import measures_of, named

STAGE = "final"  # events go over links as they are in the end
SUMMED = ("wanted", "delivered", "by_cell", "by_bits", "depth", "messages", "routed")


def spreads(found: DataFrame) -> DataFrame:
    """Over all events.

    `spread.false_positives`: of all nodes that events reached, the share that does not want them; `.by_cell`: since a cell is
    larger than what they want; `.by_bits`: since bits of other cells of theirs stand for it, too. `spread.false_negatives`: of all
    that want events the share that they did not reach; `.once_in`: without events that found no way in. `spread.lost`: the share
    of those. `spread.depth`: links to whoever wants them, in the mean; `.most`. `spread.messages`: for each node reached.
    """
    once_in = F.when(F.col("lost"), 0).otherwise(F.col("wanted"))
    summed = found.groupBy("run", F.lit(STAGE).alias("group")).agg(
        *(F.sum(name).cast("double").alias(name) for name in SUMMED),
        F.sum(once_in).cast("double").alias("once_in"),
        F.avg(F.col("lost").cast("double")).alias("lost"),
        F.avg(F.col("routed").cast("double")).alias("way"),
        F.max("deepest").alias("deepest"),
        F.count(F.lit(1)).alias("events"),
    )
    reached = F.col("delivered") + F.col("by_cell") + F.col("by_bits")
    rows = F.array(
        named("spread.events", F.col("events")),
        named("spread.reached", reached),
        named("spread.wanted", F.col("wanted")),
        named("spread.delivered", F.col("delivered")),
        named("spread.false_positives", (F.col("by_cell") + F.col("by_bits")) / F.nullif(reached, F.lit(0.0))),
        named("spread.false_positives.by_cell", F.col("by_cell") / F.nullif(reached, F.lit(0.0))),
        named("spread.false_positives.by_bits", F.col("by_bits") / F.nullif(reached, F.lit(0.0))),
        named("spread.false_negatives", 1 - F.col("delivered") / F.nullif(F.col("wanted"), F.lit(0.0))),
        named("spread.false_negatives.once_in", 1 - F.col("delivered") / F.nullif(F.col("once_in"), F.lit(0.0))),
        named("spread.lost", F.col("lost")),
        named("spread.way_in", F.col("way")),
        named("spread.depth", F.col("depth") / F.nullif(F.col("delivered"), F.lit(0.0))),
        named("spread.depth.most", F.col("deepest")),
        named("spread.messages", F.col("messages") / F.nullif(reached, F.lit(0.0))),
    )
    return measures_of(summed, F.filter(rows, lambda row: row["value"].isNotNull()))

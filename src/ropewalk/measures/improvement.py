"""views -> measures: what each node gained between two stages, in all and by how many neighbours it held at first.

A node's improvement is 1 - its last PVS / its first PVS. A node that held nobody at first has none and is left out, and
so is one that was not there at both stages.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ropewalk.measures.exact import deviation_of, mean_of
from ropewalk.measures.named import measures_of, named, named_percentiles, percentiles_of

ALL = "all"  # the group of all nodes
TENTHS = tuple(tenth / 10 for tenth in range(1, 10))


def improvement(views: DataFrame, first: str = "initial", last: str = "final") -> DataFrame:
    """Per run, over all nodes (group `all`) and those of each decile of first PVS (groups `decile 1` to `decile 10`).

    `improvement.mean` (spread: its standard deviation over nodes); `improvement.above_40` and `improvement.negative`, the
    shares of nodes that improve by more than 40 % and by less than nothing; `improvement.initial` and `improvement.final`,
    the mean PVS at either stage (spread likewise); `improvement.nodes`, how many are counted; and for all nodes
    `improvement.p0` to `improvement.p100`.

    Deciles are parted by nine values of first PVS, its exact 10th to 90th percentiles; a node on such a value belongs
    below it. So nodes with equal PVS are in one decile, whatever their ids; deciles differ in size, and may be missing.
    """
    nodes = _nodes(views, first, last)
    bounds = nodes.groupBy("run").agg(F.percentile("first", list(TENTHS)).alias("bounds"))
    above = F.size(F.filter("bounds", lambda bound: F.col("first") > bound))
    decile = F.concat(F.lit("decile "), (above + 1).cast("string"))
    grouped = nodes.join(F.broadcast(bounds), "run").withColumn("group", F.explode(F.array(F.lit(ALL), decile)))
    gain = 1 - F.col("last") / F.col("first")
    summed = (
        grouped.withColumn("gain", gain)
        .groupBy("run", "group")
        .agg(
            F.array(
                named("improvement.mean", mean_of(F.col("gain")), deviation_of(F.col("gain"))),
                # In whole numbers: a gain of exactly 40 % is not above it, however a quotient is rounded.
                named("improvement.above_40", mean_of((5 * F.col("last") < 3 * F.col("first")).cast("int"))),
                named("improvement.negative", mean_of((F.col("last") > F.col("first")).cast("int"))),
                named("improvement.initial", mean_of(F.col("first")), deviation_of(F.col("first"))),
                named("improvement.final", mean_of(F.col("last")), deviation_of(F.col("last"))),
                named("improvement.nodes", F.count("*")),
            ).alias("rows"),
            percentiles_of("gain").alias("percentiles"),
        )
    )
    ranked = named_percentiles(F.lit("improvement"), F.col("percentiles"))
    return measures_of(summed, F.when(F.col("group") == ALL, F.concat("rows", ranked)).otherwise(F.col("rows")))


def _nodes(views: DataFrame, first: str, last: str) -> DataFrame:
    """One row per node that held somebody at the first stage: its PVS at either."""
    at_stage = {"first": first, "last": last}
    by_node = (
        views.filter(F.col("stage").isin(first, last))
        .groupBy("run", "node")
        .agg(*(F.max(F.when(F.col("stage") == stage, F.col("pvs"))).alias(name) for name, stage in at_stage.items()))
    )
    return by_node.filter((F.col("first") > 0) & F.col("last").isNotNull())

"""overlays -> measures: whether overlays look the same at two stages, by their distributions and one by one.

The distance of two distributions is that of Kolmogorov and Smirnov: the most by which the shares of values up to any one
value differ. It is exact: counted from histograms, in whole numbers.
"""

from collections.abc import Sequence

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from ropewalk.measures.exact import SUMMAND, deviation_of, mean_of
from ropewalk.measures.named import from_to, measures_of, named

COMPARED = ("clustering", "diameter")


def distance(samples: DataFrame, by: Sequence[str]) -> DataFrame:
    """One row for each combination of the columns `by`: `distance` between its two samples.

    `samples` also has the columns `value` and `second`, which says whether a value is of the second sample. A pair of which
    one has no values is left out. Values that agree to nine digits are equal. One task takes a whole histogram, with a
    row for each different value.
    """
    counted = samples.groupBy(*by, F.col("value").cast(SUMMAND).alias("value")).agg(
        F.count_if(~F.col("second")).alias("a"), F.count_if(F.col("second")).alias("b")
    )
    up_to = Window.partitionBy(*by).orderBy("value").rowsBetween(Window.unboundedPreceding, Window.currentRow)
    in_all = Window.partitionBy(*by)
    a, b, all_a, all_b = (
        F.sum("a").over(up_to),
        F.sum("b").over(up_to),
        F.sum("a").over(in_all),
        F.sum("b").over(in_all),
    )
    # Over a common denominator, so that equal shares of samples of different size differ by nothing at all.
    gaps = counted.select(*by, F.abs(a * all_b - b * all_a).alias("gap"), (all_a * all_b).alias("whole"))
    widest = gaps.filter(F.col("whole") > 0).groupBy(*by).agg((F.max("gap") / F.max("whole")).alias("distance"))
    return widest.select(*by, "distance")


def ks(
    overlays: DataFrame, columns: Sequence[str] = COMPARED, first: str = "initial", last: str = "final"
) -> DataFrame:
    """`overlay.clustering.ks`, `overlay.diameter.ks`: the distance between the distributions at the two stages.

    Over overlays; the group is "initial to final". Of the largest overlays `diameter` may be a lower bound.
    """
    values = overlays.filter(F.col("stage").isin(first, last)).select(
        "run", (F.col("stage") == last).alias("second"), *(F.col(column).cast("double") for column in columns)
    )
    samples = values.unpivot(["run", "second"], list(columns), "column", "value")
    measure = F.concat(F.lit("overlay."), "column", F.lit(".ks"))
    compared = distance(samples, ("run", "column")).withColumn("group", F.lit(from_to(first, last)))
    return measures_of(compared, F.array(named(measure, F.col("distance"))))


def changes(overlays: DataFrame, first: str = "initial", last: str = "final") -> DataFrame:
    """What became of each overlay between the two stages, over those that are there at both; group "initial to final".

    `overlay.diameter.change` and `overlay.clustering.change`: the mean of last - first (spread: its standard deviation);
    `overlay.diameter.within_1`: the share of overlays whose diameter differs by one at most; `overlay.diameter.least_change`
    and `overlay.diameter.most_change`: the extremes.
    """
    at_stage = {"first": first, "last": last}
    by_topic = (
        overlays.filter(F.col("stage").isin(first, last))
        .groupBy("run", "topic", F.lit(from_to(first, last)).alias("group"))
        .agg(
            *(
                F.max(F.when(F.col("stage") == stage, F.col(column))).alias(f"{name}_{column}")
                for name, stage in at_stage.items()
                for column in COMPARED
            )
        )
        .filter(F.col("first_diameter").isNotNull() & F.col("last_diameter").isNotNull())
    )
    wider = F.col("last_diameter") - F.col("first_diameter")
    closer = F.col("last_clustering") - F.col("first_clustering")
    rows = F.array(
        named("overlay.diameter.change", mean_of(wider), deviation_of(wider)),
        named("overlay.diameter.within_1", mean_of((F.abs(wider) <= 1).cast("int"))),
        named("overlay.diameter.least_change", F.min(wider)),
        named("overlay.diameter.most_change", F.max(wider)),
        named("overlay.clustering.change", mean_of(closer), deviation_of(closer)),
    )
    return measures_of(by_topic.groupBy("run", "group").agg(rows.alias("rows")), F.col("rows"))

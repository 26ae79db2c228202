"""views -> measures: how many nodes a node holds beside how many hold it, and what becomes of the largest of both."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ropewalk.measures.distributions import distance
from ropewalk.measures.named import from_to, measures_of, named

OUT, IN = "pvs", "in_links"
POINTS = {"p10": 0.1, "p50": 0.5, "p99": 0.99, "max": 1.0}


def degrees(views: DataFrame, first: str = "initial", last: str = "final") -> DataFrame:
    """Out-degrees are `pvs`, in-degrees `in_links`: distinct nodes over all topics.

    At each stage, `degrees.ks`: the Kolmogorov-Smirnov distance between the two distributions. And in the group "initial
    to final", `degrees.pvs.p10_ratio`, `.p50_ratio`, `.p99_ratio`, `.max_ratio`, and so for in_links: that percentile, or
    the largest, at the last stage divided by that at the first; a ratio to 0 is left out.
    """
    return _distances(views).unionByName(_ratios(views, first, last))


def _distances(views: DataFrame) -> DataFrame:
    samples = views.unpivot(["run", "stage"], [OUT, IN], "end", "value")
    samples = samples.select("run", F.col("stage").alias("group"), "value", (F.col("end") == IN).alias("second"))
    return measures_of(distance(samples, ("run", "group")), F.array(named("degrees.ks", F.col("distance"))))


def _ratios(views: DataFrame, first: str, last: str) -> DataFrame:
    def at(stage: str, degree: str) -> Column:
        value = F.when(F.col("stage") == stage, F.col(degree))
        return F.percentile(value, list(POINTS.values())).alias(f"{degree} {stage}")

    def ratio(degree: str, place: int) -> Column:
        return F.col(f"{degree} {last}")[place] / F.nullif(F.col(f"{degree} {first}")[place], F.lit(0.0))

    by_run = views.groupBy("run", F.lit(from_to(first, last)).alias("group")).agg(
        *(at(stage, degree) for stage in (first, last) for degree in (OUT, IN))
    )
    rows = F.array(
        *(
            named(f"degrees.{degree}.{name}_ratio", ratio(degree, place))
            for degree in (OUT, IN)
            for place, name in enumerate(POINTS)
        )
    )
    return measures_of(by_run, rows).filter(F.col("value").isNotNull())

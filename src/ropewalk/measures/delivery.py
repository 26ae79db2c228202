"""deliveries, publications -> measures: how many events reached how many nodes, over how many links, how late, how often again."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ropewalk.measures.exact import deviation_of, mean_of
from ropewalk.measures.named import measures_of, named, named_percentiles, percentiles_of

OF_ONE = ("hops", "latency")  # links crossed; seconds since it was published


def delivery(deliveries: DataFrame, publications: DataFrame) -> DataFrame:
    """`delivery.count`, `delivery.copies` (beyond the first), and mean and percentiles of `hops` and `latency`; group "final".

    The latter two over what was owed: how late a late joiner gets what it missed says nothing about the network.
    """
    published = publications.select("run", "event", F.col("at").alias("published_at"))
    each = deliveries.join(published, ["run", "event"]).select(
        "run",
        F.lit("final").alias("group"),
        "copies",
        F.when(F.col("owed"), F.col("hops").cast("double")).alias("hops"),
        F.when(F.col("owed"), F.col("at") - F.col("published_at")).alias("latency"),
    )
    summed = each.groupBy("run", "group").agg(
        F.count("*").alias("count"),
        F.sum(F.col("copies") - 1).alias("copies"),
        *(mean_of(F.col(name)).alias(f"{name}_mean") for name in OF_ONE),
        *(deviation_of(F.col(name)).alias(f"{name}_deviation") for name in OF_ONE),
        *(percentiles_of(name).alias(name) for name in OF_ONE),
    )
    counts = [named(f"delivery.{name}", F.col(name)) for name in ("count", "copies")]
    means = [named(f"{name}.mean", F.col(f"{name}_mean"), F.col(f"{name}_deviation")) for name in OF_ONE]
    # Where nothing was owed there is nothing to spread; what was delivered is counted all the same.
    spreads = [F.when(F.col(name).isNotNull(), named_percentiles(F.lit(name), F.col(name))) for name in OF_ONE]
    spreads = [F.coalesce(each, F.slice(F.array(*counts), 1, 0)) for each in spreads]
    return measures_of(summed, F.concat(F.array(*counts, *means), *spreads))

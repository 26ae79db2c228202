"""trees -> measures: what it costs that events pass nodes that do not follow their topic.

Magnet's measure is the number of uninterested relays. It is told per topic, and per message, where every topic counts for as
much as is published on it.
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from ropewalk.measures.exact import deviation_of, mean_of
from ropewalk.measures.named import measures_of, named, named_percentiles, percentiles_of

FIRST = tuple(step * 10**power for power in range(7) for step in (1, 2, 5))  # how many of the most popular topics


def trees(found: DataFrame) -> DataFrame:
    """What trees cost at each stage, over all topics.

    `tree.relays.mean` (spread: its standard deviation over topics), `.p0` to `.p100`, and so `tree.depth`;
    `tree.relays_per_message`, and `.besides_root`; `tree.relay_share`: of all messages those that go to a node that does not
    follow; `tree.relay_share_of_first.N`: the same over the N most popular topics; `tree.hops`: links from the root, over all
    who follow. Where it is known how trees grew, `tree.grafts`: the share of followers whose way in began elsewhere, and
    `tree.strays`: the share of nodes that are on no greedy way from the root.
    """
    return _summed(found).unionByName(_of_first(found))


def _summed(found: DataFrame) -> DataFrame:
    summed = found.groupBy("run", F.col("stage").alias("group")).agg(
        *(mean_of(F.col(name)).alias(f"{name} mean") for name in ("relays", "depth")),
        *(deviation_of(F.col(name)).alias(f"{name} deviation") for name in ("relays", "depth")),
        *(percentiles_of(name).alias(name) for name in ("relays", "depth")),
        _weighed(F.col("relays")).alias("paid"),
        _weighed(_besides_root()).alias("besides"),
        _weighed(F.col("nodes") - 1).alias("sent"),
        _weighed(F.lit(1)).alias("published"),
        F.sum((F.col("hops") * F.col("members")).cast("decimal(38,9)")).alias("hops"),
        *(F.sum(name).alias(name) for name in ("members", "grafts", "strays", "nodes")),
    )
    means = [
        named(f"tree.{name}.mean", F.col(f"{name} mean"), F.col(f"{name} deviation")) for name in ("relays", "depth")
    ]
    rows = F.array(
        *means,
        named("tree.relays_per_message", F.col("paid") / F.col("published")),
        named("tree.relays_per_message.besides_root", F.col("besides") / F.col("published")),
        named("tree.relay_share", _share()),
        named("tree.hops", F.col("hops") / F.col("members")),
        named("tree.grafts", F.col("grafts") / F.col("members")),
        named("tree.strays", F.col("strays") / F.col("nodes")),
    )
    spreads = [named_percentiles(F.lit(f"tree.{name}"), F.col(name)) for name in ("relays", "depth")]
    known = F.filter(F.concat(rows, *spreads), lambda row: row["value"].isNotNull())  # grafts are not always counted
    return measures_of(summed, known)


def _of_first(found: DataFrame) -> DataFrame:
    ranked = Window.partitionBy("run", "stage").orderBy(F.col("members").desc(), "topic")
    so_far = found.select(
        "run",
        F.col("stage").alias("group"),
        F.row_number().over(ranked).alias("rank"),
        _weighed(_besides_root()).over(ranked).alias("besides"),
        _weighed(F.col("nodes") - 1).over(ranked).alias("sent"),
    ).filter(F.col("rank").isin(*FIRST))
    name = F.concat(F.lit("tree.relay_share_of_first."), F.col("rank").cast("string"))
    return measures_of(so_far, F.array(named(name, _share())))


def _weighed(column: Column) -> Column:
    """Summed over topics, by what is published on each; the same for any partitioning."""
    return F.sum((F.col("rate") * column).cast("decimal(38,9)"))


def _besides_root() -> Column:
    """Relays that a message is sent to: all but the root."""
    return F.col("relays") - F.col("strange_root").cast("int")


def _share() -> Column:
    return F.coalesce(F.col("besides") / F.nullif(F.col("sent"), F.lit(0)), F.lit(0.0))

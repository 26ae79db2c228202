"""From external keys to ids: the `subscriptions`, `names` and `filters` of whatever a model made or a source read."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ropewalk.tables.frames import conform, id_column
from ropewalk.tables.schema import FILTERS, NAMES, SUBSCRIPTIONS


def subscriptions_of(keyed: DataFrame) -> DataFrame:
    """(node_key, topic_key) -> `subscriptions`."""
    ids = keyed.select(id_column(F.col("node_key")).alias("node"), id_column(F.col("topic_key")).alias("topic"))
    return conform(SUBSCRIPTIONS, ids)


def names_of(keyed: DataFrame) -> DataFrame:
    """(node_key, topic_key) -> `names`. Two names with one id would repeat a key, which writing the table refuses."""

    def of_kind(kind: str, key: Column) -> DataFrame:
        names = keyed.select(key.alias("name")).distinct()
        return names.select(F.lit(kind).alias("kind"), id_column(F.col("name")).alias("id"), "name")

    return conform(NAMES, of_kind("node", F.col("node_key")).unionByName(of_kind("topic", F.col("topic_key"))))


def filters_of(keyed: DataFrame) -> DataFrame:
    """(node_key, filter, attribute, low, high, value) -> `filters`."""
    return conform(FILTERS, keyed.withColumn("node", id_column(F.col("node_key"))))

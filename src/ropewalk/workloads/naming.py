"""From external keys to ids: the tables of whatever a model made or a source read."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ropewalk.tables.frames import conform, id_column
from ropewalk.tables.schema import FILTERS, NAMES, PUBLICATIONS, SUBSCRIPTIONS, TOPICS


def subscriptions_of(keyed: DataFrame) -> DataFrame:
    """(node_key, topic_key) -> `subscriptions`."""
    ids = keyed.select(id_column(F.col("node_key")).alias("node"), id_column(F.col("topic_key")).alias("topic"))
    return conform(SUBSCRIPTIONS, ids)


def names_of(keyed: DataFrame, more_topics: DataFrame | None = None) -> DataFrame:
    """(node_key, topic_key) -> `names`, with `more_topics` (topic_key) that nobody follows.

    Two names with one id would repeat a key, which writing the table refuses.
    """
    topics = keyed.select("topic_key")
    if more_topics is not None:
        topics = topics.unionByName(more_topics)

    def of_kind(kind: str, names: DataFrame) -> DataFrame:
        return (
            names.toDF("name")
            .distinct()
            .select(F.lit(kind).alias("kind"), id_column(F.col("name")).alias("id"), "name")
        )

    return conform(NAMES, of_kind("node", keyed.select("node_key")).unionByName(of_kind("topic", topics)))


def followed_of(names: DataFrame, subscriptions: DataFrame) -> DataFrame:
    """The rows of `names` without topics that nobody follows."""
    followed = subscriptions.select(F.col("topic").alias("id")).distinct()
    return names.filter("kind = 'node'").unionByName(names.filter("kind = 'topic'").join(followed, "id", "leftsemi"))


def topics_of(rates: DataFrame) -> DataFrame:
    """(topic_key, rate) -> `topics`."""
    return conform(TOPICS, rates.withColumn("topic", id_column(F.col("topic_key"))))


def publications_of(keyed: DataFrame, run: str) -> DataFrame:
    """(event, publisher_key, topic_keys, size, at, content) -> `publications` of a run."""
    topics = F.transform("topic_keys", id_column)
    publisher = id_column(F.col("publisher_key"))
    return conform(
        PUBLICATIONS,
        keyed.withColumns({"run": F.lit(run), "publisher": publisher, "topics": topics}),
    )


def filters_of(keyed: DataFrame) -> DataFrame:
    """(node_key, filter, attribute, low, high, value) -> `filters`."""
    return conform(FILTERS, keyed.withColumn("node", id_column(F.col("node_key"))))

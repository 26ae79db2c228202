"""Whatever a model made or a source read, as a stored universe: its tables, and its one row of `universes`."""

from dataclasses import dataclass

from pyspark import StorageLevel
from pyspark.sql import DataFrame

from ropewalk.tables.frames import struct_of, write_table
from ropewalk.tables.schema import NAMES, SUBSCRIPTIONS, UNIVERSES
from ropewalk.tables.store import Draft
from ropewalk.workloads.naming import names_of, subscriptions_of


@dataclass(frozen=True, slots=True)
class Written:
    """The subscriptions now on disk, and how many nodes, topics and subscriptions there are."""

    subscriptions: DataFrame
    counts: dict[str, int]


def write_workload(
    draft: Draft, keyed: DataFrame, *, source: str, rule: str, more_topics: DataFrame | None = None
) -> Written:
    """(node_key, topic_key), no pair twice -> the tables every universe has.

    `more_topics` (topic_key) are named, too, though nobody need follow them; they are not counted.
    """
    keyed = keyed.persist(StorageLevel.DISK_ONLY)
    try:
        # Different pairs of names have different pairs of ids unless two names share an id, which `names` finds out.
        subscriptions = write_table(draft, SUBSCRIPTIONS, subscriptions_of(keyed), unique=True)
        names = write_table(draft, NAMES, names_of(keyed, more_topics))
    finally:
        keyed.unpersist()
    of_kind: dict[str, int] = dict(names.groupBy("kind").count().collect())
    topics = of_kind.get("topic", 0) if more_topics is None else subscriptions.select("topic").distinct().count()
    counts = {
        "nodes": of_kind.get("node", 0),
        "topics": topics,
        "subscriptions": draft.manifest.tables["subscriptions"].rows,
    }
    row = {"universe": draft.manifest.name, "source": source, "rule": rule, "seed": draft.manifest.seed} | counts
    spark = subscriptions.sparkSession
    one = spark.createDataFrame([tuple(row[name] for name in UNIVERSES.columns)], struct_of(UNIVERSES))
    write_table(draft, UNIVERSES, one)
    return Written(subscriptions, counts)

"""Whatever a model made or a source read, as a stored universe: `subscriptions`, `names`, and its one row of `universes`."""

from pyspark import StorageLevel
from pyspark.sql import DataFrame

from ropewalk.tables.frames import struct_of, write_table
from ropewalk.tables.schema import NAMES, SUBSCRIPTIONS, UNIVERSES
from ropewalk.tables.store import Draft
from ropewalk.workloads.naming import names_of, subscriptions_of


def write_workload(draft: Draft, keyed: DataFrame, *, source: str, rule: str) -> dict[str, int]:
    """(node_key, topic_key) -> the tables of a universe. The answer counts nodes, topics and subscriptions."""
    keyed = keyed.persist(StorageLevel.DISK_ONLY)
    try:
        subscriptions = write_table(draft, SUBSCRIPTIONS, subscriptions_of(keyed))
        names = write_table(draft, NAMES, names_of(keyed))
    finally:
        keyed.unpersist()
    of_kind: dict[str, int] = dict(names.groupBy("kind").count().collect())
    counts = {
        "nodes": of_kind.get("node", 0),
        "topics": of_kind.get("topic", 0),
        "subscriptions": draft.manifest.tables["subscriptions"].rows,
    }
    row = {"universe": draft.manifest.name, "source": source, "rule": rule, "seed": draft.manifest.seed} | counts
    spark = subscriptions.sparkSession
    one = spark.createDataFrame([tuple(row[name] for name in UNIVERSES.columns)], struct_of(UNIVERSES))
    write_table(draft, UNIVERSES, one)
    return counts

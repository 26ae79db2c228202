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


def write_workload(draft: Draft, keyed: DataFrame, *, source: str, rule: str) -> Written:
    """(node_key, topic_key), no pair twice -> the tables every universe has."""
    keyed = keyed.persist(StorageLevel.DISK_ONLY)
    try:
        # Different pairs of names have different pairs of ids unless two names share an id, which `names` finds out.
        subscriptions = write_table(draft, SUBSCRIPTIONS, subscriptions_of(keyed), unique=True)
        names = write_table(draft, NAMES, names_of(keyed))
    finally:
        keyed.unpersist()
    return Written(subscriptions, write_sizes(draft, names, source=source, rule=rule))


def write_sizes(draft: Draft, followed: DataFrame, *, source: str, rule: str) -> dict[str, int]:
    """The row of `universes` for the nodes and topics `followed` (rows of `names`); the answer is its counts."""
    of_kind: dict[str, int] = dict(followed.groupBy("kind").count().collect())
    counts = {
        "nodes": of_kind.get("node", 0),
        "topics": of_kind.get("topic", 0),
        "subscriptions": draft.manifest.tables[SUBSCRIPTIONS.name].rows,
    }
    row = {"universe": draft.manifest.name, "source": source, "rule": rule, "seed": draft.manifest.seed} | counts
    one = followed.sparkSession.createDataFrame([tuple(row[name] for name in UNIVERSES.columns)], struct_of(UNIVERSES))
    write_table(draft, UNIVERSES, one)
    return counts

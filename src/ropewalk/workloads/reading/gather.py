"""What a source hands over while it reads, and what becomes of it: pairs once each, names, rejects with their places, totals.

A task hands over Arrow batches of rows of one shape (READ). A row without a note is a pair: node and topic by id (and the
topic's rate), seen `rows` times. A note says what another row is:
- a name (NODE, TOPIC): its text, the id in column `node`; a task tells each name once, as far as it remembers;
- a COUNT: `rows` of what the text names, such as contributors without a name;
- a REJECT: where in which part, what it looked like, and the reason; it stands for `rows` rows;
- the SIZE of a part, as its position. Positions in a file add up from these.
One grouping makes all of it small: equal pairs and names become one, and whatever else there is is little.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ropewalk.arrays.names import Seen, ids_of
from ropewalk.tables.frames import conform
from ropewalk.tables.schema import NAMES, REJECTS, SUBSCRIPTIONS, TOPICS
from ropewalk.workloads.reading.files import Part

SHOWN = 1000  # bytes of a reject that are kept
NODE, TOPIC, COUNT, REJECT, SIZE = "node", "topic", "count", "reject", "size"
READ = (
    "node bigint, topic bigint, rate double,"
    " note struct<kind: string, text: string, part: int, position: bigint, reason: string>, rows bigint"
)
NOTE = pa.struct(
    [
        ("kind", pa.string()),
        ("text", pa.string()),
        ("part", pa.int32()),
        ("position", pa.int64()),
        ("reason", pa.string()),
    ]
)
ARROW = pa.schema(
    [("node", pa.int64()), ("topic", pa.int64()), ("rate", pa.float64()), ("note", NOTE), ("rows", pa.int64())]
)

Reader = Callable[[Part], Iterator[pa.RecordBatch]]


@dataclass(frozen=True, slots=True)
class Reject:
    """Something at `position` of a part that cannot be used."""

    position: int
    text: bytes
    reason: str
    rows: int = 1


@dataclass(frozen=True, slots=True)
class Totals:
    """What became of the rows of an input: read = kept + duplicates + left_out + rejected."""

    kept: int
    duplicates: int
    left_out_by: dict[str, int]
    rejected: int
    rejected_by: dict[str, int]
    counts: dict[str, int] = field(default_factory=dict)  # of what are no rows

    @property
    def left_out(self) -> int:
        """Rows that are fine, but not asked for."""
        return sum(self.left_out_by.values())

    @property
    def read(self) -> int:
        """All rows."""
        return self.kept + self.duplicates + self.left_out + self.rejected


@dataclass(frozen=True, slots=True)
class Gathered:
    """What files say, as the tables `subscriptions`, `names` and `rejects`; and the totals.

    Where a source knows more: `topics` with rates, which may name topics nobody follows; and `publications`.
    """

    subscriptions: DataFrame
    names: DataFrame
    rejects: DataFrame
    totals: Totals
    kept: tuple[DataFrame, ...]
    topics: DataFrame | None = None
    publications: DataFrame | None = None

    def unpersist(self) -> None:
        """Give back what gathering keeps on disk."""
        for frame in self.kept:
            frame.unpersist()


class Ledger:
    """Turns columns of names into rows: pairs by their ids, and each name the first time it occurs."""

    def __init__(self) -> None:
        self._seen = {NODE: Seen(), TOPIC: Seen()}

    def pairs(
        self, nodes: pa.Array, topics: pa.Array, *, rates: pa.Array | None = None, rows: pa.Array | None = None
    ) -> Iterator[pa.RecordBatch]:
        """The batches for some pairs."""
        if not len(nodes):
            return
        node_ids, topic_ids = ids_of(nodes), ids_of(topics)
        yield _batch(len(nodes), node=pa.array(node_ids), topic=pa.array(topic_ids), rate=rates, rows=rows)
        for kind, names, found in ((NODE, nodes, node_ids), (TOPIC, topics, topic_ids)):
            new = self._seen[kind].are_new(found)
            if new.any():
                told = names.filter(pa.array(new))
                yield _batch(
                    len(told), node=pa.array(found[new]), note=_notes(len(told), kind, text=told), rows=_none(len(told))
                )


def counts(counted: dict[str, int]) -> pa.RecordBatch:
    """A batch of counts."""
    note = _notes(len(counted), COUNT, text=pa.array(counted.keys(), pa.string()))
    return _batch(len(counted), note=note, rows=pa.array(counted.values(), pa.int64()))


def rejects(part: Part, found: Sequence[Reject]) -> pa.RecordBatch:
    """A batch of rejects."""
    note = _notes(
        len(found),
        REJECT,
        text=pa.array([shown(one.text) for one in found], pa.string()),
        part=pa.repeat(pa.scalar(part.number, pa.int32()), len(found)),
        position=pa.array([one.position for one in found], pa.int64()),
        reason=pa.array([one.reason for one in found], pa.string()),
    )
    return _batch(len(found), note=note, rows=pa.array([one.rows for one in found], pa.int64()))


def size_of(part: Part, size: int) -> pa.RecordBatch:
    """The batch that says how many positions a part has."""
    note = _notes(1, SIZE, part=pa.array([part.number], pa.int32()), position=pa.array([size], pa.int64()))
    return _batch(1, note=note, rows=_none(1))


def shown(text: bytes) -> str:
    """As much of a reject as is kept; bytes that are no text are shown as numbers."""
    return text[:SHOWN].decode("utf-8", "backslashreplace")


def _notes(length: int, kind: str, **given: pa.Array) -> pa.Array:
    given["kind"] = pa.repeat(pa.scalar(kind), length)
    arrays = [given[part.name] if part.name in given else pa.nulls(length, part.type) for part in NOTE]
    return pa.StructArray.from_arrays(arrays, fields=list(NOTE))


def _none(length: int) -> pa.Array:
    return pa.array(np.zeros(length, np.int64))


def _batch(length: int, **given: pa.Array | None) -> pa.RecordBatch:
    if given.get("rows") is None:
        given["rows"] = pa.array(np.ones(length, np.int64))
    columns = [
        array if (array := given.get(column.name)) is not None else pa.nulls(length, column.type) for column in ARROW
    ]
    return pa.RecordBatch.from_arrays(columns, schema=ARROW)


def spread(spark: SparkSession, parts: Sequence[Part], read: Reader) -> DataFrame:
    """The rows of all parts, a task each."""

    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from read(parts[number])

    return spark.range(0, len(parts), numPartitions=len(parts)).mapInArrow(task, READ)


def gather(rows: DataFrame, files: dict[int, str], *, left_out: Iterable[str] = (), rated: bool = False) -> Gathered:
    """Bring equal rows together. `files` are those of the parts; `left_out` the counters that count rows.

    Of several rates of a topic the largest is taken.
    """
    sums = [F.sum("rows").alias("rows"), *([F.max("rate").alias("rate")] if rated else [])]
    grouped = rows.groupBy("node", "topic", "note").agg(*sums).persist(StorageLevel.DISK_ONLY)
    try:
        what = F.when(F.col("note.kind") == COUNT, F.col("note.text")).otherwise(F.col("note.reason"))
        summed = grouped.groupBy("note.kind", what.alias("what")).agg(F.sum("rows"), F.count("*"))
        totals = _totals(summed.collect(), set(left_out))  # one row for each reason to reject, and each counter
        sizes = grouped.filter(F.col("note.kind") == SIZE).select("note.part", "note.position")
        firsts = _firsts(dict(sizes.collect()), files)  # one row for each part
        places = rows.sparkSession.createDataFrame(firsts, "part int, file string, first long")
    except BaseException:
        grouped.unpersist()
        raise
    pairs = grouped.filter("note is null")
    reject = grouped.filter(F.col("note.kind") == REJECT).select("note.*").join(F.broadcast(places), "part")
    named = grouped.filter(F.col("note.kind").isin(NODE, TOPIC))
    return Gathered(
        subscriptions=conform(SUBSCRIPTIONS, pairs),
        names=conform(NAMES, named.select("note.kind", F.col("node").alias("id"), F.col("note.text").alias("name"))),
        rejects=conform(REJECTS, reject.withColumn("position", F.col("first") + F.col("position"))),
        totals=totals,
        kept=(grouped,),
        topics=conform(TOPICS, pairs.groupBy("topic").agg(F.max("rate").alias("rate"))) if rated else None,
    )


def _totals(found: list[Any], left_out: set[str]) -> Totals:
    (seen, kept), *_ = [(rows, count) for kind, _, rows, count in found if kind is None] or [(0, 0)]
    counted = {what: rows for kind, what, rows, _ in found if kind == COUNT}
    reasons = {what: rows for kind, what, rows, _ in found if kind == REJECT}
    return Totals(
        kept=kept,
        duplicates=seen - kept,
        left_out_by={name: counted[name] for name in sorted(counted) if name in left_out},
        rejected=sum(reasons.values()),
        rejected_by=dict(sorted(reasons.items(), key=lambda each: (-each[1], each[0]))),
        counts={name: counted[name] for name in sorted(counted) if name not in left_out},
    )


def _firsts(sizes: dict[int, int], names: dict[int, str]) -> list[tuple[int, str, int]]:
    """Of each part its file, and how many positions of the file lie before it."""
    found: list[tuple[int, str, int]] = []
    for part, name in sorted(names.items()):
        before = found[-1][2] + sizes.get(part - 1, 0) if found and found[-1][1] == name else 0
        found.append((part, name, before))
    return found


def names_of_parts(parts: Sequence[Part], files: Sequence[Path]) -> dict[int, str]:
    """The file of each part, as the user called it."""
    called = {str(file.absolute()): str(file) for file in files}
    return {part.number: called[part.file] for part in parts}

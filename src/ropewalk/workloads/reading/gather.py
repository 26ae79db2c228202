"""What a source hands over while it reads, and what becomes of it: pairs once each, rejects with their places, totals.

A task hands over Arrow batches of rows of one shape (READ). A row is one of four things:
- a pair: node_key, topic_key (and the topic's rate), seen `rows` times;
- a count: `rows` of what `counter` names, such as contributors without a name;
- a reject: `about` says where in which part, what it looked like, and the reason; it stands for `rows` rows;
- the size of a part: `about` with a position and no reason. Positions in a file add up from these.
One grouping makes all of it small: equal pairs become one, and whatever else there is is little.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ropewalk.tables.frames import conform
from ropewalk.tables.schema import REJECTS
from ropewalk.workloads.reading.files import Part

SHOWN = 1000  # bytes of a reject that are kept
READ = (
    "node_key string, topic_key string, rate double, counter string,"
    " about struct<part: int, position: bigint, text: string, reason: string>, rows bigint"
)
ABOUT = pa.struct([("part", pa.int32()), ("position", pa.int64()), ("text", pa.string()), ("reason", pa.string())])
ARROW = pa.schema(
    [
        ("node_key", pa.string()),
        ("topic_key", pa.string()),
        ("rate", pa.float64()),
        ("counter", pa.string()),
        ("about", ABOUT),
        ("rows", pa.int64()),
    ]
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
    """`pairs` (node_key, topic_key), no pair twice; `rejects` as the table; the totals.

    Where a source knows more: `rates` (topic_key, rate), a topic once, which may name topics nobody follows; and
    `publications` as the table, but with keys: publisher_key, topic_keys.
    """

    pairs: DataFrame
    rejects: DataFrame
    totals: Totals
    kept: tuple[DataFrame, ...]
    rates: DataFrame | None = None
    publications: DataFrame | None = None

    def unpersist(self) -> None:
        """Give back what gathering keeps on disk."""
        for frame in self.kept:
            frame.unpersist()


def pairs(
    nodes: pa.Array, topics: pa.Array, *, rates: pa.Array | None = None, rows: pa.Array | None = None
) -> pa.RecordBatch:
    """A batch of pairs."""
    return _batch(len(nodes), node_key=nodes, topic_key=topics, rate=rates, rows=rows)


def counts(counted: dict[str, int]) -> pa.RecordBatch:
    """A batch of counts."""
    return _batch(
        len(counted), counter=pa.array(counted.keys(), pa.string()), rows=pa.array(counted.values(), pa.int64())
    )


def rejects(part: Part, found: Sequence[Reject]) -> pa.RecordBatch:
    """A batch of rejects."""
    about = [
        {"part": part.number, "position": one.position, "text": shown(one.text), "reason": one.reason} for one in found
    ]
    return _batch(len(found), about=pa.array(about, ABOUT), rows=pa.array([one.rows for one in found], pa.int64()))


def size_of(part: Part, size: int) -> pa.RecordBatch:
    """The batch that says how many positions a part has."""
    about = {"part": part.number, "position": size, "text": None, "reason": None}
    return _batch(1, about=pa.array([about], ABOUT), rows=pa.array([0], pa.int64()))


def shown(text: bytes) -> str:
    """As much of a reject as is kept; bytes that are no text are shown as numbers."""
    return text[:SHOWN].decode("utf-8", "backslashreplace")


def _batch(length: int, **given: pa.Array | None) -> pa.RecordBatch:
    if given.get("rows") is None:
        given["rows"] = pa.repeat(pa.scalar(1, pa.int64()), length)
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


def gather(rows: DataFrame, names: dict[int, str], *, left_out: Iterable[str] = (), rated: bool = False) -> Gathered:
    """Bring equal rows together. `names` are the files of the parts; `left_out` the counters that count rows.

    Of several rates of a topic the largest is taken.
    """
    sums = [F.sum("rows").alias("rows"), *([F.max("rate").alias("rate")] if rated else [])]
    grouped = rows.groupBy("node_key", "topic_key", "counter", "about").agg(*sums).persist(StorageLevel.DISK_ONLY)
    try:
        kind = F.when(F.col("about.reason").isNotNull(), "rejected").when(F.col("about").isNotNull(), "size")
        kind = kind.when(F.col("counter").isNotNull(), "count").otherwise("pair")
        summed = grouped.groupBy(kind.alias("kind"), "counter", "about.reason").agg(F.sum("rows"), F.count("*"))
        found: list[Any] = summed.collect()  # one row for each kind of reject and of count
        totals = _totals(found, set(left_out))
        sizes = grouped.filter("about is not null and about.reason is null").select("about.part", "about.position")
        firsts = _firsts(dict(sizes.collect()), names)  # one row for each part
        places = rows.sparkSession.createDataFrame(firsts, "part int, file string, first long")
    except BaseException:
        grouped.unpersist()
        raise
    reject = grouped.filter("about.reason is not null").select("about.*").join(F.broadcast(places), "part")
    kept = grouped.filter("node_key is not null")
    return Gathered(
        pairs=kept.select("node_key", "topic_key"),
        rejects=conform(REJECTS, reject.withColumn("position", F.col("first") + F.col("position"))),
        totals=totals,
        kept=(grouped,),
        rates=kept.groupBy("topic_key").agg(F.max("rate").alias("rate")) if rated else None,
    )


def _totals(found: list[Any], left_out: set[str]) -> Totals:
    pairs_seen = sum(rows for kind, _, _, rows, _ in found if kind == "pair")
    kept = sum(distinct for kind, _, _, _, distinct in found if kind == "pair")
    counted = {counter: rows for kind, counter, _, rows, _ in found if kind == "count"}
    reasons = {reason: rows for kind, _, reason, rows, _ in found if kind == "rejected"}
    return Totals(
        kept=kept,
        duplicates=pairs_seen - kept,
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

"""What becomes of what tasks read: pairs once each, names, rejects with their places, totals.

A task hands over few rows of one shape (READ), each with its kind:
- PAIRS, NODE, TOPIC, RATE: a packet of many pairs, names or rates (`packets`), dealt to a bucket by id, so that equal ones meet;
- COUNT: `rows` of what the text names, such as contributors without a name;
- REJECT: where in which part, what it looked like, and the reason; it stands for `rows` rows;
- SIZE: how many positions a part has. Positions in a file add up from these.
No row per pair crosses into Java before pairs are distinct.
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
from ropewalk.tables.schema import NAMES, REJECTS, SUBSCRIPTIONS, TOPICS
from ropewalk.workloads.reading import packets
from ropewalk.workloads.reading.files import Part
from ropewalk.workloads.reading.lines import Block, Lines
from ropewalk.workloads.reading.packets import (
    COUNT,
    NODE,
    PAIRS,
    RATE,
    READ,
    REJECT,
    SIZE,
    TOPIC,
    Ledger,
    Reject,
    rejects,
    size_of,
)

Reader = Callable[[Part], Iterator[pa.RecordBatch]]


@dataclass(frozen=True, slots=True)
class Totals:
    """What became of the rows of an input: read = seen + left_out + rejected, and seen = kept + duplicates."""

    seen: int  # rows that can be used, equal ones counted as often as they occur
    left_out_by: dict[str, int]
    rejected_by: dict[str, int]
    counts: dict[str, int] = field(default_factory=dict)  # of what are no rows
    kept: int | None = None  # different rows; None: as many as there are subscriptions

    @property
    def left_out(self) -> int:
        """Rows that are fine, but not asked for."""
        return sum(self.left_out_by.values())

    @property
    def rejected(self) -> int:
        """Rows that cannot be used."""
        return sum(self.rejected_by.values())

    @property
    def read(self) -> int:
        """All rows."""
        return self.seen + self.left_out + self.rejected


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


def spread(spark: SparkSession, parts: Sequence[Part], read: Reader, schema: str = READ) -> DataFrame:
    """The rows of all parts, a task each."""

    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from read(parts[number])

    return spark.range(0, len(parts), numPartitions=len(parts)).mapInArrow(task, schema)


def told(part: Part, ledger: Ledger, rows: Callable[[Block], Iterator[pa.RecordBatch]]) -> Iterator[pa.RecordBatch]:
    """All that a part of a file of lines has to tell, given what a block of lines does."""
    lines = Lines(part)
    for block in lines:
        if isinstance(block, Block):
            yield from rows(block)
        else:
            yield rejects(part, [Reject(block.number, block.beginning, block.reason)])
    yield from ledger.rest()
    yield size_of(part, lines.count)


def gather(
    rows: DataFrame, files: dict[int, str], *, buckets: int, left_out: Iterable[str] = (), rated: bool = False
) -> Gathered:
    """Bring together what tasks handed over. `files` are those of the parts; `left_out` the counters that count rows.

    Each bucket is made distinct by a task of its own, so their number bounds what a task holds. Of several rates of a topic the largest is taken.
    """
    handed = rows.persist(StorageLevel.DISK_ONLY)
    try:
        what = F.when(F.col("kind") == COUNT, F.col("text")).otherwise(F.col("reason"))
        summed = handed.groupBy("kind", what.alias("what")).agg(F.sum("rows"))
        totals = _totals(summed.collect(), set(left_out))  # one row for each reason to reject, and each counter
        sizes = handed.filter(F.col("kind") == SIZE).select("part", "position")
        firsts = _firsts(dict(sizes.collect()), files)  # one row for each part
        places = rows.sparkSession.createDataFrame(firsts, "part int, file string, first long")
    except BaseException:
        handed.unpersist()
        raise

    def dealt(*kinds: str) -> DataFrame:
        """The packets of some kinds, those of one bucket in one place."""
        return (
            handed.filter(F.col("kind").isin(*kinds)).select("kind", "bucket", "packet").repartition(buckets, "bucket")
        )

    reject = (
        handed.filter(F.col("kind") == REJECT)
        .select("part", "position", "text", "reason")
        .join(F.broadcast(places), "part")
    )
    return Gathered(
        subscriptions=conform(SUBSCRIPTIONS, dealt(PAIRS).mapInArrow(packets.distinct_pairs, packets.PAIR)),
        names=conform(NAMES, dealt(NODE, TOPIC).mapInArrow(packets.distinct_names, packets.NAME)),
        rejects=conform(REJECTS, reject.withColumn("position", F.col("first") + F.col("position"))),
        totals=totals,
        kept=(handed,),
        topics=conform(TOPICS, dealt(RATE).mapInArrow(packets.largest_rates, packets.RATED)) if rated else None,
    )


def _totals(found: list[Any], left_out: set[str]) -> Totals:
    counted = {what: rows for kind, what, rows in found if kind == COUNT}
    reasons = {what: rows for kind, what, rows in found if kind == REJECT}
    return Totals(
        seen=sum(rows for kind, _, rows in found if kind == PAIRS),
        left_out_by={name: counted[name] for name in sorted(counted) if name in left_out},
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

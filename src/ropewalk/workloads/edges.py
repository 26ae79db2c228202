"""A source of pairs: one (node, topic) per line of delimited text, or per row of a Parquet file."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from ropewalk.errors import InputError, UsageError
from ropewalk.parameters import parameter
from ropewalk.tables.frames import pattern_of
from ropewalk.workloads.naming import names_of, subscriptions_of, topics_of
from ropewalk.workloads.reading.delimited import Fields, Style, cut, fields_of, is_empty, separator
from ropewalk.workloads.reading.files import Part, head_of, parts_of
from ropewalk.workloads.reading.gather import Gathered, gather, names_of_parts, spread, told
from ropewalk.workloads.reading.lines import LONGEST, Block
from ropewalk.workloads.reading.packets import REJECT, SHOWN, Ledger, Reject, counts, rejects

COMMENT = "comment"
PARQUET = b"PAR1"
NOT_A_RATE = "the rate is not a number of 0 or more"


@dataclass(frozen=True, slots=True)
class Layout:
    """Where in the lines of one file the fields are: how many there are, and which are meant."""

    width: int
    wanted: tuple[int, ...]  # node, topic, and the rate if there is one
    head: int  # lines before the first row


@dataclass(frozen=True, slots=True, kw_only=True)
class Edges:
    """Columns are named by the header, where there is one, or by position from 0."""

    name: ClassVar[str] = "edges"
    sentence: ClassVar[str] = "Delimited text or Parquet, one (node, topic) pair per row."
    left_out: ClassVar[tuple[str, ...]] = (COMMENT,)

    sep: str = parameter("What separates fields; \\t is a tab.", default=",")
    header: bool = parameter("Whether the first line names the columns.", default=False)
    node: str = parameter("The node's column, by name or position from 0.", default="0")
    topic: str = parameter("The topic's column, likewise.", default="1")
    rate: str | None = parameter("The column of the topic's publication rate, likewise.", default=None)
    quote: str = parameter("What quotes fields; '' for nothing.", default='"')
    comment: str = parameter("How lines begin that say nothing; '' for none.", default="")

    def __post_init__(self) -> None:
        self.style.refuse_if_impossible()
        named = [name for name in (self.node, self.topic, self.rate) if name is not None]
        if len(set(named)) < len(named):
            raise UsageError(f"the columns {', '.join(named)} are not different; name one column for each.")

    @property
    def style(self) -> Style:
        """How lines are cut."""
        return Style(separator(self.sep), self.quote, self.comment)

    def gathered(self, spark: SparkSession, files: Sequence[Path]) -> Gathered:
        """Everything in `files`, all of them Parquet or all of them text."""
        packed = [_is_parquet(file) for file in files]
        if all(packed):
            return self._parquet(spark, files)
        if any(packed):
            raise InputError("some files are Parquet and some are text; ingest them one kind at a time.")
        parts = parts_of(files)
        layouts = {str(file.absolute()): self._layout(file) for file in files}

        def read(part: Part) -> Iterator[pa.RecordBatch]:
            return self.read(part, layouts[part.file])

        return gather(
            spread(spark, parts, read),
            names_of_parts(parts, files),
            buckets=parts[0].buckets,
            left_out=self.left_out,
            rated=self.rate is not None,
        )

    def read(self, part: Part, layout: Layout) -> Iterator[pa.RecordBatch]:
        """The rows of one part of a text file."""
        ledger = Ledger(part.buckets)

        def rows(block: Block) -> Iterator[pa.RecordBatch]:
            data, head = block.data, layout.head - block.first + 1 if part.start == 0 else 0
            if head > 0:
                above, data = _divided(data, head)
                head = len(above)
                if comments := sum(self._is_comment(line) for line in above):
                    yield counts({COMMENT: comments})
            if data:
                yield from self._rows(part, block.first + max(head, 0), data, layout, ledger)

        return told(part, ledger, rows)

    def _rows(self, part: Part, first: int, data: bytes, layout: Layout, ledger: Ledger) -> Iterator[pa.RecordBatch]:
        fields = cut(data, self.style, layout.width, layout.wanted)
        refused = [Reject(first + odd.line, odd.text, odd.reason) for odd in fields.odd]
        good, reasons, rates = _examined(fields)
        if reasons:
            text = data.split(b"\n")
            refused += [Reject(first + line, text[line], reason) for line, reason in reasons]
        nodes, topics = fields.columns[:2]
        if not good.all():
            mask = pa.array(good)
            nodes, topics = nodes.filter(mask), topics.filter(mask)
            rates = rates.filter(mask) if rates is not None else None
        yield from ledger.pairs(nodes, topics, rates=rates)
        if refused:
            yield rejects(part, refused)
        if fields.comments:
            yield counts({COMMENT: fields.comments})

    def _is_comment(self, line: bytes) -> bool:
        return bool(self.comment) and line.startswith(self.comment.encode())

    def _layout(self, file: Path) -> Layout:
        """What the first line that says something tells about a file."""
        head, width, names = 0, 2, []
        for line in head_of(file, LONGEST).split(b"\n"):
            line = line.removesuffix(b"\r")  # noqa: PLW2901
            if not line.strip() or self._is_comment(line):
                head += 1
                continue
            fields = fields_of(line, self.style)
            if isinstance(fields, str):
                if self.header:
                    raise InputError(f"the header of {file} cannot be read: {fields}.")
                break
            width, names = len(fields), fields
            break
        if self.header and not names:
            raise InputError(f"{file} is empty, so there is no header; leave it out.")
        columns = names if self.header else []
        wanted = self._columns(file, columns, width)
        return Layout(width, wanted, head + 1 if self.header else 0)

    def _columns(self, file: Path, columns: Sequence[str], width: int) -> tuple[int, ...]:
        """Where node, topic and, if there is one, the rate are."""
        named = [name for name in (self.node, self.topic, self.rate) if name is not None]
        found = tuple(_position(file, name, columns, width) for name in named)
        if len(set(found)) < len(found):
            raise UsageError(f"{' and '.join(named)} are not different columns of {file}; name one column for each.")
        return found

    def _parquet(self, spark: SparkSession, files: Sequence[Path]) -> Gathered:
        """Parquet files; a reject's position is its row, and its text the row as JSON."""
        frames = [self._parquet_rows(spark, file, number) for number, file in enumerate(files)]
        rows = reduce(DataFrame.unionByName, frames).persist(StorageLevel.DISK_ONLY)
        nothing = F.lit(None)
        refused = rows.filter("reason is not null").select(
            F.lit(REJECT).alias("kind"),
            nothing.cast("int").alias("bucket"),
            nothing.cast("binary").alias("packet"),
            "part",
            "position",
            "text",
            "reason",
            F.lit(1).cast("bigint").alias("rows"),
        )
        found = gather(refused, dict(enumerate(map(str, files))), buckets=1)
        good = rows.filter("reason is null")
        pairs = good.select("node_key", "topic_key").distinct()
        rates = good.groupBy("topic_key").agg(F.max("rate").alias("rate"))
        return replace(
            found,
            subscriptions=subscriptions_of(pairs),
            names=names_of(good),
            totals=replace(found.totals, seen=good.count()),
            kept=(*found.kept, rows),
            topics=topics_of(rates) if self.rate is not None else None,
        )

    def _parquet_rows(self, spark: SparkSession, file: Path, number: int) -> DataFrame:
        """(node_key, topic_key, rate, part, position, text, reason): a row has a reason if it cannot be used."""
        frame = spark.read.parquet(pattern_of(file))
        plain = frame.columns
        columns = [_column(plain[place]) for place in self._columns(file, plain, len(plain))]
        node, topic = (column.cast("string") for column in columns[:2])
        rate: Column = F.lit(None).cast("double")
        reason = F.when(F.coalesce(node, F.lit("")) == "", "the node is empty")
        reason = reason.when(F.coalesce(topic, F.lit("")) == "", "the topic is empty")
        if self.rate is not None:
            rate = columns[2].try_cast("double")
            usable = F.coalesce((rate >= 0) & (rate < float("inf")), F.lit(False))
            reason = reason.when(~usable, NOT_A_RATE)
        text = F.substring(F.to_json(F.struct(*map(_column, plain))), 1, SHOWN)
        return frame.select(
            node.alias("node_key"),
            topic.alias("topic_key"),
            rate.alias("rate"),
            F.lit(number).alias("part"),
            (F.col("_metadata.row_index") + 1).alias("position"),
            F.when(reason.isNotNull(), text).alias("text"),
            reason.alias("reason"),
        )


def _examined(fields: Fields) -> tuple[NDArray[np.bool_], list[tuple[int, str]], pa.Array | None]:
    """Which lines are good, why the others are not, and the rates."""
    columns = fields.columns
    good = np.ones(len(fields.lines), np.bool_)
    reasons: list[tuple[int, str]] = []

    def refuse(bad: NDArray[np.bool_], reason: str) -> None:
        reasons.extend((int(line), reason) for line in fields.lines[bad & good])
        good[bad] = False

    for column, what in zip(columns, ("node", "topic"), strict=False):
        bad = is_empty(column)
        if bad.any():
            refuse(bad, f"the {what} is empty")
    if len(columns) == 2:  # noqa: PLR2004 (node and topic, no rate)
        return good, reasons, None
    is_number = np.asarray(pc.match_substring_regex(columns[2], r"^[ +]*(\d+\.?\d*|\.\d+)([eE][-+]?\d{1,2})? *$"))
    if not is_number.all():
        refuse(~is_number, NOT_A_RATE)
    rates = pc.if_else(pa.array(is_number), pc.utf8_trim(columns[2], " +"), "0").cast(pa.float64())
    is_finite = np.isfinite(np.asarray(rates))
    if not is_finite.all():
        refuse(~is_finite, NOT_A_RATE)
    return good, reasons, rates


def _divided(data: bytes, count: int) -> tuple[list[bytes], bytes]:
    """The first lines of a block, up to so many, and the rest of it."""
    *above, rest = data.split(b"\n", count)
    return above, rest


def _column(name: str) -> Column:
    return F.col("`" + name.replace("`", "``") + "`")


def _position(file: Path, name: str, columns: Sequence[str], width: int) -> int:
    """Where the column called `name` is: by its name, else by its number."""
    if name in columns:
        return list(columns).index(name)
    is_number = name.isascii() and name.isdecimal()
    if is_number and int(name) < width:
        return int(name)
    if columns:
        raise InputError(f"{file} has no column {name!r}; it has: {', '.join(map(repr, columns))}.")
    if is_number:
        fields = "one field" if width == 1 else f"{width} fields"
        raise InputError(f"{file} has no column {name} (counted from 0): its first line has {fields}; is --sep right?")
    raise UsageError(f"column {name!r} is named, but no header is read; pass --header, or give its position from 0.")


def _is_parquet(file: Path) -> bool:
    with file.open("rb") as opened:
        return opened.read(len(PARQUET)) == PARQUET

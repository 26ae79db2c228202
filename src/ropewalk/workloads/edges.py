"""A source of pairs: one (node, topic) per line of delimited text, or per row of a Parquet file."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from ropewalk.errors import InputError, UsageError
from ropewalk.tables.frames import id_column, pattern_of
from ropewalk.workloads.contract import parameter
from ropewalk.workloads.reading.delimited import Fields, Style, cut, fields_of, is_empty, separator
from ropewalk.workloads.reading.files import Part, head_of, parts_of
from ropewalk.workloads.reading.gather import (
    NODE,
    REJECT,
    SHOWN,
    TOPIC,
    Gathered,
    Ledger,
    Reject,
    counts,
    gather,
    names_of_parts,
    rejects,
    size_of,
    spread,
)
from ropewalk.workloads.reading.lines import LONGEST, Block, Lines

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
            return gather(self._parquet(spark, files), dict(enumerate(map(str, files))), rated=self.rate is not None)
        if any(packed):
            raise InputError("some files are Parquet and some are text; ingest them one kind at a time.")
        parts = parts_of(files)
        layouts = {str(file.absolute()): self._layout(file) for file in files}

        def read(part: Part) -> Iterator[pa.RecordBatch]:
            return self.read(part, layouts[part.file])

        return gather(
            spread(spark, parts, read),
            names_of_parts(parts, files),
            left_out=self.left_out,
            rated=self.rate is not None,
        )

    def read(self, part: Part, layout: Layout) -> Iterator[pa.RecordBatch]:
        """The rows of one part of a text file."""
        lines, ledger = Lines(part), Ledger()
        for block in lines:
            if not isinstance(block, Block):
                yield rejects(part, [Reject(block.number, block.beginning, block.reason)])
                continue
            data, first = block.data, block.first
            if part.start == 0 and first <= layout.head:
                data, first = _without_head(data, layout.head), layout.head + 1
            if data:
                yield from self._rows(part, first, data, layout, ledger)
        yield size_of(part, lines.count)

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

    def _layout(self, file: Path) -> Layout:
        """What the first line that says something tells about a file."""
        head, width, names = 0, 2, []
        for line in head_of(file, LONGEST).split(b"\n"):
            line = line.removesuffix(b"\r")  # noqa: PLW2901
            if not line.strip() or (self.style.comment and line.startswith(self.style.comment.encode())):
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
        wanted = tuple(
            _position(file, name, columns, width) for name in (self.node, self.topic, self.rate) if name is not None
        )
        return Layout(width, wanted, head + 1 if self.header else 0)

    def _parquet(self, spark: SparkSession, files: Sequence[Path]) -> DataFrame:
        """The rows of Parquet files; a reject's position is its row, and its text the row as JSON."""
        frames = []
        for number, file in enumerate(files):
            frame = spark.read.parquet(pattern_of(file))
            plain = frame.columns
            wanted = [plain[_position(file, name, plain, len(plain))] for name in (self.node, self.topic)]
            node, topic = (F.col(f"`{name}`").cast("string") for name in wanted)
            rate: Column = F.lit(None).cast("double")
            reason = F.when(F.coalesce(node, F.lit("")) == "", "the node is empty")
            reason = reason.when(F.coalesce(topic, F.lit("")) == "", "the topic is empty")
            if self.rate is not None:
                column = F.col(f"`{plain[_position(file, self.rate, plain, len(plain))]}`")
                rate = column.try_cast("double")
                usable = F.coalesce((rate >= 0) & (rate < float("inf")), F.lit(False))
                reason = reason.when(~usable, NOT_A_RATE)
            text = F.substring(F.to_json(F.struct(*(F.col(f"`{name}`") for name in plain))), 1, SHOWN)
            about = _note(REJECT, text, part=F.lit(number), position=F.col("_metadata.row_index") + 1, reason=reason)
            good = reason.isNull()
            told = F.array(
                _row(good, id_column(node), id_column(topic), rate, F.lit(None), 1),
                _row(good, id_column(node), F.lit(None), F.lit(None), _note(NODE, node), 0),
                _row(good, id_column(topic), F.lit(None), F.lit(None), _note(TOPIC, topic), 0),
                _row(~good, F.lit(None), F.lit(None), F.lit(None), about, 1),
            )
            frames.append(frame.select(F.inline(F.filter(told, lambda row: row.isNotNull()))))
        rows = frames[0]
        for frame in frames[1:]:
            rows = rows.unionByName(frame)
        return rows


def _note(kind: str, text: Column, **more: Column) -> Column:
    """A note in the shape of READ."""
    types = {"part": "int", "position": "bigint", "reason": "string"}
    rest = (more.get(name, F.lit(None)).cast(type_).alias(name) for name, type_ in types.items())
    return F.struct(F.lit(kind).alias("kind"), text.alias("text"), *rest)


def _row(wanted: Column, node: Column, topic: Column, rate: Column, note: Column, rows: int) -> Column:
    """A row in the shape of READ, where it is wanted."""
    note_type = "struct<kind: string, text: string, part: int, position: bigint, reason: string>"
    row = F.struct(
        node.cast("bigint").alias("node"),
        topic.cast("bigint").alias("topic"),
        rate.cast("double").alias("rate"),
        note.cast(note_type).alias("note"),
        F.lit(rows).cast("bigint").alias("rows"),
    )
    return F.when(wanted, row)


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
    text = pc.if_else(pa.array(is_number), pc.utf8_trim(columns[2], " +"), "0")
    return good, reasons, text.cast(pa.float64())


def _without_head(data: bytes, head: int) -> bytes:
    for _ in range(head):
        data = data.partition(b"\n")[2]
    return data


def _position(file: Path, name: str, columns: Sequence[str], width: int) -> int:
    """Where the column called `name` is: by its name, else by its number."""
    if name in columns:
        return list(columns).index(name)
    if name.isdigit() and int(name) < width:
        return int(name)
    if columns:
        raise InputError(f"{file} has no column {name!r}; it has: {', '.join(map(repr, columns))}.")
    if name.isdigit():
        raise InputError(f"{file} has no column {name}; its first line has {width}, counted from 0.")
    raise UsageError(f"column {name!r} is named, but no header is read; pass --header, or give its position from 0.")


def _is_parquet(file: Path) -> bool:
    with file.open("rb") as opened:
        return opened.read(len(PARQUET)) == PARQUET

"""A source of lists: one line holds all topics of a node, or all nodes of a topic."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession

from ropewalk.errors import UsageError
from ropewalk.workloads.contract import parameter
from ropewalk.workloads.reading.delimited import separator, single_blanks
from ropewalk.workloads.reading.files import Part, parts_of
from ropewalk.workloads.reading.gather import (
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
from ropewalk.workloads.reading.lines import Block, Lines

EMPTY = "empty list"


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjacency:
    """A member is one row of the input; a list without members is one row that is left out."""

    name: ClassVar[str] = "adjacency"
    sentence: ClassVar[str] = "Text, one list per line: all topics of a node, or all nodes of a topic."
    left_out: ClassVar[tuple[str, ...]] = (EMPTY,)

    sep: str = parameter("What separates members; \\t is a tab. Several blanks are one.", default=",")
    key: Literal["first", "line"] = parameter(
        "What the list belongs to: its first field, or the line's number.", default="first"
    )
    key_sep: str | None = parameter("What ends the first field, if not the separator.", default=None)
    lists: Literal["topics", "nodes"] = parameter("What the members are.", default="topics")

    def __post_init__(self) -> None:
        for name, found in (("sep", self.sep), ("key-sep", self.key_sep)):
            if found is not None and (not found or "\n" in found):
                raise UsageError(f"{name} is {found!r}, but must be one or more characters of a line.")
        if self.key == "line" and self.key_sep is not None:
            raise UsageError(
                "key-sep ends the first field, but with `--key line` every field is a member; leave one out."
            )

    def gathered(self, spark: SparkSession, files: Sequence[Path]) -> Gathered:
        """Every member of every list."""
        parts = parts_of(files)
        before = self._lines_before(spark, parts) if self.key == "line" else [0] * len(parts)

        def read(part: Part) -> Iterator[pa.RecordBatch]:
            return self.read(part, before[part.number])

        return gather(spread(spark, parts, read), names_of_parts(parts, files), left_out=self.left_out)

    def read(self, part: Part, before: int) -> Iterator[pa.RecordBatch]:
        """The rows of one part, `before` lines after the first line of all files."""
        lines, ledger = Lines(part), Ledger()
        for block in lines:
            if isinstance(block, Block):
                yield from self._rows(part, block, before, ledger)
            else:
                yield rejects(part, [Reject(block.number, block.beginning, block.reason)])
        yield size_of(part, lines.count)

    def _rows(self, part: Part, block: Block, before: int, ledger: Ledger) -> Iterator[pa.RecordBatch]:
        numbers, lines, refused = self._lines(block)
        if len(lines):
            keys, lists = self._keyed(lines, pa.array(numbers + before))
            members = pc.list_flatten(lists)
            parents = pc.list_parent_indices(lists)
            sizes = np.asarray(pc.list_value_length(lists))
            no_key = np.asarray(pc.equal(pc.binary_length(keys), 0))
            no_name = np.asarray(pc.equal(pc.binary_length(members), 0))
            lost = np.asarray(parents)[no_name]
            empty_members = np.bincount(lost, minlength=len(lines)) if lost.size else np.zeros(len(lines), np.int64)
            for line in np.flatnonzero(no_key | (empty_members > 0)):
                reason = "the list has no key" if no_key[line] else f"a member of {sizes[line]} is empty"
                rows = max(1, sizes[line]) if no_key[line] else empty_members[line]
                refused.append(Reject(int(numbers[line]), lines[line].as_py().encode(), reason, int(rows)))
            if no_key.any() or lost.size:
                good = pa.array(~no_name & ~no_key[np.asarray(parents)])
                members, parents = members.filter(good), parents.filter(good)
            owners = keys.take(parents)
            yield from ledger.pairs(*((owners, members) if self.lists == "topics" else (members, owners)))
            if empty := int(np.count_nonzero((sizes == 0) & ~no_key)):
                yield counts({EMPTY: empty})
        if refused:
            yield rejects(part, refused)

    def _lines(self, block: Block) -> tuple[np.ndarray, pa.Array, list[Reject]]:
        """The numbers and texts of the lines of a block that are text and not blank, and those that are no text."""
        data = block.data.replace(b"\r\n", b"\n") if b"\r" in block.data else block.data
        if separator(self.sep) == " ":
            data = single_blanks(data)
        lines = data.split(b"\n")[:-1]
        numbers = np.arange(block.first, block.first + len(lines))
        refused: list[Reject] = []
        usable = np.array([bool(line) for line in lines], np.bool_)
        if not _is_text(data):
            for place, line in enumerate(lines):
                if not _is_text(line):
                    refused.append(Reject(int(numbers[place]), line, "the line is not UTF-8"))
                    usable[place] = False
        if not usable.all():
            lines, numbers = list(compress(lines, usable)), numbers[usable]
        return numbers, pa.array(lines, pa.binary()).cast(pa.string()), refused

    def _keyed(self, lines: pa.Array, numbers: pa.Array) -> tuple[pa.Array, pa.Array]:
        """The key of each line, and its members as a list."""
        between = separator(self.sep)
        if self.key == "line":
            return numbers.cast(pa.string()), pc.split_pattern(lines, between)
        halves = pc.split_pattern(lines, separator(self.key_sep or self.sep), max_splits=1)
        keys = pc.list_element(halves, 0)
        has_rest = pc.greater(pc.list_value_length(halves), 1)
        rest = pc.if_else(has_rest, pc.list_element(pc.if_else(has_rest, halves, pa.scalar(["", ""])), 1), "")
        lists = pc.split_pattern(rest, between)
        is_empty = pc.equal(pc.binary_length(rest), 0)
        return keys, pc.if_else(is_empty, pa.scalar([], lists.type), lists)

    def _lines_before(self, spark: SparkSession, parts: Sequence[Part]) -> list[int]:
        """How many lines of all files lie before each part: a line's number is its key, so this must be known first."""
        if len(parts) == 1:
            return [0]

        def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for number in batch.column(0).to_pylist():
                    lines = Lines(parts[number])
                    for _ in lines:
                        pass
                    yield pa.RecordBatch.from_pydict({"part": [number], "lines": [lines.count]})

        counted = spark.range(0, len(parts), numPartitions=len(parts)).mapInArrow(count, "part long, lines long")
        sizes: dict[int, int] = dict(counted.collect())  # one row for each part
        return [sum(sizes[number] for number in range(part.number)) for part in parts]


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True

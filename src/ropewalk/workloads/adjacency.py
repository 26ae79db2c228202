"""A source of lists: one line holds all topics of a node, or all nodes of a topic."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, compress
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import SparkSession

from ropewalk.errors import UsageError
from ropewalk.parameters import parameter
from ropewalk.workloads.reading.delimited import is_empty, is_text, separator, single_blanks
from ropewalk.workloads.reading.files import Part, parts_of
from ropewalk.workloads.reading.gather import Gathered, gather, names_of_parts, spread, told
from ropewalk.workloads.reading.lines import Block, Lines
from ropewalk.workloads.reading.packets import NODE, TOPIC, Ledger, Reject, counts, rejects

Longs = NDArray[np.int64]

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

        return gather(
            spread(spark, parts, read), names_of_parts(parts, files), buckets=parts[0].buckets, left_out=self.left_out
        )

    def read(self, part: Part, before: int) -> Iterator[pa.RecordBatch]:
        """The rows of one part, `before` lines after the first line of all files."""
        ledger = Ledger(part.buckets)
        return told(part, ledger, lambda block: self._rows(part, block, before, ledger))

    def _rows(self, part: Part, block: Block, before: int, ledger: Ledger) -> Iterator[pa.RecordBatch]:
        numbers, lines, refused = self._lines(block)
        if len(lines):
            keys, lists = self._keyed(lines, pa.array(numbers + before))
            members, parents = pc.list_flatten(lists), np.asarray(pc.list_parent_indices(lists))
            sizes = np.asarray(pc.list_value_length(lists))
            no_key, no_name = is_empty(keys), is_empty(members)
            not_ended = self._not_ended(lines)
            nameless = np.bincount(parents[no_name], minlength=len(lines))
            no_key |= not_ended
            for line in np.flatnonzero(no_key | (nameless > 0)):
                reason = "the list has no key" if no_key[line] else "a member of the list is empty"
                if not_ended[line]:
                    reason = f"there is no {self.key_sep!r} that ends the list's key"
                rows = max(1, sizes[line]) if no_key[line] else nameless[line]
                refused.append(Reject(int(numbers[line]), lines[line].as_py().encode(), reason, int(rows)))
            yield from self._entered(ledger, keys, members, parents, ~no_name & ~no_key[parents])
            if empty := int(np.count_nonzero((sizes == 0) & ~no_key)):
                yield counts({EMPTY: empty})
        if refused:
            yield rejects(part, refused)

    def _entered(
        self, ledger: Ledger, keys: pa.Array, members: pa.Array, parents: Longs, good: NDArray[np.bool_]
    ) -> Iterator[pa.RecordBatch]:
        """Enter the good members. A key is named once, not once per member: it may be long, and its list, too."""
        members, parents = members.filter(pa.array(good)), parents[good]
        used, places = np.unique(parents, return_inverse=True)
        owner, member = (NODE, TOPIC) if self.lists == "topics" else (TOPIC, NODE)
        owners = ledger.named(owner, keys.take(pa.array(used)))[places]
        found = ledger.named(member, members)
        yield from ledger.entered(owners, found) if owner == NODE else ledger.entered(found, owners)

    def _lines(self, block: Block) -> tuple[np.ndarray, pa.Array, list[Reject]]:
        """The numbers and texts of the lines of a block that are text and not blank, and those that are no text."""
        data = block.data.replace(b"\r\n", b"\n") if b"\r" in block.data else block.data
        if separator(self.sep) == " ":
            data = single_blanks(data)
        lines = data.split(b"\n")[:-1]
        numbers = np.arange(block.first, block.first + len(lines))
        refused: list[Reject] = []
        usable = np.array([bool(line) or self.key == "line" for line in lines], np.bool_)
        if not is_text(data):
            for place, line in enumerate(lines):
                if not is_text(line):
                    refused.append(Reject(int(numbers[place]), line, "the line is not UTF-8"))
                    usable[place] = False
        if not usable.all():
            lines, numbers = list(compress(lines, usable)), numbers[usable]
        return numbers, pa.array(lines, pa.binary()).cast(pa.string()), refused

    def _keyed(self, lines: pa.Array, numbers: pa.Array) -> tuple[pa.Array, pa.Array]:
        """The key of each line, and its members as a list."""
        between = separator(self.sep)
        if self.key == "line":
            return numbers.cast(pa.string()), _members(lines, between)
        halves = pc.split_pattern(lines, separator(self.key_sep or self.sep), max_splits=1)
        keys = pc.list_element(halves, 0)
        has_rest = pc.greater(pc.list_value_length(halves), 1)
        rest = pc.if_else(has_rest, pc.list_element(pc.if_else(has_rest, halves, pa.scalar(["", ""])), 1), "")
        return keys, _members(pc.utf8_trim(rest, " ") if between == " " else rest, between)

    def _not_ended(self, lines: pa.Array) -> NDArray[np.bool_]:
        """Which lines lack what should end their key, where it was told."""
        if self.key_sep is None:
            return np.zeros(len(lines), np.bool_)
        return ~np.asarray(pc.match_substring(lines, separator(self.key_sep)))

    def _lines_before(self, spark: SparkSession, parts: Sequence[Part]) -> list[int]:
        """How many lines of all files lie before each part: a line's number is its key, so this must be known first."""
        if len(parts) == 1:
            return [0]

        def count(part: Part) -> Iterator[pa.RecordBatch]:
            lines = Lines(part)
            for _ in lines:
                pass
            yield pa.RecordBatch.from_pydict({"part": [part.number], "lines": [lines.count]})

        counted = spread(spark, parts, count, "part long, lines long")
        sizes: dict[int, int] = dict(counted.collect())  # one row for each part
        return [0, *accumulate(sizes[part.number] for part in parts[:-1])]


def _members(texts: pa.Array, between: str) -> pa.Array:
    """The members of each list; of one without text there are none."""
    lists = pc.split_pattern(texts, between)
    return pc.if_else(pc.equal(pc.binary_length(texts), 0), pa.scalar([], lists.type), lists)

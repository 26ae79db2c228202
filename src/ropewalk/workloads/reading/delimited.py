"""Lines cut into fields: fast where a block of lines is plain, one by one where a line has quotes or is odd.

A field may stand in quotes, with quotes doubled inside; it may not hold a newline, so that a quote somebody forgot to
close costs its own line and no other.
"""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from numpy.typing import NDArray

from ropewalk.errors import UsageError
from ropewalk.workloads.reading.lines import LONGEST

STAND_IN = b"\x1f"  # "unit separator": what a separator of several characters becomes


@dataclass(frozen=True, slots=True)
class Style:
    """How fields are told apart; `comment` begins a line that says nothing."""

    separator: str = ","
    quote: str = '"'
    comment: str = ""

    def refuse_if_impossible(self) -> None:
        """A separator must be there, and differ from quotes."""
        if not self.separator or "\n" in self.separator:
            raise UsageError(f"sep is {self.separator!r}, but must be one or more characters of a line.")
        if len(self.quote) > 1 or not self.quote.isascii():
            raise UsageError(f"quote is {self.quote!r}, but must be one ASCII character, or '' for none.")
        if self.quote and self.quote in self.separator:
            raise UsageError(f"sep is {self.separator!r} and quote is {self.quote!r}, but they must differ.")


def separator(said: str) -> str:
    r"""A separator as people write it on a command line: \t for a tab."""
    return said.replace("\\t", "\t")


@dataclass(frozen=True, slots=True)
class Odd:
    """A line of a block (from 0) that has no fields to give, and why."""

    line: int
    text: bytes
    reason: str


@dataclass(frozen=True, slots=True)
class Fields:
    """The wanted columns of the lines that have them, the number of each such line in its block, and the others."""

    columns: list[pa.Array]
    lines: NDArray[np.int64]
    odd: list[Odd]
    comments: int


def cut(data: bytes, style: Style, width: int, wanted: Sequence[int]) -> Fields:
    """The fields of a block of whole lines that should have `width` fields each."""
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n")
    if style.separator == " " and not (style.quote and style.quote.encode() in data):
        data = single_blanks(data)
    if _is_plain(data, style):
        return _cut_plain(data, np.arange(data.count(b"\n")), style, width, wanted)
    plain: list[bytes] = []
    numbers: list[int] = []
    rows: list[list[str]] = []
    rows_at: list[int] = []
    odd: list[Odd] = []
    comments = 0
    comment = style.comment.encode()
    odd_marks = [b"\r", STAND_IN, *([style.quote.encode()] if style.quote else [])]
    for number, line in enumerate(data.split(b"\n")[:-1]):
        if not line:
            continue
        if comment and line.startswith(comment):
            comments += 1
        elif line.isascii() and not any(mark in line for mark in odd_marks):
            plain.append(single_blanks(line + b"\n")[:-1] if style.separator == " " else line)
            numbers.append(number)
        else:
            fields = fields_of(line, style)
            if isinstance(fields, str):
                odd.append(Odd(number, line, fields))
            elif len(fields) != width:
                odd.append(Odd(number, line, _wrong_width(width, len(fields))))
            else:
                rows.append([fields[column] for column in wanted])
                rows_at.append(number)
    lines = np.array(numbers, np.int64)
    found = _cut_plain(b"\n".join(plain) + b"\n" if plain else b"", lines, style, width, wanted)
    by_column = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)] or [
        pa.nulls(0, pa.string())
    ] * len(wanted)
    return Fields(
        [pa.concat_arrays(pair) for pair in zip(found.columns, by_column, strict=True)],
        np.concatenate((found.lines, np.array(rows_at, np.int64))),
        found.odd + odd,
        comments,
    )


def fields_of(line: bytes, style: Style) -> list[str] | str:
    """The fields of one line, or the reason why it has none."""
    csv.field_size_limit(LONGEST)
    if not is_text(line):
        return "the line is not UTF-8"
    text = line.decode()
    if not style.quote or style.quote not in text:
        if "\r" in text:
            return "there is a carriage return inside the line"
        return _split(text, style.separator)
    separator = style.separator
    if len(separator) > 1:
        if STAND_IN.decode() in text:
            return "there is a control character inside the line"
        text, separator = text.replace(separator, STAND_IN.decode()), STAND_IN.decode()
    try:
        (fields,) = csv.reader([text], delimiter=separator, quotechar=style.quote, strict=True)
    except (csv.Error, ValueError):
        return "its quotes do not match"
    if separator == " ":
        fields = [field for field in fields if field]
    return [field.replace(separator, style.separator) for field in fields]


def _split(text: str, separator: str) -> list[str]:
    return [field for field in text.split(" ") if field] if separator == " " else text.split(separator)


def single_blanks(data: bytes) -> bytes:
    """Where blanks separate, several do so once, and none before the first or after the last field."""
    if b"  " in data:
        data = re.sub(rb" {2,}", b" ", data)
    if data.startswith(b" ") or b"\n " in data or b" \n" in data:
        data = re.sub(rb"(?m)^ | $", b"", data)
    return data


def _is_plain(data: bytes, style: Style) -> bool:
    """Whether every line is just fields and separators."""
    if b"\n\n" in data or data.startswith(b"\n") or b"\r" in data:
        return False
    if style.quote and style.quote.encode() in data:
        return False
    if len(style.separator) > 1 and STAND_IN in data:
        return False
    if style.comment and style.comment.encode() in data:
        return False
    return is_text(data)


def is_text(data: bytes) -> bool:
    """Whether bytes are UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _cut_plain(data: bytes, numbers: NDArray[np.int64], style: Style, width: int, wanted: Sequence[int]) -> Fields:
    separator = style.separator.encode()
    if not data:
        return Fields([pa.nulls(0, pa.string())] * len(wanted), numbers, [], 0)
    if len(separator) > 1:
        data, separator = data.replace(separator, STAND_IN), STAND_IN
    odd: list[Odd] = []

    def refuse(row: Any) -> str:
        odd.append(
            Odd(
                int(numbers[row.number - 1]),
                row.text.encode().replace(STAND_IN, style.separator.encode()),
                _wrong_width(width, row.actual_columns),
            )
        )
        return "skip"

    names = [str(column) for column in range(width)]
    table = pyarrow.csv.read_csv(
        pa.BufferReader(data),
        pyarrow.csv.ReadOptions(use_threads=False, column_names=names, block_size=len(data) + 1),
        pyarrow.csv.ParseOptions(
            delimiter=separator.decode(), quote_char=False, invalid_row_handler=refuse, ignore_empty_lines=False
        ),
        pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            include_columns=[names[column] for column in wanted],
            strings_can_be_null=False,
            check_utf8=False,  # looked at already
        ),
    )
    if odd:
        numbers = numbers[~np.isin(numbers, [one.line for one in odd])]
    columns = [pa.concat_arrays(table.column(names[column]).chunks) for column in wanted]
    return Fields(columns, numbers, odd, 0)


def _wrong_width(width: int, found: int) -> str:
    return f"{found} field{'' if found == 1 else 's'} found, {width} expected"


def is_empty(column: pa.Array) -> NDArray[np.bool_]:
    """Where a column has nothing in it."""
    return np.asarray(pc.equal(pc.binary_length(column), 0))

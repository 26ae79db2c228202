"""A source of edits: the histories of smaller wikis as delimited text, one revision a line, text in `|` quotes.

The columns are those of WikiChron and its kin: page_id, page_title, page_ns, revision_id, timestamp, contributor_id,
contributor_name, bytes. Contributors without an account are all called Anonymous; their id is an address.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

from ropewalk.errors import InputError
from ropewalk.workloads.mediawiki import IP, LEFT_OUT, OTHER_NAMESPACE, OTHER_TIME, Wanted
from ropewalk.workloads.reading.delimited import Style, cut, fields_of, is_empty
from ropewalk.workloads.reading.files import Part, head_of, parts_of
from ropewalk.workloads.reading.gather import Gathered, gather, names_of_parts, spread, told
from ropewalk.workloads.reading.lines import LONGEST, Block
from ropewalk.workloads.reading.packets import Ledger, Reject, counts, rejects

COLUMNS = ("page_title", "page_ns", "timestamp", "contributor_name")
STYLE = Style(quote="|")
ANONYMOUS = "Anonymous"


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaWikiCsv(Wanted):
    """A revision is one row of the input."""

    name: ClassVar[str] = "mediawiki-csv"
    sentence: ClassVar[str] = "Histories of wikis as CSV with | quotes: editors and pages."

    def gathered(self, spark: SparkSession, files: Sequence[Path]) -> Gathered:
        """Every revision of every page."""
        parts = parts_of(files)
        headers = {str(file.absolute()): _header(file) for file in files}

        def read(part: Part) -> Iterator[pa.RecordBatch]:
            return self.read(part, headers[part.file])

        return gather(
            spread(spark, parts, read), names_of_parts(parts, files), buckets=parts[0].buckets, left_out=LEFT_OUT
        )

    def read(self, part: Part, header: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows of one part."""
        wanted = [header.index(column) for column in COLUMNS]
        ledger = Ledger(part.buckets)

        def rows(block: Block) -> Iterator[pa.RecordBatch]:
            data, first = block.data, block.first
            if part.start == 0 and first == 1:
                data, first = data.partition(b"\n")[2], 2
            if data:
                yield from self._rows(part, first, data, len(header), wanted, ledger)

        return told(part, ledger, rows)

    def _rows(
        self, part: Part, first: int, data: bytes, width: int, wanted: list[int], ledger: Ledger
    ) -> Iterator[pa.RecordBatch]:
        fields = cut(data, STYLE, width, wanted)
        titles, namespaces, stamps, names = fields.columns
        refused = [Reject(first + odd.line, odd.text, odd.reason) for odd in fields.odd]
        empty = is_empty(titles) | is_empty(names)
        if empty.any():
            text = data.split(b"\n")
            refused += [
                Reject(first + int(line), text[line], "the page or its editor has no name")
                for line in fields.lines[empty]
            ]
        good, left_out = ~empty, {}
        for reason, is_out in (
            (OTHER_NAMESPACE, self._elsewhere(namespaces)),
            (OTHER_TIME, ~np.array([self.is_in_time(stamp) for stamp in stamps.to_pylist()], np.bool_)),
            (IP, np.array([name == ANONYMOUS for name in names.to_pylist()], np.bool_)),
        ):
            left_out[reason] = int(np.count_nonzero(is_out & good))
            good &= ~is_out
        mask = pa.array(good)
        yield from ledger.pairs(names.filter(mask), titles.filter(mask))
        yield counts({reason: rows for reason, rows in left_out.items() if rows})
        if refused:
            yield rejects(part, refused)

    def _elsewhere(self, namespaces: pa.Array) -> np.ndarray:
        kept = self.namespaces
        return np.array([kept is not None and space not in kept for space in namespaces.to_pylist()], np.bool_)


def _header(file: Path) -> list[str]:
    line = head_of(file, LONGEST).partition(b"\n")[0].removesuffix(b"\r")
    found = fields_of(line, STYLE)
    if isinstance(found, str):
        raise InputError(f"the first line of {file}, which must name the columns, cannot be read: {found}.")
    missing = [column for column in COLUMNS if column not in found]
    if missing:
        raise InputError(
            f"the first line of {file} must name the columns {', '.join(COLUMNS)}; it lacks {', '.join(missing)}."
        )
    return found

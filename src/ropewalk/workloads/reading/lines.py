"""Files of lines: a part as blocks of whole lines, numbered, with whatever is no line in between.

A part owns the lines that begin after its first newline, up to the first newline past its end: so each line has one
owner wherever the cuts are. The first part of a file owns its first line, too.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from ropewalk.workloads.reading.files import PIECE, Gap, Part, pieces

LONGEST = PIECE  # bytes of a line; beyond it is no line of anything here, and would have to be held


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines, each with its newline; `first` is the number of the first within its part, from 1."""

    first: int
    data: bytes


@dataclass(frozen=True, slots=True)
class NoLine:
    """What stands in the place of line `number`, and why it is none."""

    number: int
    beginning: bytes
    reason: str


class Lines:
    """Iterate over the blocks of a part; afterwards `count` says how many lines it owns."""

    def __init__(self, part: Part) -> None:
        self.count = 0
        self._part = part
        self._begun = b""  # of the line that is being read
        self._length = 0  # of that line: more than is held, once it is too long

    def __iter__(self) -> Iterator[Block | NoLine]:
        lost = self._part.start > 0  # whether the next newline ends a line that is not ours
        for own, piece in pieces(self._part):
            if isinstance(piece, Gap):
                if own or self._begun:
                    yield self._no_line(piece.reason)
                if not own:
                    return
                lost = True
            elif lost:
                if not own:
                    return
                _, newline, rest = piece.partition(b"\n")
                lost = not newline
                yield from self._read(rest)
            elif own:
                yield from self._read(piece)
            else:
                end = piece.find(b"\n") + 1
                yield from self._read(piece[: end or None])
                if end:
                    return
        if self._length:
            yield from self._read(b"\n")

    def _read(self, piece: bytes) -> Iterator[Block | NoLine]:
        first = piece.find(b"\n")
        if first < 0:
            self._length += len(piece)
            if self._length <= LONGEST:
                self._begun += piece
            return
        if self._length + first > LONGEST:
            self._length += first
            yield self._no_line(f"the line is longer than {LONGEST} bytes, the most that is read")
            piece = piece[first + 1 :]
        last = piece.rfind(b"\n") + 1
        if last:
            data = self._begun + piece[:last] if self._begun else piece[:last]
            yield Block(self.count + 1, data)
            self.count += data.count(b"\n")
        self._begun = piece[last:]
        self._length = len(self._begun)

    def _no_line(self, reason: str) -> NoLine:
        self.count += 1
        found = NoLine(self.count, self._begun, reason)
        self._begun, self._length = b"", 0
        return found

"""The files of a folder, as they grow: nodes come with files of their own, and some are replaced."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ropewalk.dashboard import rows
from ropewalk.errors import InputError

AT_ONCE = 1_048_576  # ours, bytes of a file at a time
MOST_AT_ONCE = 8 * 1_048_576  # ours, bytes of all files: a page is shown meanwhile, and the rest comes next
LONGEST = 4 * 1_048_576  # ours, bytes: of a line; what is longer is no row
MOST_FILES = 10_000  # ours
SEAL = 256  # ours, bytes: of what was read last, by which a copy of the same file is known
Read = tuple[rows.Any, str]  # a row, and the name of its file


@dataclass(slots=True)
class Tail:
    """A file, up to where it has been read."""

    path: Path
    inode: int = 0
    read: int = 0
    rest: bytes = b""  # of a line that is not written to its end yet
    seal: bytes = b""  # the last that was read, whether it was a line or not

    @property
    def name(self) -> str:
        """What its node is called: text, even if the name of the file is none."""
        return os.fsencode(self.path.stem).decode("utf-8", "replace")

    def took(self, data: bytes) -> None:
        """So much more of it is read."""
        self.read += len(data)
        self.seal = (self.seal + data)[-SEAL:]

    def goes_on_in(self, file: BinaryIO, size: int) -> bool:
        """Whether this one, which is another, begins with what was read: who copies a file again puts a new one in its place."""
        if size < self.read or not self.seal:
            return False
        file.seek(self.read - len(self.seal))
        return file.read(len(self.seal)) == self.seal

    def begin_anew(self) -> None:
        """It is about something else."""
        self.read, self.rest, self.seal = 0, b"", b""


class Watch:
    """Reads on where it stopped."""

    def __init__(self, folders: Iterable[Path]) -> None:
        self.folders = tuple(folders)
        self.unreadable = 0  # lines that are no rows
        self.behind = False  # whether more had been written at the last look than was read
        self._tails: dict[Path, Tail] = {}
        self._turn = 0
        for folder in self.folders:
            if not folder.is_dir():
                raise InputError(
                    f"{folder} is not a folder; give one into which nodes write (--telemetry FOLDER/a.jsonl)."
                )

    def more(self) -> list[Read]:
        """Rows that have been written since, by time."""
        self._look_for_files()
        found: list[Read] = []
        room, self.behind = MOST_AT_ONCE, False
        tails = list(self._tails.values())
        for step in range(len(tails)):
            if room <= 0:
                self._turn += step  # go on with who had no turn
                self.behind = True
                break
            tail = tails[(self._turn + step) % len(tails)]
            most = min(AT_ONCE, room)
            data = self._read(tail, most)
            room -= len(data)
            self.behind = self.behind or len(data) == most
            found += self._rows(tail, data)
        found.sort(key=lambda each: rows.time_of(each[0]))
        return found

    def _look_for_files(self) -> None:
        for folder in self.folders:
            try:
                paths = sorted(folder.glob("*.jsonl"))
            except OSError:
                continue  # it may come back
            for path in paths:
                if path not in self._tails and len(self._tails) < MOST_FILES:
                    self._tails[path] = Tail(path)

    def _read(self, tail: Tail, most: int) -> bytes:
        try:
            with tail.path.open("rb") as file:
                stat = os.fstat(file.fileno())
                another, tail.inode = stat.st_ino != tail.inode, stat.st_ino
                if stat.st_size < tail.read or (another and not tail.goes_on_in(file, stat.st_size)):
                    tail.begin_anew()
                if stat.st_size == tail.read:
                    return b""
                file.seek(tail.read)
                data = file.read(most)
        except OSError:
            return b""  # it is gone, or may not be read
        tail.took(data)
        return data

    def _rows(self, tail: Tail, data: bytes) -> list[Read]:
        if not data:
            return []
        *lines, tail.rest = (tail.rest + data).split(b"\n")
        if len(tail.rest) > LONGEST:
            tail.rest = b""
            self.unreadable += 1
        found: list[Read] = []
        name = tail.name
        for line in lines:
            row = rows.row_of(line) if line else None
            if row is not None:
                found.append((row, name))
            else:
                self.unreadable += bool(line)
        return found

"""Input files cut into parts that tasks read on their own: plain, .gz and .bz2, in UTF-8 or UTF-16.

A part is a range of the stored bytes. Plain files and bzip2 archives are cut; a gzip archive, and a file in UTF-16, is one part.
A record (a line, a page) belongs to the part in which it begins; its reader goes on past the part's end to finish it. What
cannot be decompressed is a gap in the stream, with the reason; whatever lies around it is read.
"""

import codecs
import mmap
import os
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from ropewalk.errors import InputError
from ropewalk.workloads.reading.bzip2 import blocks

Packing = Literal["plain", "gzip", "bzip2"]

PLAIN_PART = 16 * 2**20  # bytes of a plain file in one part: some tasks for every core, and each worth its start
BZIP2_PART = 6 * 2**20  # likewise of an archive
BUCKET = 8 * 2**20  # bytes of input to a bucket
LEAST_BUCKETS, MOST_BUCKETS = 4, 2**14
PIECE = 2**20  # bytes handed on at a time, and what a task holds
HEAD = 2**16  # bytes looked at to see what a file is
REFUSED = {
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\xfd7zXZ\x00": "xz",
    b"7z\xbc\xaf\x27\x1c": "7-Zip",
    b"PK\x03\x04": "zip",
}
UTF_16 = {
    codecs.BOM_UTF16_LE: "utf-16-le",
    b"<\x00": "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
    b"\x00<": "utf-16-be",
}


@dataclass(frozen=True, slots=True)
class Part:
    """Bytes start to end of a file as it is stored. `number` counts the parts of all files in order."""

    number: int
    file: str
    packing: Packing
    encoding: str
    start: int
    end: int
    buckets: int = 1  # to which what is read of all files is dealt, a power of two


@dataclass(frozen=True, slots=True)
class Gap:
    """Something is missing from the stream here."""

    reason: str


Piece = bytes | Gap


def files_of(paths: Sequence[Path]) -> list[Path]:
    """The files meant by some paths: a folder stands for the files in it, by name, without hidden ones."""
    found = [file for path in paths for file in (_inside(path) if path.is_dir() else [path])]
    for file in found:
        if not file.exists():
            raise InputError(f"{file} does not exist; give the file to read.")
        if not file.is_file():
            raise InputError(f"{file} is no file that can be read from any place; save what it gives to a file.")
        if not os.access(file, os.R_OK):
            raise InputError(f"{file} cannot be read; see to its permissions.")
    names = [str(file.resolve()) for file in found]
    for number, name in enumerate(names):
        if name in names[:number]:
            raise InputError(f"{found[number]} is named twice; name each file once.")
    return found


def _inside(folder: Path) -> list[Path]:
    inside = [file for file in sorted(folder.iterdir()) if not file.name.startswith((".", "_"))]
    if not inside:
        raise InputError(f"{folder} is a folder without files; give a file, or a folder that has some.")
    for file in inside:
        if file.is_dir():
            raise InputError(f"{file} is a folder inside a folder; name the folders that hold files.")
    return inside


def parts_of(files: Sequence[Path]) -> list[Part]:
    """All parts of all files, in order."""
    found: list[Part] = []
    buckets = _buckets(sum(file.stat().st_size for file in files))
    for file in files:
        size = file.stat().st_size
        packing, encoding = _looked_at(file)
        step = {"plain": PLAIN_PART, "gzip": max(size, 1), "bzip2": BZIP2_PART}[packing]
        if encoding != "utf-8":
            step = max(size, 1)
        for start in range(0, max(size, 1), step):
            end = min(start + step, size)
            found.append(Part(len(found), str(file.absolute()), packing, encoding, start, end, buckets))
    return found


def _buckets(size: int) -> int:
    """So many that a task can hold what one gets: of 8 MiB of input, packed well, at most some hundred megabytes."""
    wanted = max(1, min(size // BUCKET, MOST_BUCKETS))
    return max(LEAST_BUCKETS, 1 << (wanted - 1).bit_length())


def head_of(file: Path, length: int = HEAD) -> bytes:
    """The first bytes of a file, decompressed, as UTF-8."""
    packing, encoding = _looked_at(file)
    head = b""
    for _, piece in pieces(Part(0, str(file), packing, encoding, 0, file.stat().st_size)):
        if isinstance(piece, Gap):
            break
        head += piece
        if len(head) >= length:
            break
    return head[:length]


def _looked_at(file: Path) -> tuple[Packing, str]:
    with file.open("rb") as opened:
        head = opened.read(HEAD)
    for magic, name in REFUSED.items():
        if head.startswith(magic):
            raise InputError(f"{file} is packed with {name}, which is not read; give it plain, as .gz or as .bz2.")
    packing: Packing = "plain"
    if head.startswith(b"\x1f\x8b"):
        packing = "gzip"
    elif head[:3] == b"BZh" and head[3:4] in b"123456789" and head[4:10] in (b"1AY&SY", b"\x17rE8P\x90"):
        packing = "bzip2"
    first = next((piece for _, piece in pieces(Part(0, str(file), packing, "utf-8", 0, len(head)))), b"")
    start = first[:2] if isinstance(first, bytes) else b""
    return packing, UTF_16.get(start, "utf-8")


def pieces(part: Part) -> Iterator[tuple[bool, Piece]]:
    """The bytes of a part in UTF-8, and whether they are its own; then those that follow, for as long as one asks."""
    reader = {"plain": _plain, "gzip": _gunzipped, "bzip2": _bunzipped}[part.packing]
    if part.encoding != "utf-8":
        yield from _recoded(reader(part), part.encoding)
        return
    first = part.start == 0
    for own, piece in reader(part):
        if first and isinstance(piece, bytes):
            first = False
            yield own, piece.removeprefix(codecs.BOM_UTF8)
        else:
            yield own, piece


def _plain(part: Part) -> Iterator[tuple[bool, Piece]]:
    with Path(part.file).open("rb") as opened:
        opened.seek(part.start)
        left = part.end - part.start
        while left > 0:
            piece = opened.read(min(PIECE, left))
            if not piece:
                return
            left -= len(piece)
            yield True, piece
        while piece := opened.read(HEAD):
            yield False, piece


def _gunzipped(part: Part) -> Iterator[tuple[bool, Piece]]:
    with Path(part.file).open("rb") as opened:
        stream = zlib.decompressobj(wbits=31)
        fresh = False  # whether nothing of the current member has been seen
        while packed := opened.read(PIECE // 8):
            while packed:
                if fresh and not packed.strip(b"\0"):
                    break  # padding
                fresh = False
                before = stream.copy()
                try:
                    piece = stream.decompress(packed, PIECE)
                except zlib.error as error:
                    yield True, _before_damage(before, packed)
                    yield True, Gap(f"the archive is damaged from here on ({error})")
                    return
                if piece:
                    yield True, piece
                packed = stream.unconsumed_tail
                if stream.eof:
                    packed, stream, fresh = stream.unused_data, zlib.decompressobj(wbits=31), True
        if not fresh:
            yield True, Gap("the archive ends early")


def _before_damage(stream: "zlib._Decompress", packed: bytes) -> bytes:
    """What can be unpacked before the damage that lies somewhere in `packed`: halving finds where."""
    found = b""
    while packed:
        half = packed[: max(1, len(packed) // 2)]
        attempt = stream.copy()
        try:
            found += attempt.decompress(half)
        except zlib.error:
            if len(half) == 1:
                break
            packed = half
        else:
            stream, packed = attempt, packed[len(half) :]
    return found


def _bunzipped(part: Part) -> Iterator[tuple[bool, Piece]]:
    with Path(part.file).open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        data = np.frombuffer(mapped, np.uint8)
        try:
            for at, block in blocks(data, part.start):
                own = at < part.end
                if block is None:
                    yield own, Gap("a block of the archive is damaged or cut off")
                else:
                    for start in range(0, len(block), PIECE):
                        yield own, block[start : start + PIECE]
        finally:
            del data  # or the map could not be closed


def _recoded(stream: Iterator[tuple[bool, Piece]], encoding: str) -> Iterator[tuple[bool, Piece]]:
    """UTF-16 as UTF-8. What is no UTF-16 becomes bytes that are no UTF-8: it is then found where that is looked for."""
    decoder = codecs.getincrementaldecoder(encoding)("surrogatepass")
    first = True
    for own, piece in stream:
        if isinstance(piece, Gap):
            decoder.reset()
            yield own, piece
            continue
        text = decoder.decode(piece)
        if first and text:
            text, first = text.removeprefix("\ufeff"), False
        yield own, text.encode("utf-8", "surrogatepass")
    if decoder.getstate()[0]:
        yield True, Gap("the file ends in the middle of a character")

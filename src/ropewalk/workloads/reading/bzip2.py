"""bzip2 archives block by block: any part of one can be read by itself, and a damaged block costs no other.

A stream is a header, blocks of up to 900 kB, and an end; blocks begin with a 48-bit mark at any *bit* and depend on nothing
before them. To read one, its bits are shifted to a byte boundary and wrapped into a stream of their own.
"""

import bz2
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ropewalk.arrays.compiled import compiled

Bytes = NDArray[np.uint8]

BLOCK, END = 0x314159265359, 0x177245385090  # the marks: pi and its square root
MARK_BITS, CHECKSUM_BITS = 48, 32
MARK = np.uint64(2**MARK_BITS - 1)
HEADER = b"BZh9"  # the largest block size reads the smaller ones, too
FALSE_MARKS = 3  # a mark inside a block's data is a 2^-48 chance a bit; it is then read as if it were not there


def blocks(data: Bytes, start: int) -> Iterator[tuple[int, bytes | None]]:
    """Where (in bytes) each block from `start` on begins, and what it says: None if it cannot be read."""
    at, kind = _next_mark(data, start * 8)
    while at >= 0:
        if kind == BLOCK:
            said, at, kind = _read(data, at)
            yield said
        else:
            at, kind = _next_mark(data, at + MARK_BITS)


def _read(data: Bytes, at: int) -> tuple[tuple[int, bytes | None], int, int]:
    """The block at bit `at`, and the mark after it."""
    first: tuple[int, int] | None = None
    after = at
    for _ in range(FALSE_MARKS):
        after, kind = _next_mark(data, after + MARK_BITS)
        if first is None:
            first = after, kind
        if after < 0:
            break
        try:
            return (at // 8, bz2.decompress(_stream_of(data, at, after))), after, kind
        except (OSError, ValueError):
            continue
    assert first is not None
    return (at // 8, None), *first


def _stream_of(data: Bytes, start: int, end: int) -> bytes:
    """Bits start to end, a block, as a stream of its own: header, block, end mark, and the block's checksum again."""
    shift = start % 8
    source = data[start // 8 : (end + 7) // 8 + 1]
    wide = source.astype(np.uint16)
    aligned = (wide[:-1] << shift | wide[1:] >> (8 - shift)).astype(np.uint8) if shift else source
    whole, rest = divmod(end - start, 8)
    body = aligned[:whole].tobytes()
    checksum = int.from_bytes(body[MARK_BITS // 8 : (MARK_BITS + CHECKSUM_BITS) // 8], "big")
    last = int(aligned[whole]) >> (8 - rest) if rest else 0
    tail = ((last << MARK_BITS) | END) << CHECKSUM_BITS | checksum
    bits = rest + MARK_BITS + CHECKSUM_BITS
    padding = -bits % 8
    return HEADER + body + (tail << padding).to_bytes((bits + padding) // 8, "big")


@compiled
def _next_mark(data: Bytes, start: int) -> tuple[int, int]:
    """The first bit from `start` on where a mark begins, and which; (-1, 0) if there is none."""
    window = np.uint64(0)
    for byte in range(start // 8, data.size):
        window = (window << np.uint64(8)) | np.uint64(data[byte])
        last = (byte + 1) * 8  # the window ends before this bit
        for back in range(7, -1, -1):
            first = last - back - MARK_BITS
            if first < start:
                continue
            seen = (window >> np.uint64(back)) & MARK
            if seen == np.uint64(BLOCK):
                return first, BLOCK
            if seen == np.uint64(END):
                return first, END
    return -1, 0

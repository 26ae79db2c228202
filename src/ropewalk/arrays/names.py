"""Names as Arrow holds them: their ids in one sweep, and which of them have not been seen yet."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ropewalk import ids
from ropewalk.arrays.compiled import Long, compiled
from ropewalk.arrays.hashing import ONE, PRIME_1, PRIME_2, PRIME_3, PRIME_4, S27, S29, S31, S32, S33, S37, SPARK_SEED

Bytes = NDArray[np.uint8]
Longs = NDArray[np.int64]

PRIME_5 = np.uint64(ids.PRIME_5)
STRIPE, WORD, HALF_WORD = ids.STRIPE, ids.WORD, ids.HALF_WORD
LANE_TURNS = (np.uint64(1), np.uint64(7), np.uint64(12), np.uint64(18))
S8, S11, S23, S41, S53, S64 = (np.uint64(bits) for bits in (8, 11, 23, 41, 53, 64))
OTHER_SEED = np.uint64(0x5EED)
NOBODY = -1  # no id: they are not negative
SMALLEST = 1 << 12
LARGEST = 1 << 23  # places of the set; when it would need more it forgets everything, and names are told again


def ids_of(names: pa.Array) -> Longs:
    """`ids.identify` of every name in a column of strings."""
    return _identified(*_held(names), SPARK_SEED)


def marks_of(names: pa.Array) -> Longs:
    """Another hash of every name: two names that share an id have different marks."""
    return _identified(*_held(names), OTHER_SEED)


def _held(names: pa.Array) -> tuple[NDArray[np.int32], Bytes]:
    """Where in which bytes the names of a column are."""
    if not len(names):
        return np.zeros(1, np.int32), np.empty(0, np.uint8)
    _, offsets, data = names.buffers()
    starts = np.frombuffer(offsets, np.int32)[names.offset : names.offset + len(names) + 1]
    return starts, np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)


class Seen:
    """The names met so far, by id and mark, within bounds: one may be called new again, but a new one is never called seen."""

    def __init__(self) -> None:
        self._table = np.full((SMALLEST, 2), NOBODY, np.int64)
        self._count = 0

    def are_new(self, ids: Longs, marks: Longs) -> NDArray[np.bool_]:
        """Which of these were not seen before; from now on they are."""
        wanted = 2 * (self._count + ids.size)
        if wanted > len(self._table):
            held = self._table[self._table[:, 0] != NOBODY]
            if wanted > LARGEST:
                held, wanted = held[:0], 2 * ids.size
            self._table = np.full((1 << int(wanted - 1).bit_length(), 2), NOBODY, np.int64)
            self._count = int(np.count_nonzero(_enter(held[:, 0].copy(), held[:, 1].copy(), self._table)))
        new = _enter(ids, marks, self._table)
        self._count += int(np.count_nonzero(new))
        return new


@compiled
def _enter(ids: Longs, marks: Longs, table: Longs) -> NDArray[np.bool_]:
    new = np.zeros(ids.size, np.bool_)
    last = table.shape[0] - 1
    for row in range(ids.size):
        place = ids[row] & last
        while table[place, 0] != NOBODY and (table[place, 0] != ids[row] or table[place, 1] != marks[row]):
            place = (place + 1) & last
        if table[place, 0] == NOBODY:
            table[place, 0], table[place, 1] = ids[row], marks[row]
            new[row] = True
    return new


@compiled
def _identified(starts: NDArray[np.int32], data: Bytes, seed: np.uint64) -> Longs:
    found = np.empty(starts.size - 1, np.int64)
    for row in range(starts.size - 1):
        found[row] = np.int64(_hashed(data, starts[row], starts[row + 1], seed) >> ONE)
    return found


@compiled
def _hashed(data: Bytes, start: Long, end: Long, seed: np.uint64) -> np.uint64:
    """`ids.mix_bytes`."""
    position = np.int64(start)
    if end - start >= STRIPE:
        mixed = np.uint64(0)
        a, b, c, d = seed + PRIME_1 + PRIME_2, seed + PRIME_2, seed, seed - PRIME_1
        while end - position >= STRIPE:
            a = _laned(a, _word(data, position))
            b = _laned(b, _word(data, position + 8))
            c = _laned(c, _word(data, position + 16))
            d = _laned(d, _word(data, position + 24))
            position += STRIPE
        mixed = (
            _rotated(a, LANE_TURNS[0])
            + _rotated(b, LANE_TURNS[1])
            + _rotated(c, LANE_TURNS[2])
            + _rotated(d, LANE_TURNS[3])
        )
        for lane in (a, b, c, d):
            mixed = (mixed ^ _half_of(lane)) * PRIME_1 + PRIME_4
    else:
        mixed = seed + PRIME_5
    mixed += np.uint64(end - start)
    while end - position >= WORD:
        mixed ^= _half_of(_word(data, position))
        mixed = ((mixed << S27) | (mixed >> S37)) * PRIME_1 + PRIME_4
        position += WORD
    if end - position >= HALF_WORD:
        low = np.uint64(0)
        for byte in range(HALF_WORD - 1, -1, -1):
            low = (low << S8) | np.uint64(data[position + byte])
        mixed ^= low * PRIME_1
        mixed = ((mixed << S23) | (mixed >> S41)) * PRIME_2 + PRIME_3
        position += HALF_WORD
    while position < end:
        mixed ^= np.uint64(data[position]) * PRIME_5
        mixed = ((mixed << S11) | (mixed >> S53)) * PRIME_1
        position += 1
    mixed = (mixed ^ (mixed >> S33)) * PRIME_2
    mixed = (mixed ^ (mixed >> S29)) * PRIME_3
    return np.uint64(mixed ^ (mixed >> S32))


@compiled
def _word(data: Bytes, position: Long) -> np.uint64:
    word = np.uint64(0)
    for byte in range(7, -1, -1):
        word = (word << S8) | np.uint64(data[position + byte])
    return word


@compiled
def _half_of(word: np.uint64) -> np.uint64:
    mixed = word * PRIME_2
    return np.uint64(((mixed << S31) | (mixed >> S33)) * PRIME_1)


@compiled
def _laned(lane: np.uint64, word: np.uint64) -> np.uint64:
    mixed = lane + word * PRIME_2
    return np.uint64(((mixed << S31) | (mixed >> S33)) * PRIME_1)


@compiled
def _rotated(value: np.uint64, bits: np.uint64) -> np.uint64:
    return np.uint64((value << bits) | (value >> (S64 - bits)))

"""`ids.weight` and its hash in numba, whole and in two halves.

`xxhash64(p, q)` hashes p first and uses the result as the seed for q. A kernel that ranks many q for one p, and meets
each q many times, computes `seeded(p)` once per p and `half(q)` once per q; `joined(half, seed)` is what remains.
"""

import numpy as np
from numpy.typing import NDArray

from ropewalk import ids
from ropewalk.arrays.compiled import Long, compiled

PRIME_1 = np.uint64(ids.PRIME_1)
PRIME_2 = np.uint64(ids.PRIME_2)
PRIME_3 = np.uint64(ids.PRIME_3)
PRIME_4 = np.uint64(ids.PRIME_4)
LONG_OFFSET = np.uint64((ids.PRIME_5 + 8) & ids.MASK)
SPARK_SEED = np.uint64(ids.SPARK_SEED)
ONE = np.uint64(1)
# Shifts as typed constants: numba promotes a mix of signed and unsigned 64-bit numbers to floating point.
S5, S27, S29, S31, S32, S33, S37 = (np.uint64(bits) for bits in (5, 27, 29, 31, 32, 33, 37))


@compiled
def half(value: Long) -> np.uint64:
    """The part of hashing `value` that does not depend on the seed."""
    word = np.uint64(value) * PRIME_2
    return np.uint64(((word << S31) | (word >> S33)) * PRIME_1)


@compiled
def joined(value_half: np.uint64, state: np.uint64) -> np.uint64:
    """The hash of a value given its half and the seed."""
    mixed = (state + LONG_OFFSET) ^ value_half
    mixed = ((mixed << S27) | (mixed >> S37)) * PRIME_1 + PRIME_4
    mixed = (mixed ^ (mixed >> S33)) * PRIME_2
    mixed = (mixed ^ (mixed >> S29)) * PRIME_3
    return np.uint64(mixed ^ (mixed >> S32))


@compiled
def mixed_long(value: Long, state: np.uint64) -> np.uint64:
    """`ids.mix_long`."""
    return joined(half(value), state)


@compiled
def seeded(value: Long) -> np.uint64:
    """The hash of the first of several values."""
    return joined(half(value), SPARK_SEED)


@compiled
def weights(keys: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.int64]:
    """`ids.weight`, pair by pair."""
    found = np.empty(keys.size, np.int64)
    for row in range(keys.size):
        found[row] = np.int64(joined(half(others[row]), seeded(keys[row])) >> ONE)
    return found

"""`seeds.chance` in numba: start from `seeds.stream(seed, what)` and hash the labels one after the other.

A kernel that draws many choices with the same first labels mixes those once and goes on from that state.
"""

import numpy as np
from numpy.typing import NDArray

from ropewalk import seeds
from ropewalk.arrays.compiled import Long, compiled
from ropewalk.arrays.hashing import ONE, S31, S32, mixed_long

S10 = np.uint64(10)
UNIT = 2.0**-53
FEISTEL_ROUNDS = 6  # four already make a pseudo-random permutation (Luby and Rackoff); two more cost nothing here


def stream(seed: int, what: str) -> np.uint64:
    """The state from which kernels draw the choices called `what`."""
    return np.uint64(seeds.stream(seed, what))


@compiled
def drawn(state: np.uint64) -> np.uint64:
    """The chance whose labels have all been mixed into `state`."""
    return np.uint64(state >> ONE)


@compiled
def pick(state: np.uint64, count: Long) -> np.int64:
    """`seeds.pick` of that chance."""
    return np.int64(((drawn(state) >> S31) * np.uint64(count)) >> S32)


@compiled
def unit(state: np.uint64) -> np.float64:
    """`seeds.unit` of that chance."""
    return np.float64(np.float64(drawn(state) >> S10) * UNIT)


@compiled
def drawn_by(cumulated: NDArray[np.float64], state: np.uint64) -> np.int64:
    """An index drawn by a law: `cumulated[i]` is how likely one up to i is, and the last is 1."""
    return np.int64(np.searchsorted(cumulated, unit(state), side="right"))


@compiled
def permuted(index: Long, count: Long, state: np.uint64) -> np.int64:
    """Where a shuffle of 0..count-1 puts `index`, without holding the shuffle.

    A balanced Feistel network on the smallest even number of bits that holds `count`, walked until it lands inside.
    """
    width = _half_width(count)
    low = (ONE << width) - ONE
    value = np.uint64(index)
    while True:
        left, right = value >> width, value & low
        for turn in range(FEISTEL_ROUNDS):
            mixed = mixed_long(np.int64(right), mixed_long(np.int64(turn), state))
            left, right = right, (left ^ (mixed >> S32)) & low
        value = (left << width) | right
        if value < np.uint64(count):
            return np.int64(value)


@compiled
def unpermuted(index: Long, count: Long, state: np.uint64) -> np.int64:
    """What that shuffle puts at `index`: the same network, walked backwards."""
    width = _half_width(count)
    low = (ONE << width) - ONE
    value = np.uint64(index)
    while True:
        left, right = value >> width, value & low
        for turn in range(FEISTEL_ROUNDS - 1, -1, -1):
            mixed = mixed_long(np.int64(left), mixed_long(np.int64(turn), state))
            left, right = (right ^ (mixed >> S32)) & low, left
        value = (left << width) | right
        if value < np.uint64(count):
            return np.int64(value)


@compiled
def _half_width(count: Long) -> np.uint64:
    bits = np.int64(2)
    while (np.int64(1) << bits) < count:
        bits += 2
    return np.uint64(bits // 2)


@compiled
def chances(state: np.uint64, labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """The chance of each row of labels."""
    found = np.empty(labels.shape[0], np.int64)
    for row in range(labels.shape[0]):
        mixed = state
        for column in range(labels.shape[1]):
            mixed = mixed_long(labels[row, column], mixed)
        found[row] = np.int64(drawn(mixed))
    return found

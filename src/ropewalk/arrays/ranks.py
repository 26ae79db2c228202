"""Where ids stand in a sorted list of all ids: guessed, since ids are hashes and so spread evenly, then searched for."""

import numpy as np
from numpy.typing import NDArray

from ropewalk.arrays.compiled import compiled

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]


@compiled
def ranks_of(all_ids: Longs, wanted: Longs) -> Ints:
    """How many of `all_ids` (ascending, none twice) are smaller than each wanted id; -1 for one that is not there."""
    found = np.empty(wanted.size, np.int32)
    if all_ids.size == 0:
        found[:] = -1
        return found
    least, span = np.float64(all_ids[0]), np.float64(all_ids[-1]) - np.float64(all_ids[0])
    scale = (all_ids.size - 1) / span if span > 0 else 0.0
    for at in range(wanted.size):
        value = wanted[at]
        guess = int((np.float64(value) - least) * scale)
        found[at] = _searched(all_ids, value, min(max(guess, 0), all_ids.size - 1))
    return found


@compiled
def _searched(all_ids: Longs, value: np.int64, guess: int) -> int:
    """The place of a value: steps that double away from the guess until it lies between, then halves."""
    low, high, step = guess, guess, 1
    while low > 0 and all_ids[low] > value:
        low, step = max(low - step, 0), 2 * step
    step = 1
    while high < all_ids.size - 1 and all_ids[high] < value:
        high, step = min(high + step, all_ids.size - 1), 2 * step
    while low < high:
        middle = (low + high) // 2
        if all_ids[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low if all_ids[low] == value else -1

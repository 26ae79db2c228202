"""Kernels on sorted lists without repeats: which numbers occur together, what two lists share, and swaps between them.

Lists lie end to end: list v is `values[starts[v]:starts[v + 1]]`, ascending. `starts[0]` is 0.
"""

import numpy as np
from numpy.typing import NDArray

from ropewalk.arrays.chance import pick
from ropewalk.arrays.compiled import Long, compiled
from ropewalk.arrays.hashing import mixed_long

Longs = NDArray[np.int64]
Ints = NDArray[np.int32]


@compiled
def count_together(starts: Longs, values: Longs, chosen: Longs, counts: Ints) -> None:
    """Add to `counts[i, j]`, i <= j, how many lists hold both `chosen[i]` and `chosen[j]` (ascending, no repeats)."""
    found = np.empty(chosen.size, np.int64)
    for row in range(starts.size - 1):
        held = 0
        for at in range(starts[row], starts[row + 1]):
            place = np.searchsorted(chosen, values[at])
            if place < chosen.size and chosen[place] == values[at]:
                found[held] = place
                held += 1
        for i in range(held):
            for j in range(i, held):
                counts[found[i], found[j]] += 1


@compiled
def shared_in_pairs(starts: Longs, values: Longs) -> tuple[Longs, Longs]:
    """How many values lists 2i and 2i + 1 share, and how many they hold together."""
    pairs = (starts.size - 1) // 2
    shared, together = np.empty(pairs, np.int64), np.empty(pairs, np.int64)
    for pair in range(pairs):
        a, a_end, b_end = starts[2 * pair], starts[2 * pair + 1], starts[2 * pair + 2]
        b, size, both = a_end, b_end - a, 0
        while a < a_end and b < b_end:
            if values[a] == values[b]:
                both += 1
                a += 1
                b += 1
            elif values[a] < values[b]:
                a += 1
            else:
                b += 1
        shared[pair], together[pair] = both, size - both
    return shared, together


@compiled
def others_picked(starts: Longs, members: Longs, rows: Longs, drawn: Longs, states: NDArray[np.uint64]) -> Longs:
    """For each draw another member of its row's list, uniformly: any but `drawn` itself, which is in that list."""
    others = np.empty(drawn.size, np.int64)
    for draw in range(drawn.size):
        own = members[starts[rows[draw]] : starts[rows[draw] + 1]]
        at = pick(states[draw], own.size - 1)
        others[draw] = own[at + (at >= np.searchsorted(own, drawn[draw]))]
    return others


@compiled
def swap(starts: Longs, values: Longs, times: int, state: np.uint64) -> None:
    """Let the lists swap values in place, as many times as there are values, `times` over; they end up unsorted.

    A swap takes two of all values at random and exchanges them, unless a list would then hold one of them twice. So
    every list keeps its length, and every value the number of lists that hold it; any such state is as likely as any
    other in the end. Lists bring their order with them: sort them first where it must not matter.
    """
    owner = np.empty(values.size, np.int64)
    for one in range(starts.size - 1):
        owner[starts[one] : starts[one + 1]] = one
    for attempt in range(times * values.size):
        i = pick(mixed_long(np.int64(2 * attempt), state), values.size)
        j = pick(mixed_long(np.int64(2 * attempt + 1), state), values.size)
        a, b = owner[i], owner[j]
        if a == b or values[i] == values[j]:
            continue
        if not (
            _holds(values, starts[a], starts[a + 1], values[j]) or _holds(values, starts[b], starts[b + 1], values[i])
        ):
            values[i], values[j] = values[j], values[i]


@compiled
def _holds(values: Longs, start: Long, end: Long, wanted: Long) -> bool:
    for at in range(start, end):  # noqa: SIM110 (numba compiles no generator)
        if values[at] == wanted:
            return True
    return False


@compiled
def sort_lists(starts: Longs, values: Longs) -> None:
    """Bring every list into ascending order, in place."""
    for one in range(starts.size - 1):
        values[starts[one] : starts[one + 1]].sort()

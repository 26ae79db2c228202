"""Kernels on sorted lists without repeats: which numbers occur together, what two lists share, and trades between them.

Lists lie end to end: list v is `values[starts[v]:starts[v + 1]]`, ascending. `starts[0]` is 0.
"""

import numpy as np
from numpy.typing import NDArray

from ropewalk.arrays.chance import permuted, pick
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
def trade(starts: Longs, values: Longs, names: Longs, turns: int, state: np.uint64) -> None:
    """Let the lists trade in place, `turns` times, each time in new pairs; one is left out where their number is odd.

    Two lists that trade keep what both hold and deal out the rest anew, uniformly, each as many as it had (a curveball
    trade; Strona et al. 2014). So every list keeps its length, and every value the number of lists that hold it.
    """
    lists = starts.size - 1
    partner = np.empty(lists, np.int64)
    longest = np.int64(0)
    for one in range(lists):
        longest = max(longest, starts[one + 1] - starts[one])
    mine, theirs = np.empty(longest, np.int64), np.empty(longest, np.int64)
    for turn in range(turns):
        of_turn = mixed_long(np.int64(turn), state)
        for one in range(lists):
            partner[permuted(one, lists, of_turn)] = one
        for first in range(0, lists - 1, 2):
            a, b = partner[first], partner[first + 1]
            of_pair = mixed_long(names[b], mixed_long(names[a], of_turn))
            _dealt(values[starts[a] : starts[a + 1]], values[starts[b] : starts[b + 1]], mine, theirs, of_pair)


@compiled
def _dealt(a: Longs, b: Longs, mine: Longs, theirs: Longs, state: np.uint64) -> None:
    """Deal out anew what only one of two lists holds, in ascending order, so that both stay sorted."""
    left = a.size + b.size - 2 * _both(a, b)  # to be dealt out, of which `wanted` go to a
    wanted = left - (b.size - _both(a, b))
    if wanted in (0, left):
        return
    i, j, at_mine, at_theirs = 0, 0, 0, 0
    while i < a.size or j < b.size:
        if i < a.size and j < b.size and a[i] == b[j]:
            mine[at_mine] = theirs[at_theirs] = a[i]
            at_mine += 1
            at_theirs += 1
            i += 1
            j += 1
            continue
        if j == b.size or (i < a.size and a[i] < b[j]):
            value = a[i]
            i += 1
        else:
            value = b[j]
            j += 1
        if pick(mixed_long(np.int64(left), state), left) < wanted:  # of `left` values `wanted` are his: this one too?
            mine[at_mine] = value
            at_mine += 1
            wanted -= 1
        else:
            theirs[at_theirs] = value
            at_theirs += 1
        left -= 1
    a[:] = mine[: a.size]
    b[:] = theirs[: b.size]


@compiled
def _both(a: Longs, b: Longs) -> Long:
    both, i, j = 0, 0, 0
    while i < a.size and j < b.size:
        if a[i] == b[j]:
            both += 1
            i += 1
            j += 1
        elif a[i] < b[j]:
            i += 1
        else:
            j += 1
    return both

"""Kernels on sorted lists, against the same said with Python sets."""

from collections import Counter
from itertools import combinations_with_replacement, pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.arrays.chance import stream
from ropewalk.arrays.lists import count_together, others_picked, shared_in_pairs, sort_lists, swap

LISTS = st.lists(st.sets(st.integers(0, 12), min_size=1), min_size=2, max_size=12)


def flat(lists: list[set[int]]) -> tuple[np.ndarray, np.ndarray]:
    starts = np.cumsum([0, *map(len, lists)])
    return starts, np.array([value for one in lists for value in sorted(one)], np.int64)


def sets(starts: np.ndarray, values: np.ndarray) -> list[list[int]]:
    return [values[start:end].tolist() for start, end in pairwise(starts)]


@given(LISTS, st.sets(st.integers(0, 12), min_size=1))
def test_counts_who_occurs_with_whom(lists: list[set[int]], chosen: set[int]) -> None:
    ids = np.array(sorted(chosen), np.int64)
    counts = np.zeros((ids.size, ids.size), np.int32)
    count_together(*flat(lists), ids, counts)
    for i, j in combinations_with_replacement(range(ids.size), 2):
        assert counts[i, j] == sum(ids[i] in one and ids[j] in one for one in lists)


@given(LISTS)
def test_pairs_of_lists_share_their_intersection(lists: list[set[int]]) -> None:
    lists = lists[: len(lists) // 2 * 2]
    shared, together = shared_in_pairs(*flat(lists))
    expected = list(zip(lists[::2], lists[1::2], strict=True))
    assert shared.tolist() == [len(a & b) for a, b in expected]
    assert together.tolist() == [len(a | b) for a, b in expected]


def test_another_member_is_never_the_one_itself_and_each_is_as_likely() -> None:
    starts, members = flat([{5}, {1, 4, 7, 9}])
    states = np.random.default_rng(1).integers(0, 2**64, 30_000, np.uint64)
    drawn = np.full(states.size, 4, np.int64)
    others = others_picked(starts, members, np.ones(states.size, np.int64), drawn, states)
    found, counts = np.unique(others, return_counts=True)
    assert found.tolist() == [1, 7, 9]
    assert (abs(counts - 10_000) < 400).all()


@given(LISTS, st.integers(0, 2**63 - 1))
def test_swaps_keep_every_length_and_every_values_count(lists: list[set[int]], seed: int) -> None:
    starts, values = flat(lists)
    swapped = values.copy()
    swap(starts, swapped, 3, stream(seed, "test"))
    sort_lists(starts, swapped)
    assert sorted(swapped.tolist()) == sorted(values.tolist())
    for one in sets(starts, swapped):
        assert one == sorted(set(one)), "a value is there twice, or out of order"


def test_swaps_reach_every_arrangement_equally_often() -> None:
    """0, 0, 1, 1, 2 in lists of one, one, two and one, no value twice in a list.

    Where the two are {0, 1}, 0, 1, 2 are left in 6 orders; {0, 2} leaves 0, 1, 1 in 3, and {1, 2} leaves 0, 0, 1 in 3.
    """
    starts, values = flat([{0}, {1}, {0, 1}, {2}])
    met: Counter[str] = Counter()
    for seed in range(8_000):
        swapped = values.copy()
        swap(starts, swapped, 20, stream(seed, "test"))
        sort_lists(starts, swapped)
        met[str(sets(starts, swapped))] += 1
    assert len(met) == 12
    assert all(abs(count - 8_000 / 12) < 130 for count in met.values()), met  # five standard deviations


def test_the_same_state_swaps_the_same() -> None:
    starts, values = flat([{one, one + 1, one + 3} for one in range(20)])
    first, second, other = values.copy(), values.copy(), values.copy()
    swap(starts, first, 2, stream(1, "test"))
    swap(starts, second, 2, stream(1, "test"))
    swap(starts, other, 2, stream(2, "test"))
    assert (first == second).all()
    assert (first != other).any()
    assert (first != values).any()

"""The rank of an id is how many ids are smaller, however they are spread."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from ropewalk.arrays.ranks import ranks_of
from ropewalk.universes.pack import gathered

IDS = st.integers(0, 2**63 - 1)


@given(st.lists(IDS | st.integers(0, 100), unique=True), st.lists(IDS | st.integers(0, 100)))
@example([5], [5, 4, 6])
@example([], [1])
@example([0, 2**63 - 1], [0, 2**63 - 1, 2**62])
def test_ranks_are_places_in_order(ids: list[int], others: list[int]) -> None:
    ids.sort()
    wanted = ids + others
    expected = [ids.index(value) if value in ids else -1 for value in wanted]
    assert ranks_of(np.array(ids, np.int64), np.array(wanted, np.int64)).tolist() == expected


def test_ids_that_are_not_spread_evenly_are_found_as_well() -> None:
    ids = np.sort(np.concatenate((np.arange(1000), 2**62 + np.arange(0, 10**6, 17), 2**63 - 1 - np.arange(300)[::-1])))
    assert (ranks_of(ids, ids) == np.arange(ids.size)).all()


@given(st.lists(st.tuples(IDS, st.integers(0, 50)), min_size=1))
def test_pairs_of_a_part_become_topics_with_members_in_order(pairs: list[tuple[int, int]]) -> None:
    topics, ranks = (np.array(column) for column in zip(*pairs, strict=True))
    names, offsets, members, repeated = gathered(topics.astype(np.int64), ranks.astype(np.int32))
    assert repeated == len(pairs) - len(set(pairs))
    found = [(int(t), int(m)) for t, a, b in zip(names, offsets[:-1], offsets[1:], strict=True) for m in members[a:b]]
    assert sorted(found) == sorted(pairs)
    assert [m for _, m in found] == [m for t in names for _, m in sorted(p for p in pairs if p[0] == t)]

"""Semantic ids: what holds of interests holds of them."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.protocols.kato import ids
from ropewalk.protocols.kato.kernel.profiles import places_of

CELLS = st.sets(st.integers(1, 2**63 - 1), max_size=12)
BITS = st.sampled_from([64, 256, 1024])
HASHES = st.integers(1, 4)


@given(CELLS, CELLS, BITS, HASHES)
def test_subsets_of_interests_are_subsets_of_ids(one: set[int], more: set[int], bits: int, hashes: int) -> None:
    few, many = ids.node_id(one, bits, hashes), ids.node_id(one | more, bits, hashes)
    assert ids.covers(many, few)
    assert many == ids.merged((few, ids.node_id(more, bits, hashes)))
    for cell in one | more:
        assert ids.covers(many, ids.event_id(cell, bits, hashes))
    assert ids.intersects(few, many) == bool(one)
    assert many < 2**bits
    assert ids.covers(few, ids.COMMON_ID)


@given(CELLS, CELLS, BITS, HASHES)
def test_distance_is_symmetric_and_nothing_between_equals(
    ours: set[int], theirs: set[int], bits: int, hashes: int
) -> None:
    one, other = ids.node_id(ours, bits, hashes), ids.node_id(theirs, bits, hashes)
    there = ids.distance(one, ours, other, theirs, bits)
    assert there == ids.distance(other, theirs, one, ours, bits)
    assert ids.distance(one, ours, one, ours, bits) == 0
    assert math.isfinite(there)  # everybody wants the common cell
    assert 0 < ids.affinity(ours, theirs) <= 1
    assert ids.affinity(ours, ours | theirs) == 1


@given(st.lists(st.integers(1, 2**63 - 1), min_size=1, max_size=9), BITS, HASHES)
def test_arrays_have_the_same_places(cells: list[int], bits: int, hashes: int) -> None:
    found = places_of(np.array(cells, np.int64), bits, hashes)
    assert [tuple(row) for row in found.tolist()] == [ids.places_of(cell, bits, hashes) for cell in cells]
    assert ids.COMMON not in found

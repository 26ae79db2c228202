"""Ids that are remembered: like a list of the latest, of which none is looked at by the collector of garbage."""

import gc
import sys
from array import array

from hypothesis import given
from hypothesis import strategies as st

from ropewalk.protocols.remembered import LEAST, Remembered

MOST = 5
ACTS = st.one_of(
    st.integers(0, 12), st.floats(0.0, 3.0)
)  # an id that comes, or so much time that passes and is then forgotten


@given(st.lists(ACTS, max_size=80))
def test_it_is_a_list_of_the_latest(acts: list[int | float]) -> None:
    remembered, model, now = Remembered(MOST), list[tuple[int, float]](), 0.0
    for act in acts:
        now += 1.0
        if isinstance(act, int):
            gone = remembered.add(act, now)
            if act not in dict(model):
                model.append((act, now))
            assert gone == (model.pop(0)[1] if len(model) > MOST else None)
        else:
            remembered.forget(now - act)
            model = [(id_, at) for id_, at in model if at > now - act]
        assert len(remembered) == len(model)
        assert [id_ in remembered for id_ in range(13)] == [id_ in dict(model) for id_ in range(13)]


def test_what_it_takes_does_not_grow_with_what_went_through() -> None:
    remembered = Remembered(100)
    for id_ in range(20 * LEAST):
        remembered.add(id_, float(id_))
    assert len(remembered._order) <= 2 * max(LEAST, 100) + 2
    assert all(id_ in remembered for id_ in range(20 * LEAST - 100, 20 * LEAST))
    remembered.clear()
    assert (len(remembered), remembered.add(1, 0.0)) == (0, None)


def test_the_collector_of_garbage_has_nothing_to_go_through() -> None:
    remembered = Remembered(1000)
    for id_ in range(1000):
        remembered.add(2**62 + id_, float(id_))
    if sys.version_info < (3, 14):  # which tracks all dicts
        assert not gc.is_tracked(remembered._at)
    assert gc.get_referents(remembered._order) == [array]  # what it is, and nothing of what is in it

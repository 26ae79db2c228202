import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.workloads.thresholds import ALWAYS, BEYOND, BINS, SHIFTS, cut_for, key_of, tally_key

VALUES = st.floats(0, allow_nan=False, allow_infinity=False)


def tally_of(keys: list[int]):
    def tally(low: int, shift: int) -> np.ndarray:
        counts = np.zeros(BINS + 1, np.int64)
        for key in keys:
            tally_key(counts, np.int64(key), low, shift)
        return counts

    return tally


@given(VALUES, VALUES)
def test_keys_are_ordered_as_the_values_are(a: float, b: float) -> None:
    a, b = a + 0.0, b + 0.0  # no negative zero
    assert (key_of(a) < key_of(b)) == (a < b)
    assert ALWAYS < key_of(a) < BEYOND


@given(st.sets(VALUES.map(lambda value: value + 0.0), min_size=1, max_size=30), st.data())
def test_as_many_lie_below_the_cut_as_were_asked_for(values: set[float], data: st.DataObject) -> None:
    keys = [int(key_of(value)) for value in values]
    wanted = data.draw(st.integers(0, len(keys)))
    cut = cut_for(wanted, tally_of(keys))
    assert sum(key < cut for key in keys) == wanted


def test_equal_candidates_are_taken_together_or_not_at_all() -> None:
    keys = [int(key_of(value)) for value in (1.0, 2.0, 2.0, 2.0, 3.0)]
    assert sum(key < cut_for(2, tally_of(keys)) for key in keys) == 1
    assert sum(key < cut_for(3, tally_of(keys)) for key in keys) == 4


def test_some_lie_below_any_cut() -> None:
    assert cut_for(2, tally_of([ALWAYS, ALWAYS, 5])) == 0


def test_where_there_are_too_few_the_cut_is_beyond_them() -> None:
    assert cut_for(3, tally_of([1, 2])) == BEYOND


def test_with_slack_fewer_passes_are_made() -> None:
    keys = [int(key_of(1 + each / 1000)) for each in range(1000)]
    passes = []

    def tally(low: int, shift: int) -> np.ndarray:
        passes.append(shift)
        return np.asarray(tally_of(keys)(low, shift))

    cut = cut_for(500, tally, slack=20)
    assert abs(sum(key < cut for key in keys) - 500) <= 20
    assert passes == list(SHIFTS[:1])

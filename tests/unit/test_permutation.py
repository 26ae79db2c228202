import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.arrays.chance import permuted, stream, unpermuted


@given(st.integers(1, 3000), st.integers(0, 2**32))
def test_every_index_lands_once(count: int, seed: int) -> None:
    state = stream(seed, "shuffle")
    assert sorted(int(permuted(index, count, state)) for index in range(count)) == list(range(count))


def test_a_shuffle_forgets_the_order() -> None:
    state = stream(1, "shuffle")
    shuffled = np.array([permuted(index, 5000, state) for index in range(5000)])
    assert abs(np.corrcoef(np.arange(5000), shuffled)[0, 1]) < 4.5 / np.sqrt(5000)
    assert abs(np.corrcoef(shuffled[:-1], shuffled[1:])[0, 1]) < 4.5 / np.sqrt(5000)


def test_another_seed_is_another_shuffle() -> None:
    one, other = ([int(permuted(i, 100, stream(seed, "shuffle"))) for i in range(100)] for seed in (1, 2))
    assert one != other


@given(st.integers(1, 3000), st.integers(0, 2**32))
def test_a_shuffle_can_be_undone(count: int, seed: int) -> None:
    state = stream(seed, "shuffle")
    for index in range(0, count, 37):
        assert unpermuted(permuted(index, count, state), count, state) == index

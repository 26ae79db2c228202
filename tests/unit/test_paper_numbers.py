from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.papers.drawing import distribution, thinned
from ropewalk.papers.spread import at_least, per_doubling
from ropewalk.papers.statistics import explained, falls, ks_distance, laid_out, mean, rises, root_mean_square, slope
from ropewalk.universes.distributions import Distribution

SAMPLES = st.lists(st.integers(0, 20), min_size=1, max_size=30)


@given(SAMPLES, SAMPLES)
def test_ks_is_the_largest_difference_of_two_distributions(first: list[int], second: list[int]) -> None:
    def share(sample: list[int], at: int) -> Fraction:
        return Fraction(sum(value <= at for value in sample), len(sample))

    expected = max(abs(share(first, at) - share(second, at)) for at in range(21))
    assert ks_distance(first, second) == pytest.approx(float(expected), abs=1e-12)
    assert ks_distance(first, first) == 0.0


@given(st.permutations([0.1, 0.2, 0.3, 1e16, -1e16]))
def test_a_mean_feels_no_order(values: list[float]) -> None:
    assert mean(values) == mean([0.1, 0.2, 0.3, 1e16, -1e16])


def test_small_numbers_by_hand() -> None:
    assert root_mean_square([3.0, -4.0]) == pytest.approx(12.5**0.5)
    assert slope([1.0, 2.0, 4.0], [5.0, 7.0, 11.0]) == pytest.approx(2.0)
    assert rises([1.0, 2.0, 3.0])
    assert not rises([1.0, 1.0])
    assert falls([3.0, 2.0])
    assert not falls([3.0, 2.0, 2.0])
    assert explained([1.0, 2.0, 3.0], [1.0, 2.0, 4.0]) == pytest.approx(0.5)
    assert explained([2.0, 2.0], [2.0, 2.0]) == 1.0
    assert laid_out({3.0: 2, 1.0: 1}).tolist() == [1.0, 3.0, 3.0]


def test_values_by_doublings_of_the_smallest() -> None:
    spread = Distribution(np.array([3, 5, 6, 11, 12]), np.array([4, 1, 2, 1, 1]))
    assert per_doubling(spread) == [5, 3, 1]
    assert at_least(spread)[0] == (3, 1.0)
    largest, share = at_least(spread)[-1]
    assert largest == 12
    assert share == pytest.approx(1 / 9)


@given(st.integers(1, 5000))
def test_thinning_keeps_both_ends_and_bounds_the_rest(size: int) -> None:
    points = [(float(at), 0.0) for at in range(size)]
    kept = thinned(points, 100)
    assert kept[0] == points[0]
    assert kept[-1] == points[-1]
    assert len(kept) <= 101
    assert distribution([value for value, _ in points])[-1] == (points[-1][0], 1.0)

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.universes.distributions import Distribution


def distribution_of(values: list[int]) -> Distribution:
    return Distribution.of((value, values.count(value)) for value in set(values))


@given(st.lists(st.integers(1, 30), min_size=1, max_size=60), st.floats(0, 1))
def test_a_quantile_is_that_of_all_values_laid_out(values: list[int], share: float) -> None:
    found = distribution_of(values)
    assert found.size == len(values)
    assert found.quantile(share) == pytest.approx(float(np.quantile(values, share)))
    assert found.spread_out(100).tolist() == sorted(values)


def test_of_too_many_values_evenly_spaced_quantiles_are_kept() -> None:
    found = Distribution(np.array([1, 5]), np.array([3_000_000, 1_000_000]))
    assert found.spread_out(8).tolist() == [1] * 6 + [5] * 2
    assert found.summary() == {"mean": 2.0, "median": 1.0, "p90": 5.0, "p99": 5.0, "max": 5, "min": 1}

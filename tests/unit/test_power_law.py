import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.workloads.power_law import power_law_sizes


@given(st.integers(1, 400), st.floats(0, 5), st.integers(1, 40), st.integers(0, 300), st.floats(0, 1))
def test_count_total_and_bounds_are_kept_whatever_is_asked(
    count: int, exponent: float, least: int, span: int, point: float
) -> None:
    most = least + span
    total = count * least + round(point * count * span)
    sizes = power_law_sizes(count, total, exponent, least, most)
    each = sizes.each()
    assert each.size == count
    assert each.sum() == sizes.total == total
    assert least <= each.min() <= each.max() <= most
    assert (np.diff(each) <= 0).all()


def shares(exponent: float, low: int, high: int) -> list[float]:
    weights = [x**-exponent for x in range(low, high + 1)]
    return [weight / sum(weights) for weight in weights]


def test_shares_fall_as_the_power_law_says() -> None:
    exponent, low, high = 2.0, 3, 50
    law = shares(exponent, low, high)
    mean = sum(share * x for x, share in enumerate(law, low))
    each = power_law_sizes(100_000, round(100_000 * mean), exponent, low, 10_000).each()
    assert each.max() == high  # solved for from the mean alone
    for x, share in enumerate(law, low):
        assert np.mean(each == x) == pytest.approx(share, abs=2e-5)


def test_the_lower_end_rises_where_the_upper_one_cannot() -> None:
    each = power_law_sizes(1000, 12_000, 2.0, 1, 20).each()
    assert each.max() == 20
    assert each.min() > 1
    assert np.mean(each == 18) / np.mean(each == 12) == pytest.approx((12 / 18) ** 2, abs=0.02)


@pytest.mark.parametrize(("exponent", "least", "high"), [(1.6, 1, 2000), (2.5, 30, 3000), (3.2, 5, 500)])
def test_a_fit_finds_the_exponent_again(exponent: float, least: int, high: int) -> None:
    """Maximum likelihood for the bounded law: the mean logarithm is the one that the exponent asked for expects."""
    law = shares(exponent, least, high)
    mean = sum(share * x for x, share in enumerate(law, least))
    each = power_law_sizes(50_000, round(50_000 * mean), exponent, least, high).each()
    expected = sum(share * math.log(x) for x, share in enumerate(law, least))
    assert np.mean(np.log(each)) == pytest.approx(expected, rel=0.005)


@pytest.mark.parametrize("total", [9, 51])
def test_an_impossible_total_is_refused(total: int) -> None:
    with pytest.raises(ValueError, match=f"10 numbers from 1 to 5 cannot add up to {total}"):
        power_law_sizes(10, total, 2.0, 1, 5)

"""Power laws with known exponents are found, other laws are told apart, and what cannot be fitted is said so."""

import numpy as np
import pytest
from scipy.special import zeta

from ropewalk.universes import tails
from ropewalk.universes.distributions import Distribution
from ropewalk.universes.tails import power_law


def distribution_of(values: np.ndarray) -> Distribution:
    return Distribution(*(column.astype(np.int64) for column in np.unique(values, return_counts=True)))


def power_law_sample(exponent: float, xmin: int, size: int, seed: int = 1) -> np.ndarray:
    """Exact: the inverse of the summed probabilities of a million whole numbers."""
    numbers = np.arange(xmin, xmin + 1_000_000)
    summed = np.cumsum(numbers**-exponent / zeta(exponent, xmin))
    drawn: np.ndarray = numbers[np.searchsorted(summed, np.random.default_rng(seed).random(size) * summed[-1])]
    return drawn


@pytest.mark.parametrize(("exponent", "xmin"), [(1.8, 1), (2.2, 1), (2.5, 3), (3.2, 10)])
def test_a_known_exponent_is_found_within_its_error(exponent: float, xmin: int) -> None:
    fit = power_law(distribution_of(power_law_sample(exponent, xmin, 20_000)))
    assert fit["exponent"] == pytest.approx(exponent, abs=4 * fit["standard_error"])
    assert fit["standard_error"] < 0.05
    assert fit["ks"] < 0.03
    assert fit["against"]["exponential"]["better"] == "power law"
    assert fit["against"]["lognormal"]["better"] != "lognormal"
    assert fit["from_minimum"]["exponent"] == pytest.approx(exponent, abs=0.05)


def test_where_the_tail_begins_is_found() -> None:
    bulk = np.random.default_rng(2).integers(1, 20, 10_000)
    fit = power_law(distribution_of(np.concatenate([bulk, power_law_sample(2.3, 20, 10_000)])))
    assert 18 <= fit["xmin"] <= 26
    assert fit["exponent"] == pytest.approx(2.3, abs=0.06)
    assert fit["tail"] == pytest.approx(10_000, rel=0.3)
    assert fit["from_minimum"]["xmin"] == 1
    assert fit["from_minimum"]["ks"] > 10 * fit["ks"]


def test_other_laws_are_told_apart() -> None:
    random = np.random.default_rng(3)
    lognormal = power_law(distribution_of(np.maximum(1, random.lognormal(2.0, 0.8, 20_000).round())))
    assert lognormal["exponent"] is None or lognormal["against"]["lognormal"]["better"] != "power law"
    exponential = power_law(distribution_of(random.geometric(0.2, 20_000)))
    assert exponential["exponent"] is None or exponential["against"]["exponential"]["better"] != "power law"


def test_quantiles_stand_in_for_very_many_values(monkeypatch: pytest.MonkeyPatch) -> None:
    found = distribution_of(power_law_sample(2.2, 2, 50_000))
    exact = power_law(found)
    monkeypatch.setattr(tails, "SCANNED", 5_000)
    monkeypatch.setattr(tails, "FITTED", 10_000)
    thinned = power_law(found)
    assert thinned["exponent"] == pytest.approx(exact["exponent"], abs=0.02)
    assert thinned["tail"] == pytest.approx(exact["tail"], rel=0.5)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (np.arange(1, 20), "there are 19 values"),
        (np.repeat([3], 1000), "no three different values"),
        (np.repeat([1000, 1001, 1002], 1000), "falls faster than"),
    ],
)
def test_what_cannot_be_fitted_is_said_so(values: np.ndarray, said: str) -> None:
    fit = power_law(distribution_of(values))
    assert fit["exponent"] is None
    assert said in fit["sentence"]

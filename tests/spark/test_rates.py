"""Publication rates that are made up: mean 1, and the law that was asked for."""

import numpy as np
import pytest

from ropewalk.errors import UsageError
from ropewalk.tables.session import Session
from ropewalk.workloads.rates import COUNTED_EXACTLY, Rates, sum_of_ranks


def rates_of(spark: Session, rates: Rates, topics: int, seed: int = 1) -> np.ndarray:
    subscriptions = spark.range(topics).selectExpr("0L as node", "id as topic")
    found = rates.topics(subscriptions, topics, seed).orderBy("topic").collect()
    return np.array([row["rate"] for row in found])


def test_uniform_rates_are_all_one(spark: Session) -> None:
    assert set(rates_of(spark, Rates(), 50)) == {1.0}


def test_a_power_law_has_mean_one_and_its_exponent(spark: Session) -> None:
    found = rates_of(spark, Rates("power-law", 0.75), 20_000)
    assert found.mean() == pytest.approx(1.0, rel=0.1)
    ranked = np.sort(found)[::-1]
    ranks = np.arange(1, ranked.size + 1)
    slope = np.polyfit(np.log(ranks[100:]), np.log(ranked[100:]), 1)[0]
    assert slope == pytest.approx(-0.75, abs=0.02)


def test_another_seed_ranks_topics_otherwise(spark: Session) -> None:
    law = Rates("power-law")
    assert (rates_of(spark, law, 50, seed=1) == rates_of(spark, law, 50, seed=1)).all()
    assert (rates_of(spark, law, 50, seed=1) != rates_of(spark, law, 50, seed=2)).any()


@pytest.mark.parametrize("exponent", [0.0, 0.75, 1.0, 2.5])
def test_long_sums_are_as_good_as_exact(exponent: float) -> None:
    count = COUNTED_EXACTLY * 3
    exact = float(np.sum(np.arange(1, count + 1, dtype=np.float64) ** -exponent))
    assert sum_of_ranks(count, exponent) == pytest.approx(exact, rel=1e-9)


def test_impossible_exponents_are_refused() -> None:
    with pytest.raises(UsageError, match="rate-exponent is -1"):
        Rates("power-law", -1)

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.errors import UsageError
from ropewalk.workloads.stock_quotes import PRICES, StockQuotes

LAWS = ["rank", "pdf", "ccdf", "uniform"]

models = st.builds(
    StockQuotes, nodes=st.integers(1, 30), stocks=st.integers(1, 20), price_cells=st.integers(1, 20),
    filters_per_node=st.integers(1, 8), width=st.floats(0, 1), law=st.sampled_from(LAWS), exponent=st.floats(0.01, 8),
)  # fmt: skip


@given(models, st.integers(0, 2**63 - 1))
def test_filters_keep_their_bounds(model: StockQuotes, seed: int) -> None:
    cells, stocks, lows, highs, first = model.wanted(np.arange(model.nodes), seed)
    assert cells.size == model.nodes * model.filters_per_node
    assert ((stocks >= 0) & (stocks < model.stocks)).all()
    assert ((lows >= 0) & (lows <= highs) & (highs <= PRICES)).all()
    assert highs - lows == pytest.approx(model.width * PRICES, abs=1e-9)
    assert (stocks == cells // model.price_cells).all()
    below = cells % model.price_cells * PRICES / model.price_cells
    assert (lows <= below + PRICES / model.price_cells + 1e-9).all()  # a range touches the cell it starts from
    assert (highs >= below - 1e-9).all()
    for node in range(model.nodes):
        own = slice(node * model.filters_per_node, (node + 1) * model.filters_per_node)
        assert sorted(stocks[own][first[own]]) == sorted(set(stocks[own]))


@given(models)
def test_every_law_is_a_law(model: StockQuotes) -> None:
    cumulated = model.popularity()
    assert cumulated.size == model.cells
    assert cumulated[-1] == 1.0
    shares = np.diff(cumulated, prepend=0.0)
    assert (shares >= 0).all()
    assert (np.diff(shares) <= 1e-12).all()  # the first rank is the most popular


@pytest.mark.parametrize("exponent", [0.3294, 0.6719, 1.0, 2.0, 4.0])
def test_each_law_is_what_its_name_says(exponent: float) -> None:
    def shares(law: Any) -> np.ndarray:
        return np.diff(replace(StockQuotes(), law=law, exponent=exponent).popularity(), prepend=0.0)

    ranks = np.arange(1, 1025, dtype=float)
    by_rank, by_ccdf, by_pdf = shares("rank"), shares("ccdf"), shares("pdf")
    assert by_rank[:50] / by_rank[0] == pytest.approx(ranks[:50] ** -exponent)
    survival = ranks**-exponent - (ranks + 1) ** -exponent
    assert by_ccdf[:50] == pytest.approx(survival[:50] / survival.sum())
    fine = np.linspace(1, 3, 20_001)
    integral = [np.trapezoid(fine[part] ** -exponent, fine[part]) for part in (slice(10_001), slice(10_000, None))]
    assert by_pdf[1] / by_pdf[0] == pytest.approx(integral[1] / integral[0], rel=1e-6)
    assert shares("uniform") == pytest.approx(1 / 1024)


@pytest.mark.parametrize("law", LAWS)
def test_cells_are_wanted_as_the_law_says(law: Any) -> None:
    model = StockQuotes(nodes=20_000, stocks=4, price_cells=4, law=law)
    cells = model.wanted(np.arange(model.nodes), 1)[0]
    found = np.sort(np.bincount(cells, minlength=16) / cells.size)[::-1]
    assert found == pytest.approx(np.diff(model.popularity(), prepend=0.0), abs=0.006)


def test_another_seed_makes_other_cells_popular() -> None:
    model = StockQuotes(exponent=4.0)
    popular = [np.bincount(model.wanted(np.arange(1000), seed)[0]).argmax() for seed in (1, 2, 3)]
    assert len(set(popular)) > 1


def test_a_node_does_not_depend_on_which_others_are_made_beside_it() -> None:
    model = StockQuotes(nodes=50)
    for whole, part in zip(model.wanted(np.arange(50), 1), model.wanted(np.arange(10, 20), 1), strict=True):
        assert np.array_equal(whole[40:80], part)


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"exponent": 0.0}, "exponent is 0.0"),
        ({"width": 1.5}, "width is 1.5"),
        ({"width": 0.5, "ranges": "random"}, "width is 0.5, but plays no part where ranges are random; drop it"),
        ({"filters_per_node": 0}, "filters-per-node is 0"),
        ({"stocks": 10**5, "price_cells": 100}, "stocks times price-cells is 10000000, but must be at most 1000000"),
        ({"law": "zipf"}, "law is 'zipf', but must be one of: rank, pdf, ccdf, uniform"),
    ],
)
def test_what_cannot_be_is_said_so(told: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        StockQuotes(**told)

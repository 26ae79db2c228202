"""The page of a universe, from numbers made by hand."""

from typing import Any

import numpy as np

from ropewalk.experiments.describe import Description
from ropewalk.report.figures import FINEST, heat_map
from ropewalk.report.universe import render
from ropewalk.universes.distributions import Distribution

NO_LAW = {"exponent": None, "sentence": "No power law was fitted: there are 2 values."}
LAW = {
    "exponent": 2.0, "standard_error": 0.1, "xmin": 2, "tail": 60, "tail_share": 0.6, "ks": 0.02,
    "sentence": "From 2 on it is a power law.",
    "against": {
        "lognormal": {"ratio": None, "p": None, "better": "undecided"},
        "exponential": {"ratio": 4.2, "p": 1e-9, "better": "power law"},
    },
    "from_minimum": {"exponent": 1.5, "standard_error": 0.05, "xmin": 1, "tail": 100, "tail_share": 1.0, "ks": 0.2},
}  # fmt: skip
SPREAD = {"mean": 2.0, "median": 1.0, "p90": 5.0, "p99": 5.0, "max": 5, "min": 1}
NOTHING = {"of": 2, "exact": True, "without_variance": 2, "pairs": 0}


def description(law: dict[str, Any]) -> Description:
    document = {
        "universe": "<by hand>", "seed": 7, "nodes": 2, "topics": 2, "subscriptions": 4,
        "subscribers_per_topic": SPREAD | {"power_law": law},
        "subscriptions_per_node": SPREAD | {"power_law": NO_LAW},
        "topic_correlation": NOTHING | {"topics": 2},
        "node_correlation": NOTHING | {"nodes": 2},
        "overlap": {"asked": 50, "draws": 0},
    }  # fmt: skip
    distribution = Distribution(np.array([1, 2, 5]), np.array([40, 40, 20]))
    return Description(document, distribution, distribution, np.empty((0, 0)))


def test_a_universe_with_nothing_to_say_has_a_page_that_says_so() -> None:
    page = render(description(NO_LAW))
    assert page.count("<svg") == 2
    assert "No topic has two subscribers" in page
    assert page.count("No power law was fitted") == 4  # in the table and under the figure, twice
    assert "&lt;by hand&gt;" in page


def test_both_laws_are_drawn_and_a_tiny_p_is_called_so() -> None:
    page = render(description(LAW))
    assert "power law of the tail, exponent 2.00" in page
    assert "power law of everything, exponent 1.50" in page
    assert "<td>+4.20</td><td>&lt; 0.001</td>" in page
    assert "ropewalk describe UNIVERSE --seed 7 --draws 50" in page


def test_the_same_numbers_are_the_same_page() -> None:
    assert render(description(LAW)) == render(description(LAW))


def test_a_heat_map_stays_small_however_large_the_matrix() -> None:
    size = 3 * FINEST + 1
    matrix = np.eye(size) * 2 - 0.5
    assert len(heat_map(matrix, 0.5, "r")) < 200_000

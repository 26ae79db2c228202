"""What claims of Kato et al. lean on, where it can be said by hand or by rules that are read word by word."""

import math

import numpy as np
import pytest

from kato_printed import Printed
from ropewalk.papers.kato.bounds import FEW_BITS, bound, largest_of_worst, worst
from ropewalk.papers.kato.figure_2 import growth_of
from ropewalk.papers.kato.twitter import followed
from ropewalk.protocols.kato.settings import Neighbours, Settings

SIZES = (125, 250, 500, 1000)


@pytest.mark.parametrize(
    ("law", "depths"),
    [
        ("logarithm", [2 * math.log(size) - 3 for size in SIZES]),
        ("power", [0.5 * size**0.4 for size in SIZES]),
        ("line", [1 + 0.01 * size for size in SIZES]),
    ],
)
def test_the_law_that_a_growth_has_explains_it_best_and_says_what_comes_next(law: str, depths: list[float]) -> None:
    found = growth_of(SIZES, depths)
    assert found[law]["r2"] == pytest.approx(1)
    assert found[law]["off_at_last"] == pytest.approx(0, abs=1e-9)
    for other in found.keys() - {law}:
        assert found[other]["r2"] < 1
        assert abs(found[other]["off_at_last"]) > 0.01


@pytest.mark.parametrize(("reading", "breaks"), [("text", True), ("proof", False)])
def test_the_worst_universe_breaks_the_printed_bound_by_the_text_s_rule_only(reading: Neighbours, breaks: bool) -> None:
    printed = Printed(worst(), Settings(bits=FEW_BITS, hashes=1, neighbours=reading), 1)
    largest = max(len(links) for links in printed.links)
    assert largest_of_worst(reading) == largest
    assert (largest > bound(FEW_BITS)) == breaks


def test_who_is_alike_has_its_primary_s_links_where_tables_are_copied() -> None:
    nodes, topics = np.array([0, 1, 2, 3, 3, 4, 4]), np.array([0, 0, 0, 0, 1, 0, 2])
    found = followed(nodes, topics, 0)
    alike = found.friends == 1
    assert (alike.sum(), found.primary[alike].sum()) == (3, 1)
    assert found.copied[alike].tolist() == [4, 4, 4]  # both that follow more cover it, and two are on its ring
    assert sorted(found.connections[alike].tolist()) == [2, 2, 4]
    assert found.copied[~alike].tolist() == found.connections[~alike].tolist() == [2, 2]

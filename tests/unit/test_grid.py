import math
from dataclasses import replace

import numpy as np
import pytest

from ropewalk.errors import UsageError
from ropewalk.workloads.grid import SETS, Grid, _power_law

EVERY = pytest.mark.parametrize("grid", SETS.values(), ids=SETS)


def pairs_of(grid: Grid, seed: int, nodes: range | None = None) -> set[tuple[int, int]]:
    chosen = np.array(nodes if nodes is not None else range(grid.nodes))
    return set(zip(*(column.tolist() for column in grid.pairs(chosen, seed)), strict=True))


@EVERY
def test_every_node_follows_something_and_nothing_twice(grid: Grid) -> None:
    nodes, topics = grid.pairs(np.arange(grid.nodes), 1)
    assert set(nodes.tolist()) == set(range(grid.nodes))
    assert set(topics.tolist()) <= set(range(grid.topics))
    assert len(pairs_of(grid, 1)) == nodes.size


@EVERY
def test_a_node_does_not_depend_on_which_others_are_made_beside_it(grid: Grid) -> None:
    whole = pairs_of(grid, 1)
    assert pairs_of(grid, 1, range(10, 30)) == {pair for pair in whole if 10 <= pair[0] < 30}


def test_same_seed_same_universe_other_seed_another() -> None:
    assert pairs_of(SETS["fig6"], 1) == pairs_of(SETS["fig6"], 1)
    assert pairs_of(SETS["fig6"], 1) != pairs_of(SETS["fig6"], 2)


def test_a_power_law_keeps_its_bounds_and_its_quantiles() -> None:
    law = (2.0, 1.0, 10.0)  # distribution (1 - 1/x) / (1 - 1/10)
    assert _power_law(0.0, law) == pytest.approx(1)
    assert _power_law(1.0, law) == pytest.approx(10)
    assert (1 - 1 / _power_law(0.3, law)) / 0.9 == pytest.approx(0.3)
    assert _power_law(0.5, (1.0, 1.0, 9.0)) == pytest.approx(3)  # log-uniform


def test_popularity_and_interest_are_skewed_as_in_the_papers_figure() -> None:
    """StAN Figure 1: few popular topics, many small; most nodes follow few topics, some follow nearly all."""
    nodes, topics = SETS["G"].pairs(np.arange(1000), 1)
    per_node, per_topic = np.bincount(nodes), np.bincount(topics, minlength=100)
    assert np.median(per_node) <= 10
    assert per_node.max() >= 90
    assert per_topic.max() > 4 * np.median(per_topic)


def test_without_a_torus_the_edges_do_not_meet() -> None:
    torus = replace(SETS["E"], torus=True)
    assert len(pairs_of(torus, 1)) > len(pairs_of(SETS["E"], 1))


@pytest.mark.parametrize("size", [-5, 0, 10**9])
def test_an_impossible_size_is_said_so(size: int) -> None:
    with pytest.raises(UsageError, match=f"nodes is {size}, but must be from 1 to"):
        replace(SETS["G"], nodes=size)


def test_the_workshop_sets_ask_for_mean_degree_ln_n() -> None:
    assert -math.log(-math.log(SETS["G"].connectivity)) == pytest.approx(0, abs=1e-12)

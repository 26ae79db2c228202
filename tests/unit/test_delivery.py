"""How far events get after crashes, against searches among the survivors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from digraphs import Digraph, batch_of, both_ways, digraphs, distances, flat, random_digraph
from ropewalk.arrays.chance import stream
from ropewalk.arrays.delivery import delivery, error_bound, one_way_reach

STATE = stream(1, "sources")


def left_of(digraph: Digraph, crashed: list[bool]) -> Digraph:
    alive = [node for node in range(len(digraph)) if not crashed[node]]
    return [[alive.index(other) for other in digraph[node] if other in alive] for node in alive]


def mean_reach(digraph: Digraph) -> float:
    return len(distances(digraph)) / len(digraph) ** 2 if digraph else 0.0


@given(st.lists(digraphs(), min_size=1, max_size=3), st.data())
def test_reach_is_the_share_of_pairs_with_a_path(batch: list[Digraph], data: st.DataObject) -> None:
    crashed = [[data.draw(st.booleans()) for _ in one] for one in batch]
    found = delivery(*batch_of(batch), np.array([c for one in crashed for c in one]), 100, 64, STATE)
    for place, digraph in enumerate(batch):
        left = left_of(digraph, crashed[place])
        assert found.survivors[place] == len(left)
        assert found.one_way[place] == pytest.approx(mean_reach(left), abs=1e-12)
        assert found.two_way[place] == pytest.approx(mean_reach(both_ways(left)), abs=1e-12)
        assert found.bound[place] == 0.0


@given(digraphs())
def test_when_all_outside_the_largest_component_are_drawn_nothing_is_uncertain(digraph: Digraph) -> None:
    assert one_way_reach(*flat(digraph), 1, 64, STATE) == (pytest.approx(mean_reach(digraph)), 0.0)


@pytest.mark.parametrize(("degree", "unheld"), [(1, 0), (2, 50), (5, 90)])
def test_more_components_than_a_word_has_bits(degree: int, unheld: int) -> None:
    digraph = random_digraph(300, degree, seed=1, unheld=unheld)
    exact = mean_reach(digraph)
    assert one_way_reach(*flat(digraph), 300, 64, STATE) == (pytest.approx(exact), 0.0)
    assert one_way_reach(*flat(digraph), 1, 300, STATE) == (pytest.approx(exact), 0.0)


def test_a_line_reaches_half_of_itself() -> None:
    line = [[node + 1] for node in range(199)] + [[]]
    assert one_way_reach(*flat(line), 200, 64, STATE)[0] == pytest.approx(201 / 400)


def test_sampled_reaches_keep_within_their_bound() -> None:
    batch = [random_digraph(200, 2, seed, unheld=20) for seed in range(100)]
    nobody = np.zeros(100 * 200, np.bool_)
    exact = delivery(*batch_of(batch), nobody, 200, 0, STATE)
    sampled = delivery(*batch_of(batch), nobody, 1, 10, STATE)
    off = np.abs(sampled.one_way - exact.one_way)
    assert np.mean(off <= sampled.bound) >= 0.95
    assert off.max() > 0
    assert 0 < sampled.bound.min() < sampled.bound.max() < error_bound(10)  # of a part of the nodes only
    assert error_bound(10) == pytest.approx(0.4295, abs=1e-4)

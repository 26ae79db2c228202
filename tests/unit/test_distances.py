"""Searches side by side against one search after the other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from digraphs import Digraph, digraphs, distances, flat, random_digraph
from ropewalk.arrays.distances import SEARCHES, diameter, farthest, turned


@given(digraphs(), st.integers(0, 5))
def test_turned_links(digraph: Digraph, offset: int) -> None:
    starts, links = turned(*flat(digraph, offset))
    views = [links[starts[node] : starts[node + 1]].tolist() for node in range(len(digraph))]
    assert views == [[a for a, view in enumerate(digraph) if node in view] for node in range(len(digraph))]


@given(digraphs(), st.integers(0, 5), st.data())
def test_the_farthest_node(digraph: Digraph, offset: int, data: st.DataObject) -> None:
    targets = data.draw(st.lists(st.sampled_from(range(len(digraph)))))
    steps, by_all = farthest(*flat(digraph, offset), np.array(targets, np.int64))
    found = distances(digraph)
    for place, target in enumerate(targets):
        arriving = [count for (_, end), count in found.items() if end == target]
        assert (steps[place], by_all[place]) == (max(arriving), len(arriving) == len(digraph))


@given(digraphs(), st.integers(0, 5))
def test_diameter_over_reachable_pairs(digraph: Digraph, offset: int) -> None:
    found = distances(digraph)
    assert diameter(*flat(digraph, offset)) == (max(found.values()), len(found) == len(digraph) ** 2)


@pytest.mark.parametrize("degree", [1, 2, 3, 8])
@pytest.mark.parametrize("unheld", [0, 20])
def test_diameter_of_graphs_that_need_more_than_one_pass(degree: int, unheld: int) -> None:
    digraph = random_digraph(2 * SEARCHES, degree, seed=degree, unheld=unheld)
    found = distances(digraph)
    assert diameter(*flat(digraph)) == (max(found.values()), len(found) == len(digraph) ** 2)


def test_long_ways_round() -> None:
    nodes = 2 * SEARCHES + 10
    ring = [[(node + 1) % nodes] for node in range(nodes)]
    assert diameter(*flat(ring)) == (nodes - 1, True)
    line = [*ring[:-1], []]
    assert diameter(*flat(line)) == (nodes - 1, False)
    tail = [[(node + 1) % 300] if node < 300 else [node - 1] for node in range(nodes)]  # ends in a ring, far behind
    assert diameter(*flat(tail)) == (nodes - 1, False)

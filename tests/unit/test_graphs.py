"""Graph kernels against definitions written out on sets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from digraphs import Digraph, batch_of, both_ways, digraphs, distances, flat
from ropewalk.arrays import graphs


def pieces(digraph: Digraph) -> set[frozenset[int]]:
    """The strong components."""
    reach, nodes = distances(digraph), range(len(digraph))
    return {frozenset(b for b in nodes if (a, b) in reach and (b, a) in reach) for a in nodes}


def grouped(component: np.ndarray) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(component == number).tolist()) for number in component.tolist()}


@given(digraphs(), st.integers(0, 5))
def test_components(digraph: Digraph, offset: int) -> None:
    starts, links = flat(digraph, offset)
    component, count = graphs.strong_components(starts, links)
    assert grouped(component) == pieces(digraph)
    assert count == len(pieces(digraph))
    assert all(component[node] >= component[link] for node, view in enumerate(digraph) for link in view)
    component, count = graphs.weak_components(starts, links)
    assert grouped(component) == pieces(both_ways(digraph))
    assert count == graphs.weak_count(starts, links) == len(pieces(both_ways(digraph)))


@given(digraphs(), st.integers(0, 5))
def test_a_condensed_graph_has_each_link_between_components_once(digraph: Digraph, offset: int) -> None:
    component, count = graphs.strong_components(*flat(digraph, offset))
    sizes, starts, links = graphs.condensed(*flat(digraph, offset), component, count)
    assert sizes.tolist() == np.bincount(component, minlength=count).tolist()
    between = {(component[a], component[b]) for a, view in enumerate(digraph) for b in view}
    found = [(own, other) for own in range(count) for other in links[starts[own] : starts[own + 1]]]
    assert sorted(found) == sorted((a, b) for a, b in between if a != b)


@given(digraphs())
def test_clustering(digraph: Digraph) -> None:
    shares = []
    for view in digraph:
        among = sum(b in digraph[a] for a in view for b in view)
        shares.append(among / (len(view) * (len(view) - 1)) if len(view) > 1 else 0.0)
    assert graphs.clustering(*flat(digraph)) == pytest.approx(np.mean(shares))
    assert graphs.clustering_of(*flat(digraph), np.array([len(digraph) - 1])) == pytest.approx(shares[-1])


@given(digraphs(), st.integers(1, 14))
def test_a_diameter_lies_between_its_bounds(digraph: Digraph, sources: int) -> None:
    fit = graphs.fitness(*batch_of([digraph]), 0, sources)
    assert fit.longest[0] <= max(distances(digraph).values()) <= fit.longest_at_most[0] <= 2 * len(digraph)


@given(digraphs())
def test_bounds_from_every_node_are_the_diameter_and_the_best_detour(digraph: Digraph) -> None:
    fit = graphs.fitness(*batch_of([digraph]), 0, len(digraph))
    found, nodes = distances(digraph), range(len(digraph))
    assert fit.longest[0] == max(found.values())
    if len(found) == len(digraph) ** 2:
        detours = [max(found[a, hub] for a in nodes) + max(found[hub, b] for b in nodes) for hub in nodes]
        assert fit.longest_at_most[0] == min(detours)


def test_a_chain_beside_the_largest_component_bounds_what_does_not_touch_it() -> None:
    ring = [[1], [2], [0]]
    beside = [[4], [5], [6], []]  # 3 -> 4 -> 5 -> 6: longer than any detour over the ring, 2 + 2
    fit = graphs.fitness(*batch_of([ring + beside, [*ring, [0]], ring]), 0, 7)
    assert fit.longest.tolist() == [3, 3, 2]
    assert fit.longest_at_most.tolist() == [4, 4, 4]
    long = graphs.fitness(*batch_of([[*ring, *beside[:-1], [7], [8], []]]), 0, 9)
    assert (long.longest[0], long.longest_at_most[0]) == (5, 5)


@given(st.lists(digraphs(), min_size=1, max_size=3))
def test_a_batch_is_its_graphs_one_by_one(batch: list[Digraph]) -> None:
    fit = graphs.fitness(*batch_of(batch), 100, 64)
    for place, digraph in enumerate(batch):
        alone = flat(digraph)
        assert fit.weak[place] == graphs.weak_count(*alone)
        assert fit.strong[place] == graphs.strong_components(*alone)[1]
        assert fit.clustering[place] == graphs.clustering(*alone)
        assert fit.longest[place] == fit.longest_at_most[place] == max(distances(digraph).values())
        held = {link for view in digraph for link in view}
        assert fit.unheld[place] == (len(digraph) - len(held) if len(digraph) > 1 else 0)


def test_a_graph_without_nodes_has_no_components() -> None:
    fit = graphs.fitness(np.array([0, 0]), np.array([0]), np.empty(0, np.int32), 100, 64)
    assert [column.tolist() for column in fit] == [[0], [0], [0.0], [0], [0], [0]]

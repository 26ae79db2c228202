"""Graph kernels against definitions written out on sets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.arrays import graphs

Digraph = list[list[int]]


@st.composite
def digraphs(draw: st.DrawFn) -> Digraph:
    nodes = draw(st.integers(1, 12))
    others = [[other for other in range(nodes) if other != node] for node in range(nodes)]
    return [draw(st.lists(st.sampled_from(o), unique=True)) if o else [] for o in others]


def flat(digraph: Digraph, offset: int = 0) -> tuple[np.ndarray, np.ndarray]:
    starts = np.cumsum([0, *map(len, digraph)]) + offset
    links = [0] * offset + [link for view in digraph for link in view]
    return starts.astype(np.int64), np.array(links, np.int32)


def distances(digraph: Digraph) -> dict[tuple[int, int], int]:
    found: dict[tuple[int, int], int] = {}
    for source in range(len(digraph)):
        seen, edge, steps = {source}, {source}, 0
        while edge:
            found |= {(source, node): steps for node in edge}
            edge = {link for node in edge for link in digraph[node]} - seen
            seen |= edge
            steps += 1
    return found


@given(digraphs(), st.integers(0, 5))
def test_components(digraph: Digraph, offset: int) -> None:
    starts, links = flat(digraph, offset)
    reach = distances(digraph)
    nodes = range(len(digraph))
    mutual = {frozenset(b for b in nodes if (a, b) in reach and (b, a) in reach) for a in nodes}
    component, count = graphs.strong_components(starts, links)
    assert count == len(mutual)
    assert {frozenset(b for b in nodes if component[b] == component[a]) for a in nodes} == mutual
    assert all(component[node] >= component[link] for node in nodes for link in digraph[node])
    both_ways = [sorted({*digraph[n], *(m for m in nodes if n in digraph[m])}) for n in nodes]
    pieces = {frozenset(b for b in nodes if (a, b) in distances(both_ways)) for a in nodes}
    assert graphs.weak_count(starts, links) == len(pieces)


@given(digraphs())
def test_diameter_over_reachable_pairs(digraph: Digraph) -> None:
    assert graphs.diameter(*flat(digraph), len(digraph)) == max(distances(digraph).values())


@given(digraphs())
def test_a_diameter_from_few_sources_is_a_lower_bound(digraph: Digraph) -> None:
    assert graphs.diameter(*flat(digraph), 1) <= max(distances(digraph).values())


def test_a_ring_longer_than_a_word_of_searches() -> None:
    ring = [[(node + 1) % 150] for node in range(150)]
    assert graphs.diameter(*flat(ring), 150) == 149


@given(digraphs())
def test_clustering(digraph: Digraph) -> None:
    shares = []
    for view in digraph:
        among = sum(b in digraph[a] for a in view for b in view)
        shares.append(among / (len(view) * (len(view) - 1)) if len(view) > 1 else 0.0)
    assert graphs.clustering(*flat(digraph)) == pytest.approx(np.mean(shares))


@given(digraphs(), digraphs())
def test_a_batch_is_its_graphs_one_by_one(first: Digraph, second: Digraph) -> None:
    starts = np.cumsum([0, *map(len, first + second)]).astype(np.int64)
    links = np.array([link for view in first + second for link in view], np.int32)
    offsets = np.cumsum([0, len(first), len(second)]).astype(np.int64)
    weak, strong, clustering, diameter, unheld = graphs.fitness(offsets, starts, links, 100, 64)
    for place, digraph in enumerate((first, second)):
        alone = flat(digraph)
        assert weak[place] == graphs.weak_count(*alone)
        assert strong[place] == graphs.strong_components(*alone)[1]
        assert clustering[place] == graphs.clustering(*alone)
        assert diameter[place] == graphs.diameter(*alone, len(digraph))
        held = {link for view in digraph for link in view}
        assert unheld[place] == (len(digraph) - len(held) if len(digraph) > 1 else 0)

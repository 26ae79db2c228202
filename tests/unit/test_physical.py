"""The graph of connections, against the usual definitions for undirected graphs."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from digraphs import Digraph, distances
from ropewalk.arrays.chance import stream
from ropewalk.arrays.physical import Physical, both_ways, physical

STATE = stream(1, "sampled")
Pairs = list[tuple[int, int]]


@st.composite
def undirected(draw: st.DrawFn) -> tuple[int, Pairs]:
    nodes = draw(st.integers(1, 12))
    pairs = list(combinations(range(nodes), 2))
    return nodes, draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []


def measured(nodes: int, pairs: Pairs, exact: int, sources: int, sampled: int) -> Physical:
    ends = np.array(pairs, np.int32).reshape(-1, 2)
    return physical(*both_ways(nodes, ends[:, 0].copy(), ends[:, 1].copy()), exact, sources, sampled, STATE)


def views_of(nodes: int, pairs: Pairs) -> Digraph:
    return [[a + b - node for a, b in pairs if node in (a, b)] for node in range(nodes)]


@given(undirected())
def test_an_undirected_graph(graph: tuple[int, Pairs]) -> None:
    nodes, pairs = graph
    found, views = distances(views_of(nodes, pairs)), views_of(nodes, pairs)
    components = {frozenset(b for b in range(nodes) if (a, b) in found) for a in range(nodes)}
    triangles = [sum(tuple(sorted(ends)) in pairs for ends in combinations(view, 2)) for view in views]
    possible = [len(view) * (len(view) - 1) / 2 for view in views]
    shares = [count / most if most else 0.0 for count, most in zip(triangles, possible, strict=True)]
    longest = max(found.values())
    exact = measured(nodes, pairs, 100, 64, 5)
    assert tuple(exact) == (
        len(components),
        max(map(len, components)),
        pytest.approx(np.mean(shares)),
        0.0,
        longest,
        longest,
    )
    bounded = measured(nodes, pairs, 0, 3, nodes)
    assert bounded[:4] == exact[:4]
    assert bounded.longest <= longest <= bounded.longest_at_most


def test_sampled_clustering_says_how_far_off_it_may_be() -> None:
    draw = np.random.default_rng(3)
    pairs = [pair for pair in combinations(range(400), 2) if draw.random() < 0.02 + 0.5 * (pair[1] < 60)]
    exact, sampled = measured(400, pairs, 400, 8, 100), measured(400, pairs, 0, 8, 100)
    assert sampled.clustering_bound == pytest.approx(0.1358, abs=1e-4)
    assert 0 < abs(sampled.clustering - exact.clustering) <= sampled.clustering_bound
    assert sampled.longest <= exact.longest <= sampled.longest_at_most
    assert sampled == measured(400, pairs, 0, 8, 100)

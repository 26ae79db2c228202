import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ropewalk.arrays.chance import stream
from ropewalk.errors import UsageError
from ropewalk.workloads.spatial import Spatial, place_of
from ropewalk.workloads.thresholds import Tally


def cut_of(model: Spatial, seed: int) -> tuple[int, float]:
    def tally_within(reach: float) -> Tally:
        cells = model.cells(seed, reach)
        return lambda low, shift: model.tally(np.arange(model.nodes), cells, seed, reach, low, shift)

    return model.radius(tally_within)


def pairs_of(model: Spatial, seed: int = 1) -> set[tuple[int, int]]:
    cut, reach = cut_of(model, seed)
    nodes, topics = model.pairs(np.arange(model.nodes), model.cells(seed, reach), seed, cut)
    pairs = set(zip(nodes.tolist(), topics.tolist(), strict=True))
    assert len(pairs) == nodes.size
    return pairs


@settings(max_examples=50)
@given(st.integers(1, 120), st.data(), st.integers(0, 2**63 - 1))
def test_a_node_follows_exactly_those_within_the_radius(nodes: int, data: st.DataObject, seed: int) -> None:
    model = Spatial(nodes=nodes, subscriptions_per_node=data.draw(st.floats(1, nodes)))
    squared = float(np.int64(cut_of(model, seed)[0]).view(np.float64))
    places = np.array([place_of(node, stream(seed, "spatial place")) for node in range(nodes)])
    apart = ((places[:, None] - places[None]) ** 2).sum(2)
    near = (apart < squared) | np.eye(nodes, dtype=bool)
    assert pairs_of(model, seed) == set(zip(*np.nonzero(near), strict=True))
    # Others come in pairs, and what is asked for is rounded.
    assert len(near.nonzero()[0]) == pytest.approx(nodes * model.subscriptions_per_node, rel=0.01, abs=1.501)


@pytest.mark.parametrize("topics", [8, 16, 32])
@pytest.mark.parametrize("nodes", [1000, 10_000])
def test_the_mean_is_met_in_spite_of_the_edges(nodes: int, topics: int) -> None:
    model = Spatial(nodes=nodes, subscriptions_per_node=topics)
    assert len(pairs_of(model)) / nodes == pytest.approx(topics, rel=0.001)
    without_edges = math.sqrt((topics - 1) / (math.pi * nodes))  # one is its own
    assert without_edges < cut_of(model, 1)[1] < 1.2 * without_edges


def test_following_is_mutual_and_one_follows_oneself() -> None:
    pairs = pairs_of(Spatial(nodes=300, subscriptions_per_node=5))
    assert all((topic, node) in pairs for node, topic in pairs)
    assert all((node, node) in pairs for node in range(300))


def test_another_seed_places_nodes_elsewhere() -> None:
    model = Spatial(nodes=100, subscriptions_per_node=5)
    assert pairs_of(model, 1) != pairs_of(model, 2)


def test_nobody_can_follow_more_topics_than_there_are() -> None:
    with pytest.raises(UsageError, match="subscriptions-per-node is 11, but must be from 1 to 10"):
        Spatial(nodes=10, subscriptions_per_node=11)
    assert len(pairs_of(Spatial(nodes=10, subscriptions_per_node=10))) == 100

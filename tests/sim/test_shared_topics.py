"""Ranking those higher who share more topics: the same population with fewer connections, and every topic in one piece."""

from dataclasses import replace
from functools import cache

import pytest

from ropewalk.engines.live.options import LIVE
from ropewalk.engines.sim.invariants.connected import weak_components
from ropewalk.seeds import chance
from towns import Town

NODES, TOPICS, EACH, PERIODS = 60, 12, 4, 8
SEEDS = (1,)


def interests(seed: int) -> dict[int, list[int]]:
    """Every node follows four of twelve topics, by chance."""
    followed: dict[int, list[int]] = {topic: [] for topic in range(1, TOPICS + 1)}
    for number in range(NODES):
        drawn = {topic: chance(seed, "follows", number, topic) for topic in followed}
        for topic in sorted(drawn, key=lambda topic: drawn[topic])[:EACH]:
            followed[topic].append(chance(seed, "id", number))
    return {topic: sorted(nodes) for topic, nodes in followed.items()}


@cache
def played(seed: int, power: int) -> Town:
    settings = replace(LIVE, rounds=PERIODS, shared=power, connectivity=0.9)
    return Town(settings=settings, followed=interests(seed), seed=seed).play()


def connections(town: Town) -> float:
    """Of a node, on average."""
    views = town.population.views().values()
    pairs = {frozenset((node, other)) for held in views for node, view in held.items() for other in view}
    return 2 * len(pairs) / NODES


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS)
def test_nodes_that_prefer_who_shares_more_have_fewer_connections(seed: int) -> None:
    alike, sharing = played(seed, 0), played(seed, 2)
    assert connections(sharing) < 0.9 * connections(alike)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", SEEDS)
def test_every_topic_is_in_one_piece(seed: int) -> None:
    assert all(weak_components(views) == 1 for views in played(seed, 2).population.views().values())


@pytest.mark.thorough
def test_what_is_known_is_so() -> None:
    """Where nobody goes, nobody is taken for a member of a topic that it does not follow."""
    town = played(1, 2)
    for node in town.ids:
        for other, topics in town.population.stan(node).neighbours.shared.topics_of.items():
            assert all(other in town.followed[topic] and node in town.followed[topic] for topic in topics)

"""Magnet's nodes: the same joins give the ring of the batch model, and strict trees are those that it grows."""

import numpy as np
import pytest

from portions import portions
from ropewalk.engines.sim import timed
from ropewalk.engines.sim.invariants.watch import Watch, invariants_of
from ropewalk.engines.sim.network import Network
from ropewalk.engines.sim.population import Population
from ropewalk.engines.sim.simulator import Simulator
from ropewalk.engines.standings import tree_of
from ropewalk.protocols.catalogue import PROTOCOLS
from ropewalk.protocols.dht.kernel import Interests, Ring, interests_of
from ropewalk.protocols.dht.kernel.rings import places_of
from ropewalk.protocols.magnet import kernel
from ropewalk.protocols.magnet.node import Node
from ropewalk.protocols.magnet.settings import Settings
from ropewalk.seeds import chance, pick, unit

UNIVERSES = 50
ALL = 1 << 10  # samples of so many are everybody
ROUNDS = 30  # fingers were last chosen six periods before that


def followed_by(seed: int) -> dict[int, list[int]]:
    """Six to sixteen nodes, each of which follows about half of two to five topics."""
    nodes = [chance(seed, "node", number) for number in range(6 + pick(chance(seed, "nodes"), 11))]
    topics = [chance(seed, "topic", number) for number in range(2 + pick(chance(seed, "topics"), 4))]
    follows = {topic: [node for node in nodes if unit(chance(seed, "follows", node, topic)) < 0.5] for topic in topics}
    for place, node in enumerate(nodes):  # everybody follows something
        if not any(node in members for members in follows.values()):
            follows[topics[place % len(topics)]].append(node)
    return {topic: sorted(members) for topic, members in follows.items() if members}


def interests_in(followed: dict[int, list[int]]) -> Interests:
    pairs = [(node, topic) for topic, members in followed.items() for node in members]
    return interests_of(np.array([node for node, _ in pairs]), np.array([topic for _, topic in pairs]))


def played(followed: dict[int, list[int]], settings: Settings, seed: int) -> Population:
    watch = Watch(invariants_of("magnet"))
    population = Population(Simulator(Network(), [watch]), followed, settings, seed, {}, PROTOCOLS["magnet"].make)
    timed.begin(population, {})
    for _ in timed.play(population):
        pass
    population.simulator.drain()
    watch.at_rest(population)
    return population


def nodes_of(population: Population) -> dict[int, Node]:
    return {id_: process.node for id_, process in population.simulator.processes.items()}  # type: ignore[misc]


def seated(population: Population) -> list[Node]:
    """In the order of their places on the skewed ring."""
    return sorted(nodes_of(population).values(), key=lambda node: node.skewed.place or b"")


def ring_of(interests: Interests, nodes: list[Node]) -> Ring:
    """The ring as the nodes keep it, in the arrays of the batch model."""
    at = {node.me.id: place for place, node in enumerate(nodes)}
    order = np.searchsorted(interests.node_ids, [node.me.id for node in nodes]).astype(np.int32)
    starts, links = [0], []
    for place, node in enumerate(nodes):
        held = {seat.contact.id for seat in (*node.skewed.successors[:1], *node.skewed.fingers.values())}
        links += sorted((at[other] - place) % len(nodes) for other in held)
        starts.append(len(links))
    return Ring(order, places_of(order), np.array(starts, np.int64), np.array(links, np.int32))


def turned(ids: list[int]) -> list[int]:
    """The same ring, from its lowest id on."""
    first = ids.index(min(ids))
    return ids[first:] + ids[:first]


@pytest.mark.parametrize("seed", portions(range(UNIVERSES), 5, 10))
def test_the_same_joins_give_the_same_ring_and_the_same_trees(seed: int) -> None:
    followed = followed_by(seed)
    interests = interests_in(followed)
    settings = Settings(samples=ALL, grafting="strict", rounds=ROUNDS)
    population = played(followed, settings, seed)
    nodes = seated(population)
    arrivals, order = kernel.joined(interests, settings, seed)
    assert turned([node.me.id for node in nodes]) == turned(interests.node_ids[order].tolist())
    topics = np.arange(interests.topic_ids.size, dtype=np.int32)
    trees = kernel.grown(interests, ring_of(interests, nodes), arrivals, "strict", seed, topics)
    children = dict.fromkeys(interests.node_ids.tolist(), 0)
    standings = {node.me.id: node.standing() for node in nodes}
    for which, topic in enumerate(interests.topic_ids.tolist()):
        tree = tree_of(topic, standings)
        assert len(tree.depths) == trees.nodes[which]
        assert max(tree.depths.values()) == trees.depth[which]
        assert sum(tree.depths[node] for node in followed[topic]) == trees.hops[which]
        for node, count in tree.children.items():
            children[node] += count
    assert [children[node] for node in interests.node_ids.tolist()] == trees.children.tolist()

"""Who follows what, and which events are published: 100 nodes, 16 topics of different size, 5 followed by each."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import count
from random import Random

NODES, TOPICS, EACH = 100, 16, 5
SINGLE, TRIPLE = 150, 50  # events on one topic, then on three
SIZE = 1000  # bytes
A_SECOND, UNHURRIED = 20.0, 5.0  # events; the latter leaves a core some time for all nodes of the slowest network

Links = dict[int, set[tuple[int, int]]]
"""By topic, pairs of nodes that are neighbours on it; the smaller first."""


@dataclass(frozen=True, slots=True)
class Planned:
    """An event that will be published."""

    number: int
    publisher: int
    topics: tuple[int, ...]
    owed: frozenset[int]  # who follows one of the topics, but for the publisher


class World:
    """The same for all networks of one seed."""

    def __init__(self, seed: int, nodes: int = NODES) -> None:
        random = Random(f"world {seed}")  # noqa: S311
        weights = [1 / (1 + rank) for rank in range(TOPICS)]  # skewed by Zipf's law
        self.followed = [_drawn(random, weights, EACH) for _ in range(nodes)]  # topics by node
        self.members = [[node for node in range(nodes) if topic in self.followed[node]] for topic in range(TOPICS)]
        self._random, self._numbers = random, count()

    def events(self, how_many: int, topics: int) -> list[Planned]:
        """Each on so many topics, any of them, by somebody who follows one of these."""
        return [self._event(topics) for _ in range(how_many)]

    def again(self, planned: list[Planned]) -> list[Planned]:
        """Other events of the same publishers on the same topics."""
        return [replace(event, number=next(self._numbers)) for event in planned]

    def _event(self, topics: int) -> Planned:
        while True:
            chosen = tuple(self._random.sample(range(TOPICS), topics))
            following = sorted({node for topic in chosen for node in self.members[topic]})
            if len(following) > 1:
                publisher = self._random.choice(following)
                return Planned(next(self._numbers), publisher, chosen, frozenset(following) - {publisher})


def _drawn(random: Random, weights: Iterable[float], how_many: int) -> tuple[int, ...]:
    """So many different ones, the heavier the likelier (Efraimidis and Spirakis 2006)."""
    keyed = [(random.random() ** (1 / weight), number) for number, weight in enumerate(weights)]
    return tuple(sorted(number for _, number in sorted(keyed)[-how_many:]))


def random_links(world: World, degree: int, seed: int) -> Links:
    """One random overlay per topic: each member chooses half the degree at random; for odd degrees every other one more."""
    random = Random(f"links {seed} {degree}")  # noqa: S311
    links: Links = {}
    for topic, members in enumerate(world.members):
        pairs = links[topic] = set()
        for place, node in enumerate(members):
            others = [other for other in members if other != node]
            chosen = random.sample(others, min(len(others), (degree + place % 2) // 2))
            pairs |= {(min(node, other), max(node, other)) for other in chosen}
    return links


def even_links(world: World, degree: int, seed: int) -> Links:
    """One random overlay per topic in which all have as many neighbours: random rings, and for odd degrees random pairs besides."""
    random = Random(f"even {seed} {degree}")  # noqa: S311
    links: Links = {}
    for topic, members in enumerate(world.members):
        pairs = links[topic] = set()
        for turn in range((degree + 1) // 2):
            ring = random.sample(members, len(members))
            step = 2 if turn == degree // 2 else 1
            for place in range(0, len(ring) - step + 1, step):
                a, b = ring[place], ring[(place + 1) % len(ring)]
                if a != b:
                    pairs.add((min(a, b), max(a, b)))
    return links


def connections_of(links: Links, nodes: int) -> list[int]:
    """By node: with how many others it is linked, on whatever topic."""
    pairs = {pair for each in links.values() for pair in each}
    counts = [0] * nodes
    for a, b in pairs:
        counts[a] += 1
        counts[b] += 1
    return counts

"""What events still reach when a fifth of the nodes are gone, on links as they were recorded and before anybody has mended anything.

Nobody is crashed for real here: what nodes mend by themselves afterwards would count for one network and not for the other. An event
goes from a survivor along links of its topic in both directions, as far as survivors go. Reach is the share of all deliveries
that are owed among survivors, over events of all topics alike, whoever of a topic publishes.

Where next to nobody is cut off, few sets of nodes tell networks apart: there are as many as it takes to see one delivery in ten million.
"""

from functools import cache

import numpy as np
from numba import njit
from numpy.typing import NDArray

from networks.world import Links, World

SHARE = 0.2  # of the nodes
HARD = 0.4  # where a fifth tells nobody from another
SETS = 20_000  # of nodes that crash, the same for all networks; each counts with every topic and every publisher


def reach(world: World, links: Links, share: float = SHARE, sets: int = SETS) -> float:
    """Deliveries made, of those owed."""
    there = _survivors(len(world.followed), share, sets)
    made = owed = 0.0
    for topic, members in enumerate(world.members):
        place = {node: at for at, node in enumerate(members)}
        pairs = np.array([(place[a], place[b]) for a, b in sorted(links[topic])], dtype=np.int64).reshape(-1, 2)
        # a topic counts as often as events are on it; a publisher's owed deliveries as many as there are others
        of_topic = _reached(np.ascontiguousarray(there[:, members]), pairs)
        made, owed = made + of_topic[0], owed + of_topic[1]
    return made / owed if owed else 1.0


@cache
def _survivors(nodes: int, share: float, sets: int) -> NDArray[np.bool_]:
    """By set, whether a node is there."""
    drawn = np.random.default_rng(round(share * 1e6)).random((sets, nodes))
    return drawn.argsort(axis=1).argsort(axis=1) >= round(share * nodes)


@njit(cache=True)
def _root(root: NDArray[np.int64], member: int) -> int:
    while root[member] != member:
        root[member] = root[root[member]]
        member = root[member]
    return member


@njit(cache=True)
def _reached(there: NDArray[np.bool_], pairs: NDArray[np.int64]) -> tuple[float, float]:
    """Over all sets, deliveries of a topic from a publisher on average: made, and owed."""
    sets, members = there.shape
    made = owed = 0.0
    root = np.empty(members, dtype=np.int64)
    size = np.empty(members, dtype=np.int64)
    for one in range(sets):
        left = 0
        for member in range(members):
            root[member], size[member] = member, 1
            left += there[one, member]
        if left < 2:  # noqa: PLR2004  somebody to publish, and somebody to get it
            continue
        for at in range(len(pairs)):
            a, b = pairs[at]
            if there[one, a] and there[one, b]:
                a, b = _root(root, a), _root(root, b)
                if a != b:
                    root[a] = b
                    size[b] += size[a]
        for member in range(members):
            if there[one, member] and root[member] == member:
                made += size[member] * (size[member] - 1) / left
        owed += left - 1
    return made, owed


def is_whole(world: World, links: Links) -> bool:
    """Whether every topic's members hang together."""
    return all(len(pieces(members, list(links[topic]))) <= 1 for topic, members in enumerate(world.members))


def pieces(nodes: list[int], pairs: list[tuple[int, int]]) -> list[int]:
    """How large the parts are that hang together."""
    root = {node: node for node in nodes}

    def find(node: int) -> int:
        while root[node] != node:
            root[node] = root[root[node]]
            node = root[node]
        return node

    for a, b in pairs:
        root[find(a)] = find(b)
    sizes: dict[int, int] = {}
    for node in nodes:
        sizes[find(node)] = sizes.get(find(node), 0) + 1
    return list(sizes.values())

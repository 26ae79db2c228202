"""What is to be said of trees over a ring, whoever grew them."""

from typing import NamedTuple

import numpy as np

from ropewalk.arrays.compiled import Long, compiled
from ropewalk.protocols.dht.kernel.interests import Bools, Interests, Ints, Longs

NOBODY = -1
MILLION = 1_000_000


class Trees(NamedTuple):
    """Of each topic's tree, and of each node in all of them."""

    nodes: Longs  # in it
    relays: Longs  # of them that do not follow the topic
    strange_roots: Bools  # whether its home is one of those
    depth: Longs  # links from the home to the farthest
    hops: Longs  # links from the home, summed over those who follow
    grafts: Longs  # followers whose way in began elsewhere than at the home
    strays: Longs  # nodes in it that are on no greedy way from the home to a follower
    load: Longs  # of each node: what is published on topics that it relays and does not follow, in millionths: sums are exact
    children: Longs  # of each node, over all trees


def no_trees(topics: int, nodes: int) -> Trees:
    """Room for what is to be said."""
    return Trees(
        nodes=np.zeros(topics, np.int64),
        relays=np.zeros(topics, np.int64),
        strange_roots=np.zeros(topics, np.bool_),
        depth=np.zeros(topics, np.int64),
        hops=np.zeros(topics, np.int64),
        grafts=np.zeros(topics, np.int64),
        strays=np.zeros(topics, np.int64),
        load=np.zeros(nodes, np.int64),
        children=np.zeros(nodes, np.int64),
    )


@compiled
def tally(
    which: Long, topic: Long, root: Long, inside: Ints, parent: Ints, depth: Ints, interests: Interests, order: Ints,
    places: Ints, is_follower: Bools, trees: Trees,
) -> None:  # fmt: skip
    """Say it of one tree: who is inside, whose child each is (places), and how far from the root."""
    nodes, relays, strange_roots, depths, hops, _, _, load, children = trees
    rate = np.int64(np.round(interests.rates[topic] * MILLION))
    members = interests.nodes[interests.by_topic[topic] : interests.by_topic[topic + 1]]
    for member in members:
        is_follower[places[member]] = True
        hops[which] += depth[places[member]]
    for place in inside:
        if not is_follower[place]:
            relays[which] += 1
            load[order[place]] += rate
        if place != root:
            children[order[parent[place]]] += 1
        depths[which] = max(depths[which], depth[place])
    nodes[which], strange_roots[which] = inside.size, not is_follower[root]
    for member in members:
        is_follower[places[member]] = False

"""Scribe's trees over Chord on flat arrays: what Magnet clusters its members for, and a point of comparison.

A follower's way to the topic's home goes from each node to the last of its links before the topic's id, and from there to the
successor. It is the same for everybody from there on, so ways grow together into a tree.
"""

import numpy as np

from ropewalk.arrays.compiled import compiled
from ropewalk.protocols.dht.kernel.interests import Interests, Ints
from ropewalk.protocols.dht.kernel.rings import Ring, homes, next_hop
from ropewalk.protocols.dht.kernel.trees import NOBODY, Trees, no_trees, tally


def grown(interests: Interests, ring: Ring, topics: Ints) -> Trees:
    """The trees of some topics."""
    trees = no_trees(topics.size, ring.order.size)
    _grown(interests, ring, homes(interests), topics, trees)
    return trees


@compiled
def _grown(interests: Interests, ring: Ring, roots: Ints, wanted: Ints, trees: Trees) -> None:
    order, places, starts, links = ring
    count = order.size
    parent = np.full(count, NOBODY, np.int32)
    depth, inside = np.zeros(count, np.int32), np.empty(count, np.int32)
    is_follower = np.zeros(count, np.bool_)
    for which in range(wanted.size):
        topic = wanted[which]
        root = np.int64(places[roots[topic]])
        before = (root - 1) % count
        parent[root], depth[root], inside[0] = root, 0, root
        size = 1
        for member in interests.nodes[interests.by_topic[topic] : interests.by_topic[topic + 1]]:
            place, first = np.int64(places[member]), size
            while parent[place] == NOBODY:
                parent[place] = root if place == before else next_hop(place, before, count, starts, links)
                inside[size] = place
                size += 1
                place = np.int64(parent[place])
            for back in range(size - 1, first - 1, -1):
                depth[inside[back]] = depth[parent[inside[back]]] + 1
        tally(which, topic, root, inside[:size], parent, depth, interests, order, places, is_follower, trees)
        for place in inside[:size]:
            parent[place] = NOBODY

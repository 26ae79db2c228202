"""A ring: who sits where, which links lead where, and how a way goes on."""

from typing import NamedTuple

import numpy as np

from ropewalk.arrays.compiled import Long, compiled
from ropewalk.arrays.hashing import weights
from ropewalk.protocols.dht.kernel.interests import Interests, Ints, Longs

KEY = 1  # ours: any would do, if it is the same for all


class Ring(NamedTuple):
    """Nodes in the order of their places, clockwise, and the links of each."""

    order: Ints  # the node at each place
    places: Ints  # of each node
    starts: Longs  # where the links of each place begin
    links: Ints  # how far clockwise each of them leads, ascending; the first is the successor


def places_of(order: Ints) -> Ints:
    """Where each node sits."""
    places = np.empty(order.size, np.int32)
    places[order] = np.arange(order.size, dtype=np.int32)
    return places


def homes(interests: Interests) -> Ints:
    """Of each topic the node whose id is the first from the topic's key on, clockwise (Magnet 3.1)."""
    after = np.searchsorted(interests.node_ids, keys_of(interests.topic_ids))
    return (after % interests.node_ids.size).astype(np.int32)


def keys_of(topics: Longs) -> Longs:
    """Where topics are on the ring: their ids hashed once more, since a topic may be called like a node."""
    return weights(np.full(topics.size, KEY, np.int64), topics)


@compiled
def next_hop(place: Long, target: Long, count: Long, starts: Longs, links: Ints) -> np.int64:
    """Where a way goes on: over the link that leads farthest without going beyond the target. Both are places."""
    left = (target - place) % count
    low, high = starts[place], starts[place + 1] - 1
    while low < high:
        middle = (low + high + 1) // 2
        if links[middle] <= left:
            low = middle
        else:
            high = middle - 1
    return np.int64((place + links[low]) % count)

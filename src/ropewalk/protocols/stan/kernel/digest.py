"""One number for all links of a topic."""

import numpy as np

from ropewalk.arrays.compiled import compiled
from ropewalk.arrays.hashing import mixed_long, seeded
from ropewalk.protocols.stan.kernel.batch import Ints, Longs, Members, Overlays


def digests(members: Members, overlays: Overlays) -> Longs:
    """For each topic, the XOR over its links of xxhash64(topic, node, neighbour): the same whatever the order."""
    return _digests(members.topics, members.offsets, members.ids, overlays.starts, overlays.links)


@compiled
def _digests(topics: Longs, offsets: Longs, ids: Longs, starts: Longs, links: Ints) -> Longs:
    found = np.zeros(topics.size, np.int64)
    for topic in range(topics.size):
        first = offsets[topic]
        topic_state = seeded(topics[topic])
        digest = np.uint64(0)
        for member in range(first, offsets[topic + 1]):
            state = mixed_long(ids[member], topic_state)
            for link in range(starts[member], starts[member + 1]):
                digest ^= mixed_long(ids[first + links[link]], state)
        found[topic] = np.int64(digest)
    return found

"""The links of Chord (Stoica et al.): the successor, and the first node from each power of two on."""

import numpy as np

from ropewalk.arrays.compiled import compiled
from ropewalk.protocols.dht.kernel.interests import Interests, Ints, Longs
from ropewalk.protocols.dht.kernel.rings import Ring, places_of

BITS = 63  # of ids


def linked(interests: Interests) -> Ring:
    """Everybody where its id says, with all fingers right."""
    order = np.arange(interests.node_ids.size, dtype=np.int32)  # nodes are numbered by their ids
    return Ring(order, places_of(order), *_fingers(interests.node_ids))


@compiled
def _fingers(ids: Longs) -> tuple[Longs, Ints]:
    count = ids.size
    starts = np.zeros(count + 1, np.int64)
    links = np.empty(count * BITS, np.int32)
    end = 0
    most = np.uint64(1) << np.uint64(BITS)
    for place in range(count):
        last = np.int64(0)
        for bit in range(BITS):
            wanted = np.uint64(ids[place]) + (np.uint64(1) << np.uint64(bit))
            found = np.searchsorted(ids, np.int64(wanted % most)) % count
            distance = np.int64((found - place) % count)
            if distance > last:
                last = distance
                links[end] = distance
                end += 1
        starts[place + 1] = end
    return starts, links[:end].copy()

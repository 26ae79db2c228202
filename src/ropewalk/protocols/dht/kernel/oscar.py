"""Which links nodes have besides their successor (OSCAR, Magnet 2.2), if every median is known exactly.

From a node on, the population is halved again and again, clockwise and towards the node; a finger goes into one of these
partitions, each as likely as any, and there to one node or to the more similar of two.
"""

import numpy as np

from ropewalk.arrays.chance import pick, stream, unit
from ropewalk.arrays.compiled import Long, compiled
from ropewalk.arrays.hashing import mixed_long
from ropewalk.protocols.dht.kernel.interests import Floats, Interests, Ints, Longs
from ropewalk.protocols.dht.kernel.rings import Ring, places_of
from ropewalk.protocols.dht.kernel.similarity import marked, similarity

COUPLE = 2
TRIES = 16  # ours: for one finger; near a node there are few to choose from


def linked(interests: Interests, order: Ints, degree: float, weights: Floats | None, seed: int) -> Ring:
    """The ring with all its links; `weights` of topics decide between two candidates, None: the first is taken."""
    wanted = wanted_fingers(interests.node_ids[order], degree, partitions_of(order.size), seed)
    counted = interests.rates if weights is None else weights
    starts, links = _chosen(interests, counted, order, wanted, weights is not None, stream(seed, "finger"))
    return Ring(order, places_of(order), starts, links)


@compiled
def partitions_of(count: Long) -> int:
    """Into how many partitions the others on a ring fall, none of them empty; where there is nobody but a successor, none."""
    found = 0
    while count > COUPLE and count >> (found + 1) > 0:
        found += 1
    return found


def wanted_fingers(node_ids: Longs, degree: float, partitions: int, seed: int) -> Ints:
    """How many fingers each node wants: from one to as many as there are partitions, half the degree less the successor in the mean."""
    mean = min(max(degree / 2 - 1, 1.0), float(max(partitions, 1)))
    most = min(int(2 * mean - 1), max(partitions, 1))
    least = 2 * mean - most
    return _wanted(node_ids, least, float(most), stream(seed, "fingers"))


@compiled
def _wanted(node_ids: Longs, least: float, most: float, state: np.uint64) -> Ints:
    """Whole numbers spread evenly between two, whose mean is theirs."""
    found = np.empty(node_ids.size, np.int32)
    for place in range(node_ids.size):
        wide = unit(mixed_long(node_ids[place], state))
        exact = least - 0.5 + wide * (most - least + 1.0)
        found[place] = max(1, int(np.floor(exact + 0.5)))
    return found


@compiled
def _chosen(
    interests: Interests, weights: Floats, order: Ints, wanted: Ints, similar: bool, state: np.uint64
) -> tuple[Longs, Ints]:
    node_ids, _, by_node, topics, by_topic, _, _ = interests
    count = order.size
    partitions = partitions_of(count)
    starts = np.zeros(count + 1, np.int64)
    links = np.empty(count + wanted.sum(), np.int32)
    marks = np.full(by_topic.size - 1, -1, np.int64)
    end = 0
    for place in range(count):
        first = end
        if count > 1:
            links[end] = 1
            end += 1
        node = np.int64(order[place])
        total = marked(node, by_node, topics, weights, marks)
        own_state = mixed_long(node_ids[node], state)
        for finger in range(wanted[place] if partitions else 0):
            for turn in range(TRIES):
                drawn = mixed_long(turn, mixed_long(finger, own_state))
                partition = 1 + pick(mixed_long(0, drawn), partitions)
                distance = _within(count, partition, mixed_long(1, drawn))
                if similar:
                    other = _within(count, partition, mixed_long(2, drawn))
                    one, two = order[(place + distance) % count], order[(place + other) % count]
                    likeness = similarity(node, two, total, by_node, topics, weights, marks)
                    if likeness > similarity(node, one, total, by_node, topics, weights, marks):
                        distance = other
                if not (links[first:end] == distance).any():
                    links[end] = distance
                    end += 1
                    break
        links[first:end].sort()
        starts[place + 1] = end
    return starts, links[:end].copy()


@compiled
def _within(count: Long, partition: Long, state: np.uint64) -> np.int64:
    """How far away a node of a partition is that is drawn by chance."""
    low, high = count >> partition, min(count >> (partition - 1), count - 1)
    return np.int64(low + 1 + pick(state, high - low))

"""How much two subscriptions have in common."""

import numpy as np

from ropewalk.arrays.compiled import Long, compiled
from ropewalk.protocols.dht.kernel.interests import Floats, Ints, Longs


@compiled
def marked(node: Long, by_node: Longs, topics: Ints, weights: Floats, marks: Longs) -> np.float64:
    """Mark the topics of a node with its number; what they weigh together."""
    total = 0.0
    for place in range(by_node[node], by_node[node + 1]):
        marks[topics[place]] = node
        total += weights[topics[place]]
    return np.float64(total)


@compiled
def similarity(
    node: Long, other: Long, total: float, by_node: Longs, topics: Ints, weights: Floats, marks: Longs
) -> np.float64:
    """Of a node whose topics are marked, and another (Magnet 2.1): what they share, of what either follows."""
    shared, alone = 0.0, 0.0
    for place in range(by_node[other], by_node[other + 1]):
        topic = topics[place]
        if marks[topic] == node:
            shared += weights[topic]
        else:
            alone += weights[topic]
    return np.float64(shared / (total + alone))

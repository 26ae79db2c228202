"""Who sits where on the skewed ring, after everybody has joined, one after the other (Magnet 3.2, Algorithm 1).

A newcomer asks for a sample of each of its topics, of who has joined before, and sits down between the most similar node and
its successor. Who finds nobody sits where a hash of its name says. Order is kept in a linked list: places never run out of
room between two others, as numbers of a fixed width would. Rounded to 64 bits places are only needed to find where a hash
lies.
"""

import numpy as np
from numpy.typing import NDArray

from ropewalk.arrays.chance import drawn, pick, stream
from ropewalk.arrays.compiled import Long, compiled
from ropewalk.arrays.hashing import ONE, mixed_long
from ropewalk.protocols.dht.kernel.interests import Floats, Interests, Ints, Longs
from ropewalk.protocols.dht.kernel.similarity import marked, similarity
from ropewalk.protocols.magnet.settings import Settings

Spots = NDArray[np.uint64]

NOBODY = -1


def joined(interests: Interests, settings: Settings, seed: int) -> tuple[Ints, Ints]:
    """The nodes in the order in which they join, and in the order in which they then sit, clockwise."""
    arrivals = arrival_order(interests.node_ids, seed)
    samples = settings.samples if settings.placement == "similar" else 0
    weights = weights_of(interests, settings)
    if samples == 0:
        return arrivals, np.argsort(interests.node_ids, kind="stable").astype(np.int32)
    states = (stream(seed, "sample"), stream(seed, "tie"))
    return arrivals, _seated(interests, weights, arrivals, samples, states)


def arrival_order(node_ids: Longs, seed: int) -> Ints:
    """Everybody, in an order drawn by chance."""
    return np.argsort(_arrivals(node_ids, stream(seed, "arrival")), kind="stable").astype(np.int32)


def weights_of(interests: Interests, settings: Settings) -> Floats:
    """What each topic counts for."""
    return interests.rates if settings.similarity == "rates" else np.ones_like(interests.rates)


@compiled
def _arrivals(node_ids: Longs, state: np.uint64) -> Longs:
    found = np.empty(node_ids.size, np.int64)
    for node in range(node_ids.size):
        found[node] = np.int64(drawn(mixed_long(node_ids[node], state)))
    return found


@compiled
def _seated(
    interests: Interests, weights: Floats, arrivals: Ints, samples: int, states: tuple[np.uint64, np.uint64]
) -> Ints:
    node_ids, _, by_node, topics, by_topic, _, _ = interests
    count = node_ids.size
    following = np.full(count, NOBODY, np.int32)  # who sits next, clockwise
    spot = np.zeros(count, np.uint64)
    anchors = np.empty(count, np.int32)  # those who sit where a hash says, by it
    anchored = 0
    there = np.empty(by_topic[-1], np.int32)  # of each topic who has joined, in that order
    sizes = np.zeros(by_topic.size - 1, np.int64)
    marks = np.full(by_topic.size - 1, NOBODY, np.int64)
    asked = np.full(count, NOBODY, np.int64)  # for whom a node was compared last
    chosen = np.empty(samples, np.int64)
    for turn in range(count):
        node = np.int64(arrivals[turn])
        total = marked(node, by_node, topics, weights, marks)
        best, best_similarity, best_tie = np.int64(NOBODY), -1.0, np.uint64(0)
        tie_state = mixed_long(node_ids[node], states[1])
        for place in range(by_node[node], by_node[node + 1]):
            topic = topics[place]
            known = min(samples, sizes[topic])
            if known < sizes[topic]:
                _draw(sizes[topic], known, mixed_long(turn, mixed_long(topic, states[0])), chosen)
            for which in range(known):
                member = which if known == sizes[topic] else chosen[which]
                other = np.int64(there[by_topic[topic] + member])
                if asked[other] == node:
                    continue
                asked[other] = node
                found = similarity(node, other, total, by_node, topics, weights, marks)
                tie = drawn(mixed_long(node_ids[other], tie_state))
                if found > best_similarity or (found == best_similarity and tie < best_tie):
                    best, best_similarity, best_tie = other, found, tie
        if best != NOBODY:
            _sit_after(best, node, following, spot)
        else:
            spot[node] = np.uint64(node_ids[node]) << ONE
            _sit_by_hash(node, following, spot, anchors, anchored)
            anchored += 1
        for place in range(by_node[node], by_node[node + 1]):
            topic = topics[place]
            there[by_topic[topic] + sizes[topic]] = node
            sizes[topic] += 1
    return _listed(following, arrivals[0])


@compiled
def _draw(size: int, samples: int, state: np.uint64, chosen: Longs) -> None:
    """`samples` different numbers below `size` (Floyd)."""
    for turn in range(samples):
        last = size - samples + turn
        found = pick(mixed_long(turn, state), last + 1)
        chosen[turn] = last if (chosen[:turn] == found).any() else found


@compiled
def _sit_after(node: Long, newcomer: Long, following: Ints, spot: Spots) -> None:
    """Half-way between a node and its successor, which may be itself."""
    successor = following[node]
    spot[newcomer] = spot[node] + ((spot[successor] - spot[node] - ONE) >> ONE) + ONE
    following[newcomer], following[node] = successor, newcomer


@compiled
def _sit_by_hash(newcomer: Long, following: Ints, spot: Spots, anchors: Ints, anchored: int) -> None:
    """After the last node whose place is not beyond the newcomer's, seen from the nearest anchor before it."""
    low, high = 0, anchored
    while low < high:
        middle = (low + high) // 2
        if spot[anchors[middle]] <= spot[newcomer]:
            low = middle + 1
        else:
            high = middle
    for place in range(anchored, low, -1):
        anchors[place] = anchors[place - 1]
    if anchored == 0:
        following[newcomer] = newcomer
    else:
        before = anchors[low - 1] if low > 0 else anchors[anchored]
        start = spot[before]
        node = before
        while following[node] != before and spot[following[node]] - start <= spot[newcomer] - start:
            node = following[node]
        following[newcomer], following[node] = following[node], newcomer
    anchors[low] = newcomer


@compiled
def _listed(following: Ints, first: int) -> Ints:
    found = np.empty(following.size, np.int32)
    node = first
    for place in range(following.size):
        found[place] = node
        node = following[node]
    return found

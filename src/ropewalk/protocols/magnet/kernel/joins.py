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


def _seated(
    interests: Interests, weights: Floats, arrivals: Ints, samples: int, states: tuple[np.uint64, np.uint64]
) -> Ints:
    turns = np.empty_like(arrivals)
    turns[arrivals] = np.arange(arrivals.size, dtype=np.int32)
    there, before, popular = _arrived(interests, arrivals)
    # Whom a newcomer sits beside does not depend on where anybody sits. So nodes are numbered anew, those with a topic in
    # common one after the other: what is compared lies together, and stays in the cache.
    order = np.argsort(popular, kind="stable").astype(np.int32)
    number = np.empty_like(order)
    number[order] = np.arange(order.size, dtype=np.int32)
    counts = np.diff(interests.by_node)[order]
    by_node = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
    moved = np.repeat(interests.by_node[:-1][order] - by_node[:-1], counts) + np.arange(by_node[-1])
    found = _beside(
        interests.node_ids[order],
        by_node,
        interests.topics[moved],
        interests.by_topic,
        weights,
        turns[order],
        number[there],
        before[moved],
        samples,
        states,
    )
    beside = np.empty_like(found)
    beside[order] = np.where(found == NOBODY, NOBODY, order[found])
    return _listed(_following(interests.node_ids, arrivals, beside), arrivals[0])


@compiled
def _arrived(interests: Interests, arrivals: Ints) -> tuple[Ints, Ints, Ints]:
    """Of each topic its followers in the order in which they join; how many were before each; and each node's most popular topic."""
    _, _, by_node, topics, by_topic, _, _ = interests
    there = np.empty(by_topic[-1], np.int32)
    before = np.empty(by_topic[-1], np.int32)  # by subscription of a node
    popular = np.zeros(arrivals.size, np.int32)
    sizes = np.zeros(by_topic.size - 1, np.int64)
    for turn in range(arrivals.size):
        node = arrivals[turn]
        most = np.int64(-1)
        for place in range(by_node[node], by_node[node + 1]):
            topic = topics[place]
            before[place] = sizes[topic]
            there[by_topic[topic] + sizes[topic]] = node
            sizes[topic] += 1
            members = by_topic[topic + 1] - by_topic[topic]
            if members > most:
                most, popular[node] = members, topic
    return there, before, popular


@compiled
def _beside(
    node_ids: Longs,
    by_node: Longs,
    topics: Ints,
    by_topic: Longs,
    weights: Floats,
    turns: Ints,
    there: Ints,
    before: Ints,
    samples: int,
    states: tuple[np.uint64, np.uint64],
) -> Ints:
    """Who is most similar to each node, of all who are named to it when it joins."""
    beside = np.full(node_ids.size, NOBODY, np.int32)
    marks = np.full(by_topic.size - 1, NOBODY, np.int64)
    asked = np.full(node_ids.size, NOBODY, np.int64)  # for whom a node was compared last
    chosen = np.empty(samples, np.int64)
    for node in range(node_ids.size):
        total = marked(node, by_node, topics, weights, marks)
        best_similarity, best_tie = -1.0, np.uint64(0)
        tie_state = mixed_long(node_ids[node], states[1])
        for place in range(by_node[node], by_node[node + 1]):
            topic, size = topics[place], int(before[place])
            known = min(samples, size)
            if known < size:
                _draw(size, known, mixed_long(np.int64(turns[node]), mixed_long(topic, states[0])), chosen)
            for which in range(known):
                member = which if known == size else chosen[which]
                other = np.int64(there[by_topic[topic] + member])
                if asked[other] == node:
                    continue
                asked[other] = node
                found = similarity(node, other, total, by_node, topics, weights, marks)
                tie = drawn(mixed_long(node_ids[other], tie_state))
                if found > best_similarity or (found == best_similarity and tie < best_tie):
                    beside[node], best_similarity, best_tie = other, found, tie
    return beside


@compiled
def _following(node_ids: Longs, arrivals: Ints, beside: Ints) -> Ints:
    """Who sits next after whom, clockwise, when all have sat down one after the other."""
    following = np.full(node_ids.size, NOBODY, np.int32)
    spot = np.zeros(node_ids.size, np.uint64)
    anchors = np.empty(node_ids.size, np.int32)  # those who sit where a hash says, by it
    anchored = 0
    for turn in range(arrivals.size):
        node = np.int64(arrivals[turn])
        if beside[node] != NOBODY:
            _sit_after(np.int64(beside[node]), node, following, spot)
        else:
            spot[node] = np.uint64(node_ids[node]) << ONE
            _sit_by_hash(node, following, spot, anchors, anchored)
            anchored += 1
    return following


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

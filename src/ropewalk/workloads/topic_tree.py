"""How hierarchical topics are taken up, step by step, on flat arrays.

Subscription i is (nodes[i], topics[i]), in the order in which they are made. Topics are numbered as the leaves of the
tree, so the distance of two is the number of bits up to the highest in which they differ.

With strong homophily nearly every step leads to a topic that its node follows already. Where such a step is redrawn,
it is not even tried: a tree of sums keeps, for every subscription, how likely a step from it is to be new, and a step
is drawn from the new ones alone. That changes no odds.
"""

import numpy as np
from numpy.typing import NDArray

from ropewalk.arrays.chance import drawn_by, permuted, pick, unit
from ropewalk.arrays.compiled import Long, compiled
from ropewalk.arrays.hashing import mixed_long

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]

REPEATS = ("redrawn", "avoided", "counted")  # what becomes of a step that is not new
REDRAWN, AVOIDED, COUNTED = range(3)
TRIES = 1000  # steps for each wanted subscription, on average, before we give up


@compiled
def _slot(taken: Longs, node: Long, topic: Long, topics: int) -> tuple[np.int64, bool]:
    """Where a pair is kept in an open hash table, and whether it is there yet."""
    key = np.int64(node) * topics + topic
    mask = np.int64(taken.size - 1)
    slot = np.int64(mixed_long(key, np.uint64(0))) & mask
    while taken[slot] != -1 and taken[slot] != key:
        slot = (slot + 1) & mask
    return slot, taken[slot] == key


@compiled
def populated(
    nodes: Longs,
    topics: Longs,
    popularity: Floats,
    sizes: tuple[int, int],
    wanted: int,
    shuffled: bool,
    states: tuple[np.uint64, np.uint64],
) -> int:
    """The first subscriptions; the answer is how many there are, fewer than wanted if they would not come about.

    The topic of rank i and node i find each other; where there are more nodes, the rest draw their home by popularity,
    where there are more topics, the rest draw a node.
    """
    node_count, topic_count = sizes
    leaf_state, state = states
    room = 2
    while room < 2 * wanted:
        room *= 2
    taken = np.full(room, -1, np.int64)
    made = 0
    for attempt in range(TRIES * wanted):
        if made == wanted:
            break
        label = mixed_long(attempt, state)
        rank = np.int64(made) if made < topic_count else drawn_by(popularity, mixed_long(np.int64(0), label))
        node = np.int64(made) if made < node_count else pick(mixed_long(np.int64(1), label), node_count)
        topic = permuted(rank, topic_count, leaf_state) if shuffled else rank
        slot, known = _slot(taken, node, topic, topic_count)
        if not known:
            taken[slot] = node * topic_count + topic
            nodes[made], topics[made] = node, topic
            made += 1
    return made


@compiled
def spread(
    nodes: Longs, topics: Longs, made: int, sizes: tuple[int, int], likely: Floats, repeats: int, state: np.uint64
) -> int:
    """The other subscriptions, step by step; the answer is how many there are then in all."""
    node_count, topic_count = sizes
    earlier, latest = np.full(nodes.size, -1, np.int64), np.full(node_count, -1, np.int64)  # chains, one per node
    for each in range(made):
        earlier[each], latest[nodes[each]] = latest[nodes[each]], each
    weights = np.empty(likely.size)  # by distance - 1
    left = np.empty(likely.size, np.int64)
    sums = _sums_of_new(nodes, topics, made, earlier, latest, topic_count, likely) if repeats == REDRAWN else weights
    started = made
    for step in range(TRIES * (nodes.size - started)):
        if made == nodes.size or (repeats == COUNTED and started + step == nodes.size):
            break
        label = mixed_long(step, state)
        where = mixed_long(np.int64(0), label)
        chosen = _under(sums, unit(where)) if repeats == REDRAWN else pick(where, made)
        node, topic = nodes[chosen], topics[chosen]
        _count_left(left, topic, topics, earlier, latest[node] if repeats != COUNTED else np.int64(-1), topic_count)
        if _weigh(weights, likely, left, repeats) == 0.0:  # this node follows every topic
            if repeats == REDRAWN:
                _put(sums, chosen, 0.0)
            continue
        below = _drawn_below(weights, unit(mixed_long(np.int64(1), label)))
        subtree, index = (topic >> below) ^ 1, pick(mixed_long(np.int64(2), label), left[below])
        if repeats == COUNTED:
            target = (subtree << below) + index
            if _follows(target, topics, earlier, latest[node]):
                continue
        else:
            target = _unfollowed(index, subtree, below, topics, earlier, latest[node])
        nodes[made], topics[made] = node, target
        earlier[made], latest[node] = latest[node], made
        if repeats == REDRAWN:
            _count_left(left, target, topics, earlier, latest[node], topic_count)
            _put(sums, made, _weigh(weights, likely, left, repeats))
            _take_away(sums, target, topics, earlier, earlier[made], likely)
        made += 1
    return made


@compiled
def _height(topic: Long, other: Long) -> int:
    """The distance of two topics less one; -1 if they are the same."""
    apart, below = topic ^ other, -1
    while apart > 0:
        apart >>= 1
        below += 1
    return below


@compiled
def _count_left(left: Longs, topic: Long, topics: Longs, earlier: Longs, latest: Long, topic_count: int) -> None:
    """At each distance from a topic, how many topics a node does not follow."""
    for below in range(left.size):
        start = ((topic >> below) ^ 1) << below
        left[below] = max(min(start + (1 << below), topic_count) - start, 0)
    at = latest
    while at >= 0:
        below = _height(topics[at], topic)
        if below >= 0:
            left[below] -= 1
        at = earlier[at]


@compiled
def _weigh(weights: Floats, likely: Floats, left: Longs, repeats: int) -> float:
    """How likely a step is to each distance, up to a factor, and the sum of that."""
    total = 0.0
    for below in range(likely.size):
        weights[below] = likely[below] if left[below] > 0 else 0.0
        if repeats == REDRAWN:  # a step that is not new is as good as none
            weights[below] = likely[below] * left[below] / (1 << below)
        total += weights[below]
    return total


@compiled
def _drawn_below(weights: Floats, share: float) -> np.int64:
    """An index drawn by weights of which not all are 0."""
    total = 0.0
    for below in range(weights.size):
        total += weights[below]
    rest, drawn = share * total, np.int64(0)
    for below in range(weights.size):
        if weights[below] > 0.0:
            drawn = np.int64(below)
            rest -= weights[below]
            if rest < 0.0:
                break
    return drawn


@compiled
def _follows(target: Long, topics: Longs, earlier: Longs, latest: Long) -> bool:
    at = latest
    while at >= 0:
        if topics[at] == target:
            return True
        at = earlier[at]
    return False


@compiled
def _unfollowed(index: Long, subtree: Long, below: Long, topics: Longs, earlier: Longs, latest: Long) -> np.int64:
    """The topic number `index` among those of a subtree that a node does not follow."""
    count, at = 0, latest
    while at >= 0:
        count += topics[at] >> below == subtree
        at = earlier[at]
    followed = np.empty(count, np.int64)
    at = latest
    while at >= 0:
        if topics[at] >> below == subtree:
            count -= 1
            followed[count] = topics[at]
        at = earlier[at]
    followed.sort()
    found = np.int64((subtree << below) + index)
    for each in followed:
        if each <= found:
            found += 1
    return found


@compiled
def _sums_of_new(
    nodes: Longs, topics: Longs, made: int, earlier: Longs, latest: Longs, topic_count: int, likely: Floats
) -> Floats:
    """A binary tree of sums, its root at 1: leaf i is how likely a step from subscription i is to be new."""
    leaves = 1
    while leaves < nodes.size:
        leaves *= 2
    sums, weights, left = np.zeros(2 * leaves), np.empty(likely.size), np.empty(likely.size, np.int64)
    for each in range(made):
        _count_left(left, topics[each], topics, earlier, latest[nodes[each]], topic_count)
        sums[leaves + each] = _weigh(weights, likely, left, REDRAWN)
    for inner in range(leaves - 1, 0, -1):
        sums[inner] = sums[2 * inner] + sums[2 * inner + 1]
    return sums


@compiled
def _put(sums: Floats, leaf: Long, weight: float) -> None:
    at = sums.size // 2 + leaf
    sums[at] = weight
    while at > 1:
        at //= 2
        sums[at] = sums[2 * at] + sums[2 * at + 1]  # anew each time, so that no error piles up


@compiled
def _under(sums: Floats, share: float) -> np.int64:
    """The leaf under which this share of the whole lies."""
    rest, at = share * sums[1], np.int64(1)
    while at < sums.size // 2:
        at *= 2
        if rest >= sums[at] and sums[at + 1] > 0.0:
            rest -= sums[at]
            at += 1
    return np.int64(at - sums.size // 2)


@compiled
def _take_away(sums: Floats, target: Long, topics: Longs, earlier: Longs, latest: Long, likely: Floats) -> None:
    """A node follows one more topic: steps to it from the others that it follows are no longer new."""
    at = latest
    while at >= 0:
        below = _height(topics[at], target)
        lost = likely[below] / (1 << below)
        _put(sums, at, max(sums[sums.size // 2 + at] - lost, 0.0))
        at = earlier[at]

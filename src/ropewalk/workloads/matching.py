"""Who follows what, where it is known how many topics each node follows and how many nodes follow each topic.

A node with d subscriptions has d places to fill, a topic with p subscribers has p cards to hand out. Which card fills
which place is arithmetic on their numbers (shuffles without memory, no sort and no table of pairs), so the subscriptions
of any node can be worked out alone. Nodes stand in a row, in the order of their numbers: neighbours are alike.

**Kept cards.** Nodes are dealt to as many strata as a topic has subscribers at least, with as many places in one as in
another. In every stratum each topic hands out one card. A node is in one stratum only, so these cards of a topic go to
different nodes, whatever else happens: no topic falls below its least. In each stratum topics stand in the same order
beside the row of nodes, so nodes at one point of the row are given the same ones.

**Free cards.** All others. The first free place of every node is a layer, the second free place of those that have two
is the next, and so on. Topics are laid over the layers one after the other, so that the cards of one go to nodes that
stand side by side; a popular topic, to one of the long layers, so that no node gets it twice.

**Strangers.** A given share of the cards is taken out by chance, shuffled among themselves and put back. With all of
them subscriptions are independent but for the numbers; with none they are as alike as neighbours can make them.

**Twice the same.** Where a free card gives a node a topic that it has, the node draws another by chance.
"""

import heapq
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ropewalk.arrays.chance import permuted, pick, unpermuted
from ropewalk.arrays.compiled import Long, compiled
from ropewalk.arrays.hashing import mixed_long

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]

DRAWS = 100  # of another topic by chance, before the next one in the list is taken


class Places(NamedTuple):
    """The nodes: how many places each has, how many of them are free, in which stratum, and where there the first is."""

    sizes: Ints
    free: Ints
    strata: Ints
    starts: Longs
    stratum_sizes: Longs  # places in a stratum
    layers: Longs  # the first free place of each layer; at the end, how many there are


class States(NamedTuple):
    """The chances of a matching, each by its name."""

    shuffle: np.uint64  # which node has which size
    order: np.uint64  # of topics beside a stratum
    kept: np.uint64  # which kept cards are taken out, and where they go
    free: np.uint64  # the same of free cards
    again: np.uint64  # what is drawn instead


@compiled
def dealt(sizes: Longs, strata: int) -> tuple[Ints, Longs]:
    """The stratum of each node (the largest first), and the places in each: always to the one with the fewest."""
    found = np.empty(sizes.size, np.int32)
    totals = np.zeros(strata, np.int64)
    heap = [(np.int64(0), np.int64(stratum)) for stratum in range(strata)]
    for rank in range(sizes.size):
        total, stratum = heap[0]
        heapq.heapreplace(heap, (total + sizes[rank], stratum))
        found[rank] = stratum
        totals[stratum] += sizes[rank]
    return found, totals


@compiled
def placed(sizes: Longs, stratum_of: Ints, totals: Longs, topics: int, states: States) -> Places:
    """Nodes in the order of their number. Sizes and strata come by rank and are shuffled."""
    nodes = sizes.size
    found, free = np.empty(nodes, np.int32), np.empty(nodes, np.int32)
    strata, starts = np.empty(nodes, np.int32), np.empty(nodes, np.int64)
    reached = np.zeros(totals.size, np.int64)
    for node in range(nodes):
        rank = permuted(node, nodes, states.shuffle)
        stratum, size = stratum_of[rank], sizes[rank]
        start = reached[stratum]
        reached[stratum] += size
        kept = _before(start + size, topics, totals[stratum]) - _before(start, topics, totals[stratum])
        found[node], free[node], strata[node], starts[node] = size, size - kept, stratum, start
    layers = np.concatenate((np.zeros(1, np.int64), _at_least(free, free.max()).cumsum()))
    return Places(found, free, strata, starts, totals, layers)


@compiled
def _at_least(numbers: Ints, most: Long) -> Longs:
    """How many of some numbers are 1 or more, 2 or more, up to `most`."""
    counts = np.zeros(most + 1, np.int64)
    for number in numbers:
        counts[number] += 1
    return counts[::-1].cumsum()[::-1][1:]


@compiled
def subscribed(
    first: int, last: int, places: Places, cards: Longs, loose: float, states: States
) -> tuple[Longs, Longs]:
    """The (node, topic) pairs of the nodes from `first` to before `last`; `loose` is the share of cards for strangers.

    Topics are numbered by popularity; topic t hands out the free cards from `cards[t]` to before `cards[t + 1]`.
    """
    count = np.int64(0)
    for node in range(first, last):
        count += places.sizes[node]
    found_nodes, found_topics = np.empty(count, np.int64), np.empty(count, np.int64)
    holder = np.full(cards.size - 1, -1, np.int64)  # the last node that was seen to have a topic
    reached = places.layers[:-1] + _at_least(places.free[:first], places.layers.size - 1)  # the next place of a layer
    found = np.int64(0)
    for node in range(first, last):
        begin = found
        found = _keep(node, places, loose, states, holder, found_topics, found)
        found = _fill(node, places, cards, loose, states, reached, holder, found_topics, found)
        found_nodes[begin:found] = node
    return found_nodes, found_topics


@compiled
def _keep(
    node: Long, places: Places, loose: float, states: States, holder: Longs, found_topics: Longs, found: np.int64
) -> np.int64:
    """The kept cards of a node."""
    topics = holder.size
    stratum = places.strata[node]
    here = places.stratum_sizes[stratum]
    state = mixed_long(np.int64(stratum), states.kept)
    taken_out = np.int64(loose * topics + 0.5)
    first = places.starts[node]
    for card in range(_before(first, topics, here), _before(first + places.sizes[node], topics, here)):
        topic = permuted(_exchanged(card, topics, taken_out, state), topics, states.order)
        holder[topic] = node
        found_topics[found] = topic
        found += 1
    return found


@compiled
def _fill(
    node: Long,
    places: Places,
    cards: Longs,
    loose: float,
    states: States,
    reached: Longs,
    holder: Longs,
    found_topics: Longs,
    found: np.int64,
) -> np.int64:
    """The free places of a node, one in each layer."""
    free = cards[-1]
    taken_out = np.int64(loose * free + 0.5)
    for layer in range(places.free[node]):
        place = reached[layer]
        reached[layer] += 1
        topic = _topic_of(_exchanged(place, free, taken_out, states.free), cards)
        draw = 0
        while holder[topic] == node:
            state = mixed_long(np.int64(draw), mixed_long(place, states.again))
            if draw < DRAWS:
                topic = _topic_of(pick(state, free), cards)
            else:  # it has nearly all of them
                topic = pick(state, holder.size) if draw == DRAWS else (topic + 1) % holder.size
            draw += 1
        holder[topic] = node
        found_topics[found] = topic
        found += 1
    return found


@compiled
def _before(index: Long, part: Long, whole: Long) -> np.int64:
    """How many of the first `index` of `whole` are marked, if `part` of them are, as evenly as can be."""
    return np.int64(index) * np.int64(part) // np.int64(whole)


@compiled
def _exchanged(index: Long, count: Long, taken_out: Long, state: np.uint64) -> np.int64:
    """Shuffle `taken_out` of the numbers below `count` among themselves, and leave the others where they are."""
    if taken_out <= 1:
        return np.int64(index)
    moved = mixed_long(np.int64(0), state)
    if taken_out >= count:
        return permuted(index, count, moved)
    chosen = mixed_long(np.int64(1), state)
    at = permuted(index, count, chosen)
    if at >= taken_out:
        return np.int64(index)
    return unpermuted(permuted(at, taken_out, moved), count, chosen)


@compiled
def _topic_of(card: Long, cards: Longs) -> np.int64:
    """Whose a free card is."""
    return np.int64(np.searchsorted(cards, card, "right") - 1)

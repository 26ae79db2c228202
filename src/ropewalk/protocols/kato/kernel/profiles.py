"""Who wants what, as ids and as lists of what links must cover: for all nodes at once.

Nodes are numbered by the rank of their random ids (`dht.kernel.interests`), so a node's number is its place on the circle that
links are picked around. Nodes that want the same form one group; who came first is its primary, and the only one that
others link to.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ropewalk.arrays.chance import chances, stream
from ropewalk.arrays.compiled import compiled
from ropewalk.arrays.hashing import ONE, half, joined, seeded
from ropewalk.protocols.dht.kernel import Interests
from ropewalk.protocols.dht.kernel.interests import Bools, Ints, Longs
from ropewalk.protocols.kato.settings import Settings

Words = NDArray[np.uint64]

S6, LOW_6 = np.uint64(6), np.uint64(63)


class Profiles(NamedTuple):
    """All nodes, with what links of theirs must cover: bits of their ids, or cells."""

    ids: Words  # of every node, 64 bits a column
    weights: Longs  # how many bits of each are set
    by_node: Longs  # where the items of each node begin
    items: Ints  # of every node, ascending
    by_item: Longs  # where the holders of each item begin
    holders: Ints  # of every item, ascending: primaries only
    by_cells: bool  # whether items are cells, and so whether covering is told by them
    primaries: Ints  # of every node, its primary
    behind: Ints  # of every node, how many of its group came before it
    sizes: Ints  # of every node, how many are in its group


def profiled(interests: Interests, settings: Settings, seed: int) -> Profiles:
    """Ids and groups of all nodes."""
    places = places_of(interests.topic_ids, settings.bits, settings.hashes)
    ids, weights = _identified(interests.by_node, interests.topics, places, settings.bits // 64)
    by_cells, wanted = settings.cover == "cells", settings.common == "wanted"
    if by_cells:
        by_node, items = _cells(interests.by_node, interests.topics, wanted)
        count = interests.topic_ids.size + 1
    else:
        by_node, items = _set_bits(ids, weights, wanted)
        count = settings.bits
    arrivals = chances(stream(seed, "arrival"), interests.node_ids.reshape(-1, 1))
    primaries, behind, sizes = _grouped(_digests(by_node, items), arrivals)
    by_item, holders = _held(by_node, items, primaries == np.arange(primaries.size), count)
    return Profiles(ids, weights, by_node, items, by_item, holders, by_cells, primaries, behind, sizes)


@compiled
def places_of(cells: Longs, bits: int, hashes: int) -> Ints:
    """`kato.ids.places_of`, for all cells at once; none of them is the common one."""
    found = np.empty((cells.size, hashes), np.int32)
    for row in range(cells.size):
        state = seeded(cells[row])
        for turn in range(hashes):
            drawn = joined(half(np.int64(turn)), state) >> ONE
            found[row, turn] = 1 + np.int64(drawn % np.uint64(bits - 1))
    return found


@compiled
def _identified(by_node: Longs, cells: Ints, places: Ints, words: int) -> tuple[Words, Longs]:
    count = by_node.size - 1
    ids, weights = np.zeros((count, words), np.uint64), np.zeros(count, np.int64)
    for node in range(count):
        ids[node, 0] = ONE
        for at in range(by_node[node], by_node[node + 1]):
            for turn in range(places.shape[1]):
                place = np.uint64(places[cells[at], turn])
                ids[node, place >> S6] |= ONE << (place & LOW_6)
        for word in range(words):
            left = ids[node, word]
            while left:
                left &= left - ONE
                weights[node] += 1
    return ids, weights


@compiled
def _set_bits(ids: Words, weights: Longs, wanted: bool) -> tuple[Longs, Ints]:
    """The bits that are set, ascending; without the common one, unless it is wanted."""
    starts = np.zeros(weights.size + 1, np.int64)
    starts[1:] = np.cumsum(weights - (0 if wanted else 1))
    items = np.empty(starts[-1], np.int32)
    for node in range(weights.size):
        at = starts[node]
        for word in range(ids.shape[1]):
            for bit in range(64):
                if (ids[node, word] >> np.uint64(bit)) & ONE and (wanted or word or bit):
                    items[at] = 64 * word + bit
                    at += 1
    return starts, items


@compiled
def _cells(by_node: Longs, cells: Ints, wanted: bool) -> tuple[Longs, Ints]:
    """Cells from 1 up, and the common one before them, if it is wanted."""
    more = 1 if wanted else 0
    starts = by_node + more * np.arange(by_node.size)
    items = np.zeros(starts[-1], np.int32)
    for node in range(by_node.size - 1):
        for at in range(by_node[node], by_node[node + 1]):
            items[starts[node] + more + at - by_node[node]] = cells[at] + 1
    return starts, items


@compiled
def _digests(by_node: Longs, items: Ints) -> Words:
    """Two hashes of what each node wants: two nodes that agree in both want the same."""
    found = np.empty((by_node.size - 1, 2), np.uint64)
    for node in range(by_node.size - 1):
        for which in range(2):
            state = np.uint64(which)
            for at in range(by_node[node], by_node[node + 1]):
                state = joined(half(np.int64(items[at])), state)
            found[node, which] = state
    return found


def _grouped(digests: Words, arrivals: Longs) -> tuple[Ints, Ints, Ints]:
    """Of every node: who of its group came first, how many came before it, how many there are."""
    nodes = np.arange(arrivals.size)
    order = np.lexsort((nodes, arrivals, digests[:, 1], digests[:, 0]))
    begins: Bools = np.ones(order.size, np.bool_)
    begins[1:] = np.any(digests[order[1:]] != digests[order[:-1]], axis=1)
    firsts = np.flatnonzero(begins)
    group = np.cumsum(begins) - 1
    sizes = np.diff(np.append(firsts, order.size))
    primaries, behind, of_group = (np.empty(order.size, np.int32) for _ in range(3))
    primaries[order] = order[firsts[group]]
    behind[order] = np.arange(order.size) - firsts[group]
    of_group[order] = sizes[group]
    return primaries, behind, of_group


def _held(by_node: Longs, items: Ints, primary: Bools, count: int) -> tuple[Longs, Ints]:
    owners = np.repeat(np.arange(by_node.size - 1, dtype=np.int32), np.diff(by_node))
    among = primary[owners]
    owners, held = owners[among], items[among]
    starts = np.concatenate(([0], np.cumsum(np.bincount(held, minlength=count)))).astype(np.int64)
    return starts, owners[np.argsort(held, kind="stable")]

"""Whom each node links to when everybody is known to everybody: the static setting of Kato IV-A.

Going round in the order of random ids and keeping who adds something not yet covered is the same as taking, for each thing to be
covered, the first that has it. So nobody is asked who has nothing in common, and a link is found in a few steps.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ropewalk.arrays.compiled import Long, compiled
from ropewalk.protocols.dht.kernel.interests import Ints, Longs
from ropewalk.protocols.kato.kernel.profiles import Profiles
from ropewalk.protocols.kato.settings import Settings

COVERING, COVERED, NEIGHBOUR, STRANGER = 1, 2, 3, 0
WAYS = (1, -1)  # round the circle of random ids


class Links(NamedTuple):
    """Links of some nodes, one after the other."""

    starts: Longs  # where those of each begin
    others: Ints
    kinds: Ints  # COVERING, COVERED or NEIGHBOUR: what the other is to it


class Choices(NamedTuple):
    """What is to be chosen for the links of a node."""

    covering: int  # how many that cover it
    outside: bool  # whether neighbours are for what it has not, instead of what it has


class Buckets(NamedTuple):
    """Every primary once, with the rarest of its items: whoever covers it has that one, and the second rarest, too."""

    starts: Longs  # where those of each item begin
    nodes: Ints
    seconds: Ints  # of each its second rarest item


class Notes(NamedTuple):
    """What is known while the links of one node are sought; whatever does not name that node is from before."""

    seen: Longs  # for whom a relation is known
    relations: NDArray[np.int8]
    covered: Longs  # by whom each was taken as covered
    neighbours: Longs  # by whom each was taken as a neighbour
    has: Longs  # who was last found to have an item


class Found(NamedTuple):
    """Links so far, with room for those of one node more."""

    others: Ints
    kinds: Ints
    size: Longs  # of one element


def linked(profiles: Profiles, settings: Settings, first: int, last: int) -> Links:
    """The links of the nodes from `first` up to `last`; only primaries have any."""
    choices = Choices(settings.covering, settings.neighbours == "proof")
    return Links(*_linked(profiles, buckets_of(profiles), choices, first, last))


def buckets_of(profiles: Profiles) -> Buckets:
    """Sort primaries by the rarest of their items."""
    return Buckets(*_bucketed(profiles, np.diff(profiles.by_item)))


@compiled
def _bucketed(profiles: Profiles, held: Longs) -> tuple[Longs, Ints, Ints]:
    nodes = profiles.primaries.size
    rarest, second = np.full(nodes, -1, np.int64), np.full(nodes, -1, np.int64)
    starts = np.zeros(held.size + 1, np.int64)
    for node in range(nodes):
        if _links_at_all(profiles, node):
            rarest[node], second[node] = _rarest(profiles, node)
            starts[rarest[node] + 1] += 1
    starts = np.cumsum(starts)
    filled, found, seconds = starts[:-1].copy(), np.empty(starts[-1], np.int32), np.empty(starts[-1], np.int32)
    for node in range(nodes):
        if rarest[node] >= 0:
            at = filled[rarest[node]]
            found[at], seconds[at] = node, second[node]
            filled[rarest[node]] += 1
    return starts, found, seconds


@compiled
def _links_at_all(profiles: Profiles, node: Long) -> bool:
    return bool(profiles.primaries[node] == node and profiles.by_node[node + 1] > profiles.by_node[node])


@compiled
def _rarest(profiles: Profiles, node: Long) -> tuple[np.int64, np.int64]:
    """The item of a node that fewest others have, and the next, which is the same if there is no other; of equals the first."""
    rare, next_ = np.int64(-1), np.int64(-1)
    fewest, fewer = np.int64(0), np.int64(0)
    for at in range(profiles.by_node[node], profiles.by_node[node + 1]):
        item = np.int64(profiles.items[at])
        held = np.int64(profiles.by_item[item + 1] - profiles.by_item[item])
        if rare < 0 or held < fewest:
            next_, fewer = rare, fewest
            rare, fewest = item, held
        elif next_ < 0 or held < fewer:
            next_, fewer = item, held
    return rare, rare if next_ < 0 else next_


@compiled
def _linked(profiles: Profiles, buckets: Buckets, choices: Choices, first: int, last: int) -> tuple[Longs, Ints, Ints]:
    nodes = profiles.primaries.size
    notes = Notes(
        np.full(nodes, -1, np.int64),
        np.zeros(nodes, np.int8),
        np.full(nodes, -1, np.int64),
        np.full(nodes, -1, np.int64),
        np.full(profiles.by_item.size - 1, -1, np.int64),
    )
    most = 2 * nodes + choices.covering  # of one node: it cannot have more
    found = Found(np.empty(2 * most, np.int32), np.empty(2 * most, np.int32), np.zeros(1, np.int64))
    starts = np.zeros(last - first + 1, np.int64)
    for node in range(first, last):
        if _links_at_all(profiles, node):
            if found.others.size - found.size[0] < most:
                found = Found(_grown(found.others), _grown(found.kinds), found.size)
            for at in range(profiles.by_node[node], profiles.by_node[node + 1]):
                notes.has[profiles.items[at]] = node
            _take_covering(profiles, node, choices.covering, notes, found)
            _take_covered(profiles, node, buckets, notes, found)
            for way in WAYS:
                _take_neighbours(profiles, node, way, choices.outside, notes, found)
        starts[node - first + 1] = found.size[0]
    return starts, found.others[: found.size[0]].copy(), found.kinds[: found.size[0]].copy()


@compiled
def _grown(values: Ints) -> Ints:
    larger = np.empty(2 * values.size, np.int32)
    larger[: values.size] = values
    return larger


@compiled
def _add(found: Found, other: Long, kind: int) -> None:
    at = found.size[0]
    found.others[at], found.kinds[at] = other, kind
    found.size[0] = at + 1


@compiled
def _take_covering(profiles: Profiles, node: Long, most: int, notes: Notes, found: Found) -> None:
    """The closest, by how many bits they have more, of those that cover a node; of equals, who has the lower random id."""
    rare, second = _rarest(profiles, node)
    best, count = np.empty(most, np.int64), 0
    beside, end = profiles.by_item[second], profiles.by_item[second + 1]
    for at in range(profiles.by_item[rare], profiles.by_item[rare + 1]):
        other = profiles.holders[at]
        while beside < end and profiles.holders[beside] < other:  # whoever covers it has both: few have
            beside += 1
        if beside == end:
            break
        if profiles.holders[beside] == other != node and _is_within(profiles, node, other):
            notes.seen[other], notes.relations[other] = node, COVERING
            place = count
            while place > 0 and profiles.weights[best[place - 1]] > profiles.weights[other]:
                if place < most:
                    best[place] = best[place - 1]
                place -= 1
            if place < most:
                best[place] = other
                count = min(count + 1, most)
    for place in range(count):
        _add(found, best[place], COVERING)


@compiled
def _take_covered(profiles: Profiles, node: Long, buckets: Buckets, notes: Notes, found: Found) -> None:
    """Of all that a node covers, those that add something on one way round or the other."""
    size = 0
    for place in range(profiles.by_node[node], profiles.by_node[node + 1]):
        size += buckets.starts[profiles.items[place] + 1] - buckets.starts[profiles.items[place]]
    covered, count = np.empty(size, np.int32), 0
    for place in range(profiles.by_node[node], profiles.by_node[node + 1]):
        for at in range(buckets.starts[profiles.items[place]], buckets.starts[profiles.items[place] + 1]):
            other = buckets.nodes[at]
            if notes.has[buckets.seconds[at]] != node or other == node:
                continue  # it has something that this node has not
            if not (notes.seen[other] == node and notes.relations[other] == COVERING):
                within = _is_within(profiles, other, node)
                notes.seen[other], notes.relations[other] = node, COVERED if within else NEIGHBOUR
                if within:
                    covered[count] = other
                    count += 1
    covered = np.sort(covered[:count])
    for way in WAYS:
        _go_round(profiles, node, covered, way, notes, found)


@compiled
def _go_round(profiles: Profiles, node: Long, covered: Ints, way: int, notes: Notes, found: Found) -> None:
    """Keep who has something that nobody before it has, until nothing is missing."""
    marked = -4 - way - 4 * node  # no node's number, and another for each way
    missing = profiles.by_node[node + 1] - profiles.by_node[node]
    begin = np.searchsorted(covered, node)
    for step in range(covered.size):
        other = covered[(begin + step if way == 1 else begin - 1 - step) % covered.size]
        adds = False
        for at in range(profiles.by_node[other], profiles.by_node[other + 1]):
            if notes.has[profiles.items[at]] != marked:
                notes.has[profiles.items[at]] = marked
                missing -= 1
                adds = True
        if adds and notes.covered[other] != node:
            notes.covered[other] = node
            _add(found, other, COVERED)
        if missing == 0:
            break
    for at in range(profiles.by_node[node], profiles.by_node[node + 1]):
        notes.has[profiles.items[at]] = node


@compiled
def _take_neighbours(profiles: Profiles, node: Long, way: int, outside: bool, notes: Notes, found: Found) -> None:
    """For each thing to be covered the first neighbour that has it."""
    if outside:
        for item in range(profiles.by_item.size - 1):
            if notes.has[item] != node:
                _take_first(profiles, node, item, way, notes, found)
    else:
        for place in range(profiles.by_node[node], profiles.by_node[node + 1]):
            _take_first(profiles, node, profiles.items[place], way, notes, found)


@compiled
def _take_first(profiles: Profiles, node: Long, item: Long, way: int, notes: Notes, found: Found) -> None:
    holders = profiles.holders[profiles.by_item[item] : profiles.by_item[item + 1]]
    at = np.searchsorted(holders, node)
    itself = at < holders.size and holders[at] == node
    for step in range(holders.size - itself):
        other = holders[(at + itself + step if way == 1 else at - 1 - step) % holders.size]
        if notes.seen[other] != node:
            notes.seen[other] = node
            notes.relations[other] = _related(profiles, node, other)
        if notes.relations[other] == NEIGHBOUR:
            if notes.neighbours[other] != node:
                notes.neighbours[other] = node
                _add(found, other, NEIGHBOUR)
            break


@compiled
def _related(profiles: Profiles, node: Long, other: Long) -> np.int8:
    """What another is to a node."""
    if _is_within(profiles, node, other):
        return np.int8(COVERING)
    if _is_within(profiles, other, node):
        return np.int8(COVERED)
    return np.int8(NEIGHBOUR if _share(profiles, node, other) else STRANGER)


@compiled
def _is_within(profiles: Profiles, one: Long, other: Long) -> bool:
    """Whether all that one wants is wanted by the other: by bits, and by cells where these are known."""
    ids = profiles.ids
    for word in range(ids.shape[1]):
        if ids[one, word] & ~ids[other, word]:
            return False
    if not profiles.by_cells:
        return True
    at, end = profiles.by_node[other], profiles.by_node[other + 1]
    for place in range(profiles.by_node[one], profiles.by_node[one + 1]):
        while at < end and profiles.items[at] < profiles.items[place]:
            at += 1
        if at == end or profiles.items[at] != profiles.items[place]:
            return False
    return True


@compiled
def _share(profiles: Profiles, one: Long, other: Long) -> bool:
    at, end = profiles.by_node[other], profiles.by_node[other + 1]
    for place in range(profiles.by_node[one], profiles.by_node[one + 1]):
        while at < end and profiles.items[at] < profiles.items[place]:
            at += 1
        if at < end and profiles.items[at] == profiles.items[place]:
            return True
    return False

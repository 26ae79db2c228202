"""Where events get over links that are there: who has them, at what depth, who of these wants them, and what that takes.

Paper: Kato III-B. An event whose publisher does not match it is first brought to somebody who does: to the primary of its group,
then from link to link, each nearer to it than the last. Then who gets it for the first time sends it to all links that match, but
for the one it came over, and each group passes it round.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ropewalk.arrays.compiled import Long, compiled
from ropewalk.arrays.hashing import ONE
from ropewalk.protocols.dht.kernel import Interests
from ropewalk.protocols.dht.kernel.interests import Bools, Floats, Ints, Longs
from ropewalk.protocols.kato.kernel.links import COVERED, COVERING, Links
from ropewalk.protocols.kato.kernel.profiles import LOW_6, S6, Profiles

COLUMNS = (  # of an event
    "wanted",  # nodes that want it, besides its publisher
    "delivered",  # of these, those that it reached
    "by_cell",  # nodes that it reached for their cells, and that do not want it
    "by_bits",  # likewise, for their bits alone
    "depth",  # links to those that want it, summed up
    "deepest",  # the most of them
    "messages",  # sent in all, copies included
    "routed",  # of these, on the way to the first that matches
    "lost",  # 1 if there was no such way
)
PAIR = 2  # nodes alike, with one link between them
WANTED, DELIVERED, BY_CELL, BY_BITS, DEPTH, DEEPEST, MESSAGES, ROUTED, LOST = range(len(COLUMNS))


class Mesh(NamedTuple):
    """Links of all nodes, in both directions, each once."""

    starts: Longs
    others: Ints
    kinds: Ints  # what the other is to the node


class Wants(NamedTuple):
    """What nodes want exactly: filters by node, a range for every attribute. Words are numbers here."""

    starts: Longs  # where the filters of each node begin
    lows: Floats  # of every filter and attribute
    highs: Floats


class Events(NamedTuple):
    """What is published."""

    publishers: Ints
    cells: Ints  # the cell of each, or -1 if nobody wants any of it
    places: Ints  # of each, the bits that stand for its cell
    points: Floats  # of each, its attributes

    def some(self, first: int, last: int) -> "Events":
        """Those from one up to another."""
        publishers, cells, places, points = self
        return Events(publishers[first:last], cells[first:last], places[first:last], points[first:last])


class Spread(NamedTuple):
    """What became of events."""

    events: Longs  # of each, COLUMNS
    received: Longs  # by each node: messages
    unwanted: Longs  # by each node: events


class Groups(NamedTuple):
    """All nodes by their primary, in the order in which they came: the ring that they form."""

    starts: Longs  # where those of each primary begin
    members: Ints


class Progress(NamedTuple):
    """Where one event is; whatever does not name it is from before."""

    reached: Longs  # the event that each node has
    senders: Longs  # from whom
    depths: Longs
    upwards: Bools  # whether it may go up from there
    judged: Longs  # the event that each node was last compared with
    matching: Bools  # whether it matched
    queue: Ints


def meshed(nodes: int, links: Links) -> Mesh:
    """All links in both directions: a link carries both ways (Kato III-A)."""
    ours = np.repeat(np.arange(nodes, dtype=np.int32), np.diff(links.starts))
    turned = np.where(links.kinds == COVERING, COVERED, np.where(links.kinds == COVERED, COVERING, links.kinds))
    froms, tos = np.concatenate((ours, links.others)), np.concatenate((links.others, ours))
    keys, firsts = np.unique(froms.astype(np.int64) * nodes + tos, return_index=True)
    kinds = np.concatenate((links.kinds, turned))[firsts]
    starts = np.searchsorted(keys, np.arange(nodes + 1, dtype=np.int64) * nodes)
    return Mesh(starts.astype(np.int64), tos[firsts], kinds.astype(np.int32))


@compiled
def spread(
    interests: Interests, profiles: Profiles, mesh: Mesh, wants: Wants, events: Events, everywhere: bool
) -> Spread:
    """Let events go where links take them; `everywhere`: upwards from anybody, not only on the way up."""
    nodes = profiles.primaries.size
    progress = Progress(
        np.full(nodes, -1, np.int64),
        np.full(nodes, -1, np.int64),
        np.zeros(nodes, np.int64),
        np.zeros(nodes, np.bool_),
        np.full(nodes, -1, np.int64),
        np.zeros(nodes, np.bool_),
        np.empty(nodes, np.int32),
    )
    found = np.zeros((events.publishers.size, len(COLUMNS)), np.int64)
    received, unwanted = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    groups = Groups(*_grouped(profiles))
    bits = 64 * profiles.ids.shape[1]
    for event in range(events.publishers.size):
        publisher = events.publishers[event]
        begin = _brought(interests, profiles, groups, mesh, events, event, bits, found, received)
        if begin >= 0:
            own = profiles.primaries[publisher] == begin
            first = found[event, ROUTED]
            if own:
                first = _apart(profiles.behind[publisher], 0, profiles.sizes[publisher])
            count = _flooded(
                interests, profiles, mesh, events, event, begin, first, everywhere, progress, received, found
            )
            for at in range(count):
                primary = progress.queue[at]
                origin, depth = primary, progress.depths[primary]
                if own and primary == begin:
                    origin, depth = publisher, np.int64(0)
                size = np.int64(profiles.sizes[primary])
                found[event, MESSAGES] += _passed_round(profiles, groups, origin, size, received)
                for place in range(groups.starts[primary], groups.starts[primary + 1]):
                    node = groups.members[place]
                    if node != publisher:
                        links = depth + _apart(profiles.behind[node], profiles.behind[origin], size)
                        _arrive(interests, wants, events, event, node, links, found, unwanted)
        cell = events.cells[event]
        if cell >= 0:
            for at in range(interests.by_topic[cell], interests.by_topic[cell + 1]):
                node = interests.nodes[at]
                if node != publisher and _wants(wants, node, events.points[event]):
                    found[event, WANTED] += 1
    return Spread(found, received, unwanted)


@compiled
def _grouped(profiles: Profiles) -> tuple[Longs, Ints]:
    """All nodes by their primary, in the order in which they came."""
    nodes = profiles.primaries.size
    starts = np.zeros(nodes + 1, np.int64)
    for node in range(nodes):
        starts[profiles.primaries[node] + 1] += 1
    starts = np.cumsum(starts)
    found = np.empty(nodes, np.int32)
    for node in range(nodes):
        found[starts[profiles.primaries[node]] + profiles.behind[node]] = node
    return starts, found


@compiled
def _apart(one: Long, other: Long, size: Long) -> np.int64:
    """How many links of a ring lie between two of its places, the shorter way."""
    steps = np.int64((one - other) % size)
    return min(steps, np.int64(size) - steps)


@compiled
def _passed_round(profiles: Profiles, groups: Groups, origin: Long, size: Long, received: Longs) -> np.int64:
    """How many messages it takes that all of a group get an event of one of them.

    It goes both ways round. Where it meets itself, two get it once more: each has sent it on before it knew.
    """
    begin = groups.starts[profiles.primaries[origin]]
    for step in range(1, size):
        node = groups.members[begin + (profiles.behind[origin] + step) % size]
        twice = size > PAIR and size // 2 <= step <= size // 2 + 1
        received[node] += 2 if twice else 1
    return np.int64(size + 1 if size > PAIR else size - 1)


@compiled
def _brought(
    interests: Interests,
    profiles: Profiles,
    groups: Groups,
    mesh: Mesh,
    events: Events,
    event: Long,
    bits: Long,
    found: Longs,
    received: Longs,
) -> np.int64:
    """The first that matches: the publisher's own group, or who is met where links lead nearer; -1 if they do not."""
    publisher = events.publishers[event]
    at = np.int64(profiles.primaries[publisher])
    if _matches(interests, profiles, events, event, at):
        return at
    steps = _brought_to_primary(profiles, groups, publisher, received)
    away = _away(interests, profiles, events, event, at, bits)
    while at >= 0 and not _matches(interests, profiles, events, event, at):
        best, nearest = np.int64(-1), away
        for place in range(mesh.starts[at], mesh.starts[at + 1]):
            other = mesh.others[place]
            if _matches(interests, profiles, events, event, other):
                best = np.int64(other)
                break
            distance = _away(interests, profiles, events, event, other, bits)
            if distance < nearest:
                best, nearest = np.int64(other), distance
        if best >= 0:
            steps += 1
            received[best] += 1
        at, away = best, nearest
    found[event, ROUTED] = steps
    found[event, MESSAGES] = steps
    found[event, LOST] = at < 0
    return at


@compiled
def _brought_to_primary(profiles: Profiles, groups: Groups, node: Long, received: Longs) -> np.int64:
    """Round a ring the shorter way, of two equal ones towards who came earlier: only the primary has other links."""
    size = np.int64(profiles.sizes[node])
    place, steps = np.int64(profiles.behind[node]), _apart(profiles.behind[node], 0, size)
    way = -1 if steps == place else 1
    begin = groups.starts[profiles.primaries[node]]
    for step in range(1, steps + 1):
        received[groups.members[begin + (place + way * step) % size]] += 1
    return steps


@compiled
def _away(interests: Interests, profiles: Profiles, events: Events, event: Long, node: Long, bits: Long) -> np.float64:
    """`kato.ids.distance` of an event, which has two cells: its own and the common one."""
    shared, size = np.int64(1), 1
    for turn in range(events.places.shape[1]):
        place = np.uint64(events.places[event, turn])
        again = False
        for earlier in range(turn):
            again = again or events.places[event, earlier] == events.places[event, turn]
        if not again:
            size += 1
            shared += np.int64((profiles.ids[node, place >> S6] >> (place & LOW_6)) & ONE)
    affinity = 1.0 if _has(interests, node, events.cells[event]) else 0.5
    return np.float64((profiles.weights[node] + size - 2 * shared) / (bits * affinity))


@compiled
def _flooded(
    interests: Interests,
    profiles: Profiles,
    mesh: Mesh,
    events: Events,
    event: Long,
    begin: Long,
    first: Long,
    everywhere: bool,
    progress: Progress,
    received: Longs,
    found: Longs,
) -> int:
    """Reach all primaries that matching links lead to; how many, in the order in which they are reached."""
    progress.reached[begin], progress.depths[begin], progress.upwards[begin] = event, first, True
    progress.senders[begin] = -1
    progress.queue[0] = begin
    done, count = 0, 1
    while done < count:
        node = progress.queue[done]
        done += 1
        for place in range(mesh.starts[node], mesh.starts[node + 1]):
            other, kind = mesh.others[place], mesh.kinds[place]
            up = kind == COVERING
            if (up and not progress.upwards[node]) or other == progress.senders[node]:
                continue  # nobody sends an event back to whom it has it from (ours: the paper does not say)
            if progress.judged[other] != event:
                progress.judged[other] = event
                progress.matching[other] = _matches(interests, profiles, events, event, other)
            if not progress.matching[other]:
                continue
            found[event, MESSAGES] += 1
            received[other] += 1
            if progress.reached[other] != event:
                progress.reached[other], progress.senders[other] = event, node
                progress.depths[other] = progress.depths[node] + 1
                progress.upwards[other] = everywhere or up
                progress.queue[count] = other
                count += 1
    return count


@compiled
def _matches(interests: Interests, profiles: Profiles, events: Events, event: Long, node: Long) -> bool:
    """Whether an event is passed on to a node: by all of its bits, or by its cell where these are known."""
    for turn in range(events.places.shape[1]):
        place = np.uint64(events.places[event, turn])
        if not (profiles.ids[node, place >> S6] >> (place & LOW_6)) & ONE:
            return False
    return not profiles.by_cells or _has(interests, node, events.cells[event])


@compiled
def _has(interests: Interests, node: Long, cell: Long) -> bool:
    begin, end = interests.by_node[node], interests.by_node[node + 1]
    at = begin + np.searchsorted(interests.topics[begin:end], cell)
    return bool(at < end and interests.topics[at] == cell)


@compiled
def _wants(wants: Wants, node: Long, point: NDArray[np.float64]) -> bool:
    """Whether one of a node's filters matches an event of a cell that it has."""
    for one in range(wants.starts[node], wants.starts[node + 1]):
        inside = True
        for which in range(point.size):
            inside = inside and wants.lows[one, which] <= point[which] <= wants.highs[one, which]
        if inside:
            return True
    return False


@compiled
def _arrive(
    interests: Interests,
    wants: Wants,
    events: Events,
    event: Long,
    node: Long,
    depth: Long,
    found: Longs,
    unwanted: Longs,
) -> None:
    if not _has(interests, node, events.cells[event]):
        found[event, BY_BITS] += 1
        unwanted[node] += 1
    elif not _wants(wants, node, events.points[event]):
        found[event, BY_CELL] += 1
        unwanted[node] += 1
    else:
        found[event, DELIVERED] += 1
        found[event, DEPTH] += depth
        found[event, DEEPEST] = max(found[event, DEEPEST], depth)

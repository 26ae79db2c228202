"""StaN on flat arrays, many topics a call: initial overlays, lock-step rounds of walks, and a digest of the result.

Papers: StaN (Matos et al.), Algorithms 1 and 2 and section 3.3; StAN (the workshop paper), Listing 1 and section 3.
Readings and departures are numbered in docs/papers/stan.md.

A batch of topics is flat: the members of topic t are `ids[offsets[t]:offsets[t + 1]]`, ascending. The view of member m
(a row of `ids`) is `links[starts[m]:starts[m + 1]]`: positions within its topic, ordered by the holder's (weight, id).
Every choice is labelled by topic and node id, so nothing depends on which topics share a batch.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ropewalk.arrays import graphs
from ropewalk.arrays.chance import drawn, pick, stream
from ropewalk.arrays.compiled import Long, compiled
from ropewalk.arrays.hashing import ONE, half, joined, mixed_long, seeded
from ropewalk.protocols.stan.settings import Settings

ATTEMPTS = 8  # ours: how often an Erdos-Renyi overlay is drawn anew before it is patched to be strongly connected


@dataclass(frozen=True, slots=True)
class Members:
    """A batch of topics with their subscribers."""

    topics: NDArray[np.int64]
    offsets: NDArray[np.int64]
    ids: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Overlays:
    """The views of all members of a batch."""

    starts: NDArray[np.int64]
    links: NDArray[np.int32]


def initial(members: Members, settings: Settings, seed: int) -> Overlays:
    """The overlays before any walk, as the overlay manager is assumed to have made them."""
    sizes, position = np.unique(np.diff(members.offsets), return_inverse=True)
    overlay_state = stream(seed, "overlay")
    if settings.overlay == "fixed":
        by_size = np.array([settings.fan_out(int(size)) for size in sizes], np.int64)
        starts, links = _fixed(*_flat(members), by_size[position], overlay_state)
    else:
        tables = [_degree_table(int(size), settings) for size in sizes]
        table_starts = np.cumsum([0, *(table.size for table in tables)])
        table = np.concatenate(tables) if tables else np.empty(0, np.int64)
        states = (stream(seed, "degree"), overlay_state, stream(seed, "patch"))
        starts, links = _erdos_renyi(*_flat(members), position, table_starts, table, states)
    _order_views(members.offsets, members.ids, starts, links)
    return Overlays(starts, links)


def rounds(members: Members, overlays: Overlays, settings: Settings, seed: int) -> Iterator[Overlays]:
    """The overlays after each lock-step round: views are frozen while its walks run (StaN 3.3, 3.4)."""
    walk_state = stream(seed, "walk")
    for turn in range(settings.rounds):
        links = _aligned(*_flat(members), overlays.starts, overlays.links, turn, settings.ttl, walk_state)
        overlays = replace(overlays, links=links)
        yield overlays


def digests(members: Members, overlays: Overlays) -> NDArray[np.int64]:
    """For each topic, the XOR over its links of xxhash64(topic, node, neighbour): the same whatever the order."""
    return _digests(*_flat(members), overlays.starts, overlays.links)


def _flat(members: Members) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    return members.topics, members.offsets, members.ids


def _degree_table(members: int, settings: Settings) -> NDArray[np.int64]:
    """63-bit thresholds of the out-degree of one node: Binomial(n - 1, mean / (n - 1)), as a cumulative table.

    A node has out-degree d if d thresholds are at or below its chance. Summed in one fixed order, here and nowhere else: every engine takes this table.
    """
    others = members - 1
    if others < 1:
        return np.empty(0, np.int64)
    share = settings.mean_degree(members) / others
    if share >= 1:
        return np.zeros(others, np.int64)  # every node holds every other
    probability = math.exp(others * math.log1p(-share))
    cumulative, thresholds = 0.0, []
    for degree in range(others):
        cumulative += probability
        if cumulative >= 1 - 1e-15:
            break
        thresholds.append(int(cumulative * 2.0**63))
        probability *= (others - degree) / (degree + 1) * share / (1 - share)
    return np.array(thresholds, np.int64)


@compiled
def _sample(view: NDArray[np.int32], size: Long, me: Long, members: Long, state: np.uint64) -> None:
    """Fill `view` with `size` distinct positions other than `me`, each draw labelled by its number."""
    if size == members - 1:
        for other in range(size):
            view[other] = other + (other >= me)
        return
    filled, draw = 0, np.int64(0)
    while filled < size:
        target = pick(mixed_long(draw, state), members - 1)
        target += target >= me
        draw += 1
        fresh = True
        for slot in range(filled):
            fresh = fresh and view[slot] != target
        if fresh:
            view[filled] = target
            filled += 1


@compiled
def _fixed(
    topics: NDArray[np.int64],
    offsets: NDArray[np.int64],
    ids: NDArray[np.int64],
    fan_outs: NDArray[np.int64],
    overlay_state: np.uint64,
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Every member picks the topic's fan-out of others, uniformly (StaN 3.3)."""
    starts = np.zeros(ids.size + 1, np.int64)
    for topic in range(topics.size):
        for member in range(offsets[topic], offsets[topic + 1]):
            starts[member + 1] = starts[member] + fan_outs[topic]
    links = np.empty(starts[-1], np.int32)
    for topic in range(topics.size):
        first, size = offsets[topic], offsets[topic + 1] - offsets[topic]
        topic_state = mixed_long(topics[topic], overlay_state)
        for me in range(size):
            member = first + me
            state = mixed_long(np.int64(0), mixed_long(ids[member], topic_state))
            _sample(links[starts[member] : starts[member + 1]], fan_outs[topic], me, size, state)
    return starts, links


@compiled
def _erdos_renyi(
    topics: NDArray[np.int64],
    offsets: NDArray[np.int64],
    ids: NDArray[np.int64],
    position: NDArray[np.int64],
    table_starts: NDArray[np.int64],
    table: NDArray[np.int64],
    states: tuple[np.uint64, np.uint64, np.uint64],
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Random digraphs, each strongly connected (StAN 3): drawn anew up to ATTEMPTS times, then patched."""
    starts = np.zeros(ids.size + 1, np.int64)
    links = np.empty(max(1024, 4 * ids.size), np.int32)
    used = 0
    for topic in range(topics.size):
        first, last = offsets[topic], offsets[topic + 1]
        degrees = table[table_starts[position[topic]] : table_starts[position[topic] + 1]]
        local_starts, local_links = _digraph(topics[topic], ids[first:last], degrees, states)
        while used + local_links.size > links.size:
            links = np.concatenate((links, np.empty_like(links)))
        links[used : used + local_links.size] = local_links
        starts[first + 1 : last + 1] = used + local_starts[1:]
        used += local_links.size
    return starts, links[:used].copy()


@compiled
def _digraph(
    topic: Long,
    ids: NDArray[np.int64],
    degrees: NDArray[np.int64],
    states: tuple[np.uint64, np.uint64, np.uint64],
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    degree_state, overlay_state, patch_state = states
    members = ids.size
    starts = np.zeros(members + 1, np.int64)
    links = np.empty(0, np.int32)
    for attempt in range(ATTEMPTS):
        for me in range(members):
            state = mixed_long(np.int64(attempt), mixed_long(ids[me], mixed_long(topic, degree_state)))
            starts[me + 1] = starts[me] + np.searchsorted(degrees, np.int64(drawn(state)), side="right")
        links = np.empty(starts[-1], np.int32)
        for me in range(members):
            state = mixed_long(np.int64(attempt), mixed_long(ids[me], mixed_long(topic, overlay_state)))
            _sample(links[starts[me] : starts[me + 1]], starts[me + 1] - starts[me], me, members, state)
        component, count = graphs.strong_components(starts, links)
        if count <= 1:
            return starts, links
    step = np.int64(0)
    while True:
        component, count = graphs.strong_components(starts, links)
        if count == 1:
            return starts, links
        # Component 0 has no way out and the last none in: a link from the one to the other repairs both.
        state = mixed_long(step, mixed_long(topic, patch_state))
        source = _nth_in(component, 0, mixed_long(np.int64(0), state))
        target = _nth_in(component, count - 1, mixed_long(np.int64(1), state))
        at = starts[source + 1]
        links = np.concatenate((links[:at], np.array([target], np.int32), links[at:]))
        starts[source + 1 :] += 1
        step += 1


@compiled
def _nth_in(component: NDArray[np.int32], number: int, state: np.uint64) -> np.int32:
    """A uniform member of a component."""
    inside = np.flatnonzero(component == number)
    return np.int32(inside[pick(state, inside.size)])


@compiled
def _order_views(
    offsets: NDArray[np.int64], ids: NDArray[np.int64], starts: NDArray[np.int64], links: NDArray[np.int32]
) -> None:
    """Bring every view into the holder's order of (weight, id), in place."""
    for topic in range(offsets.size - 1):
        first = offsets[topic]
        for member in range(first, offsets[topic + 1]):
            view = links[starts[member] : starts[member + 1]]
            key = seeded(ids[member])
            for at in range(1, view.size):
                moved = view[at]
                moved_weight = joined(half(ids[first + moved]), key) >> ONE
                slot = at
                while slot > 0:
                    other = view[slot - 1]
                    other_weight = joined(half(ids[first + other]), key) >> ONE
                    if other_weight < moved_weight or (other_weight == moved_weight and other < moved):
                        break
                    view[slot] = other
                    slot -= 1
                view[slot] = moved


@compiled
def _offer(
    best: NDArray[np.int32], best_weight: NDArray[np.uint64], size: Long, other: np.int32, weight: np.uint64
) -> None:
    """Let `other` take its place among the `size` best, unless it is there already or not good enough."""
    slot = size
    while slot > 0 and (weight < best_weight[slot - 1] or (weight == best_weight[slot - 1] and other < best[slot - 1])):
        slot -= 1
    if slot == size or (slot > 0 and best[slot - 1] == other):
        return
    for later in range(size - 1, slot, -1):
        best[later] = best[later - 1]
        best_weight[later] = best_weight[later - 1]
    best[slot] = other
    best_weight[slot] = weight


@compiled
def _aligned(
    topics: NDArray[np.int64],
    offsets: NDArray[np.int64],
    ids: NDArray[np.int64],
    starts: NDArray[np.int64],
    links: NDArray[np.int32],
    turn: Long,
    ttl: Long,
    walk_state: np.uint64,
) -> NDArray[np.int32]:
    """One round: every member of every topic walks over the frozen views and keeps the best it has seen."""
    aligned = links.copy()
    halves = np.empty(ids.size, np.uint64)
    widest = np.int64(0)
    for member in range(ids.size):
        halves[member] = half(ids[member])
        widest = max(widest, starts[member + 1] - starts[member])
    best = np.empty(widest, np.int32)
    best_weight = np.empty(widest, np.uint64)
    for topic in range(topics.size):
        first, others = offsets[topic], offsets[topic + 1] - offsets[topic] - 1
        topic_state = mixed_long(topics[topic], walk_state)
        for me in range(others + 1):
            member = first + me
            begin = starts[member]
            size = starts[member + 1] - begin
            if size in (0, others):
                continue  # nobody to ask, or nobody else to find
            key = seeded(ids[member])
            for slot in range(size):
                best[slot] = links[begin + slot]
                best_weight[slot] = joined(halves[first + best[slot]], key) >> ONE
            state = mixed_long(turn, mixed_long(ids[member], topic_state))
            at = links[begin + pick(mixed_long(np.int64(0), state), size)]
            for hop in range(1, ttl + 2):
                if at != me:
                    _offer(best, best_weight, size, at, joined(halves[first + at], key) >> ONE)
                visited = first + at
                for link in range(starts[visited], starts[visited + 1]):
                    other = links[link]
                    weight = joined(halves[first + other], key) >> ONE
                    if weight <= best_weight[size - 1] and other != me:
                        _offer(best, best_weight, size, other, weight)
                choices = starts[visited + 1] - starts[visited]
                if hop > ttl or choices == 0:
                    break  # the walk ends here and its catch is sent back
                at = links[starts[visited] + pick(mixed_long(np.int64(hop), state), choices)]
            aligned[begin : begin + size] = best[:size]
    return aligned


@compiled
def _digests(
    topics: NDArray[np.int64],
    offsets: NDArray[np.int64],
    ids: NDArray[np.int64],
    starts: NDArray[np.int64],
    links: NDArray[np.int32],
) -> NDArray[np.int64]:
    found = np.zeros(topics.size, np.int64)
    for topic in range(topics.size):
        first = offsets[topic]
        topic_state = seeded(topics[topic])
        digest = np.uint64(0)
        for member in range(first, offsets[topic + 1]):
            state = mixed_long(ids[member], topic_state)
            for link in range(starts[member], starts[member + 1]):
                digest ^= mixed_long(ids[first + links[link]], state)
        found[topic] = np.int64(digest)
    return found

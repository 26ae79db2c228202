"""Initial overlays, as the overlay manager is assumed to have made them: fixed fan-outs (StaN) or Erdos-Renyi (StAN)."""

import math

import numpy as np

from ropewalk.arrays import graphs
from ropewalk.arrays.chance import drawn, pick, stream
from ropewalk.arrays.compiled import Long, compiled
from ropewalk.arrays.hashing import mixed_long
from ropewalk.protocols.stan.kernel.batch import Ints, Longs, Members, Overlays, Topics, Views
from ropewalk.protocols.stan.kernel.weights import order, ranking
from ropewalk.protocols.stan.settings import Settings

ATTEMPTS = 8  # ours: how often an Erdos-Renyi overlay is drawn anew before it is patched to be strongly connected


def initial(members: Members, settings: Settings, seed: int) -> Overlays:
    """The overlays before any walk."""
    sizes, position = np.unique(np.diff(members.offsets), return_inverse=True)
    overlay_state = stream(seed, "overlay")
    if settings.overlay == "fixed":
        by_size = np.array([settings.fan_out(int(size)) for size in sizes], np.int64)
        starts, links = _fixed(members.topics, members.offsets, members.ids, by_size[position], overlay_state)
    else:
        tables = [_degree_table(int(size), settings) for size in sizes]
        table_starts = np.cumsum([0, *(table.size for table in tables)])
        table = np.concatenate(tables) if tables else np.empty(0, np.int64)
        states = (stream(seed, "degree"), overlay_state, stream(seed, "patch"))
        starts, links = _erdos_renyi(
            members.topics, members.offsets, members.ids, position, table_starts, table, states
        )
    lengths = np.diff(starts).astype(np.int32)
    topics = Topics(members.topics, members.offsets, members.ids, starts)
    order(topics, Views(lengths, lengths, links), ranking(members.ids, settings, seed))
    return Overlays(starts, links)


def fan_out_steps(settings: Settings, largest: int) -> Longs:
    """The topic sizes, up to `largest`, at which the fan-out grows by one: it is how many of them are not above n.

    Computed from `Settings.fan_out` alone, so that no second logarithm can round another way.
    """
    steps: list[int] = []
    for wanted in range(1, settings.fan_out(largest) + 1):
        low, high = 1, largest
        while low < high:
            middle = (low + high) // 2
            if settings.fan_out(middle) >= wanted:
                high = middle
            else:
                low = middle + 1
        steps.append(low)
    return np.array(steps, np.int64)


def _degree_table(members: int, settings: Settings) -> Longs:
    """63-bit thresholds of the out-degree of one node: Binomial(n - 1, mean / (n - 1)), as a cumulative table.

    A node has out-degree d if d thresholds are at or below its chance. Summed in one fixed order, here and nowhere
    else: every engine takes this table.
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
def sample(view: Ints, size: Long, me: Long, members: Long, state: np.uint64) -> None:
    """Fill `view` with `size` distinct numbers below `members` other than `me`, each draw labelled by its number."""
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
def _fixed(topics: Longs, offsets: Longs, ids: Longs, fan_outs: Longs, overlay_state: np.uint64) -> tuple[Longs, Ints]:
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
            sample(links[starts[member] : starts[member + 1]], fan_outs[topic], me, size, state)
    return starts, links


@compiled
def _erdos_renyi(
    topics: Longs,
    offsets: Longs,
    ids: Longs,
    position: Longs,
    table_starts: Longs,
    table: Longs,
    states: tuple[np.uint64, np.uint64, np.uint64],
) -> tuple[Longs, Ints]:
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
    topic: Long, ids: Longs, degrees: Longs, states: tuple[np.uint64, np.uint64, np.uint64]
) -> tuple[Longs, Ints]:
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
            sample(links[starts[me] : starts[me + 1]], starts[me + 1] - starts[me], me, members, state)
        component, count = graphs.strong_components(starts, links)
        if count <= 1:
            return starts, links
    step = np.int64(0)
    while True:
        component, count = graphs.strong_components(starts, links)
        if count == 1:
            return starts, links
        end, begin = _ends(starts, links, component, count)
        state = mixed_long(step, mixed_long(topic, patch_state))
        source = _nth_in(component, end, mixed_long(np.int64(0), state))
        target = _nth_in(component, begin, mixed_long(np.int64(1), state))
        at = starts[source + 1]
        links = np.concatenate((links[:at], np.array([target], np.int32), links[at:]))
        starts[source + 1 :] += 1
        step += 1


@compiled
def _ends(starts: Longs, links: Ints, component: Ints, count: int) -> tuple[int, int]:
    """Of several components one without a way out and another without a way in: those with the first such member."""
    has_out, has_in = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    for me in range(component.size):
        for other in links[starts[me] : starts[me + 1]]:
            if component[me] != component[other]:
                has_out[component[me]] = has_in[component[other]] = True
    end = begin = -1
    for own in component:
        if end < 0 and not has_out[own]:
            end = own
    for own in component:
        if begin < 0 and not has_in[own] and own != end:
            begin = own
    return end, begin


@compiled
def _nth_in(component: Ints, number: int, state: np.uint64) -> np.int32:
    """A uniform member of a component."""
    inside = np.flatnonzero(component == number)
    return np.int32(inside[pick(state, inside.size)])

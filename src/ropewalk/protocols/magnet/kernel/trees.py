"""The tree of every topic over the skewed ring (Magnet 3.3, Algorithm 2), and what it costs.

Ways go clockwise, from each node over the link that leads farthest without going beyond the target. *Strict*: the tree is
made of the ways from the home to all who follow. *Plain*: each follower begins at another that is in the tree already and climbs until
a node's way to it goes over a child of that node, then follows it; as printed, but only where that node lies between
home and follower: a way from beyond would go round the ring.
"""

import numpy as np

from ropewalk.arrays.chance import pick, stream
from ropewalk.arrays.compiled import Long, compiled
from ropewalk.arrays.hashing import mixed_long
from ropewalk.protocols.magnet.kernel.batch import Bools, Floats, Interests, Ints, Longs, Ring, Trees
from ropewalk.protocols.magnet.settings import Settings

NOBODY = -1


def homes(interests: Interests) -> Ints:
    """Of each topic the node whose id follows the topic's on the control ring (Magnet 3.1)."""
    after = np.searchsorted(interests.node_ids, interests.topic_ids)
    return (after % interests.node_ids.size).astype(np.int32)


def grown(interests: Interests, ring: Ring, arrivals: Ints, settings: Settings, seed: int, topics: Ints) -> Trees:
    """The trees of some topics."""
    turns = np.empty(arrivals.size, np.int32)
    turns[arrivals] = np.arange(arrivals.size, dtype=np.int32)
    strict = settings.grafting == "strict"
    return Trees(*_grown(interests, ring, turns, homes(interests), topics, strict, stream(seed, "graft")))


@compiled
def next_hop(place: Long, target: Long, count: Long, starts: Longs, links: Ints) -> np.int64:
    """Where a way towards a target goes on: a place."""
    left = (target - place) % count
    low, high = starts[place], starts[place + 1] - 1
    while low < high:
        middle = (low + high + 1) // 2
        if links[middle] <= left:
            low = middle
        else:
            high = middle - 1
    return np.int64((place + links[low]) % count)


@compiled
def _grown(
    interests: Interests, ring: Ring, turns: Ints, roots: Ints, wanted: Ints, strict: bool, state: np.uint64
) -> tuple[Longs, Longs, Bools, Longs, Longs, Longs, Longs, Floats, Longs]:
    _, topic_ids, _, _, by_topic, nodes, rates = interests
    order, places, starts, links = ring
    count, many = order.size, wanted.size
    sizes, relays, depths = np.zeros(many, np.int64), np.zeros(many, np.int64), np.zeros(many, np.int64)
    strange, hops = np.zeros(many, np.bool_), np.zeros(many, np.int64)
    grafts, strays = np.zeros(many, np.int64), np.zeros(many, np.int64)
    load, children = np.zeros(count, np.float64), np.zeros(count, np.int64)
    parent = np.full(count, NOBODY, np.int32)  # places; who is in the tree has one, the root itself
    depth = np.zeros(count, np.int32)
    is_follower = np.zeros(count, np.bool_)
    on_way = np.zeros(count, np.bool_)
    inside = np.empty(count, np.int32)
    for which in range(many):
        topic = wanted[which]
        members = nodes[by_topic[topic] : by_topic[topic + 1]]
        joining = members[np.argsort(turns[members], kind="mergesort")]
        root = np.int64(places[roots[topic]])
        parent[root], depth[root] = root, 0
        inside[0] = root
        size = np.int64(1)
        for turn in range(joining.size):
            target = np.int64(places[joining[turn]])
            begin = root
            if not strict and turn:
                drawn_ = pick(mixed_long(turn, mixed_long(topic_ids[topic], state)), turn)
                begin = _grafting(np.int64(places[joining[drawn_]]), target, root, count, parent, starts, links)
                grafts[which] += begin != root
            size = _graft(begin, target, count, parent, depth, inside, size, starts, links)
        for member in members:
            is_follower[places[member]] = True
            hops[which] += depth[places[member]]
        if not strict:
            strays[which] = _strays(members, places, root, count, inside[:size], on_way, starts, links)
        for place in inside[:size]:
            if not is_follower[place]:
                relays[which] += 1
                load[order[place]] += rates[topic]
            if place != root:
                children[order[parent[place]]] += 1
            depths[which] = max(depths[which], depth[place])
        sizes[which], strange[which] = size, not is_follower[root]
        for place in inside[:size]:
            parent[place] = NOBODY
        for member in members:
            is_follower[places[member]] = False
    return sizes, relays, strange, depths, hops, grafts, strays, load, children


@compiled
def _grafting(begin: Long, target: Long, root: Long, count: Long, parent: Ints, starts: Longs, links: Ints) -> np.int64:
    """Up from a follower to the node from which the way to another goes on."""
    place = np.int64(begin)
    while place != root:
        is_between = (place - root) % count < (target - root) % count
        if is_between and parent[next_hop(place, target, count, starts, links)] == place:
            break
        place = np.int64(parent[place])
    return place


@compiled
def _graft(
    begin: Long,
    target: Long,
    count: Long,
    parent: Ints,
    depth: Ints,
    inside: Ints,
    size: Long,
    starts: Longs,
    links: Ints,
) -> np.int64:
    """Go from a node of the tree to a target; whoever is passed and not in it becomes a child of who came before."""
    place = np.int64(begin)
    while place != target:
        following = next_hop(place, target, count, starts, links)
        if parent[following] == NOBODY:
            parent[following], depth[following] = place, depth[place] + 1
            inside[size] = following
            size += 1
        place = following
    return np.int64(size)


@compiled
def _strays(
    members: Ints, places: Ints, root: Long, count: Long, inside: Ints, on_way: Bools, starts: Longs, links: Ints
) -> np.int64:
    """How many of a tree would not be in the strict one."""
    on_way[root] = True
    for member in members:
        target, place = np.int64(places[member]), np.int64(root)
        while place != target:
            place = next_hop(place, target, count, starts, links)
            on_way[place] = True
    found = 0
    for place in inside:
        found += not on_way[place]
    on_way[root] = False
    for member in members:
        target, place = np.int64(places[member]), np.int64(root)
        while place != target:
            place = next_hop(place, target, count, starts, links)
            on_way[place] = False
    return np.int64(found)

"""The tree of every topic over the skewed ring (Magnet 3.3, Algorithm 2), and what it costs.

Ways go clockwise, from each node over the link that leads farthest without going beyond the target. *Strict*: the tree is
made of the ways from the home to all who follow. *As printed*: each follower begins at another that is in the tree already and climbs until
a node's way to it goes over a child of that node, then follows it; but only where that node lies between home and follower: a way from
beyond would go round the ring.
"""

import numpy as np

from ropewalk.arrays.chance import pick, stream
from ropewalk.arrays.compiled import Long, compiled
from ropewalk.arrays.hashing import mixed_long
from ropewalk.protocols.dht.kernel.interests import Bools, Interests, Ints, Longs
from ropewalk.protocols.dht.kernel.rings import Ring, homes, next_hop
from ropewalk.protocols.dht.kernel.trees import NOBODY, Trees, no_trees, tally
from ropewalk.protocols.magnet.settings import Grafting


def grown(interests: Interests, ring: Ring, arrivals: Ints, grafting: Grafting, seed: int, topics: Ints) -> Trees:
    """The trees of some topics; followers join them in the order of arrivals."""
    turns = np.empty(arrivals.size, np.int32)
    turns[arrivals] = np.arange(arrivals.size, dtype=np.int32)
    trees = no_trees(topics.size, arrivals.size)
    _grown(interests, ring, turns, homes(interests), topics, grafting == "strict", stream(seed, "graft"), trees)
    return trees


@compiled
def _grown(
    interests: Interests,
    ring: Ring,
    turns: Ints,
    roots: Ints,
    wanted: Ints,
    strict: bool,
    state: np.uint64,
    trees: Trees,
) -> None:
    order, places, starts, links = ring
    count = order.size
    parent = np.full(count, NOBODY, np.int32)  # places; who is in the tree has one, the root itself
    depth = np.zeros(count, np.int32)
    is_follower, on_way = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    inside = np.empty(count, np.int32)
    for which in range(wanted.size):
        topic = wanted[which]
        members = interests.nodes[interests.by_topic[topic] : interests.by_topic[topic + 1]]
        joining = members[np.argsort(turns[members], kind="mergesort")]
        root = np.int64(places[roots[topic]])
        parent[root], depth[root] = root, 0
        inside[0] = root
        size = np.int64(1)
        for turn in range(joining.size):
            target = np.int64(places[joining[turn]])
            begin = root
            if not strict and turn:
                drawn = pick(mixed_long(turn, mixed_long(interests.topic_ids[topic], state)), turn)
                begin = _grafting(np.int64(places[joining[drawn]]), target, root, count, parent, starts, links)
                trees.grafts[which] += begin != root
            size = _graft(begin, target, count, parent, depth, inside, size, starts, links)
        if not strict:
            trees.strays[which] = _strays(members, places, root, count, inside[:size], on_way, starts, links)
        tally(which, topic, root, inside[:size], parent, depth, interests, order, places, is_follower, trees)
        for place in inside[:size]:
            parent[place] = NOBODY


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

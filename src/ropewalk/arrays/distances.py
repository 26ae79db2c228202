"""How far apart the nodes of a graph are: breadth-first searches side by side, 256 to a pass, and what they say of its diameter.

Graphs are those of `graphs`. All searches run backwards, from a target to whoever has a path to it: then a node gathers
what its own links lead to, in order, and no two nodes write to the same place. To search forwards, turn the links round.
"""

import numpy as np
from numpy.typing import NDArray

from ropewalk.arrays.compiled import Index, compiled

Starts = NDArray[np.int64]
Links = NDArray[np.int32]
Longs = NDArray[np.int64]

SEARCHES = 256  # four words of 64 bits: a wide register holds them, and eight words were no faster
ONE, WORD, WITHIN = np.uint64(1), np.uint64(6), np.uint64(63)


@compiled
def turned(starts: Starts, links: Links) -> tuple[Starts, Links]:
    """The same graph with every link the other way round: whom a node held now holds it."""
    nodes = starts.size - 1
    turned_starts = np.zeros(nodes + 1, np.int64)
    for link in range(Index(starts[0]), Index(starts[-1])):
        turned_starts[Index(links[link]) + ONE] += 1
    for node in range(nodes):
        turned_starts[node + 1] += turned_starts[node]
    turned_links = np.empty(turned_starts[-1], np.int32)
    following = turned_starts[:-1].copy()
    for node in range(nodes):
        for link in range(Index(starts[node]), Index(starts[node + 1])):
            target = Index(links[link])
            turned_links[Index(following[target])] = node
            following[target] += 1
    return turned_starts, turned_links


@compiled
def farthest(starts: Starts, links: Links, targets: Longs) -> tuple[Longs, NDArray[np.bool_]]:
    """For each target: the steps from the farthest node that has a path to it, and whether every node has one."""
    steps, by_all = np.zeros(targets.size, np.int64), np.zeros(targets.size, np.bool_)
    nodes = starts.size - 1
    before, after = np.empty((nodes, 4), np.uint64), np.empty((nodes, 4), np.uint64)
    for first in range(0, targets.size, SEARCHES):
        last = min(first + SEARCHES, targets.size)
        _search(starts, links, targets[first:last], before, after, steps[first:last], by_all[first:last])
    return steps, by_all


@compiled
def _search(
    starts: Starts,
    links: Links,
    targets: Longs,
    before: NDArray[np.uint64],
    after: NDArray[np.uint64],
    steps: Longs,
    by_all: NDArray[np.bool_],
) -> None:
    """One pass of `farthest`: bit s of `before[v]` says that v reaches target s in the steps taken so far.

    A node whose bits are all set needs no further look, and in a fit overlay most nodes have after some of their links.
    The four words are spelt out so that they stay in registers.
    """
    nodes = starts.size - 1
    whole = np.zeros(4, np.uint64)
    before[:] = 0
    for search in range(targets.size):
        bit = ONE << (Index(search) & WITHIN)
        before[targets[search], Index(search) >> WORD] |= bit
        whole[Index(search) >> WORD] |= bit
    w0, w1, w2, w3 = whole[0], whole[1], whole[2], whole[3]
    g0, g1, g2, g3 = w0, w1, w2, w3
    arrived = np.zeros(nodes, np.bool_)
    missing, step = nodes, 0
    while missing and (g0 | g1 | g2 | g3):
        step += 1
        missing = 0
        g0 = g1 = g2 = g3 = np.uint64(0)
        for place in range(nodes):
            node = Index(place)
            a0, a1, a2, a3 = before[node, 0], before[node, 1], before[node, 2], before[node, 3]
            if not arrived[node]:
                lacking = ONE
                for link in range(Index(starts[node]), Index(starts[node + ONE])):
                    other = Index(links[link])
                    a0 |= before[other, 0]
                    a1 |= before[other, 1]
                    a2 |= before[other, 2]
                    a3 |= before[other, 3]
                    lacking = (a0 ^ w0) | (a1 ^ w1) | (a2 ^ w2) | (a3 ^ w3)
                    if lacking == 0:
                        break
                g0 |= a0 ^ before[node, 0]
                g1 |= a1 ^ before[node, 1]
                g2 |= a2 ^ before[node, 2]
                g3 |= a3 ^ before[node, 3]
                arrived[node] = lacking == 0
                missing += lacking != 0
            after[node, 0], after[node, 1], after[node, 2], after[node, 3] = a0, a1, a2, a3
        before, after = after, before
        whole[0], whole[1], whole[2], whole[3] = g0, g1, g2, g3
        for search in range(targets.size):
            if _is_set(whole, Index(search)):
                steps[search] = step
    for place in range(nodes):
        w0, w1, w2, w3 = w0 & before[place, 0], w1 & before[place, 1], w2 & before[place, 2], w3 & before[place, 3]
    whole[0], whole[1], whole[2], whole[3] = w0, w1, w2, w3
    for search in range(targets.size):
        by_all[search] = _is_set(whole, Index(search))


@compiled
def _is_set(words: NDArray[np.uint64], place: np.uint64) -> bool:
    return bool((words[place >> WORD] >> (place & WITHIN)) & ONE)


@compiled
def diameter(starts: Starts, links: Links) -> tuple[np.int64, bool]:
    """The longest shortest path over the pairs that have one, and whether all pairs have one.

    Few targets need a search in a large graph. If all nodes reach p, and p holds s, then nobody is farther from s than
    from p, and one step. So whoever is held by such a p, with a step to spare, cannot be the end of a longer path. Nodes
    that few hold come first: the longest path mostly ends at one of them, and the sooner it is known, the more is spared.
    """
    nodes = starts.size - 1
    targets, unheld = _rarest_first(starts, links)
    spared = np.zeros(nodes, np.bool_)
    before, after = np.empty((nodes, 4), np.uint64), np.empty((nodes, 4), np.uint64)
    searched, steps, by_all = np.empty(nodes, np.int64), np.zeros(nodes, np.int64), np.empty(nodes, np.bool_)
    longest, connected = np.int64(0), nodes == 1 or (nodes > 1 and not unheld)
    place, done = unheld, 0  # no path of even one step ends at those whom nobody holds
    while place < nodes:
        first = done
        while place < nodes and done < first + SEARCHES:
            if not spared[targets[place]]:
                searched[done] = targets[place]
                done += 1
            place += 1
        _search(starts, links, searched[first:done], before, after, steps[first:done], by_all[first:done])
        news = first
        for search in range(first, done):
            connected = connected and by_all[search]
            if steps[search] > longest:
                longest = steps[search]
                news = 0  # those searched before may now have a step to spare, too
        if place < nodes:
            for search in range(news, done):
                if by_all[search] and steps[search] < longest:
                    for link in range(starts[searched[search]], starts[searched[search] + 1]):
                        spared[links[link]] = True
    return longest, connected


@compiled
def _rarest_first(starts: Starts, links: Links) -> tuple[Longs, np.int64]:
    """The nodes in the order of how many hold them, and how many are held by nobody."""
    nodes = starts.size - 1
    held = np.zeros(nodes, np.int64)
    for link in range(Index(starts[0]), Index(starts[-1])):
        held[Index(links[link])] += 1
    places = np.zeros(nodes + 1, np.int64)  # of the next node that so many hold
    for node in range(nodes):
        places[held[node] + 1] += 1
    unheld = places[1] if nodes else np.int64(0)
    for count in range(nodes):
        places[count + 1] += places[count]
    ordered = np.empty(nodes, np.int64)
    for node in range(nodes):
        ordered[places[held[node]]] = node
        places[held[node]] += 1
    return ordered, unheld

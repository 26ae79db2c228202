"""What an overlay is good for, measured on its directed graph: components, clustering, diameter, who is held by nobody.

A graph of n nodes is two arrays: the links of node v are `links[starts[v]:starts[v + 1]]`, numbers below n, no self
links, no repeats. `starts` need not begin at 0, so a graph can be a slice of a larger batch.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ropewalk.arrays.compiled import Index, compiled
from ropewalk.arrays.distances import Links, Longs, Starts, diameter, farthest, turned

ONE = np.uint64(1)


@compiled
def unheld_count(starts: Starts, links: Links) -> int:
    """Nodes that nobody holds; but if there is only one node, there is nobody who could."""
    nodes = starts.size - 1
    held = np.zeros(nodes, np.bool_)
    for link in range(Index(starts[0]), Index(starts[-1])):
        held[Index(links[link])] = True
    count = 0
    for node in range(nodes):
        count += not held[node]
    return count if nodes > 1 else 0


@compiled
def _leaders(starts: Starts, links: Links) -> tuple[Longs, int]:
    """Union-find with path halving: whom each node follows, up to one that leads itself, and how many of those there are."""
    nodes = starts.size - 1
    leader = np.arange(nodes)
    count = nodes
    for node in range(nodes):
        if count == 1:
            break
        for link in range(Index(starts[node]), Index(starts[node + 1])):
            a, b = Index(node), Index(links[link])
            while Index(leader[a]) != a:
                leader[a] = leader[Index(leader[a])]
                a = Index(leader[a])
            while Index(leader[b]) != b:
                leader[b] = leader[Index(leader[b])]
                b = Index(leader[b])
            if a != b:
                leader[a] = b
                count -= 1
    return leader, count


@compiled
def weak_count(starts: Starts, links: Links) -> int:
    """Components when links are walked both ways."""
    return _leaders(starts, links)[1]


@compiled
def weak_components(starts: Starts, links: Links) -> tuple[NDArray[np.int32], int]:
    """The component number of each node when links are walked both ways, and how many there are."""
    leader, count = _leaders(starts, links)
    number, component = np.full(leader.size, -1, np.int32), np.empty(leader.size, np.int32)
    numbered = np.int32(0)
    for node in range(leader.size):
        top = node
        while leader[top] != top:
            leader[top] = leader[leader[top]]
            top = leader[top]
        if number[top] < 0:
            number[top] = numbered
            numbered += np.int32(1)
        component[node] = number[top]
    return component, count


@compiled
def strong_components(starts: Starts, links: Links) -> tuple[NDArray[np.int32], int]:
    """The component number of each node when links are walked forwards only, and how many there are (Tarjan 1972).

    Numbers follow the condensed graph backwards: a link between two components goes from the higher to the lower.
    """
    nodes = starts.size - 1
    unseen, closed = np.int32(-1), np.int32(2**31 - 1)
    component = np.full(nodes, unseen, np.int32)
    order = np.full(nodes, unseen, np.int32)  # when a node was first met; `closed` once its component is known
    low = np.zeros(nodes, np.int32)  # the earliest node on the stack it can reach
    following = starts[:-1].copy()  # the next link of each node to follow
    stack, path = np.empty(nodes, np.int32), np.empty(nodes, np.int32)
    met, count, stacked = np.int32(0), 0, 0
    for root in range(nodes):
        if order[root] != unseen:
            continue
        depth = 0
        path[0] = root
        while depth >= 0:
            node = Index(path[depth])
            if order[node] == unseen:
                order[node] = low[node] = met
                met += np.int32(1)
                stack[stacked] = node
                stacked += 1
            lowest, seen = low[node], met
            link, end = Index(following[node]), Index(starts[node + ONE])
            while link < end and seen != unseen:
                seen = order[Index(links[link])]
                link += ONE
                if seen != unseen:
                    lowest = min(lowest, seen)
            following[node], low[node] = link, lowest
            if seen == unseen:
                depth += 1
                path[depth] = links[link - ONE]
                continue
            if lowest == order[node]:
                while order[node] != closed:
                    stacked -= 1
                    member = Index(stack[stacked])
                    component[member], order[member] = count, closed
                count += 1
            depth -= 1
            if depth >= 0:
                above = Index(path[depth])
                low[above] = min(low[above], lowest)
    return component, count


@compiled
def condensed(
    starts: Starts, links: Links, component: NDArray[np.int32], count: int
) -> tuple[Longs, Starts, NDArray[np.int32]]:
    """A graph with its components for nodes: how many nodes each has, and its links to others, each once."""
    nodes = component.size
    sizes, places = np.zeros(count, np.int64), np.zeros(count + 1, np.int64)
    for node in range(nodes):
        sizes[component[node]] += 1
    for own in range(count):
        places[own + 1] = places[own] + sizes[own]
    by_component, following = np.empty(nodes, np.int64), places[:-1].copy()
    for node in range(nodes):
        by_component[following[component[node]]] = node
        following[component[node]] += 1
    last_from = np.full(count, -1, np.int64)  # the last component that was found to link there
    between = 0
    out_starts, out_links = np.zeros(count + 1, np.int64), np.empty(starts[-1] - starts[0], np.int32)
    for own in range(count):
        last_from[own] = own  # a link inside is none between
        for place in range(places[own], places[own + 1]):
            node = by_component[place]
            for link in range(Index(starts[node]), Index(starts[node + 1])):
                other = component[Index(links[link])]
                if last_from[other] != own:
                    last_from[other] = own
                    out_links[between] = other
                    between += 1
        out_starts[own + 1] = between
    return sizes, out_starts, out_links[:between]


@compiled
def clustering(starts: Starts, links: Links) -> float:
    """Mean over nodes of: links among a node's k neighbours / k(k - 1); 0 for a node with fewer than two."""
    return clustering_of(starts, links, np.arange(starts.size - 1))


@compiled
def clustering_of(starts: Starts, links: Links, chosen: Longs) -> float:
    """That mean over the chosen nodes."""
    held = np.zeros(starts.size - 1, np.uint8)
    total = 0.0
    for node in chosen:
        first, end = Index(starts[node]), Index(starts[node + 1])
        size = np.int64(end - first)
        if size <= 1:
            continue
        for link in range(first, end):
            held[Index(links[link])] = 1
        among = np.uint64(0)
        for link in range(first, end):
            neighbour = Index(links[link])
            for further in range(Index(starts[neighbour]), Index(starts[neighbour + ONE])):
                among += np.uint64(held[Index(links[further])])
        for link in range(first, end):
            held[Index(links[link])] = 0
        total += np.int64(among) / (size * (size - 1))
    return total / chosen.size if chosen.size else 0.0


@compiled
def diameter_bounds(
    starts: Starts,
    links: Links,
    back_starts: Starts,
    back_links: Links,
    component: NDArray[np.int32],
    count: int,
    sources: int,
) -> tuple[np.int64, np.int64]:
    """Between what the diameter over reachable pairs lies, from searches to and from `sources` nodes spread over the numbering.

    `back_*` is the graph turned round, `component` and `count` are its strong components. The lower bound is the longest
    path found. The upper: a shortest path that touches the largest component is no longer than a detour over any node
    there, so the best of the sources there bounds it; one that does not touch it passes through a chain of other
    components and meets no node twice, so the largest chain, counted in nodes, bounds it. Where no source lies in the
    largest component, it is one of the chain.
    """
    nodes = starts.size - 1
    sources = min(sources, nodes)
    chosen = np.arange(sources) * nodes // sources
    into = farthest(starts, links, chosen)[0]
    out_of = farthest(back_starts, back_links, chosen)[0]
    sizes, chain_starts, chain_links = condensed(starts, links, component, count)
    largest = np.argmax(sizes)
    found, detour, chain = np.int64(0), np.int64(-1), np.int64(0)
    for place in range(sources):
        found = max(found, into[place], out_of[place])
        if component[chosen[place]] == largest and (detour < 0 or into[place] + out_of[place] < detour):
            detour = into[place] + out_of[place]
    nodes_down = np.zeros(count, np.int64)  # on the largest chain from each component down
    for own in range(count):
        if own == largest and detour >= 0:
            continue
        for link in range(chain_starts[own], chain_starts[own + 1]):
            nodes_down[own] = max(nodes_down[own], nodes_down[chain_links[link]])
        nodes_down[own] += sizes[own]
        chain = max(chain, nodes_down[own] - 1)
    return found, max(detour, chain)


class Fitness(NamedTuple):
    """What is known of each graph of a batch."""

    weak: Longs  # components when links are walked both ways
    strong: Longs  # components when links are walked forwards only
    clustering: NDArray[np.float64]
    longest: Longs  # the diameter over reachable pairs, or no more than it
    unheld: Longs  # nodes that nobody holds
    longest_at_most: Longs  # no less than the diameter; the same as `longest` where that is exact


@compiled
def fitness(offsets: Longs, starts: Starts, links: Links, exact: int, sources: int) -> Fitness:
    """For each graph of a batch: weak and strong components, clustering, diameter, and nodes that nobody holds.

    Graph g owns the nodes `offsets[g]` to `offsets[g + 1]`. Diameters are exact up to `exact` nodes, and above that
    between two bounds from `sources` nodes, 256 of which cost no more than one.
    """
    graphs = offsets.size - 1
    weak, strong = np.empty(graphs, np.int64), np.empty(graphs, np.int64)
    clustered, unheld = np.empty(graphs, np.float64), np.empty(graphs, np.int64)
    longest, at_most = np.empty(graphs, np.int64), np.empty(graphs, np.int64)
    for graph in range(graphs):
        own = starts[offsets[graph] : offsets[graph + 1] + 1]
        nodes = own.size - 1
        connected = False
        if nodes <= exact:
            longest[graph], connected = diameter(own, links)
            at_most[graph] = longest[graph]
        weak[graph], strong[graph], unheld[graph] = 1, 1, 0
        if not connected:  # else there is nothing more to find out
            component, strong[graph] = strong_components(own, links)
            weak[graph] = weak_count(own, links)
            unheld[graph] = unheld_count(own, links)
        if nodes > exact:
            back_starts, back_links = turned(own, links)
            longest[graph], at_most[graph] = diameter_bounds(
                own, links, back_starts, back_links, component, strong[graph], sources
            )
        clustered[graph] = clustering(own, links)
    return Fitness(weak, strong, clustered, longest, unheld, at_most)

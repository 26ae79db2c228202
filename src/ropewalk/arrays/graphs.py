"""What an overlay is good for, measured on its directed graph: components, clustering, diameter, who is held by nobody.

A graph of n nodes is two arrays: the links of node v are `links[starts[v]:starts[v + 1]]`, numbers below n, no self
links, no repeats. `starts` need not begin at 0, so a graph can be a slice of a larger batch.
"""

import numpy as np
from numpy.typing import NDArray

from ropewalk.arrays.compiled import compiled

Starts = NDArray[np.int64]
Links = NDArray[np.int32]

WORD = 64  # searches that run side by side, one bit each


@compiled
def in_degrees(starts: Starts, links: Links) -> NDArray[np.int32]:
    """How many nodes hold each node."""
    held = np.zeros(starts.size - 1, np.int32)
    for link in range(starts[0], starts[-1]):
        held[links[link]] += 1
    return held


@compiled
def weak_count(starts: Starts, links: Links) -> int:
    """Components when links are walked both ways (union-find with path halving)."""
    nodes = starts.size - 1
    leader = np.arange(nodes)
    count = nodes
    for node in range(nodes):
        for link in range(starts[node], starts[node + 1]):
            a, b = node, np.int64(links[link])
            while leader[a] != a:
                leader[a] = leader[leader[a]]
                a = leader[a]
            while leader[b] != b:
                leader[b] = leader[leader[b]]
                b = leader[b]
            if a != b:
                leader[a] = b
                count -= 1
    return count


@compiled
def strong_components(starts: Starts, links: Links) -> tuple[NDArray[np.int32], int]:
    """The component number of each node when links are walked forwards only, and how many there are (Tarjan 1972).

    Numbers follow the condensed graph backwards: a link between two components goes from the higher to the lower.
    """
    nodes = starts.size - 1
    unseen = np.int32(-1)
    component = np.full(nodes, unseen, np.int32)
    order = np.full(nodes, unseen, np.int32)  # when a node was first met
    low = np.zeros(nodes, np.int32)  # the earliest node on the stack it can reach
    following = starts[:-1].copy()  # the next link of each node to follow
    stack = np.empty(nodes, np.int32)
    path = np.empty(nodes, np.int32)
    met, count, stacked = np.int32(0), 0, 0
    for root in range(nodes):
        if order[root] != unseen:
            continue
        depth = 0
        path[0] = root
        while depth >= 0:
            node = path[depth]
            if order[node] == unseen:
                order[node] = low[node] = met
                met += np.int32(1)
                stack[stacked] = node
                stacked += 1
            if following[node] < starts[node + 1]:
                target = links[following[node]]
                following[node] += 1
                if order[target] == unseen:
                    depth += 1
                    path[depth] = target
                elif component[target] == unseen:
                    low[node] = min(low[node], order[target])
                continue
            if low[node] == order[node]:
                while True:
                    stacked -= 1
                    component[stack[stacked]] = count
                    if stack[stacked] == node:
                        break
                count += 1
            depth -= 1
            if depth >= 0:
                low[path[depth]] = min(low[path[depth]], low[node])
    return component, count


@compiled
def clustering(starts: Starts, links: Links) -> float:
    """Mean over nodes of: links among a node's k neighbours / k(k - 1); 0 for a node with fewer than two."""
    nodes = starts.size - 1
    mark = np.full(nodes, -1, np.int64)
    total = 0.0
    for node in range(nodes):
        size = starts[node + 1] - starts[node]
        if size <= 1:
            continue
        for link in range(starts[node], starts[node + 1]):
            mark[links[link]] = node
        among = 0
        for link in range(starts[node], starts[node + 1]):
            neighbour = links[link]
            for further in range(starts[neighbour], starts[neighbour + 1]):
                among += mark[links[further]] == node
        total += among / (size * (size - 1))
    return total / nodes if nodes else 0.0


@compiled
def diameter(starts: Starts, links: Links, sources: int) -> int:
    """The longest shortest path, over the pairs that have one, from `sources` nodes spread over the numbering.

    Exact when `sources` is at least the number of nodes, a lower bound otherwise. 64 breadth-first searches share a
    pass: bit s of `seen[v]` says that search s has reached v.
    """
    nodes = starts.size - 1
    sources = min(sources, nodes)
    longest = 0
    for first in range(0, sources, WORD):
        seen = np.zeros(nodes, np.uint64)
        edge = np.zeros(nodes, np.uint64)  # what was reached in the last step
        for bit in range(min(WORD, sources - first)):
            source = (first + bit) * nodes // sources
            edge[source] |= np.uint64(1) << np.uint64(bit)
            seen[source] |= np.uint64(1) << np.uint64(bit)
        steps = 0
        while True:
            reached = np.zeros(nodes, np.uint64)
            for node in range(nodes):
                if edge[node] != 0:
                    for link in range(starts[node], starts[node + 1]):
                        reached[links[link]] |= edge[node]
            grew = False
            for node in range(nodes):
                edge[node] = reached[node] & ~seen[node]
                seen[node] |= edge[node]
                grew = grew or edge[node] != 0
            if not grew:
                break
            steps += 1
        longest = max(longest, steps)
    return longest


@compiled
def fitness(
    offsets: NDArray[np.int64], starts: Starts, links: Links, exact: int, sources: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """For each graph of a batch: weak and strong components, clustering, diameter, and nodes that nobody holds.

    Graph g owns the nodes `offsets[g]` to `offsets[g + 1]`. Diameters are exact up to `exact` nodes, and above that
    lower bounds from `sources` searches.
    """
    graphs = offsets.size - 1
    weak, strong = np.empty(graphs, np.int64), np.empty(graphs, np.int64)
    clustered, longest = np.empty(graphs, np.float64), np.empty(graphs, np.int64)
    unheld = np.empty(graphs, np.int64)
    for graph in range(graphs):
        own = starts[offsets[graph] : offsets[graph + 1] + 1]
        nodes = own.size - 1
        weak[graph] = weak_count(own, links)
        strong[graph] = strong_components(own, links)[1]
        clustered[graph] = clustering(own, links)
        longest[graph] = diameter(own, links, nodes if nodes <= exact else sources)
        unheld[graph] = np.sum(in_degrees(own, links) == 0) if nodes > 1 else 0  # alone, there is nobody to hold one
    return weak, strong, clustered, longest, unheld

"""How many of the survivors an event still reaches when some members of an overlay have crashed.

Links may carry events forwards only (one-way: a node sends to whom it holds) or both ways (two-way: to its holders, too).
Graphs are those of `graphs`.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ropewalk.arrays.chance import permuted
from ropewalk.arrays.compiled import Index, compiled
from ropewalk.arrays.distances import Links, Longs, Starts
from ropewalk.arrays.graphs import condensed, strong_components, weak_components

WORD = 64  # searches that run side by side, one bit each
ONE = np.uint64(1)
LOG_OF_40 = math.log(2 / 0.05)


@compiled
def error_bound(sampled: int) -> float:
    """How far, with 95 % certainty, the mean of so many sampled shares is from that of all, at most (Hoeffding 1963)."""
    return math.sqrt(LOG_OF_40 / (2 * sampled))


@compiled
def survivors_of(starts: Starts, links: Links, crashed: NDArray[np.bool_]) -> tuple[Starts, Links]:
    """The graph of those that have not crashed, numbered anew in the same order."""
    nodes = starts.size - 1
    number = np.cumsum(~crashed) - 1
    left_starts, left_links = np.zeros(nodes - crashed.sum() + 1, np.int64), np.empty(starts[-1] - starts[0], np.int32)
    left = Index(0)
    for node in range(nodes):
        if crashed[node]:
            continue
        for link in range(Index(starts[node]), Index(starts[node + 1])):
            target = Index(links[link])
            left_links[left] = number[target]
            left += Index(not crashed[target])  # else the next one takes its place
        left_starts[number[node] + 1] = left
    return left_starts, left_links[: np.int64(left)]


@compiled
def two_way_reach(starts: Starts, links: Links) -> float:
    """The mean share of nodes (itself among them) that a node reaches when links are walked both ways."""
    component, count = weak_components(starts, links)
    sizes = np.zeros(count, np.int64)
    for node in range(component.size):
        sizes[component[node]] += 1
    return np.sum(sizes * sizes) / component.size**2 if count else 0.0


@compiled
def one_way_reach(starts: Starts, links: Links, exact: int, sources: int, state: np.uint64) -> tuple[float, float]:
    """That mean when links are walked forwards only, and how far off it is at most (with 95 % certainty; 0: exact).

    All nodes of a strong component reach the same, so only components are looked at. Up to `exact` of them the mean is
    exact. Of more, the largest is still exact, and of the nodes outside it `sources` are drawn: what is uncertain is then
    their part alone.
    """
    nodes = starts.size - 1
    component, count = strong_components(starts, links)
    if count <= 1:
        return np.float64(count), 0.0
    sizes, down_starts, down = condensed(starts, links, component, count)
    if count <= exact:
        return _pairs(sizes, down_starts, down) / nodes**2, 0.0
    largest = np.argmax(sizes)
    outside = np.flatnonzero(component != largest)
    sampled = min(sources, outside.size)
    drawn = np.empty(sampled, np.int64)
    for draw in range(sampled):
        drawn[draw] = component[outside[permuted(draw, outside.size, state)]]
    from_largest = _reached(sizes, down_starts, down, np.array([largest]))
    from_outside = _reached(sizes, down_starts, down, drawn) / sampled
    reach = (sizes[largest] * from_largest + outside.size * from_outside) / nodes**2
    bound = outside.size / nodes * error_bound(sampled) if sampled < outside.size else 0.0
    return reach, bound


@compiled
def _pairs(sizes: Longs, starts: Starts, links: Links) -> np.int64:
    """How many pairs of nodes have a path from the one to the other, from the condensed graph."""
    pairs = np.int64(0)
    reaches = np.zeros(sizes.size, np.uint64)  # bit t: this component reaches the t-th of 64 targets
    for first in range(0, sizes.size, WORD):
        for own in range(first, sizes.size):  # links lead to lower numbers, so lower ones reach none of these
            word = ONE << Index(own - first) if own - first < WORD else np.uint64(0)
            for link in range(Index(starts[own]), Index(starts[own + 1])):
                if links[link] >= first:
                    word |= reaches[Index(links[link])]
            reaches[own] = word
            while word:
                pairs += sizes[own] * sizes[first + np.int64(_ones((word & (~word + ONE)) - ONE))]
                word &= word - ONE
    return pairs


@compiled
def _reached(sizes: Longs, starts: Starts, links: Links, sources: Longs) -> np.int64:
    """How many nodes each of these components reaches, in all."""
    total = np.int64(0)
    for first in range(0, sources.size, WORD):
        reached = np.zeros(sizes.size, np.uint64)  # bit s: the s-th of 64 sources reaches this component
        for bit in range(min(WORD, sources.size - first)):
            reached[sources[first + bit]] |= ONE << Index(bit)
        for own in range(sizes.size - 1, -1, -1):
            if reached[own]:
                total += sizes[own] * np.int64(_ones(reached[own]))
                for link in range(Index(starts[own]), Index(starts[own + 1])):
                    reached[Index(links[link])] |= reached[own]
    return total


@compiled
def _ones(word: np.uint64) -> np.uint64:
    """How many bits are set: in pairs, in fours, in bytes, and the bytes summed up by a product."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555_5555_5555_5555)
    word = (word & np.uint64(0x3333_3333_3333_3333)) + ((word >> np.uint64(2)) & np.uint64(0x3333_3333_3333_3333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F_0F0F_0F0F_0F0F)
    return (word * np.uint64(0x0101_0101_0101_0101)) >> np.uint64(56)


class Delivery(NamedTuple):
    """What is left of each graph of a batch after crashes. Reaches are means over surviving sources, 0 where none is."""

    survivors: Longs
    one_way: NDArray[np.float64]  # the share of survivors that an event reaches forwards, its source among them
    two_way: NDArray[np.float64]  # the same when links carry events both ways
    bound: NDArray[np.float64]  # how far off `one_way` is at most, with 95 % certainty; 0 where it is exact


@compiled
def delivery(
    offsets: Longs,
    starts: Starts,
    links: Links,
    crashed: NDArray[np.bool_],
    exact: int,
    sources: int,
    state: np.uint64,
) -> Delivery:
    """For each graph of a batch: how much of it an event reaches once those that `crashed` are gone.

    Graph g owns the nodes `offsets[g]` to `offsets[g + 1]`, and as many places of `crashed`. See `one_way_reach` for the
    rest; `state` is that of the chance which draws sources.
    """
    graphs = offsets.size - 1
    survivors, bound = np.empty(graphs, np.int64), np.empty(graphs, np.float64)
    one_way, two_way = np.empty(graphs, np.float64), np.empty(graphs, np.float64)
    for graph in range(graphs):
        first, end = offsets[graph], offsets[graph + 1]
        left_starts, left_links = survivors_of(starts[first : end + 1], links, crashed[first:end])
        survivors[graph] = left_starts.size - 1
        one_way[graph], bound[graph] = one_way_reach(left_starts, left_links, exact, sources, state)
        two_way[graph] = two_way_reach(left_starts, left_links)
    return Delivery(survivors, one_way, two_way, bound)

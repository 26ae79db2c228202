"""The graph of physical links, which have no direction: its components, clustering and diameter.

It is held as a graph of `graphs` in which every connection stands in the rows of both its ends. On such a graph the
directed kernels measure what is usual for undirected ones: links among a node's k neighbours come in pairs, so of k(k - 1)
they make the same share as connections of k(k - 1)/2.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ropewalk.arrays.chance import permuted
from ropewalk.arrays.compiled import Index, Long, compiled
from ropewalk.arrays.delivery import error_bound
from ropewalk.arrays.distances import Links, Starts, diameter
from ropewalk.arrays.graphs import clustering_of, diameter_bounds, weak_components


@compiled
def both_ways(nodes: int, a: NDArray[np.int32], b: NDArray[np.int32]) -> tuple[Starts, Links]:
    """The graph of `nodes` nodes in which a[i] and b[i] are connected, each pair given once."""
    starts = np.zeros(nodes + 1, np.int64)
    for pair in range(a.size):
        starts[a[pair] + 1] += 1
        starts[b[pair] + 1] += 1
    starts = np.cumsum(starts)
    links, following = np.empty(2 * a.size, np.int32), starts[:-1].copy()
    for pair in range(a.size):
        one, other = Index(a[pair]), Index(b[pair])
        links[Index(following[one])], links[Index(following[other])] = other, one
        following[one] += 1
        following[other] += 1
    return starts, links


class Physical(NamedTuple):
    """What is known of a graph of physical links."""

    components: int
    largest: Long  # nodes of the largest component
    clustering: float  # mean over nodes; 0 for those with fewer than two connections
    clustering_bound: float  # how far off it is at most, with 95 % certainty; 0: exact
    longest: Long  # the diameter over pairs that have a path, or no more than it
    longest_at_most: Long  # no less than the diameter; the same as `longest` where that is exact


@compiled
def physical(starts: Starts, links: Links, exact: int, sources: int, sampled: int, state: np.uint64) -> Physical:
    """Measure a graph. Above `exact` nodes, clustering is that of `sampled` nodes, the diameter between two bounds.

    The bounds are those of `graphs.diameter_bounds`, from `sources` nodes; `state` is that of the chance which draws nodes.
    """
    nodes = starts.size - 1
    component, count = weak_components(starts, links)
    sizes = np.zeros(count + 1, np.int64)  # one more: a graph without nodes has no largest component, either
    for node in range(nodes):
        sizes[component[node]] += 1
    if nodes <= exact:
        longest = at_most = diameter(starts, links)[0]
    else:
        longest, at_most = diameter_bounds(starts, links, starts, links, component, count, sources)
    if nodes <= max(exact, sampled):
        chosen, bound = np.arange(nodes), 0.0
    else:
        chosen, bound = np.empty(sampled, np.int64), error_bound(sampled)
        for draw in range(sampled):
            chosen[draw] = permuted(draw, nodes, state)
    return Physical(count, sizes.max(), clustering_of(starts, links, chosen), bound, longest, at_most)

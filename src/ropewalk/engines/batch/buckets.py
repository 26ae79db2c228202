"""From overlays, which are by topic, to what each node holds, which is by node: scatter into buckets, then count.

A bucket is a range of node ranks. For every member of every topic one record goes to the bucket of that member's rank:
a head of three numbers (rank, how many it holds, how many hold it), and the ranks of those it holds, then of those that
hold it. Records of a bucket come from all tasks; whoever counts a bucket has every link of its nodes, both ways. No row
per link ever exists: a link costs 4 bytes in each of its two ends' buckets.
"""

import numpy as np
from numpy.typing import NDArray

from ropewalk.arrays.compiled import compiled

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]

HEAD = 3


@compiled
def scattered(
    offsets: Longs, ranks: Ints, starts: Longs, links: Ints, bucket_nodes: int, buckets: int
) -> tuple[Longs, Ints, Longs, Ints]:
    """All records of a batch, sorted by bucket: (where heads of each bucket start, heads, where others start, others)."""
    held = np.zeros(ranks.size, np.int64)  # how many hold each member
    for topic in range(offsets.size - 1):
        first = offsets[topic]
        for link in range(starts[first], starts[offsets[topic + 1]]):
            held[first + links[link]] += 1
    head_starts, other_starts = np.zeros(buckets + 1, np.int64), np.zeros(buckets + 1, np.int64)
    for member in range(ranks.size):
        bucket = ranks[member] // bucket_nodes
        head_starts[bucket + 1] += HEAD
        other_starts[bucket + 1] += starts[member + 1] - starts[member] + held[member]
    for bucket in range(buckets):
        head_starts[bucket + 1] += head_starts[bucket]
        other_starts[bucket + 1] += other_starts[bucket]
    heads, others = np.empty(head_starts[-1], np.int32), np.empty(other_starts[-1], np.int32)
    next_head, next_other = head_starts[:-1].copy(), other_starts[:-1].copy()
    holders = np.empty(ranks.size, np.int64)  # where the next holder of each member is written
    for topic in range(offsets.size - 1):
        first, last = offsets[topic], offsets[topic + 1]
        for member in range(first, last):
            bucket = ranks[member] // bucket_nodes
            holds = starts[member + 1] - starts[member]
            head, other = next_head[bucket], next_other[bucket]
            heads[head], heads[head + 1], heads[head + 2] = ranks[member], holds, held[member]
            for link in range(holds):
                others[other + link] = ranks[first + links[starts[member] + link]]
            holders[member] = other + holds
            next_head[bucket] += HEAD
            next_other[bucket] += holds + held[member]
        for member in range(first, last):
            for link in range(starts[member], starts[member + 1]):
                neighbour = first + links[link]
                others[holders[neighbour]] = ranks[member]
                holders[neighbour] += 1
    return head_starts, heads, other_starts, others


@compiled
def by_owner(heads: Ints, first_rank: int, nodes: int) -> tuple[Longs, Longs, Longs]:
    """The records of each node of a bucket: (where each node's start, record numbers, where each record's others are)."""
    records = heads.size // HEAD
    starts = np.zeros(nodes + 1, np.int64)
    where = np.zeros(records + 1, np.int64)
    for record in range(records):
        starts[heads[HEAD * record] - first_rank + 1] += 1
        where[record + 1] = where[record] + heads[HEAD * record + 1] + heads[HEAD * record + 2]
    starts = np.cumsum(starts)
    order, following = np.empty(records, np.int64), starts[:-1].copy()
    for record in range(records):
        owner = heads[HEAD * record] - first_rank
        order[following[owner]] = record
        following[owner] += 1
    return starts, order, where


@compiled
def counted(heads: Ints, others: Ints, first_rank: int, nodes: int, population: int) -> Longs:
    """For each node of a bucket: links, distinct nodes it holds, neighbours either way, distinct nodes that hold it.

    And how many records it has: none if it is not there.
    """
    starts, order, where = by_owner(heads, first_rank, nodes)
    found = np.zeros((nodes, 5), np.int64)
    stamp = np.full(population, -1, np.int32)  # the last reason a node was counted: held by, or holding, whom
    for node in range(nodes):
        holds, is_held = 2 * node, 2 * node + 1
        for at in range(starts[node], starts[node + 1]):
            record = order[at]
            size = heads[HEAD * record + 1]
            found[node, 0] += size
            for other in others[where[record] : where[record] + size]:
                if stamp[other] != holds:
                    stamp[other] = holds
                    found[node, 1] += 1
        found[node, 2] = found[node, 1]
        found[node, 4] = starts[node + 1] - starts[node]
        for at in range(starts[node], starts[node + 1]):
            record = order[at]
            for other in others[where[record] + heads[HEAD * record + 1] : where[record + 1]]:
                if stamp[other] != is_held:
                    found[node, 2] += stamp[other] != holds
                    stamp[other] = is_held
                    found[node, 3] += 1
    return found


@compiled
def paired(heads: Ints, others: Ints, first_rank: int, nodes: int, population: int) -> Longs:
    """Rows (a, b, links) for each connection whose lower rank a lies in the bucket."""
    starts, order, where = by_owner(heads, first_rank, nodes)
    found, rows = np.empty((1024, 3), np.int64), 0
    place = np.full(population, -1, np.int64)  # the row of the pair (node, other), if it is this node's
    for node in range(nodes):
        own = rows
        for at in range(starts[node], starts[node + 1]):
            for other in others[where[order[at]] : where[order[at] + 1]]:
                if other <= first_rank + node:
                    continue
                if place[other] < own:
                    if rows == found.shape[0]:
                        found = np.concatenate((found, np.empty_like(found)))
                    found[rows, 0], found[rows, 1], found[rows, 2] = first_rank + node, other, 0
                    place[other] = rows
                    rows += 1
                found[place[other], 2] += 1
    return found[:rows].copy()

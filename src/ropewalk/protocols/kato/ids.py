"""Semantic ids: a Bloom filter of the cells that somebody wants, as one large number, and how near two nodes are.

Paper: Kato et al. section III. An id has d bits; k of them stand for a cell, and one is set in everybody's: the common
subscription, which is a cell of everybody's as well, since affinity is told by cells. Ours: cells share the other d - 1 bits, so
that the common one says nothing else.
"""

from collections.abc import Collection, Iterable
from functools import lru_cache
from math import inf

from ropewalk.ids import weight

COMMON = 0  # the bit of the common subscription, and its cell
COMMON_ID = 1 << COMMON


def places_of(cell: int, bits: int, hashes: int) -> tuple[int, ...]:
    """The bits that stand for a cell; some may be the same."""
    if cell == COMMON:
        return (COMMON,)
    return tuple(1 + weight(cell, turn) % (bits - 1) for turn in range(hashes))


@lru_cache(maxsize=16_384)  # cells are named again and again
def event_id(cell: int, bits: int, hashes: int) -> int:
    """The id of an event in this cell."""
    found = 0
    for place in places_of(cell, bits, hashes):
        found |= 1 << place
    return found


def node_id(cells: Iterable[int], bits: int, hashes: int) -> int:
    """The id of a node that wants these cells."""
    found = COMMON_ID
    for cell in cells:
        found |= event_id(cell, bits, hashes)
    return found


def covers(one: int, other: int) -> bool:
    """Whether an id has all bits of another: of its node's, or of an event's."""
    return not other & ~one


def intersects(one: int, other: int) -> bool:
    """Whether two ids have a bit in common besides the one that all have."""
    return bool(one & other & ~COMMON_ID)


def merged(ids: Iterable[int]) -> int:
    """The smallest id that covers all of these."""
    found = 0
    for each in ids:
        found |= each
    return found


def hamming(one: int, other: int) -> int:
    """How many bits differ."""
    return (one ^ other).bit_count()


def affinity(ours: Collection[int], theirs: Collection[int]) -> float:
    """What two nodes share of what the less interested wants; both want the common cell besides those given."""
    few, many = sorted((set(ours) | {COMMON}, set(theirs) | {COMMON}), key=len)
    return len(few & many) / len(few)


def distance(one: int, ours: Collection[int], other: int, theirs: Collection[int], bits: int) -> float:
    """How far apart two nodes are (section III-A, equations 1 and 2): the more they share, the nearer."""
    near = affinity(ours, theirs)
    return hamming(one, other) / (bits * near) if near else inf

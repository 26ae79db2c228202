"""A universe as kernels want it: nodes numbered by the rank of their id, topics dealt to parts of about equal cost.

The rank is for transport only (4 bytes, and a range of ranks is a bucket of nodes); weights and digests use the id. All
ids together, 8 bytes a node, are known to the driver and sent to every task: that is what no join is needed for.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ropewalk.arrays.compiled import compiled
from ropewalk.arrays.hashing import mixed_long
from ropewalk.arrays.ranks import ranks_of
from ropewalk.errors import InputError

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]

PAIRS_A_PART = 400_000  # what a kernel takes at once: a task is then worth its start, and a worker's memory is small
BIG_TOPIC = PAIRS_A_PART // 4  # such a topic gets a part to itself, and those come first
LARGE_TOPIC = PAIRS_A_PART // 40  # such a topic goes where there is least so far; smaller ones even out by chance
SMALL_PART = 20_000  # pairs; below that a task costs more than it does
HELD = 1 << 20  # pairs a task holds before it deals them
DEALT = "part int, topics binary, ranks binary"
_PART_STATE = np.uint64(0x9E37_79B9_7F4A_7C15)  # any: it only spreads topics over parts


@dataclass(frozen=True, slots=True)
class Packed:
    """`parts` has rows (part, topics, ranks), each some pairs of a part; Spark partition p holds all rows of part p."""

    ids: Longs  # of all nodes, ascending: the id of rank r is ids[r]
    parts: DataFrame
    topic_count: int
    subscription_count: int

    @property
    def node_count(self) -> int:
        """How many nodes there are."""
        return self.ids.size


def pack(subscriptions: DataFrame, parts: int | None = None) -> Packed:
    """Number the nodes and deal the topics to parts: big ones alone, the rest to `parts`, or as many as they need."""
    topic_count, subscription_count, large = _surveyed(subscriptions)
    ids = np.sort(subscriptions.select("node").distinct().toArrow().column("node").to_numpy())
    rest = subscription_count - sum(members for members, _ in large if members >= BIG_TOPIC)
    shared = parts or max(1, -(-rest // PAIRS_A_PART), min(_usual_partitions(subscriptions), rest // SMALL_PART))
    deal = _assigned(large, shared)
    dealt = subscriptions.select("topic", "node").mapInArrow(_dealing(ids, deal), DEALT)
    return Packed(ids, dealt.repartitionById(deal.part_count, "part"), topic_count, subscription_count)


class _Deal(NamedTuple):
    """Which topic goes to which part: those of `topics` to that of `parts`, all others to the last `shared` by their hash."""

    topics: Longs  # ascending
    parts: Longs
    shared: int
    part_count: int


def _assigned(large: list[tuple[int, int]], shared: int) -> _Deal:
    """Largest first, each (members, topic) alone if it is big, else to the part that has least."""
    ordered = sorted(large, reverse=True)
    alone = sum(members >= BIG_TOPIC for members, _ in ordered)
    parts = list(range(alone))
    loads = [(0, alone + part) for part in range(shared)]
    for members, _ in ordered[alone:]:
        load, part = heappop(loads)
        parts.append(part)
        heappush(loads, (load + members, part))
    topics = np.array([topic for _, topic in ordered], np.int64)
    order = np.argsort(topics)
    return _Deal(topics[order], np.array(parts, np.int64)[order], shared, alone + shared)


def _usual_partitions(frame: DataFrame) -> int:
    return int(frame.sparkSession.conf.get("spark.sql.shuffle.partitions") or 1)


def compile_kernels() -> None:
    """Deal one pair, so that workers find the kernels compiled instead of each compiling them."""
    one = np.array([1])
    _dealt(one, ranks_of(one, one), *_assigned([], 1))
    _numbered(one)


def _surveyed(subscriptions: DataFrame) -> tuple[int, int, list[tuple[int, int]]]:
    """How many topics and subscriptions there are, and the large topics as (members, topic)."""
    nulls = F.sum((F.col("node").isNull() | F.col("topic").isNull()).cast("int"))
    sizes = subscriptions.groupBy("topic").agg(F.count("*").alias("members"), nulls.alias("nulls"))
    large = F.collect_list(F.when(F.col("members") >= LARGE_TOPIC, F.struct("members", "topic")))
    (row,) = sizes.agg(F.count("*"), F.sum("members"), F.sum("nulls"), large).collect()
    topic_count, subscription_count, without, large_topics = row
    if not topic_count:
        raise InputError("the universe has no subscriptions, so there is nothing to run on.")
    if without:
        raise InputError("subscriptions has a row without a node or a topic; make the store again.")
    return topic_count, subscription_count, [tuple(topic) for topic in large_topics]


def _dealing(ids: Longs, to: _Deal) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function to map over pairs (topic, node)."""

    def deal(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        held: list[tuple[Longs, Longs]] = []
        for batch in batches:
            held.append((batch.column("topic").to_numpy(), batch.column("node").to_numpy()))
            if sum(topics.size for topics, _ in held) >= HELD:
                yield dealt(held)
                held = []
        if held:
            yield dealt(held)

    def dealt(held: list[tuple[Longs, Longs]]) -> pa.RecordBatch:
        topics, nodes = (np.concatenate(columns) for columns in zip(*held, strict=True))
        ranks = ranks_of(ids, nodes)
        if (ranks < 0).any():
            raise InputError("subscriptions changed while they were read; run it again.")
        starts, topics, ranks = _dealt(topics, ranks, *to)
        used = np.flatnonzero(np.diff(starts))
        blobs = ([column[starts[p] : starts[p + 1]].tobytes() for p in used] for column in (topics, ranks))
        columns = [pa.array(used.astype(np.int32)), *(pa.array(blob, pa.binary()) for blob in blobs)]
        return pa.RecordBatch.from_arrays(columns, ["part", "topics", "ranks"])

    return deal


@compiled
def _dealt(
    topics: Longs, ranks: Ints, known: Longs, parts: Longs, shared: int, count: int
) -> tuple[Longs, Longs, Ints]:
    """Pairs ordered by part: (where each part starts, topics, ranks)."""
    part_of = np.empty(topics.size, np.int32)
    starts = np.zeros(count + 1, np.int64)
    for pair in range(topics.size):
        at = np.searchsorted(known, topics[pair])
        if at < known.size and known[at] == topics[pair]:
            part = parts[at]
        else:
            part = count - shared + np.int64(mixed_long(topics[pair], _PART_STATE) % np.uint64(shared))
        part_of[pair] = part
        starts[part + 1] += 1
    starts = np.cumsum(starts)
    following = starts[:-1].copy()
    dealt_topics, dealt_ranks = np.empty_like(topics), np.empty_like(ranks)
    for pair in range(topics.size):
        place = following[part_of[pair]]
        dealt_topics[place], dealt_ranks[place] = topics[pair], ranks[pair]
        following[part_of[pair]] += 1
    return starts, dealt_topics, dealt_ranks


@compiled
def _numbered(topics: Longs) -> tuple[Longs, Ints]:
    """The distinct topics, as they first occur, and the number of each pair's among them."""
    size = 16
    while size < 2 * topics.size:
        size *= 2
    slots, names = np.full(size, -1, np.int32), np.empty(topics.size, np.int64)
    number, mask, count = np.empty(topics.size, np.int32), np.uint64(size - 1), 0
    for pair in range(topics.size):
        at = mixed_long(topics[pair], _PART_STATE) & mask
        while slots[at] >= 0 and names[slots[at]] != topics[pair]:
            at = (at + np.uint64(1)) & mask
        if slots[at] < 0:
            slots[at] = count
            names[count] = topics[pair]
            count += 1
        number[pair] = slots[at]
    return names[:count].copy(), number


def gathered(topics: Longs, ranks: Ints) -> tuple[Longs, Longs, Ints, int]:
    """All pairs of a part, in any order, as topics with members: (topics, offsets, ranks, how many pairs were twice).

    The ranks of each topic ascend.
    """
    names, number = _numbered(topics)
    keys = (number.astype(np.uint64) << np.uint64(32)) | ranks.astype(np.uint64)
    keys.sort()
    repeated = int(np.sum(keys[1:] == keys[:-1]))
    offsets = np.concatenate(([0], np.cumsum(np.bincount(number, minlength=names.size)))).astype(np.int64)
    return names, offsets, (keys & np.uint64(0xFFFF_FFFF)).astype(np.int32), repeated

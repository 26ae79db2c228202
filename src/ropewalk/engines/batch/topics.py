"""The task that Spark runs on a part: its topics are aligned, and out comes what each stage left behind.

Rows out are of two kinds. A bucket row carries the records of one bucket of nodes (see `buckets`). A topic row carries
what is known of one overlay.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ropewalk.engines.batch import buckets
from ropewalk.engines.batch.rows import Mapped, filled
from ropewalk.engines.contract import FINAL, INITIAL, stage_after
from ropewalk.engines.stages import Left, link_rows, topic_columns
from ropewalk.protocols.stan import kernel
from ropewalk.protocols.stan.settings import Settings
from ropewalk.tables.machine import cores
from ropewalk.universes.pack import gathered

SHARED_TOPIC = 1 << 18  # members; the rounds of a larger one are shared by all cores, lest it be left alone at the end

TOPIC_COLUMNS = {
    "topic": pa.int64(),
    "members": pa.int64(),
    "links": pa.int64(),
    "weak": pa.int64(),
    "strong": pa.int64(),
    "clustering": pa.float64(),
    "diameter": pa.int64(),
    "in_degree_0": pa.int64(),
    "diameter_at_most": pa.int64(),
    "messages": pa.int64(),
    "ids": pa.int64(),
    "digest": pa.int64(),
    "repeated": pa.int64(),
}
BUCKET_COLUMNS = {"heads": pa.large_binary(), "others": pa.large_binary()}
ALIGNED = pa.schema({"stage": pa.string(), "bucket": pa.int32(), **BUCKET_COLUMNS, **TOPIC_COLUMNS})
BATCH_BYTES = 4 << 20  # of records in a batch: Java holds whole batches

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Everything a task needs to know; sent to every worker."""

    settings: Settings
    seed: int
    node_ids: Longs
    bucket_nodes: int
    buckets: int
    keep_rounds: bool
    count_ids: bool
    fitness: bool


def alignment(task: Task) -> Mapped:
    """The function to map over dealt pairs: bucket rows and topic rows of every stage."""

    def align(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        part = read_part(task, batches)
        if part is not None:
            members, ranks, repeated = part
            for left in stages(task, members, ranks):
                yield from _bucket_rows(task, left)
                yield _topic_rows(task, left, repeated)

    return align


def links(task: Task) -> Mapped:
    """The function to map over dealt pairs where links are wanted: a row for each, of every stage."""

    def list_links(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        part = read_part(task, batches)
        if part is not None:
            members, ranks, _ = part
            for left in stages(task, members, ranks):
                yield from link_rows(left)

    return list_links


def compile_kernels(task: Task) -> None:
    """Run everything once on three nodes, so that workers find the kernels compiled instead of each compiling them."""
    members = kernel.Members(np.array([1]), np.array([0, 3]), np.array([1, 2, 3]))
    for left in stages(task, members, np.arange(3, dtype=np.int32)):
        list(_bucket_rows(task, left))
        _topic_rows(task, left, 0)
    nothing = np.empty(0, np.int32)
    buckets.counted(nothing, nothing, 0, 1, 1)
    buckets.paired(nothing, nothing, 0, 1, 1)


def stages(task: Task, members: kernel.Members, ranks: Ints) -> Iterator[Left]:
    """The initial overlays, those after each round that is kept, and the final ones."""
    settings, topics = task.settings, members.topics.size
    messages, ids = np.zeros(topics, np.int64), np.zeros(topics, np.int64)
    overlays = kernel.initial(members, settings, task.seed)
    yield Left(INITIAL, members, ranks, overlays, messages, ids)
    threads = cores() if np.diff(members.offsets).max() > SHARED_TOPIC else 1
    if settings.knowledge == "everything":
        overlays = kernel.omniscient(members, overlays, settings, task.seed, threads=threads)
    present, their_ranks = members, ranks
    aligned = kernel.rounds(members, overlays, settings, task.seed, count_ids=task.count_ids, threads=threads)
    for turn, stage in enumerate(aligned if settings.knowledge == "walks" else (), start=1):
        present, overlays = stage.members, stage.overlays
        their_ranks = ranks if stage.rows is None else ranks[stage.rows]
        messages, ids = messages + stage.messages, ids + stage.ids
        if task.keep_rounds and turn < settings.rounds:
            yield Left(stage_after(turn, settings.rounds), present, their_ranks, overlays, messages, ids)
            messages, ids = np.zeros(topics, np.int64), np.zeros(topics, np.int64)
    yield Left(FINAL, present, their_ranks, overlays, messages, ids)


def read_part(task: Task, batches: Iterable[pa.RecordBatch]) -> tuple[kernel.Members, Ints, int] | None:
    """All pairs of a part as a batch of topics, the ranks of its members, and how many pairs were there twice."""
    topics: list[Longs] = []
    ranks: list[Ints] = []
    for batch in batches:
        topics += [np.frombuffer(blob.as_buffer(), np.int64) for blob in batch.column("topics")]
        ranks += [np.frombuffer(blob.as_buffer(), np.int32) for blob in batch.column("ranks")]
    if not topics:
        return None
    names, offsets, members, repeated = gathered(np.concatenate(topics), np.concatenate(ranks))
    return kernel.Members(names, offsets, task.node_ids[members]), members, repeated


def _bucket_rows(task: Task, left: Left) -> Iterator[pa.RecordBatch]:
    head_starts, heads, other_starts, others = buckets.scattered(
        left.members.offsets, left.ranks, left.overlays.starts, left.overlays.links, task.bucket_nodes, task.buckets
    )
    rows = filled(
        ALIGNED,
        task.buckets,
        stage=pa.array([left.stage] * task.buckets, pa.string()),
        bucket=pa.array(np.arange(task.buckets, dtype=np.int32)),
        heads=_blobs(heads, head_starts),
        others=_blobs(others, other_starts),
    )
    bytes_before = 4 * (head_starts + other_starts)
    first = 0
    while first < task.buckets:
        end = np.searchsorted(bytes_before, bytes_before[first] + BATCH_BYTES, side="right") - 1
        end = min(max(end, first + 1), task.buckets)
        if head_starts[end] > head_starts[first]:
            yield rows.slice(first, end - first)
        first = end


def _blobs(numbers: Ints, starts: Longs) -> "pa.Array[pa.Scalar[pa.DataType]]":
    """Numbers cut at `starts` as a column of blobs, without a copy."""
    offsets = pa.py_buffer((4 * starts).astype(np.int64))
    return pa.Array.from_buffers(pa.large_binary(), starts.size - 1, [None, offsets, pa.py_buffer(numbers)])


def _topic_rows(task: Task, left: Left, repeated: int) -> pa.RecordBatch:
    """What is known of each overlay that has members."""
    topics = left.members.topics
    columns = topic_columns(left, fitness=task.fitness, ids=task.count_ids)
    columns["bucket"] = (topics % task.buckets).astype(np.int32)  # only to spread them: topics have no bucket
    columns["repeated"] = np.full(topics.size, repeated)
    used = np.flatnonzero(columns["members"])
    stage = pa.array([left.stage] * used.size, pa.string())
    arrays = {name: pa.array(values[used]) for name, values in columns.items()}
    return filled(ALIGNED, used.size, stage=stage, **arrays)

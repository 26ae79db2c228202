"""The task that Spark runs: Arrow batches of topics in, StaN on them, and out comes what each stage left behind.

Rows out are of two kinds. A bucket row carries the records of one bucket of nodes (see `buckets`). A topic row carries
what is known of one overlay and, where links are kept, all of them.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ropewalk.arrays import graphs
from ropewalk.engines.batch import buckets
from ropewalk.engines.contract import FINAL, INITIAL, stage_after
from ropewalk.protocols.stan import kernel
from ropewalk.protocols.stan.settings import Settings

EXACT_DIAMETER = 10_000  # members; above that, a lower bound
DIAMETER_SOURCES = 64

SPARK_SCHEMA = (
    "stage string, bucket int, heads binary, others binary, topic long, members long, links long, weak long,"
    " strong long, clustering double, diameter long, in_degree_0 long, digest long,"
    " nodes array<long>, neighbours array<long>"
)
ARROW_SCHEMA = pa.schema(
    {
        "stage": pa.string(),
        "bucket": pa.int32(),
        "heads": pa.binary(),
        "others": pa.binary(),
        "topic": pa.int64(),
        "members": pa.int64(),
        "links": pa.int64(),
        "weak": pa.int64(),
        "strong": pa.int64(),
        "clustering": pa.float64(),
        "diameter": pa.int64(),
        "in_degree_0": pa.int64(),
        "digest": pa.int64(),
        "nodes": pa.list_(pa.int64()),
        "neighbours": pa.list_(pa.int64()),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Everything a task needs to know; sent to every worker."""

    settings: Settings
    seed: int
    bucket_nodes: int
    buckets: int
    keep_rounds: bool
    keep_links: bool


def simulation(task: Task) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function to map over packed topics."""

    def simulate(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if batch.num_rows:
                yield from _stages(task, batch)

    return simulate


def compile_kernels(task: Task) -> None:
    """Run everything once on three nodes, so that workers find the kernels compiled instead of each compiling them."""
    few = {"topic": [1], "members": [[1, 2, 3]], "ranks": pa.array([[0, 1, 2]], pa.list_(pa.int32()))}
    for _ in _stages(task, pa.RecordBatch.from_pydict(few)):
        pass
    nothing = np.empty(0, np.int32)
    buckets.counted(nothing, nothing, 0, 1, 1)


def _stages(task: Task, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    column = batch.column("members")
    offsets = column.offsets.to_numpy().astype(np.int64)
    members = kernel.Members(
        topics=batch.column("topic").to_numpy(),
        offsets=offsets - offsets[0],
        ids=column.flatten().to_numpy(),
    )
    ranks = batch.column("ranks").flatten().to_numpy()
    overlays = kernel.initial(members, task.settings, task.seed)
    yield from _rows(task, INITIAL, members, ranks, overlays)
    for turn, aligned in enumerate(kernel.rounds(members, overlays, task.settings, task.seed), start=1):
        overlays = aligned
        stage = stage_after(turn, task.settings.rounds)
        if task.keep_rounds and stage != FINAL:
            yield from _rows(task, stage, members, ranks, overlays)
    yield from _rows(task, FINAL, members, ranks, overlays)


def _rows(
    task: Task, stage: str, members: kernel.Members, ranks: NDArray[np.int32], overlays: kernel.Overlays
) -> Iterator[pa.RecordBatch]:
    yield _bucket_rows(task, stage, members, ranks, overlays)
    yield _topic_rows(task, stage, members, overlays)


def _bucket_rows(
    task: Task, stage: str, members: kernel.Members, ranks: NDArray[np.int32], overlays: kernel.Overlays
) -> pa.RecordBatch:
    head_starts, heads, other_starts, others = buckets.scattered(
        members.offsets, ranks, overlays.starts, overlays.links, task.bucket_nodes, task.buckets
    )
    used = np.flatnonzero(np.diff(head_starts))
    return _batch(
        used.size,
        stage=pa.array([stage] * used.size),
        bucket=pa.array(used.astype(np.int32)),
        heads=pa.array([heads[head_starts[b] : head_starts[b + 1]].tobytes() for b in used], pa.binary()),
        others=pa.array([others[other_starts[b] : other_starts[b + 1]].tobytes() for b in used], pa.binary()),
    )


def _topic_rows(task: Task, stage: str, members: kernel.Members, overlays: kernel.Overlays) -> pa.RecordBatch:
    weak, strong, clustering, diameter, unheld = graphs.fitness(
        members.offsets, overlays.starts, overlays.links, EXACT_DIAMETER, DIAMETER_SOURCES
    )
    topics = members.topics.size
    link_offsets = overlays.starts[members.offsets]
    columns = {
        "stage": pa.array([stage] * topics),
        "topic": pa.array(members.topics),
        "members": pa.array(np.diff(members.offsets)),
        "links": pa.array(np.diff(link_offsets)),
        "weak": pa.array(weak),
        "strong": pa.array(strong),
        "clustering": pa.array(clustering),
        "diameter": pa.array(diameter),
        "in_degree_0": pa.array(unheld),
        "digest": pa.array(kernel.digests(members, overlays)),
    }
    if task.keep_links:
        sizes = np.diff(overlays.starts)
        topic_of = np.repeat(members.offsets[:-1], np.diff(members.offsets))
        bounds = pa.array(link_offsets.astype(np.int32))
        columns["nodes"] = pa.ListArray.from_arrays(bounds, pa.array(np.repeat(members.ids, sizes)))
        neighbours = members.ids[np.repeat(topic_of, sizes) + overlays.links]
        columns["neighbours"] = pa.ListArray.from_arrays(bounds, pa.array(neighbours))
    return _batch(topics, **columns)


def _batch(rows: int, **columns: "pa.Array[pa.Scalar[pa.DataType]]") -> pa.RecordBatch:
    """A batch in the agreed schema; columns that are not given are null."""
    arrays = [columns[field.name] if field.name in columns else pa.nulls(rows, field.type) for field in ARROW_SCHEMA]
    return pa.RecordBatch.from_arrays(arrays, schema=ARROW_SCHEMA)

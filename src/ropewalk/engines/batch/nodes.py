"""The task that Spark runs on a bucket: from the records of all topics to what each of its nodes holds."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ropewalk.engines.batch import buckets
from ropewalk.engines.batch.rows import Mapped, filled
from ropewalk.engines.batch.topics import TOPIC_COLUMNS, Longs

HOLDINGS = ("lvs", "pvs", "connections", "in_links")
VIEW_COLUMNS = {"node": pa.int64(), **dict.fromkeys(HOLDINGS, pa.int64())}
COUNTED = pa.schema({"stage": pa.string(), **VIEW_COLUMNS, **TOPIC_COLUMNS})
CONNECTION_COLUMNS = {"stage": pa.string(), "a": pa.int64(), "b": pa.int64(), "links": pa.int64()}

Counter = Callable[[buckets.Ints, buckets.Ints, int, int, int], buckets.Longs]


LARGEST_BUCKET = 8192  # nodes: what is stamped for one bucket stays small
SMALLEST_BUCKET = 16
LEAST_TASKS = 4
FAIR_BUCKETS = 128  # a part's records for one bucket are then some 300 kB: Java handles larger objects one by one
RECORD_BYTES = 100  # of a subscription and stage, about: a head, some eleven links and as many holders
TASK_BYTES = 48 << 20  # records that one task counts


@dataclass(frozen=True, slots=True)
class Layout:
    """How node ranks are cut into buckets, and how many tasks share these."""

    node_ids: Longs
    bucket_nodes: int
    tasks: int

    @property
    def buckets(self) -> int:
        """How many there are."""
        return -(-self.node_ids.size // self.bucket_nodes)


def layout_of(node_ids: Longs, subscriptions: int, stages: int) -> Layout:
    """Buckets that are small enough to send and to count, in tasks that are large enough to be worth it."""
    tasks = max(LEAST_TASKS, -(-subscriptions * stages * RECORD_BYTES // TASK_BYTES))
    fair = -(-node_ids.size // max(FAIR_BUCKETS, tasks))
    bucket_nodes = min(LARGEST_BUCKET, max(SMALLEST_BUCKET, fair))
    return Layout(node_ids, bucket_nodes, min(-(-node_ids.size // bucket_nodes), tasks))


def counting(layout: Layout) -> Mapped:
    """The function to map over a bucket: a row for each of its nodes and stage. Topic rows pass through."""

    def count(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        records = _Records()
        for batch in batches:
            topics = records.taken(batch)
            if topics.num_rows:
                columns = {name: topics.column(name) for name in ("stage", *TOPIC_COLUMNS)}
                yield filled(COUNTED, topics.num_rows, **columns)
        for stage, first, found in records.through(layout, buckets.counted):
            there = np.flatnonzero(found[:, len(HOLDINGS)])
            columns = {name: pa.array(found[there, column]) for column, name in enumerate(HOLDINGS)}
            columns["node"] = pa.array(layout.node_ids[first + there])
            columns["stage"] = pa.array([stage] * there.size, pa.string())
            yield filled(COUNTED, there.size, **columns)

    return count


def connecting(layout: Layout) -> Mapped:
    """The function to map over a bucket where connections are wanted: a row for each whose lower end is in it."""

    def connect(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        records = _Records()
        for batch in batches:
            records.taken(batch)
        for stage, _, found in records.through(layout, buckets.paired):
            ends = (pa.array(layout.node_ids[found[:, column]]) for column in (0, 1))
            stages = pa.array([stage] * found.shape[0], pa.string())
            yield pa.RecordBatch.from_arrays(
                [stages, *ends, pa.array(found[:, 2])], schema=pa.schema(CONNECTION_COLUMNS)
            )

    return connect


class _Records:
    """The records of some buckets, by stage and bucket, as they come in."""

    def __init__(self) -> None:
        self._blobs: dict[tuple[str, int], tuple[list[buckets.Ints], list[buckets.Ints]]] = {}

    def taken(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Take the bucket rows of a batch, without a copy; the rest of it."""
        stages, numbers = batch.column("stage"), batch.column("bucket")
        blobs = [batch.column(name) for name in ("heads", "others")]
        for row in np.flatnonzero(pc.binary_length(blobs[0]).fill_null(0).to_numpy()):
            key = (stages[row].as_py(), numbers[row].as_py())
            for kept, column in zip(self._blobs.setdefault(key, ([], [])), blobs, strict=True):
                kept.append(np.frombuffer(column[row].as_buffer(), np.int32))
        return batch.filter(pc.is_valid(batch.column("topic")))

    def through(self, layout: Layout, kernel: Counter) -> Iterator[tuple[str, int, buckets.Longs]]:
        """Apply a kernel to the records of each bucket at each stage: (stage, its first rank, what the kernel found)."""
        population = layout.node_ids.size
        for stage, bucket in list(self._blobs):
            heads, others = (np.concatenate(blobs) for blobs in self._blobs.pop((stage, bucket)))
            first = bucket * layout.bucket_nodes
            yield stage, first, kernel(heads, others, first, min(layout.bucket_nodes, population - first), population)

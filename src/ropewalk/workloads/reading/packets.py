"""What a task hands over: packets of pairs and names, dealt to buckets by id; counts, rejects, the size of its part.

A bucket is a range of ids. Whatever is equal ends up in the same bucket, wherever it was read, and is made one there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ropewalk.arrays.compiled import compiled
from ropewalk.arrays.names import Seen, ids_of, marks_of
from ropewalk.workloads.reading.files import Part

Longs = NDArray[np.int64]

SHOWN = 1000  # bytes of a reject that are kept
PAIRS, NODE, TOPIC, RATE, COUNT, REJECT, SIZE = "pairs", "node", "topic", "rate", "count", "reject", "size"
READ = "kind string, bucket int, packet binary, part int, position bigint, text string, reason string, rows bigint"
ARROW = pa.schema(
    [
        ("kind", pa.string()),
        ("bucket", pa.int32()),
        ("packet", pa.binary()),
        ("part", pa.int32()),
        ("position", pa.int64()),
        ("text", pa.string()),
        ("reason", pa.string()),
        ("rows", pa.int64()),
    ]
)
PAIR, NAME, RATED = "node bigint, topic bigint", "kind string, id bigint, name string", "topic bigint, rate double"
HELD = 1 << 20  # pairs a task holds before it hands them over
HANDED_ON = 1 << 17  # rows in a batch of what is distinct
ID_BITS = 63


@dataclass(frozen=True, slots=True)
class Reject:
    """Something at `position` of a part that cannot be used."""

    position: int
    text: bytes
    reason: str
    rows: int = 1


class Ledger:
    """Turns columns of names into packets: pairs by their ids, and each name the first time it occurs.

    What it has not handed over yet, `rest` does: call it at the end of a part.
    """

    def __init__(self, buckets: int) -> None:
        self._shift = ID_BITS - (buckets - 1).bit_length()
        self._seen = {NODE: Seen(), TOPIC: Seen()}
        self._names: dict[str, list[tuple[Longs, pa.Array]]] = {NODE: [], TOPIC: []}
        self._pairs: list[tuple[Longs, Longs]] = []
        self._rates: list[tuple[Longs, NDArray[np.float64]]] = []
        self._held = 0
        self._rows = 0

    def pairs(
        self, nodes: pa.Array, topics: pa.Array, *, rates: pa.Array | None = None, rows: int | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Enter some pairs, which stand for `rows` rows; hand over what has become too much to hold."""
        topic_ids = self.named(TOPIC, topics)
        if rates is not None:
            self._rates.append((topic_ids, rates.to_numpy()))
        yield from self.entered(self.named(NODE, nodes), topic_ids, rows)

    def named(self, kind: str, names: pa.Array) -> Longs:
        """The ids of names that occur in pairs."""
        ids = ids_of(names)
        new = self._seen[kind].are_new(ids, marks_of(names))
        if new.any():
            self._names[kind].append((ids[new], names.filter(pa.array(new))))
        return ids

    def entered(self, nodes: Longs, topics: Longs, rows: int | None = None) -> Iterator[pa.RecordBatch]:
        """Enter pairs by their ids."""
        self._pairs.append((nodes, topics))
        self._held += nodes.size
        self._rows += nodes.size if rows is None else rows
        if self._held >= HELD:
            yield from self.rest()

    def rest(self) -> Iterator[pa.RecordBatch]:
        """Hand over everything that is held."""
        if not self._held:
            return
        nodes, topics = (np.concatenate(column) for column in zip(*self._pairs, strict=True))
        packed = [(bucket, _joined(nodes[rows], topics[rows])) for bucket, rows in self._dealt(nodes)]
        yield _packets(PAIRS, packed, self._rows)
        for kind, told in self._names.items():
            if told:
                found = np.concatenate([ids for ids, _ in told])
                names = pa.concat_arrays([names for _, names in told])
                yield _packets(
                    kind,
                    [
                        (bucket, _written(found[rows], names.take(pa.array(rows))))
                        for bucket, rows in self._dealt(found)
                    ],
                )
                told.clear()
        if self._rates:
            found, rates = (np.concatenate(column) for column in zip(*self._rates, strict=True))
            yield _packets(
                RATE, [(bucket, _written(found[rows], pa.array(rates[rows]))) for bucket, rows in self._dealt(found)]
            )
            self._rates.clear()
        self._pairs.clear()
        self._held = self._rows = 0

    def _dealt(self, found: Longs) -> Iterator[tuple[int, Longs]]:
        """The rows of each bucket that has some."""
        buckets = (found >> self._shift).astype(np.uint16)
        order = np.argsort(buckets, kind="stable")
        numbers, starts = np.unique(buckets[order], return_index=True)
        yield from zip(numbers.tolist(), np.split(order, starts[1:]), strict=True)


def counts(counted: dict[str, int]) -> pa.RecordBatch:
    """A batch of counts."""
    return _batch(
        COUNT, len(counted), text=pa.array(counted.keys(), pa.string()), rows=pa.array(counted.values(), pa.int64())
    )


def rejects(part: Part, found: Sequence[Reject]) -> pa.RecordBatch:
    """A batch of rejects."""
    return _batch(
        REJECT,
        len(found),
        text=pa.array([shown(one.text) for one in found], pa.string()),
        part=pa.repeat(pa.scalar(part.number, pa.int32()), len(found)),
        position=pa.array([one.position for one in found], pa.int64()),
        reason=pa.array([one.reason for one in found], pa.string()),
        rows=pa.array([one.rows for one in found], pa.int64()),
    )


def size_of(part: Part, size: int) -> pa.RecordBatch:
    """The batch that says how many positions a part has."""
    return _batch(SIZE, 1, part=pa.array([part.number], pa.int32()), position=pa.array([size], pa.int64()))


def shown(text: bytes) -> str:
    """As much of a reject as is kept; bytes that are no text are shown as numbers."""
    return text[:SHOWN].decode("utf-8", "backslashreplace")


def distinct_pairs(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Packets of PAIRS -> every pair once."""
    found = [
        np.frombuffer(packet.as_buffer(), np.int64).reshape(2, -1)
        for batch in batches
        for packet in batch.column("packet")
    ]
    if not found:
        return
    nodes, topics = np.concatenate(found, axis=1)
    first = _first_of_equals(nodes, topics)
    nodes, topics = nodes[first], topics[first]
    for start in range(0, nodes.size, HANDED_ON):
        rows = slice(start, start + HANDED_ON)
        yield pa.RecordBatch.from_arrays([pa.array(nodes[rows]), pa.array(topics[rows])], names=["node", "topic"])


def distinct_names(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Packets of names -> every name once, by kind. Two names with one id stay two: writing them is what refuses it."""
    for kind, table in _read(batches).items():
        once = table.group_by(["id", "value"]).aggregate([])
        kinds = pa.repeat(pa.scalar(kind), len(once))
        named = pa.table({"kind": kinds, "id": once["id"], "name": once["value"]})
        yield from named.to_batches(max_chunksize=HANDED_ON)


def largest_rates(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Packets of rates -> the largest of each topic."""
    for table in _read(batches).values():
        largest = table.group_by("id").aggregate([("value", "max")])
        yield from pa.table({"topic": largest["id"], "rate": largest["value_max"]}).to_batches(max_chunksize=HANDED_ON)


def _read(batches: Iterator[pa.RecordBatch]) -> dict[str, pa.Table]:
    """All that packets hold, by their kind."""
    found: dict[str, list[pa.Table]] = {}
    for batch in batches:
        for kind, packet in zip(batch.column("kind").to_pylist(), batch.column("packet"), strict=True):
            found.setdefault(kind, []).append(pa.ipc.open_stream(packet.as_buffer()).read_all())
    return {kind: pa.concat_tables(tables) for kind, tables in found.items()}


def _joined(nodes: Longs, topics: Longs) -> bytes:
    return nodes.tobytes() + topics.tobytes()


def _written(found: Longs, values: pa.Array) -> bytes:
    batch = pa.RecordBatch.from_arrays([pa.array(found), values], names=["id", "value"])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    return bytes(sink.getvalue())


def _packets(kind: str, packed: list[tuple[int, bytes]], rows: int = 0) -> pa.RecordBatch:
    """A row for each bucket; the first stands for all the rows."""
    counted = np.zeros(len(packed), np.int64)
    counted[0] = rows
    return _batch(
        kind,
        len(packed),
        bucket=pa.array([bucket for bucket, _ in packed], pa.int32()),
        packet=pa.array([packet for _, packet in packed], pa.binary()),
        rows=pa.array(counted),
    )


def _batch(kind: str, length: int, **given: pa.Array) -> pa.RecordBatch:
    given = {"kind": pa.repeat(pa.scalar(kind), length), "rows": pa.array(np.zeros(length, np.int64))} | given
    columns = [given[column.name] if column.name in given else pa.nulls(length, column.type) for column in ARROW]
    return pa.RecordBatch.from_arrays(columns, schema=ARROW)


@compiled
def _first_of_equals(nodes: Longs, topics: Longs) -> NDArray[np.bool_]:
    """Which pairs have no equal before them."""
    size = 16
    while size < 2 * nodes.size:
        size *= 2
    table = np.full(size, -1, np.int64)  # the row of the pair in each place
    first = np.zeros(nodes.size, np.bool_)
    for row in range(nodes.size):
        place = (nodes[row] ^ (topics[row] * np.int64(-7046029254386353131))) & (size - 1)  # ids are hashes already
        while table[place] >= 0 and (nodes[table[place]] != nodes[row] or topics[table[place]] != topics[row]):
            place = (place + 1) & (size - 1)
        if table[place] < 0:
            table[place] = row
            first[row] = True
    return first

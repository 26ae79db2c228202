"""What a stage leaves behind, as arrays, and the columns of tables that follow from it: the same for every engine."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ropewalk.arrays import graphs
from ropewalk.engines.contract import FINAL
from ropewalk.protocols.stan import kernel

EXACT_DIAMETER = 10_000  # members; above that, bounds
DIAMETER_SOURCES = 256  # that many searches cost little more than one
LINK_LOT = 1 << 17  # rows in a batch of links

FITNESS_COLUMNS = ("weak", "strong", "clustering", "diameter", "in_degree_0", "diameter_at_most")  # as `graphs.fitness`
LINK_COLUMNS = {"stage": pa.string(), "topic": pa.int64(), "node": pa.int64(), "neighbour": pa.int64()}

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Left:
    """Who is there, their ranks among all nodes, the overlays, and per topic what it cost since the stage before."""

    stage: str
    members: kernel.Members
    ranks: Ints
    overlays: kernel.Overlays
    messages: Longs
    ids: Longs


def topic_columns(left: Left, *, fitness: bool, ids: bool) -> dict[str, NDArray[np.generic]]:
    """What is known of each overlay: one row per topic, those without members included."""
    members, overlays = left.members, left.overlays
    columns: dict[str, NDArray[np.generic]] = {
        "topic": members.topics,
        "members": np.diff(members.offsets),
        "links": np.diff(overlays.starts[members.offsets]),
        "messages": left.messages,
    }
    if ids:
        columns["ids"] = left.ids
    if left.stage == FINAL:
        columns["digest"] = kernel.digests(members, overlays)
    if fitness:
        found = graphs.fitness(members.offsets, overlays.starts, overlays.links, EXACT_DIAMETER, DIAMETER_SOURCES)
        columns |= dict(zip(FITNESS_COLUMNS, found, strict=True))
    return columns


def link_rows(left: Left) -> Iterator[pa.RecordBatch]:
    """Every link, in lots."""
    members, overlays = left.members, left.overlays
    sizes = np.diff(overlays.starts)
    counts = np.diff(members.offsets)
    topics = np.repeat(np.repeat(members.topics, counts), sizes)
    firsts = np.repeat(np.repeat(members.offsets[:-1], counts), sizes)
    nodes, neighbours = np.repeat(members.ids, sizes), members.ids[firsts + overlays.links]
    for first in range(0, topics.size, LINK_LOT):
        lot = slice(first, first + LINK_LOT)
        columns = [pa.array(column[lot]) for column in (topics, nodes, neighbours)]
        stage = pa.array([left.stage] * len(columns[0]), pa.string())
        yield pa.RecordBatch.from_arrays([stage, *columns], schema=pa.schema(LINK_COLUMNS))

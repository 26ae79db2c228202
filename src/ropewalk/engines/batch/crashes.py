"""What an event still reaches after a tenth, two or three tenths of the nodes crash: at random, or the best connected.

A pass of its own: whom a targeted crash hits is known only when every node's connections have been counted.
"""

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ropewalk.arrays.chance import chances, stream
from ropewalk.arrays.delivery import delivery
from ropewalk.engines.batch.topics import Left, Longs, Mapped, Task, read_part, sql_schema, stages
from ropewalk.engines.contract import FINAL, INITIAL
from ropewalk.universes.pack import Packed

SHARES = (0.1, 0.2, 0.3)
EXACT_REACH = 4096  # strong components; of more, sources are drawn
REACH_SOURCES = 256
COLUMNS = {
    "stage": pa.string(),
    "topic": pa.int64(),
    "crash": pa.string(),
    "survivors": pa.int64(),
    "one_way": pa.float64(),
    "two_way": pa.float64(),
    "bound": pa.float64(),
}

Places = dict[tuple[str, str], NDArray[np.int32]]
"""(stage, how) -> for each rank its place in the order in which nodes crash."""


def after_crashes(packed: Packed, task: Task, views: DataFrame) -> DataFrame:
    """Rows (stage, topic, crash, survivors, one_way, two_way, bound) for the first and the last stage."""
    by_chance = _places(chances(stream(task.seed, "crash"), packed.ids[:, None]))
    orders: Places = {}
    for stage in (INITIAL, FINAL):
        orders[stage, "random"] = by_chance
        orders[stage, "targeted"] = _places(-_connections(views, stage, packed.ids))
    return packed.parts.mapInArrow(_crashing(task, orders), sql_schema(pa.schema(COLUMNS)))


def _connections(views: DataFrame, stage: str, ids: Longs) -> Longs:
    """By rank, how many connections a node has at a stage: 0 if it is not there."""
    rows = views.filter(F.col("stage") == stage).select("node", "connections").toArrow()
    found = np.zeros(ids.size, np.int64)
    found[np.searchsorted(ids, rows.column("node").to_numpy())] = rows.column("connections").to_numpy()
    return found


def _places(keys: Longs) -> NDArray[np.int32]:
    """Each rank's place when ranks are ordered by key; ties by rank."""
    places = np.empty(keys.size, np.int32)
    places[np.argsort(keys, kind="stable")] = np.arange(keys.size, dtype=np.int32)
    return places


def _crashing(task: Task, orders: Places) -> Mapped:
    population = task.node_ids.size

    def crash(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        part = read_part(task, batches)
        if part is None:
            return
        members, ranks, _ = part
        for left in stages(task, members, ranks):
            for (stage, how), places in orders.items():
                if stage == left.stage:
                    for share in SHARES:
                        yield _rows(task, left, f"{how} {share:.0%}", places[left.ranks] < round(share * population))

    return crash


def _rows(task: Task, left: Left, crash: str, crashed: NDArray[np.bool_]) -> pa.RecordBatch:
    state = stream(task.seed, "reach")
    found = delivery(
        left.members.offsets, left.overlays.starts, left.overlays.links, crashed, EXACT_REACH, REACH_SOURCES, state
    )
    used = np.flatnonzero(found.survivors)
    words = (pa.array([word] * used.size, pa.string()) for word in (left.stage, crash))
    stage, how = words
    columns = [stage, pa.array(left.members.topics[used]), how, *(pa.array(column[used]) for column in found)]
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(COLUMNS))

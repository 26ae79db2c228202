"""What an event still reaches after a tenth, two or three tenths of the nodes crash: at random, or the best connected.

A pass of its own: whom a targeted crash hits is known only when every node's connections have been counted.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ropewalk.arrays.chance import chances, stream
from ropewalk.arrays.delivery import delivery
from ropewalk.engines.batch.rows import Mapped, sql_schema
from ropewalk.engines.batch.topics import Longs, Task, read_part, stages
from ropewalk.engines.contract import FINAL, INITIAL
from ropewalk.engines.stages import Left
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


class Order(NamedTuple):
    """In which order the nodes of a stage crash: for each rank its place, the last for those who are not there."""

    places: NDArray[np.int32]
    there: int  # how many are

    def hit(self, ranks: NDArray[np.int32], share: float) -> NDArray[np.bool_]:
        """Who is among that share of them."""
        return self.places[ranks] < round(share * self.there)


def after_crashes(packed: Packed, task: Task, views: DataFrame) -> DataFrame:
    """Rows (stage, topic, crash, survivors, one_way, two_way, bound) for the first and the last stage."""
    by_chance = chances(stream(task.seed, "crash"), packed.ids[:, None])
    orders: dict[tuple[str, str], Order] = {}
    for stage in (INITIAL, FINAL):
        there, connections = _connections(views, stage, packed.ids)
        orders[stage, "random"] = _order(packed.ids.size, there, by_chance[there])
        orders[stage, "targeted"] = _order(packed.ids.size, there, -connections)
    return packed.parts.mapInArrow(_crashing(task, orders), sql_schema(pa.schema(COLUMNS)))


def compile_kernels() -> None:
    """Let nobody crash among two, so that workers find the kernels compiled."""
    offsets, starts, links = np.array([0, 2]), np.array([0, 1, 2]), np.array([1, 0], np.int32)
    delivery(offsets, starts, links, np.zeros(2, np.bool_), EXACT_REACH, REACH_SOURCES, stream(1, "reach"))


def _connections(views: DataFrame, stage: str, ids: Longs) -> tuple[Longs, Longs]:
    """The ranks of those who are there at a stage, ascending, and how many connections each has."""
    rows = views.filter(F.col("stage") == stage).select("node", "connections").toArrow().sort_by("node")
    return np.searchsorted(ids, rows.column("node").to_numpy()), rows.column("connections").to_numpy()


def _order(population: int, there: Longs, keys: Longs) -> Order:
    """The lowest key first; ties by rank."""
    places = np.full(population, population, np.int32)
    places[there[np.argsort(keys, kind="stable")]] = np.arange(there.size, dtype=np.int32)
    return Order(places, there.size)


def _crashing(task: Task, orders: dict[tuple[str, str], Order]) -> Mapped:
    def crash(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        part = read_part(task, batches)
        if part is None:
            return
        members, ranks, _ = part
        for left in stages(task, members, ranks):
            for (stage, how), order in orders.items():
                if stage == left.stage:
                    for share in SHARES:
                        yield _rows(task, left, f"{how} {share:.0%}", order.hit(left.ranks, share))

    return crash


def _rows(task: Task, left: Left, crash: str, crashed: NDArray[np.bool_]) -> pa.RecordBatch:
    state = stream(task.seed, "reach")
    found = delivery(
        left.members.offsets, left.overlays.starts, left.overlays.links, crashed, EXACT_REACH, REACH_SOURCES, state
    )
    used = np.flatnonzero(found.survivors)
    stage, how = (pa.array([word] * used.size, pa.string()) for word in (left.stage, crash))
    columns = [stage, pa.array(left.members.topics[used]), how, *(pa.array(column[used]) for column in found)]
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(COLUMNS))

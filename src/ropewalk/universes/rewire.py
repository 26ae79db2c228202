"""A universe without correlation: the same subscriptions dealt out anew, every node and every topic keeping its number.

Nodes are put into groups by chance, brought together group by group, and swap topics within it (arrays.lists.swap);
then they are put into new groups. No group needs to know of another, and which task has it changes nothing.
"""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ropewalk.arrays.chance import stream
from ropewalk.arrays.hashing import mixed_long
from ropewalk.arrays.lists import sort_lists, swap
from ropewalk.tables.frames import chance_column
from ropewalk.universes.interests import flat, lists_of

GROUP = 500_000  # subscriptions brought together at once: 4 MB, and enough nodes to meet strangers
PASSES = 3  # through Spark, each with new groups, and
TIMES = 2  # attempts to swap per subscription in each; J0 moves no more after one pass of two

NODES = "node long, topics array<long>"
LABEL = "rewire"


def rewired(
    nodes: DataFrame, subscriptions: int, seed: int, *, passes: int = PASSES, times: int = TIMES, group: int = GROUP
) -> DataFrame:
    """Rows (node, topics) again, topics ascending."""
    groups = -(-subscriptions // group)
    for number in range(passes):
        drawn = chance_column(seed, f"{LABEL} group", F.lit(number).cast("long"), F.col("node"))
        chosen = F.shiftright(F.shiftright(drawn, 31) * F.lit(groups), 32)  # seeds.pick
        nodes = nodes.withColumn("group", chosen).groupBy("group").applyInArrow(_swapping(seed, number, times), NODES)
    return nodes


def _swapping(seed: int, number: int, times: int) -> Callable[[pa.Table], pa.Table]:
    def swapping(group: pa.Table) -> pa.Table:
        group = group.sort_by("node")  # rows come in any order
        starts, values = flat(group.column("topics"))
        values = values.copy()  # Arrow's own are not ours to write
        swap(starts, values, times, _state(seed, number, group.column("group")[0].as_py()))
        sort_lists(starts, values)
        return pa.table({"node": group.column("node"), "topics": lists_of(starts, values)})

    return swapping


def _state(seed: int, *labels: int) -> np.uint64:
    state = stream(seed, LABEL)
    for label in labels:
        state = np.uint64(mixed_long(np.int64(label), state))  # numba hands out a plain int
    return state

"""A universe without correlation: the same subscriptions dealt out anew, every node and every topic keeping its number.

Nodes are put into groups by chance, brought together group by group, and trade within it (arrays.lists.trade); then
they are put into new groups. No trade needs to know what happens elsewhere, and which task does it changes nothing.
"""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ropewalk.arrays.chance import stream
from ropewalk.arrays.hashing import mixed_long
from ropewalk.arrays.lists import trade
from ropewalk.tables.frames import chance_column
from ropewalk.universes.interests import flat, lists_of

GROUP = 500_000  # subscriptions brought together at once: 4 MB, and enough nodes to meet strangers
PASSES = 4  # through Spark, each with new groups, and
TURNS = 8  # trades of every node in each: J0 moves no more after half of that (tests/spark/test_overlap.py looks)

NODES = "node long, topics array<long>"
LABEL = "rewire"


def rewired(nodes: DataFrame, subscriptions: int, seed: int, *, passes: int = PASSES, turns: int = TURNS) -> DataFrame:
    """Rows (node, topics) after every node has traded `passes * turns` times."""
    groups = -(-subscriptions // GROUP)
    for number in range(passes):
        drawn = chance_column(seed, f"{LABEL} group", F.lit(number).cast("long"), F.col("node"))
        group = F.shiftright(F.shiftright(drawn, 31) * F.lit(groups), 32)  # seeds.pick
        nodes = nodes.withColumn("group", group).groupBy("group").applyInArrow(_trading(seed, number, turns), NODES)
    return nodes


def _trading(seed: int, number: int, turns: int) -> Callable[[pa.Table], pa.Table]:
    def trading(group: pa.Table) -> pa.Table:
        group = group.sort_by("node")  # rows come in any order
        names = group.column("node").to_numpy()
        starts, values = flat(group.column("topics"))
        values = values.copy()  # Arrow's own are not ours to write
        label = group.column("group")[0].as_py()
        state = mixed_long(np.int64(label), mixed_long(np.int64(number), stream(seed, LABEL)))
        trade(starts, values, names, turns, state)
        return pa.table({"node": names, "topics": lists_of(starts, values)})

    return trading

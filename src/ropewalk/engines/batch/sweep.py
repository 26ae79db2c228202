"""Many runs of ring protocols on made-up universes as one Spark job: each task makes a universe, seats its nodes and grows its trees.

Nothing is stored. What comes back are the tables of all runs together, which the measures of single runs read.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ropewalk.engines.batch.rings import (
    NODE_COLUMNS,
    TREE_COLUMNS,
    VIEW_COLUMNS,
    Columns,
    Plan,
    compile_kernels,
    tree_columns,
    view_columns,
)
from ropewalk.engines.batch.rows import Mapped, filled, sql_schema
from ropewalk.ids import identify
from ropewalk.protocols.dht.kernel import Interests, interests_of
from ropewalk.protocols.dht.kernel.trees import MILLION
from ropewalk.tables.frames import conform
from ropewalk.tables.schema import RELAYS, TREES, VIEWS
from ropewalk.workloads.contract import LocalModel
from ropewalk.workloads.rates import Rates

SWEPT = pa.schema({"run": pa.string(), "stage": pa.string(), **TREE_COLUMNS, **NODE_COLUMNS, **VIEW_COLUMNS})


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One run of a sweep."""

    name: str
    model: LocalModel
    rates: Rates
    plan: Plan

    def interests(self) -> Interests:
        """Its universe, the same as `ropewalk generate` makes."""
        nodes, topics = self.model.all_pairs(self.plan.seed)
        made = interests_of(_ids("node", nodes), _ids(self.model.topic_key, topics))
        return made._replace(rates=self.rates.of(made.topic_ids, self.plan.seed))


def swept(spark: SparkSession, points: Sequence[Point]) -> dict[str, DataFrame]:
    """The tables of all points, each a run; whoever asked for them lets go of `trees`, from which the others are, too."""
    compile_kernels()
    tasks = len(points)
    rows = spark.range(0, tasks, numPartitions=tasks).mapInArrow(_sweeping(list(points)), sql_schema(SWEPT)).persist()
    rows.count()  # now: measures that ask at the same time would each have all of it run
    nodes = rows.filter(F.col("node").isNotNull())
    return {
        "rows": rows,
        "trees": conform(TREES, rows.filter(F.col("topic").isNotNull())),
        "relays": conform(RELAYS, nodes.withColumn("load", F.col("load") / MILLION)),
        "views": conform(VIEWS, nodes),
    }


def _sweeping(points: list[Point]) -> Mapped:
    def sweep(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for place in batch.column(0).to_pylist():
                yield from _run(points[place])

    return sweep


def _run(point: Point) -> Iterator[pa.RecordBatch]:
    interests = point.interests()
    topics = np.arange(interests.topic_ids.size, dtype=np.int32)
    for stage in point.plan.stages(interests):
        trees = stage.grow(topics)
        yield _rows(point.name, stage.name, tree_columns(interests, topics, trees))
        views = view_columns(interests, stage.ring)
        loads = {"load": trees.load[stage.ring.order], "children": trees.children[stage.ring.order]}
        yield _rows(point.name, stage.name, views | loads)


def _rows(run: str, stage: str, columns: Columns) -> pa.RecordBatch:
    count = len(next(iter(columns.values())))
    arrays = {name: pa.array(values) for name, values in columns.items()}
    names = {"run": run, "stage": stage}
    return filled(
        SWEPT, count, **{name: pa.array([each] * count, pa.string()) for name, each in names.items()}, **arrays
    )


def _ids(kind: str, places: "np.typing.NDArray[np.int64]") -> "np.typing.NDArray[np.int64]":
    known = np.array([identify(f"{kind}-{place}") for place in range(int(places.max(initial=-1)) + 1)], np.int64)
    return known[places]

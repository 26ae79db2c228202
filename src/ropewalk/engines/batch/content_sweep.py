"""Many runs of the overlay by interests on made-up universes as one Spark job: each task makes one, links its nodes, sends events.

Nothing is stored. What comes back are the tables of all runs together, which the measures of single runs read.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ropewalk.engines.batch.content import compile_kernels, routing_columns, run_here, spread_columns
from ropewalk.engines.batch.rows import Mapped, filled, sql_schema
from ropewalk.engines.contents import Contents, contents_of
from ropewalk.ids import identify
from ropewalk.protocols.content.spaces import space_of
from ropewalk.protocols.kato.kernel.spread import COLUMNS
from ropewalk.protocols.kato.settings import Settings
from ropewalk.tables.frames import conform
from ropewalk.tables.schema import ROUTING, SPREADS
from ropewalk.workloads.contract import LocalContentModel

TYPES = {"stage": pa.string(), "primary": pa.bool_(), "lost": pa.bool_()}
OF_NODES = [name for name in ROUTING.columns if name != "run"]
OF_EVENTS = ["event", *COLUMNS]
SWEPT = pa.schema({"run": pa.string()} | {name: TYPES.get(name, pa.int64()) for name in (*OF_NODES, *OF_EVENTS)})


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentPoint:
    """One run of a sweep."""

    name: str
    model: LocalContentModel
    settings: Settings
    seed: int
    events: int

    def contents(self) -> Contents:
        """Its universe, the same as `ropewalk generate` makes."""
        nodes, lows, highs = self.model.all_filters(self.seed)
        named = np.array([identify(f"node-{node}") for node in range(int(nodes.max(initial=-1)) + 1)], np.int64)
        words = sorted({f"{self.model.topic_key}-{int(place)}" for place in np.unique(lows[:, 0])})
        codes = {word: float(code) for code, word in enumerate(words)}
        of_words = np.array([codes[f"{self.model.topic_key}-{int(place)}"] for place in lows[:, 0]])
        lows, highs = lows.copy(), highs.copy()
        lows[:, 0] = highs[:, 0] = of_words
        known = {self.model.topic_key: words}
        return contents_of(space_of(self.model.space, known), known, named[nodes], lows, highs)


def content_swept(spark: SparkSession, points: Sequence[ContentPoint]) -> dict[str, DataFrame]:
    """The tables of all points, each a run; whoever asked for them lets go of `rows`, from which the others are."""
    compile_kernels()
    tasks = len(points)
    rows = spark.range(0, tasks, numPartitions=tasks).mapInArrow(_sweeping(list(points)), sql_schema(SWEPT)).persist()
    rows.count()  # now: measures that ask at the same time would each have all of it run
    return {
        "rows": rows,
        "routing": conform(ROUTING, rows.filter(F.col("node").isNotNull())),
        "spreads": conform(SPREADS, rows.filter(F.col("event").isNotNull())),
    }


def _sweeping(points: list[ContentPoint]) -> Mapped:
    def sweep(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for place in batch.column(0).to_pylist():
                yield from _run(points[place])

    return sweep


def _run(point: ContentPoint) -> Iterator[pa.RecordBatch]:
    contents = point.contents()
    overlay, heard = run_here(contents, point.settings, point.events, point.seed)
    for columns in (routing_columns(contents, overlay, heard), spread_columns(heard)):
        rows = len(next(iter(columns.values())))
        arrays = {name: pa.array(values, SWEPT.field(name).type) for name, values in columns.items()}
        yield filled(SWEPT, rows, run=pa.array([point.name] * rows, pa.string()), **arrays)

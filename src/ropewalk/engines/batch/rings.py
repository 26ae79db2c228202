"""Protocols that grow trees over a ring, as a Spark job: the ring is built once, here; trees are grown in parallel over topics.

subscriptions -> interests -> (here) ring -> (tasks) trees of some topics each -> views, trees, relays
Stages: `final` is the run. `initial`, for Magnet, is what the paper compares it with: the same nodes where a hash puts them.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ropewalk.engines.batch.rows import Mapped, filled, sql_schema
from ropewalk.engines.contract import FINAL, INITIAL, Phase
from ropewalk.engines.job import Order, Outcome, of_run, run_of, runs_row
from ropewalk.engines.played import members_of
from ropewalk.protocols.dht.kernel import Interests, Ring, Trees, chord, interests_of
from ropewalk.protocols.dht.kernel.interests import Ints
from ropewalk.protocols.dht.kernel.trees import MILLION
from ropewalk.protocols.magnet import kernel as magnet
from ropewalk.protocols.magnet import settings as of_magnet
from ropewalk.protocols.scribe import kernel as scribe
from ropewalk.protocols.scribe import settings as of_scribe
from ropewalk.tables.frames import read_table, write_tables
from ropewalk.tables.schema import RELAYS, RUNS, TOPICS, TREES, VIEWS
from ropewalk.tables.store import Draft, Store
from ropewalk.workloads.thresholds import slices_of

TREE_COLUMNS = {
    "topic": pa.int64(),
    "members": pa.int64(),
    "nodes": pa.int64(),
    "relays": pa.int64(),
    "strange_root": pa.bool_(),
    "depth": pa.int64(),
    "hops": pa.float64(),
    "rate": pa.float64(),
    "grafts": pa.int64(),
    "strays": pa.int64(),
}
NODE_COLUMNS = {"node": pa.int64(), "load": pa.int64(), "children": pa.int64()}
VIEW_COLUMNS = {name: pa.int64() for name in ("lvs", "pvs", "connections", "in_links")}
GROWN = pa.schema({"stage": pa.string(), **TREE_COLUMNS, **NODE_COLUMNS})

Columns = dict[str, NDArray[np.generic]]


class Stage(NamedTuple):
    """A ring, and how trees grow over it."""

    name: str
    ring: Ring
    grow: Callable[[Ints], Trees]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be run, whoever follows what."""

    protocol: str
    settings: Any  # the protocol's own
    seed: int

    def stages(self, interests: Interests) -> list[Stage]:
        """Every ring of the run."""
        if self.protocol == of_scribe.NAME:
            ring = chord.linked(interests)
            return [Stage(FINAL, ring, lambda topics: scribe.grown(interests, ring, topics))]
        return [
            self._magnet(interests, name, settings)
            for name, settings in ((INITIAL, of_magnet.strawman(self.settings)), (FINAL, self.settings))
        ]

    def _magnet(self, interests: Interests, name: str, settings: of_magnet.Settings) -> Stage:
        overlay = magnet.built(interests, settings, self.seed)
        return Stage(
            name, overlay.ring, lambda topics: magnet.trees_of(interests, overlay, settings, self.seed, topics)
        )


def simulate(spark: SparkSession, universe: Store, job: Order, draft: Draft, phase: Phase) -> Outcome:
    """Run a protocol on a universe and write its tables into a draft."""
    with phase("read the universe"):
        interests = interests_in(spark, universe)
    with phase("seat the nodes"):
        stages = Plan(job.protocol, job.settings, job.seed).stages(interests)
    with phase("compile the kernels"):
        compile_kernels()
    with phase("grow the trees"):
        grown = _grown(spark, interests, stages, job.partitions).persist()
        digest = _digest(interests, stages, grown)
    outcome = Outcome(
        run=run_of(universe, job),
        digest=digest,
        nodes=interests.node_ids.size,
        topics=interests.topic_ids.size,
        subscriptions=interests.nodes.size,
    )
    draft.manifest.digest = digest
    with phase("write the tables"):
        views = pa.concat_tables([as_table(stage.name, view_columns(interests, stage.ring)) for stage in stages])
        loads = grown.filter("node is not null").groupBy("stage", "node")
        summed = loads.agg((F.sum("load") / MILLION).alias("load"), F.sum("children").alias("children"))
        tables = [
            (RUNS, runs_row(spark, outcome, job, universe)),
            (VIEWS, of_run(outcome, VIEWS, spark.createDataFrame(views))),
            (TREES, of_run(outcome, TREES, grown.filter("topic is not null"))),
            (RELAYS, of_run(outcome, RELAYS, summed)),
        ]
        outcome.tables |= write_tables(draft, tables)
    grown.unpersist()
    return outcome


def compile_kernels() -> None:
    """Run everything once on three nodes, here, so that tasks find the kernels compiled instead of each compiling them."""
    nodes, topics = np.array([1, 2, 3, 1, 2, 3]), np.array([7, 7, 7, 8, 8, 8])
    interests = interests_of(nodes, topics)
    every = np.arange(2, dtype=np.int32)
    plans = [Plan(of_scribe.NAME, of_scribe.Settings(), 0)]
    plans += [Plan(of_magnet.NAME, of_magnet.Settings(grafting=grafting), 0) for grafting in ("printed", "strict")]
    for plan in plans:
        for stage in plan.stages(interests):
            stage.grow(every)


def interests_in(spark: SparkSession, universe: Store) -> Interests:
    """Who follows what, and how much is published on it, if the universe says so."""
    members = members_of(spark, universe)
    topics = np.repeat(members.topics, np.diff(members.offsets))
    rates: dict[int, float] | None = None
    if TOPICS.name in universe.manifest.tables:
        rates = {row.topic: row.rate for row in read_table(spark, universe, TOPICS).collect() if row.rate is not None}
    return interests_of(members.ids, topics, rates)


def tree_columns(interests: Interests, topics: Ints, trees: Trees) -> Columns:
    """What is to be said of some trees: one row per topic."""
    members = np.diff(interests.by_topic)[topics]
    return {
        "topic": interests.topic_ids[topics],
        "members": members,
        "nodes": trees.nodes,
        "relays": trees.relays,
        "strange_root": trees.strange_roots,
        "depth": trees.depth,
        "hops": trees.hops / members,
        "rate": interests.rates[topics],
        "grafts": trees.grafts,
        "strays": trees.strays,
    }


def view_columns(interests: Interests, ring: Ring) -> Columns:
    """What every node holds: one row per node. It has no links of topics, so logical ones are the physical ones."""
    held = np.diff(ring.starts)
    holders = np.repeat(np.arange(ring.order.size), held)
    others = (holders + ring.links) % ring.order.size
    low, high = np.minimum(holders, others), np.maximum(holders, others)
    pairs = np.unique(low.astype(np.int64) * ring.order.size + high)
    count = ring.order.size
    either = np.bincount(pairs // count, minlength=count) + np.bincount(pairs % count, minlength=count)
    return {
        "node": interests.node_ids[ring.order],
        "lvs": held,
        "pvs": held,
        "connections": either,
        "in_links": np.bincount(others, minlength=count),
    }


def as_table(stage: str, columns: Columns) -> pa.Table:
    """Columns of one stage."""
    rows = len(next(iter(columns.values())))
    return pa.table(
        {"stage": pa.array([stage] * rows, pa.string())} | {name: pa.array(v) for name, v in columns.items()}
    )


def _grown(spark: SparkSession, interests: Interests, stages: list[Stage], partitions: int | None) -> DataFrame:
    """Rows of trees and of nodes, from tasks that each have some of the topics."""
    topics = interests.topic_ids.size
    parts = min(partitions or slices_of(spark), topics)
    # the largest first, dealt in turn: every part costs about the same
    dealt = np.argsort(-np.diff(interests.by_topic), kind="stable").astype(np.int32)
    task = _growing(interests, stages, [dealt[part::parts] for part in range(parts)])
    return spark.range(0, parts, numPartitions=parts).mapInArrow(task, sql_schema(GROWN))


def _growing(interests: Interests, stages: list[Stage], parts: list[Ints]) -> Mapped:
    def grow(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for part in batch.column(0).to_pylist():
                for stage in stages:
                    trees = stage.grow(parts[part])
                    yield _rows(stage.name, tree_columns(interests, parts[part], trees))
                    busy = np.flatnonzero((trees.load > 0) | (trees.children > 0) | (part == 0))
                    node_ids = interests.node_ids[busy]
                    yield _rows(
                        stage.name, {"node": node_ids, "load": trees.load[busy], "children": trees.children[busy]}
                    )

    return grow


def _rows(stage: str, columns: Columns) -> pa.RecordBatch:
    rows = len(next(iter(columns.values())))
    arrays = {name: pa.array(values) for name, values in columns.items()}
    return filled(GROWN, rows, stage=pa.array([stage] * rows, pa.string()), **arrays)


def _digest(interests: Interests, stages: list[Stage], grown: DataFrame) -> str:
    """One hash for who sits where, all links, and all trees of the run."""
    ring = stages[-1].ring
    hashed = blake2b(digest_size=8)
    for part in (interests.node_ids[ring.order], ring.starts, ring.links.astype(np.int64)):
        hashed.update(np.ascontiguousarray(part, np.int64).tobytes())
    trees = grown.filter((F.col("stage") == FINAL) & F.col("topic").isNotNull())
    (row,) = trees.agg(F.bit_xor(F.xxhash64("topic", "nodes", "relays", "depth"))).collect()
    hashed.update((row[0] or 0).to_bytes(8, "little", signed=True))
    return hashed.hexdigest()

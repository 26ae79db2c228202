"""One StaN run on Spark: pack the universe, align its overlays in tasks of many topics, count by buckets of nodes.

subscriptions -> packed topics -> (kernel) bucket rows and topic rows -> views, overlays [links, connections]
"""

import json
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field

import numpy as np
import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ropewalk import __version__
from ropewalk.engines.batch import buckets
from ropewalk.engines.batch.topics import SPARK_SCHEMA, Task, compile_kernels, simulation
from ropewalk.engines.contract import FINAL, Keep, Phase
from ropewalk.errors import InputError
from ropewalk.protocols.stan.settings import NAME, Settings
from ropewalk.tables.frames import conform, hexadecimal, read_table, struct_of, write_table
from ropewalk.tables.schema import CONNECTIONS, LINKS, OVERLAYS, RUNS, SUBSCRIPTIONS, VIEWS
from ropewalk.tables.store import Draft, Store, digest_of
from ropewalk.universes.pack import Packed, pack

LARGEST_BUCKET = 8192  # nodes: a bucket of W1's size is then some 30 MB of records
SMALLEST_BUCKET = 64

Counter = Callable[[buckets.Ints, buckets.Ints, int, int, int], buckets.Longs]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What is to be run."""

    settings: Settings
    seed: int
    keep: frozenset[Keep] = frozenset()
    partitions: int | None = None  # None: as many as Spark uses for its shuffles


@dataclass(slots=True, kw_only=True)
class Outcome:
    """What a run came to, besides its tables."""

    run: str
    digest: str
    nodes: int
    topics: int
    subscriptions: int
    tables: dict[str, DataFrame] = field(default_factory=dict)


def run_of(universe: Store, job: Job) -> str:
    """The name of a run: the same universe, settings and seed are the same run."""
    named = {"universe": universe.manifest.digest, "settings": asdict(job.settings), "seed": job.seed}
    return f"{NAME}-{digest_of(named)}"


def simulate(spark: SparkSession, universe: Store, job: Job, draft: Draft, phase: Phase) -> Outcome:
    """Run StaN on a universe and write its tables into a draft."""
    partitions = job.partitions or int(spark.conf.get("spark.sql.shuffle.partitions") or 1)
    compiling = threading.Thread(target=_compile, args=(job,), daemon=True)
    compiling.start()  # Spark packs in the JVM meanwhile
    with phase("pack the universe"):
        packed = pack(read_table(spark, universe, SUBSCRIPTIONS), partitions)
    if compiling.is_alive():
        with phase("compile the kernels"):
            compiling.join()
    tallied = universe.manifest.tables[SUBSCRIPTIONS.name].rows
    if packed.subscription_count != tallied:
        packed.unpersist()
        raise InputError(
            f"{universe.folder_of(SUBSCRIPTIONS)} has {packed.subscription_count} rows, but its manifest says {tallied};"
            " make the store again."
        )
    layout = _Layout(packed.node_count)
    task = _task(job, layout)
    left_behind = packed.topics.mapInArrow(simulation(task), SPARK_SCHEMA).persist(StorageLevel.DISK_ONLY)
    try:
        with phase("align the overlays"):
            digest = _digest(left_behind)
        outcome = Outcome(
            run=run_of(universe, job),
            digest=digest,
            nodes=packed.node_count,
            topics=packed.topic_count,
            subscriptions=packed.subscription_count,
        )
        draft.manifest.digest = digest
        _write_tables(draft, outcome, packed, left_behind, layout, job, universe, phase)
    finally:
        left_behind.unpersist()
        packed.unpersist()
    return outcome


def _compile(job: Job) -> None:
    with suppress(Exception):  # whatever is wrong with a kernel, the task that runs it says it
        compile_kernels(_task(job, _Layout(3)))


@dataclass(frozen=True, slots=True)
class _Layout:
    """How node ranks are cut into buckets: sixteen or more to share out, none too large to count in one piece."""

    population: int

    @property
    def bucket_nodes(self) -> int:
        return min(LARGEST_BUCKET, max(SMALLEST_BUCKET, -(-self.population // 16)))

    @property
    def buckets(self) -> int:
        return -(-self.population // self.bucket_nodes)


def _task(job: Job, layout: _Layout) -> Task:
    return Task(
        settings=job.settings,
        seed=job.seed,
        bucket_nodes=layout.bucket_nodes,
        buckets=layout.buckets,
        keep_rounds="rounds" in job.keep,
        keep_links="links" in job.keep,
    )


def _digest(left_behind: DataFrame) -> str:
    """One hash for all final links."""
    row = left_behind.filter(F.col("topic").isNotNull() & (F.col("stage") == FINAL)).agg(F.bit_xor("digest")).first()
    return hexadecimal(row[0] if row is not None and row[0] is not None else 0)


def _write_tables(
    draft: Draft,
    outcome: Outcome,
    packed: Packed,
    left_behind: DataFrame,
    layout: _Layout,
    job: Job,
    universe: Store,
    phase: Phase,
) -> None:
    run = F.lit(outcome.run).alias("run")
    by_bucket = left_behind.filter(F.col("bucket").isNotNull()).select("stage", "bucket", "heads", "others")
    by_topic = left_behind.filter(F.col("topic").isNotNull())
    spark = left_behind.sparkSession
    with phase("count what each node holds"):
        outcome.tables["runs"] = write_table(draft, RUNS, _runs_row(spark, outcome, job, universe))
        views = _views(by_bucket, layout).join(packed.nodes, "rank").select(run, "*")
        outcome.tables["views"] = write_table(draft, VIEWS, conform(VIEWS, views))
    with phase("describe the overlays"):
        overlays = conform(OVERLAYS, by_topic.select(run, "*"))
        outcome.tables["overlays"] = write_table(draft, OVERLAYS, overlays)
    if "links" in job.keep:
        with phase("write the links"):
            links = _links(by_topic).select(run, "*")
            outcome.tables["links"] = write_table(draft, LINKS, conform(LINKS, links))
    if "connections" in job.keep:
        with phase("write the connections"):
            connections = _connections(by_bucket, layout, packed.nodes).select(run, "*")
            outcome.tables["connections"] = write_table(draft, CONNECTIONS, conform(CONNECTIONS, connections))


def _runs_row(spark: SparkSession, outcome: Outcome, job: Job, universe: Store) -> DataFrame:
    row = {
        "run": outcome.run,
        "universe": universe.manifest.name,
        "protocol": NAME,
        "settings": json.dumps(asdict(job.settings), sort_keys=True),
        "engine": "batch",
        "seed": job.seed,
        "version": __version__,
        "digest": outcome.digest,
    }
    return spark.createDataFrame([tuple(row[name] for name in RUNS.columns)], struct_of(RUNS))


def _views(by_bucket: DataFrame, layout: _Layout) -> DataFrame:
    """Rows (stage, rank, lvs, pvs, connections, in_links)."""
    names = ("lvs", "pvs", "connections", "in_links")
    per_bucket = _per_bucket(layout, buckets.counted)

    def count(table: pa.Table) -> pa.Table:
        stage, first, found = per_bucket(table)
        ranks = np.arange(first, first + found.shape[0], dtype=np.int32)
        columns = {name: found[:, column] for column, name in enumerate(names)}
        return pa.table({"stage": [stage] * found.shape[0], "rank": ranks, **columns})

    schema = "stage string, rank int, " + ", ".join(f"{name} long" for name in names)
    return by_bucket.groupBy("stage", "bucket").applyInArrow(count, schema)


def _connections(by_bucket: DataFrame, layout: _Layout, nodes: DataFrame) -> DataFrame:
    """Rows (stage, a, b, links)."""
    per_bucket = _per_bucket(layout, buckets.paired)

    def pairs(table: pa.Table) -> pa.Table:
        stage, _, found = per_bucket(table)
        columns = {"rank_a": found[:, 0], "rank_b": found[:, 1], "links": found[:, 2]}
        return pa.table({"stage": [stage] * found.shape[0], **columns})

    paired = by_bucket.groupBy("stage", "bucket").applyInArrow(
        pairs, "stage string, rank_a long, rank_b long, links long"
    )
    a = nodes.select(F.col("node").alias("a"), F.col("rank").alias("rank_a"))
    b = nodes.select(F.col("node").alias("b"), F.col("rank").alias("rank_b"))
    return paired.join(a, "rank_a").join(b, "rank_b")


def _per_bucket(layout: _Layout, kernel: Counter) -> Callable[[pa.Table], tuple[str, int, buckets.Longs]]:
    """Apply a kernel to all records of one bucket at one stage: (stage, its first rank, what the kernel found)."""

    def apply(table: pa.Table) -> tuple[str, int, buckets.Longs]:
        first = table.column("bucket")[0].as_py() * layout.bucket_nodes
        nodes = min(layout.bucket_nodes, layout.population - first)
        heads, others = (
            np.concatenate([np.frombuffer(blob.as_buffer(), np.int32) for blob in table.column(name)])
            for name in ("heads", "others")
        )
        return table.column("stage")[0].as_py(), first, kernel(heads, others, first, nodes, layout.population)

    return apply


def _links(by_topic: DataFrame) -> DataFrame:
    """Rows (stage, topic, node, neighbour)."""
    held = F.explode(F.arrays_zip("nodes", "neighbours")).alias("link")
    return by_topic.select("stage", "topic", held).select(
        "stage", "topic", F.col("link.nodes").alias("node"), F.col("link.neighbours").alias("neighbour")
    )

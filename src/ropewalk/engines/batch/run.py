"""One StaN run on Spark: deal the universe to parts, align each part's overlays, count by buckets of nodes.

subscriptions -> parts -> (kernel) bucket rows and topic rows -> views, overlays [links, connections]
One job, two shuffles: pairs to parts, records to buckets. No row per link ever exists, unless `links` are asked for.
"""

import threading
from contextlib import suppress

import numpy as np
import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ropewalk.engines.batch.crashes import after_crashes
from ropewalk.engines.batch.crashes import compile_kernels as compile_delivery
from ropewalk.engines.batch.nodes import CONNECTION_COLUMNS, COUNTED, Layout, connecting, counting, layout_of
from ropewalk.engines.batch.rows import sql_schema
from ropewalk.engines.batch.topics import (
    ALIGNED,
    Task,
    alignment,
    compile_kernels,
    links,
)
from ropewalk.engines.contract import FINAL, Phase
from ropewalk.engines.job import Job, Outcome, of_run, run_of, runs_row
from ropewalk.engines.stages import LINK_COLUMNS
from ropewalk.errors import InputError
from ropewalk.tables.frames import hexadecimal, read_table, write_table, write_tables
from ropewalk.tables.schema import CONNECTIONS, CRASHES, LINKS, OVERLAYS, RUNS, SUBSCRIPTIONS, VIEWS, Table
from ropewalk.tables.store import Draft, Store
from ropewalk.universes.pack import Packed, pack
from ropewalk.universes.pack import compile_kernels as compile_dealing


def simulate(spark: SparkSession, universe: Store, job: Job, draft: Draft, phase: Phase) -> Outcome:
    """Run StaN on a universe and write its tables into a draft."""
    compiling = threading.Thread(target=compile_all, args=(job,), daemon=True)
    compiling.start()  # Spark surveys in the JVM meanwhile
    with phase("survey the universe"):
        packed = pack(read_table(spark, universe, SUBSCRIPTIONS), job.partitions)
    if compiling.is_alive():
        with phase("compile the kernels"):
            compiling.join()
    tallied = universe.manifest.tables[SUBSCRIPTIONS.name].rows
    if packed.subscription_count != tallied:
        raise InputError(
            f"{universe.folder_of(SUBSCRIPTIONS)} has {packed.subscription_count} rows, but its manifest says {tallied};"
            " make the store again."
        )
    layout = layout_of(packed.ids, packed.subscription_count, stage_count(job))
    task = task_of(job, layout)
    left_behind = counted(aligned(packed, task), layout).persist(StorageLevel.DISK_ONLY)
    try:
        with phase("align the overlays and count"):
            digest = _digest(left_behind)
        outcome = Outcome(
            run=run_of(universe, job),
            digest=digest,
            nodes=packed.node_count,
            topics=packed.topic_count,
            subscriptions=packed.subscription_count,
        )
        draft.manifest.digest = digest
        with phase("write views and overlays"):
            found = ((VIEWS, "node is not null"), (OVERLAYS, "topic is not null"))
            rows = [(table, of_run(outcome, table, left_behind.filter(which))) for table, which in found]
            outcome.tables |= write_tables(draft, [(RUNS, runs_row(spark, outcome, job, universe)), *rows])
    finally:
        left_behind.unpersist()
    # Each of the following is a pass of its own over the parts: to align again costs less than to keep the links.
    if "crashes" in job.keep:
        with phase("align again and let nodes crash"):
            _write(draft, outcome, CRASHES, after_crashes(packed, task, outcome.tables["views"]))
    if "links" in job.keep:
        with phase("align again and write the links"):
            schema = sql_schema(pa.schema(LINK_COLUMNS))
            _write(draft, outcome, LINKS, packed.parts.mapInArrow(links(task), schema))
    if "connections" in job.keep:
        with phase("align again and write the connections"):
            schema = sql_schema(pa.schema(CONNECTION_COLUMNS))
            records = _by_bucket(aligned(packed, task), layout)
            _write(draft, outcome, CONNECTIONS, records.mapInArrow(connecting(layout), schema))
    return outcome


def aligned(packed: Packed, task: Task) -> DataFrame:
    """What every stage leaves behind, part by part: bucket rows and topic rows."""
    return packed.parts.mapInArrow(alignment(task), sql_schema(ALIGNED))


def counted(left_behind: DataFrame, layout: Layout) -> DataFrame:
    """What every node holds at every stage, and the topic rows as they are."""
    return _by_bucket(left_behind, layout).mapInArrow(counting(layout), sql_schema(COUNTED))


def stage_count(job: Job) -> int:
    """How many stages are written of a job."""
    return max(2, job.settings.rounds + 1) if "rounds" in job.keep else 2


def task_of(job: Job, layout: Layout) -> Task:
    """What a job's tasks are told."""
    return Task(
        settings=job.settings,
        seed=job.seed,
        node_ids=layout.node_ids,
        bucket_nodes=layout.bucket_nodes,
        buckets=layout.buckets,
        keep_rounds="rounds" in job.keep,
        count_ids="traffic" in job.keep,
        fitness=job.fitness,
    )


def compile_all(job: Job) -> None:
    """Compile every kernel a job needs, here and now; workers on this machine find them in the cache."""
    with suppress(Exception):  # whatever is wrong with a kernel, the task that runs it says it
        compile_dealing()
        compile_kernels(task_of(job, layout_of(np.array([1, 2, 3]), 3, 2)))
        if "crashes" in job.keep:
            compile_delivery()


def _by_bucket(left_behind: DataFrame, layout: Layout) -> DataFrame:
    return left_behind.repartitionById(layout.tasks, F.col("bucket") % layout.tasks)


def _digest(left_behind: DataFrame) -> str:
    """One hash for all final links. Subscriptions that are there twice are noticed here, before anything is written."""
    topics = left_behind.filter(F.col("topic").isNotNull() & (F.col("stage") == FINAL))
    (row,) = topics.agg(F.bit_xor("digest"), F.max("repeated")).collect()
    if row[1]:
        raise InputError(f"subscriptions has {row[1]} rows or more that are there twice; make the store again.")
    return hexadecimal(row[0] or 0)


def _write(draft: Draft, outcome: Outcome, table: Table, frame: DataFrame) -> None:
    outcome.tables[table.name] = write_table(draft, table, of_run(outcome, table, frame), unique=True)

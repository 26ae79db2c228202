"""What an engine is asked to run, what it answers, and how a run is named and stored: the same for every engine."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ropewalk import __version__
from ropewalk.engines.contract import Engine, Keep
from ropewalk.protocols.stan.settings import NAME, Settings
from ropewalk.tables.frames import conform, struct_of
from ropewalk.tables.schema import RUNS, Table
from ropewalk.tables.store import Store, digest_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is to be run, whatever protocol it is of."""

    settings: Any  # the protocol's own
    seed: int
    protocol: str = NAME
    engine: Engine = "batch"
    keep: frozenset[Keep] = frozenset()
    fitness: bool = True  # whether overlays are examined: components, clustering, diameter
    partitions: int | None = None  # None: as many as the universe needs
    events: int = 0  # published, in engine sim
    topics_per_event: int = 1
    processes: int = 2  # in engine live: over which nodes are spread
    faults: str = ""  # likewise: what is to go wrong
    telemetry: Path | None = None  # likewise: where nodes say what they do, for who looks on; None: nobody does


@dataclass(frozen=True, slots=True, kw_only=True)
class Job(Order):
    """What is to be run of StaN, or of a protocol that takes the same settings."""

    settings: Settings


@dataclass(slots=True, kw_only=True)
class Outcome:
    """What a run came to, besides its tables."""

    run: str
    digest: str
    nodes: int
    topics: int
    subscriptions: int
    events: dict[str, Any] = field(default_factory=dict)  # what became of them: keys of the run's document
    tables: dict[str, DataFrame] = field(default_factory=dict)


def run_of(universe: Store, job: Order) -> str:
    """The name of a run: the same universe, settings and seed are the same run."""
    named = {"universe": universe.manifest.digest, "settings": asdict(job.settings), "seed": job.seed}
    if job.engine != "batch":
        named["engine"] = job.engine
    if job.faults:
        named["faults"] = job.faults
    if job.events:
        named["events"] = [job.events, job.topics_per_event]
    return f"{job.protocol}-{digest_of(named)}"


def of_run(outcome: Outcome, table: Table, frame: DataFrame) -> DataFrame:
    """A frame of one run as a table."""
    return conform(table, frame.select(F.lit(outcome.run).alias("run"), "*"))


def runs_row(spark: SparkSession, outcome: Outcome, job: Order, universe: Store) -> DataFrame:
    """The one row that says what was run."""
    row = {
        "run": outcome.run,
        "universe": universe.manifest.name,
        "protocol": job.protocol,
        "settings": json.dumps(asdict(job.settings), sort_keys=True),
        "engine": job.engine,
        "seed": job.seed,
        "version": __version__,
        "digest": outcome.digest,
    }
    return spark.createDataFrame([tuple(row[name] for name in RUNS.columns)], struct_of(RUNS))

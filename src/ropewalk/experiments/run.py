"""Run a protocol on a stored universe, measure it, and store all of it."""

import shlex
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ropewalk.engines.batch import content, rings
from ropewalk.engines.batch import run as batch
from ropewalk.engines.contract import FINAL, INITIAL, Engine, Phase, stage_after
from ropewalk.engines.job import Job, Order, Outcome, run_of
from ropewalk.engines.live import content as live_content
from ropewalk.engines.live import rings as live_rings
from ropewalk.engines.live import run as live
from ropewalk.engines.sim import content as sim_content
from ropewalk.engines.sim import rings as sim_rings
from ropewalk.engines.sim import run as sim
from ropewalk.errors import InputError, RunError, UsageError
from ropewalk.measures.summary import Row, summary
from ropewalk.measures.together import measured
from ropewalk.protocols.catalogue import PROTOCOLS
from ropewalk.protocols.kato.settings import NAME as KATO
from ropewalk.protocols.magnet.settings import NAME as MAGNET
from ropewalk.protocols.stan.settings import NAME, Settings
from ropewalk.tables.frames import struct_of, write_table
from ropewalk.tables.schema import MEASURES
from ropewalk.tables.session import Session
from ropewalk.tables.store import MANIFEST, Draft, Manifest, Store, drafted

Simulate = Callable[[Session, Store, Any, Draft, Phase], Outcome]
SIMULATE: dict[Engine, Simulate] = {"batch": batch.simulate, "sim": sim.simulate, "live": live.simulate}
ON_RINGS: dict[Engine, Simulate] = {
    "batch": rings.simulate,
    "sim": sim_rings.simulate,
    "live": live_rings.simulate,
}
ON_CONTENT: dict[Engine, Simulate] = {
    "batch": content.simulate,
    "sim": sim_content.simulate,
    "live": live_content.simulate,
}
LIVE_GATHER = 0.2  # seconds: nodes of a cluster are told what to follow as soon as they run
LIVE_PERIOD = 5.0  # seconds: somebody waits for all rounds of them
FROM_WORKLOAD = ("overlay", "connectivity")  # what a universe's manifest may say, since its paper does


@dataclass(frozen=True, slots=True)
class Executed:
    """A run as the document that `simulate --json` prints, and every measure of it."""

    document: dict[str, Any]
    rows: list[Row]


def ordered(universe: Store, protocol: str, engine: Engine, told: dict[str, Any], **about: Any) -> Order:
    """What is to be run: settings as they were told, then as is usual; `about` is all else that an order says."""
    if PROTOCOLS[protocol].settings is Settings:
        settings = chosen(universe, told, engine, protocol)
        return Job(settings=settings, protocol=protocol, engine=engine, **about)
    about["fitness"] = False  # there are no overlays to be examined
    if protocol == KATO and told.get("space") is None:
        told = told | {"space": universe.manifest.defaults.get("space")}
    return Order(settings=of_protocol(protocol, told, engine), protocol=protocol, engine=engine, **about)


def of_protocol(protocol: str, told: dict[str, Any], engine: Engine = "batch") -> Any:
    """The settings of a run whose protocol takes others than StaN's: what was told, then what is usual for the engine."""
    usual: dict[str, Any] = {}
    if engine == "live":
        usual = {"period": LIVE_PERIOD} | ({"gather": LIVE_GATHER} if protocol == MAGNET else {})
    if engine != "batch" and protocol == KATO:
        usual["cover"] = "cells"  # nodes promise that nothing is missed
    return PROTOCOLS[protocol].settings(**usual | {name: value for name, value in told.items() if value is not None})


def chosen(universe: Store, told: dict[str, Any], engine: Engine = "batch", protocol: str = NAME) -> Settings:
    """The settings of a run: what was told, then what the universe's manifest says, then what is usual for the engine.

    What plays no part in the protocol stays as it is.
    """
    said = {name: universe.manifest.defaults[name] for name in FROM_WORKLOAD if name in universe.manifest.defaults}
    try:
        Settings(**said)
    except (UsageError, TypeError) as error:
        raise InputError(f"{universe.path / MANIFEST} has unusable defaults: {error}") from error
    told = {name: value for name, value in told.items() if value is not None}
    if engine == "live":
        said["period"] = LIVE_PERIOD
    if engine != "batch":  # real nodes have timers of their own, and whoever comes and goes needs somebody to let it in
        said["schedule"] = "timed"
        managed = "manager" not in PROTOCOLS[protocol].ignored
        alone = told.get("churn") or told.get("discover")
        if alone and told.get("schedule", "timed") == "timed" and managed:
            said["manager"] = "scamp"
    return Settings(**said | told)


def settings_of(universe: Store, job: Order) -> dict[str, Any]:
    """What a run is made from, besides the seed."""
    about = {"protocol": job.protocol, "engine": job.engine, "universe": universe.manifest.name}
    if job.engine == "live":
        about |= {"faults": job.faults}
    events = {"publish": job.events, "topics_per_event": job.topics_per_event} if job.events else {}
    return about | asdict(job.settings) | events | {"keep": sorted(job.keep), "fitness": job.fitness}


def usual_place(universe: Store, job: Order) -> Path:
    """Where a run goes when nobody says where. A store of the same run that kept more than this one is not replaced."""
    place = Path("runs") / run_of(universe, job)
    if (place / MANIFEST).is_file():
        before = Manifest.read(place / MANIFEST).settings
        if before.get("fitness", True) and not job.fitness:
            raise UsageError(
                f"{place} is this run with its overlays examined, which would be lost; pass --out for another folder."
            )
        lost = set(before.get("keep", [])) - job.keep
        if lost:
            raise UsageError(
                f"{place} is this run with {', '.join(sorted(lost))} kept, which would be lost;"
                f" pass --keep {','.join(sorted(lost | job.keep))}, or --out for another folder."
            )
    return place


def command_of(universe: Store, job: Order) -> str:
    """What to type to get this run, but for where the universe lies: whatever is not as it usually is on it."""
    verb = ["cluster"] if job.engine == "live" else ["simulate", job.protocol]
    words = ["ropewalk", *verb, "UNIVERSE", "--seed", str(job.seed)]
    words += ["--protocol", job.protocol] if job.engine == "live" and job.protocol != NAME else []
    words += ["--engine", job.engine] if job.engine == "sim" else []
    words += ["--faults", job.faults] if job.faults else []
    usual = (
        _usual(universe, job)
        if isinstance(job, Job)
        else ordered(universe, job.protocol, job.engine, {}, seed=0).settings
    )
    for name, value in asdict(job.settings).items():
        if value != getattr(usual, name):
            words += (
                [f"--{name}" if value else f"--no-{name}"] if isinstance(value, bool) else [f"--{name}", str(value)]
            )
    words += ["--no-fitness"] if isinstance(job, Job) and not job.fitness else []
    words += ["--publish", str(job.events)] if job.events else []
    words += ["--topics-per-event", str(job.topics_per_event)] if job.events and job.topics_per_event > 1 else []
    words += ["--keep", ",".join(sorted(job.keep))] if job.keep else []
    return shlex.join(words)


def _usual(universe: Store, job: Job) -> Settings:
    """The settings of a run of which nothing was told but what others depend on."""
    told = {"churn": job.settings.churn, "schedule": job.settings.schedule}
    usual = chosen(universe, told, job.engine, job.protocol)
    return replace(usual, churn=Settings().churn, schedule=chosen(universe, {}, job.engine).schedule)


def execute(
    universe: Store, job: Order, out: Path, *, overwrite: bool, session: AbstractContextManager[Session], phase: Phase
) -> Executed:
    """Run a job into a new store at `out`."""
    settings = settings_of(universe, job)
    manifest = Manifest(
        name=run_of(universe, job), made_by=f"simulate {job.protocol}", seed=job.seed, settings=settings
    )
    with drafted(out, manifest, overwrite=overwrite) as draft, session as spark:
        outcome = _simulate(job)(spark, universe, job, draft, phase)
        with phase("measure"):
            measures = measured(spark, outcome.tables, examined=job.fitness)
            write_table(draft, MEASURES, spark.createDataFrame(measures, struct_of(MEASURES)))
        rows = [(row["measure"], row["group"], row["value"]) for row in measures]
        rounds = job.settings.rounds if isinstance(job, Job) and job.settings.knowledge == "walks" else 0
        by_round = [INITIAL, *(stage_after(turn, rounds) for turn in range(1, rounds + 1))]
        if isinstance(job, Job):
            _refuse_deserted(rows, by_round if "rounds" in job.keep else [INITIAL, FINAL])
    document = {
        "run": manifest.name,
        "protocol": job.protocol,
        "engine": job.engine,
        "seed": job.seed,
        "nodes": outcome.nodes,
        "topics": outcome.topics,
        "subscriptions": outcome.subscriptions,
        "rounds": rounds,
        "settings": settings,
        "digest": outcome.digest,
        "again": command_of(universe, job),
        **outcome.events,
        **summary(rows, INITIAL, FINAL, by_round if "rounds" in job.keep else []),
        "out": str(out),
    }
    return Executed(document, rows)


def _simulate(job: Order) -> Simulate:
    others = ON_CONTENT if job.protocol == KATO else ON_RINGS
    return (SIMULATE if isinstance(job, Job) else others)[job.engine]


def _refuse_deserted(rows: list[Row], stages: list[str]) -> None:
    """Churn can be such that there is nobody to measure."""
    there = {group for measure, group, _ in rows if measure == "lvs.mean"}
    for stage in stages:
        if stage not in there:
            raise RunError(f"no node is there at stage {stage}, so nothing is kept; use less churn, or more nodes.")

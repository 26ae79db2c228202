"""`ropewalk simulate PROTOCOL DIR`: run a protocol on a stored universe, store the tables, show the numbers."""

from dataclasses import fields
from pathlib import Path
from typing import Any, cast

import click

from ropewalk.cli import options
from ropewalk.cli.runs import (
    SHOWN,
    carry_out,
    kept_of,
    of_runs,
    refuse_idle,
    refuse_kept_of_rings,
    refuse_of_events,
    told_to,
)
from ropewalk.engines.contract import KEEPS, Engine, Keep
from ropewalk.engines.job import Job, Order
from ropewalk.errors import UsageError
from ropewalk.experiments.run import FROM_WORKLOAD, ordered
from ropewalk.protocols.catalogue import PROTOCOLS, Entry, find
from ropewalk.protocols.dht.runs import OfRuns
from ropewalk.protocols.kato.settings import Settings as KatoSettings
from ropewalk.protocols.magnet.settings import Settings as MagnetSettings
from ropewalk.protocols.stan.settings import NAME, STRICT, WALKING, Settings
from ropewalk.tables.schema import SUBSCRIPTIONS
from ropewalk.tables.store import Store

OF_ENGINES = {  # what is usual is not the same everywhere
    "schedule": "sync; timed with --engine sim, the only one that can",
    "manager": "given; scamp with --engine sim where nodes come and go, or --discover; batch has no other",
    "period": "30, with --engine sim",
}
KNOWN = "; ".join(f"{entry.name}: {entry.sentence}" for entry in PROTOCOLS.values())


@click.command(epilog=f"Protocols: {KNOWN}. Example: ropewalk simulate stan universe --rounds 8 --keep rounds --json")
@click.argument("protocol")
@click.argument("folder", metavar="DIR", type=options.FOLDER)
@click.option(
    "--engine",
    default="batch",
    show_default=True,
    help="What carries the protocol out: batch (Spark, whole rounds) or sim (every message, in one process).",
)
@options.seed
@options.each(options.of_fields(Settings(), dict.fromkeys(FROM_WORKLOAD, "as the workload says") | OF_ENGINES))
@options.each(options.of_fields(MagnetSettings(), without=[each.name for each in fields(OfRuns)]))
@options.each(
    options.of_fields(
        KatoSettings(),
        {"space": "as the workload says", "cover": "bits; cells with --engine sim"},
        without=[each.name for each in fields(OfRuns)],
    )
)
@click.option("--strict", is_flag=True, help="Insist on the protocol as printed: refuse what was added to it.")
@click.option(
    "--partitions",
    type=click.IntRange(1, 100_000),
    help="Tasks to cut the work of engine batch into; changes no result.",
)
@of_runs(
    publish="Events to publish, with --engine sim; kato in batch, too.",
    keep=f"Write or count more: {', '.join(KEEPS)} (crashes with batch only).",
)
def command(
    protocol: str,
    folder: Path,
    engine: str,
    seed: int,
    strict: bool,
    keep: str,
    publish: int,
    topics_per_event: int | None,
    fitness: bool,
    partitions: int | None,
    **told: Any,
) -> None:
    """Run a protocol on a workload (the store DIR), store its tables, show its numbers."""
    shown = {name: told.pop(name) for name in SHOWN}
    entry = _entry(protocol, engine)
    told = told_to(entry, told)
    engine = cast("Engine", engine)
    universe = Store.open(folder)
    universe.folder_of(SUBSCRIPTIONS)
    order = ordered(
        universe,
        protocol,
        engine,
        told,
        seed=seed,
        keep=kept_of(keep),
        fitness=fitness,
        partitions=partitions,
        events=publish,
        topics_per_event=topics_per_event or 1,
    )
    if isinstance(order, Job):
        _refuse_of_walks(order, told, entry, strict=strict)
    else:
        _refuse_of_rings(order, told, strict=strict)
        refuse_kept_of_rings(order, fitness=fitness)
        refuse_idle(order, told)
    refuse_of_events(order, topics_per_event)
    carry_out(universe, order, **shown)


def _entry(protocol: str, engine: str) -> Entry:
    if engine == "live":
        raise UsageError("engine live is real nodes on this machine: say `ropewalk cluster` for that.")
    return find(protocol, engine)


def _refuse_of_walks(job: Job, told: dict[str, Any], entry: Entry, *, strict: bool) -> None:
    settings, protocol = job.settings, job.protocol
    if settings.schedule not in entry.schedules:
        raise UsageError(
            f"--schedule {settings.schedule} makes no sense with {protocol}, whose nodes have timers of their own; drop it."
        )
    if strict and protocol != NAME:
        raise UsageError(f"--strict is about {NAME} as printed, and plays no part in {protocol}; drop it.")
    if strict:
        _refuse_additions(settings)
    _refuse_idle(settings, {name for name, value in told.items() if value is not None}, job.keep)
    (_refuse_of_batch if job.engine == "batch" else _refuse_of_sim)(job, told)


def _refuse_of_rings(order: Order, told: dict[str, Any], *, strict: bool) -> None:
    if strict:
        raise UsageError(f"--strict plays no part in {order.protocol}; drop it.")
    if order.engine == "batch":
        for each in fields(OfRuns):
            if told.get(each.name) is not None:
                raise UsageError(
                    f"--{each.name} needs nodes with timers, which engine batch has not; add --engine sim."
                )
    elif order.partitions is not None:
        raise UsageError("--partitions is for engine batch only; drop it, or --engine sim.")


def _refuse_additions(settings: Settings) -> None:
    for name, printed in STRICT.items():
        if getattr(settings, name) != printed:
            value = getattr(settings, name)
            said = f"--{name}" if value is True else f"--{name} {value}"
            raise UsageError(f"--strict allows no {said}: that is not the printed protocol; drop one.")


def _refuse_idle(settings: Settings, told: set[str], keep: frozenset[Keep]) -> None:
    """What would be told in vain."""
    if settings.knowledge == "everything":
        idle = [f"--{name}" for name in WALKING if name in told]
        idle += [f"--keep {kept}" for kept in ("rounds", "traffic") if kept in keep]
        if idle:
            raise UsageError(f"{idle[0]} plays no part with --knowledge everything: nobody walks; drop one.")
    if "slowest" in told and not settings.adaptive:
        raise UsageError("--slowest plays no part without --adaptive; add it, or drop --slowest.")


def _refuse_of_batch(job: Job, told: dict[str, Any]) -> None:
    if job.settings.schedule == "timed" or job.settings.manager != "given":
        what = "--schedule timed" if job.settings.schedule == "timed" else f"--manager {job.settings.manager}"
        raise UsageError(f"{what} needs nodes with timers, which engine batch has not; add --engine sim.")
    if told["period"] is not None:
        raise UsageError(
            "--period plays no part in engine batch, where rounds take no time; drop it, or add --engine sim."
        )


def _refuse_of_sim(job: Job, told: dict[str, Any]) -> None:
    settings = job.settings
    of_batch = {
        "--knowledge everything": settings.knowledge == "everything",
        "--keep crashes": "crashes" in job.keep,
        "--partitions": job.partitions is not None,
    }
    for what, told_so in of_batch.items():
        if told_so:
            raise UsageError(f"{what} is for engine batch only; drop it, or --engine sim.")
    if settings.manager == "scamp" and told["overlay"] is not None:
        raise UsageError("--overlay plays no part with --manager scamp, which makes views itself; drop one.")
    if settings.discover and settings.manager != "scamp":
        raise UsageError(
            f"--discover goes with --manager scamp: with {settings.manager} nodes are handed whole views; drop one."
        )
    if settings.schedule != "timed" and settings.manager != "given":
        raise UsageError(f"--manager {settings.manager} needs --schedule timed: rounds from outside leave it no time.")
    if settings.schedule != "timed" and told["period"] is not None:
        raise UsageError(f"--period plays no part with --schedule {settings.schedule}; drop one.")

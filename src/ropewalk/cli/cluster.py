"""`ropewalk cluster DIR`: a workload's nodes as real nodes on this machine, with TLS on real sockets; then the measures."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

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
from ropewalk.cli.talk import say
from ropewalk.engines.job import Job, Order
from ropewalk.engines.live.faults import faults_of
from ropewalk.errors import RunError, UsageError
from ropewalk.experiments.run import FROM_WORKLOAD, LIVE_PERIOD, ordered
from ropewalk.protocols.catalogue import ON_SOCKETS, find_live
from ropewalk.protocols.dht.runs import OfRuns
from ropewalk.protocols.kato.settings import Settings as KatoSettings
from ropewalk.protocols.magnet.settings import Settings as MagnetSettings
from ropewalk.protocols.stan.settings import NAME, Settings
from ropewalk.tables.machine import cores
from ropewalk.tables.schema import SUBSCRIPTIONS
from ropewalk.tables.store import Store

MADE_UP = ("schedule", "loss", "churn", "knowledge")  # what only a simulation has a say in
USUALLY = dict.fromkeys(FROM_WORKLOAD, "as the workload says") | {
    "manager": "given; scamp with --discover",
    "period": f"{LIVE_PERIOD:g}",
}


@click.command(
    epilog="Example: ropewalk cluster town --publish 200 --topics-per-event 2. Faults, in periods: kill:30%@8, freeze:10%@8+2,"
    " and with --discover partition:50%@8+6, restart@8; several with commas between."
)
@click.argument("folder", metavar="DIR", type=options.FOLDER)
@options.seeded("The same first neighbours, events and victims; not the same moments.")
@click.option("--protocol", default=NAME, show_default=True, help=f"What nodes speak: {', '.join(ON_SOCKETS)}.")
@options.each(options.of_fields(Settings(), USUALLY, MADE_UP))
@options.each(options.of_fields(MagnetSettings(), without=[each.name for each in fields(OfRuns)]))
@options.each(
    options.of_fields(
        KatoSettings(), {"space": "as the workload says", "cover": "cells"}, [each.name for each in fields(OfRuns)]
    )
)
@click.option(
    "--processes",
    type=click.IntRange(1, 256),
    help="Over which nodes are spread.  [default: as many as there are cores; one a node with --faults]",
)
@click.option("--faults", metavar="A,B", default="", help="What is to go wrong, and when.")
@click.option(
    "--telemetry",
    type=options.FOLDER,
    help="Keep what nodes say of themselves here, to be replayed: ropewalk dashboard.",
)
@click.option(
    "--dashboard",
    type=click.IntRange(0, 65_535),
    metavar="PORT",
    help="Show it in the browser meanwhile; 0 is any port that is free.",
)
@of_runs(publish="Events to publish.", keep="Write or count more: rounds, traffic, links, connections.")
def command(
    folder: Path,
    seed: int,
    protocol: str,
    processes: int | None,
    publish: int,
    topics_per_event: int | None,
    faults: str,
    telemetry: Path | None,
    dashboard: int | None,
    keep: str,
    fitness: bool,
    **told: Any,
) -> None:
    """Run the nodes of a workload as real nodes on this machine (the store DIR): TLS, TCP, timers, processes.

    The seed decides first neighbours, events and victims; what happens in between is up to the machine, and never twice the same.
    """
    shown = {name: told.pop(name) for name in SHOWN}
    universe = Store.open(folder)
    universe.folder_of(SUBSCRIPTIONS)
    told = told_to(find_live(protocol), told)
    job = ordered(
        universe,
        protocol,
        "live",
        told,
        seed=seed,
        keep=kept_of(keep),
        fitness=fitness,
        events=publish,
        topics_per_event=topics_per_event or 1,
        processes=processes or cores(),
        faults=faults,
        telemetry=telemetry,
    )
    _refuse(job, processes, topics_per_event)
    if job.settings.rounds < 1:
        raise UsageError(f"--rounds {job.settings.rounds} leaves {protocol} no time to be looked at; use 1 or more.")
    if isinstance(job, Job):
        _refuse_of_managers(job, told)
    else:
        refuse_kept_of_rings(job, fitness=fitness)
        refuse_idle(job, told)
    if telemetry is not None:
        _make_room(telemetry)
    with _shown_at(dashboard, job) as watched:
        carry_out(universe, watched, **shown)


@contextmanager
def _shown_at(port: int | None, job: Order) -> Iterator[Order]:
    """Have nodes shown in the browser as long as this lasts."""
    if port is None:
        yield job
        return
    try:
        running = import_module("ropewalk.dashboard.running")
    except ModuleNotFoundError as error:
        raise UsageError(
            f"--dashboard needs {error.name}, which is in the extra `dashboard`; pip install 'ropewalk[dashboard]'."
        ) from error
    with TemporaryDirectory(prefix="ropewalk-dashboard-") as folder:
        watched = job if job.telemetry is not None else replace(job, telemetry=Path(folder))
        served = running.Served(running.Place(port=port, token=running.fresh_token()))
        with running.Beside(served, running.of_cluster(watched.telemetry, job.protocol, job.settings)):
            say(f"dashboard, as long as nodes run: {served.url}")
            yield watched


def _make_room(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        taken = next(folder.glob("*.jsonl"), None)
    except OSError as error:
        raise RunError(f"telemetry cannot be kept in {folder}: {error.strerror}.") from None
    if taken is not None:
        raise UsageError(f"--telemetry {folder} has telemetry in it already ({taken.name}); give another folder.")


def _refuse(job: Order, processes: int | None, topics_per_event: int | None) -> None:
    settings = job.settings
    refuse_of_events(job, topics_per_event)
    planned = faults_of(job.faults)
    late = [fault for fault in planned if fault.at + fault.lasts >= settings.rounds]
    if late:
        raise UsageError(
            f"a {late[0].kind} at {late[0].at:g} ends after the last of {settings.rounds} rounds; use more, or have it earlier."
        )
    if processes is not None and any(fault.kind != "partition" for fault in planned):
        raise UsageError(
            "--processes plays no part where nodes are killed, frozen or restarted: each has its own; drop it."
        )
    if "crashes" in job.keep:
        raise UsageError("--keep crashes is for engine batch only; say --faults kill:30%@8 for real ones.")


def _refuse_of_managers(job: Job, told: dict[str, Any]) -> None:
    settings = job.settings
    if settings.manager == "scamp" and not settings.discover:
        raise UsageError(
            "--manager scamp goes with --discover in a cluster: that is how nodes find whom to ask; add it."
        )
    if settings.discover and settings.manager != "scamp":
        raise UsageError(
            f"--discover goes with --manager scamp: with {settings.manager} nodes are handed whole views; drop one."
        )
    if any(fault.kind in ("restart", "partition") for fault in faults_of(job.faults)) and not settings.discover:
        raise UsageError("nodes that come back, or were parted, must find others again: add --discover.")
    if settings.discover and told["overlay"] is not None:
        raise UsageError("--overlay plays no part with --discover: SCAMP makes views itself; drop one.")

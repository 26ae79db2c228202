"""What the verbs that run a workload have in common: options, and how a run is carried out and shown."""

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from ropewalk.cli import options
from ropewalk.cli.spark import spark_for
from ropewalk.cli.table import show_run
from ropewalk.cli.talk import Talk, opening_line, say, show_json
from ropewalk.engines.contract import FINAL, INITIAL, KEEPS, Keep
from ropewalk.engines.job import Order
from ropewalk.errors import UsageError
from ropewalk.experiments.run import Executed, execute, settings_of, usual_place
from ropewalk.protocols.catalogue import Entry
from ropewalk.protocols.dissemination.settings import MOST_TOPICS
from ropewalk.protocols.kato.settings import NAME as KATO
from ropewalk.report.page import refuse_unwritable, write_report
from ropewalk.tables.store import Store

Command = TypeVar("Command", bound=Callable[..., Any])
LEAST_ROUNDS = 5
MOST_EVENTS = 10_000_000
SHOWN = ("out", "overwrite", "report", "master", "as_json")  # what `carry_out` is told


def of_runs(publish: str, keep: str) -> Callable[[Command], Command]:
    """Events, what is kept and shown, and where; `publish` and `keep` are what their helps say."""
    return options.each(
        [
            click.option("--publish", metavar="N", type=click.IntRange(0, MOST_EVENTS), default=0, help=publish),
            click.option(
                "--topics-per-event",
                metavar="M",
                type=click.IntRange(1, MOST_TOPICS),
                help="How many of its publisher's topics an event is on, at the most.  [default: 1]",
            ),
            click.option("--keep", default="", metavar="A,B", help=keep),
            click.option("--fitness/--no-fitness", default=True, show_default=True, help="Examine every overlay."),
            click.option(
                "--out", type=options.FOLDER, help="Folder to make.  [default: runs/RUN, in place of the same run]"
            ),
            options.overwrite,
            click.option("--report", type=options.FOLDER, help="Also write an HTML page here."),
            options.common,
        ]
    )


def carry_out(
    universe: Store,
    job: Order,
    *,
    out: Path | None,
    overwrite: bool,
    report: Path | None,
    master: str | None,
    as_json: bool,
) -> None:
    """Run a job, store its tables, show its numbers."""
    place = out if out is not None else usual_place(universe, job)
    if report is not None:
        refuse_unwritable(report)
    opening_line(job.seed, settings_of(universe, job), place)
    talk = Talk()
    session = spark_for(talk, master)
    overwrite = overwrite or out is None  # in its usual place a run replaces nothing but itself
    run = execute(universe, job, place, overwrite=overwrite, session=session, phase=talk.phase)
    if "connections" in job.keep:
        _say_what_was_not_examined(run)
    if job.engine == "live" and not job.faults and run.document.get("missed"):
        say(
            "nothing was to go wrong, and yet events were missed: too many nodes for this machine, or for what else runs on it?"
        )
    if report is not None:
        write_report(report, run.document, run.rows)
        say(f"report: {report}")
    if as_json:
        show_json(run.document | {"seconds": talk.seconds})
    else:
        show_run(run.document)


def kept_of(said: str) -> frozenset[Keep]:
    """What `--keep` names."""
    wanted = [word for word in said.split(",") if word]
    for word in wanted:
        if word not in KEEPS:
            raise UsageError(f"--keep names {word!r}, but can only name: {', '.join(KEEPS)}.")
    return frozenset(cast("list[Keep]", wanted))


def told_to(entry: Entry, told: dict[str, Any]) -> dict[str, Any]:
    """Of all that can be told, what is told to a protocol; what would be told in vain is refused."""
    known = {field.name for field in fields(entry.settings)} - set(entry.ignored)
    for name, value in told.items():
        if value is not None and name not in known:
            raise UsageError(f"--{name.replace('_', '-')} plays no part in {entry.name}; drop it.")
    return {name: told.get(name) for name in (field.name for field in fields(entry.settings))}


def refuse_kept_of_rings(order: Order, *, fitness: bool) -> None:
    """Of nodes on rings there is only what was sent to keep, where something was, and no overlay to be examined."""
    if not fitness:
        raise UsageError(f"--no-fitness plays no part in {order.protocol}; drop it.")
    for kept in sorted(order.keep - ({"traffic"} if order.engine != "batch" else set())):
        raise UsageError(f"--keep {kept} plays no part in {order.protocol} in engine {order.engine}; drop it.")


def refuse_idle(order: Order, told: dict[str, Any]) -> None:
    """Of settings that only arrays or only nodes have, those that are told to the others."""
    idle = {"batch": ("keeping", "nodes that hear of each other")}.get(order.engine, ("spread", "engine batch"))
    if order.protocol == KATO and told.get(idle[0]) is not None:
        raise UsageError(f"--{idle[0]} is for {idle[1]}, and plays no part in engine {order.engine}; drop it.")


def refuse_of_events(job: Order, topics_per_event: int | None) -> None:
    """What makes no sense about events."""
    settings = job.settings
    if topics_per_event is not None and not job.events:
        raise UsageError("--topics-per-event plays no part without --publish; add it, or drop --topics-per-event.")
    if job.engine == "batch":
        _refuse_in_batch(job, topics_per_event)
        return
    if job.events and settings.schedule != "timed":
        raise UsageError(f"--publish needs --schedule timed: with {settings.schedule} nothing takes time; drop one.")
    if job.events and settings.rounds <= LEAST_ROUNDS:
        raise UsageError(
            f"--publish with --rounds {settings.rounds} leaves no time for events: three rounds pass until all are settled,"
            f" two to get what was lost; use more than {LEAST_ROUNDS}."
        )


def _refuse_in_batch(job: Order, topics_per_event: int | None) -> None:
    if job.events and job.protocol != KATO:
        raise UsageError("--publish needs nodes that send messages; add --engine sim.")
    if topics_per_event is not None and job.protocol == KATO:
        raise UsageError(f"--topics-per-event plays no part in {KATO}: an event is in one cell; drop it.")


def _say_what_was_not_examined(run: Executed) -> None:
    examined = {group for measure, group, _ in run.rows if measure == "physical.components"}
    for stage in (INITIAL, FINAL):
        if stage not in examined and run.document["lvs"][stage]["max"] > 0:
            say(
                f"the graph of all connections at stage {stage} is too large to be examined as a whole; the table has it."
            )

"""`ropewalk simulate PROTOCOL DIR`: run a protocol on a stored universe, store the tables, show the numbers."""

from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import click

from ropewalk.cli import options
from ropewalk.cli.spark import spark_for
from ropewalk.cli.table import show_run
from ropewalk.cli.talk import Talk, opening_line, say, show_json
from ropewalk.engines.batch.run import Job, run_of, simulate
from ropewalk.engines.contract import KEEPS, Keep, stages_in_order
from ropewalk.errors import UsageError
from ropewalk.measures.fitness import fitness
from ropewalk.measures.holdings import holdings
from ropewalk.measures.summary import Row, summary
from ropewalk.protocols.catalogue import find
from ropewalk.protocols.stan.settings import OVERLAYS, Overlay, Settings
from ropewalk.report.page import refuse_unwritable, write_report
from ropewalk.tables.frames import write_table
from ropewalk.tables.schema import MEASURES, SUBSCRIPTIONS
from ropewalk.tables.store import Manifest, Store, drafted


@click.command()
@click.argument("protocol")
@click.argument("folder", metavar="DIR", type=options.FOLDER)
@click.option("--engine", default="batch", show_default=True, help="What carries the protocol out.")
@options.seed
@click.option("--rounds", type=int, default=8, show_default=True, help="How often every node walks.")
@click.option("--ttl", type=int, default=5, show_default=True, help="A walk visits one node more than this.")
@click.option("--overlay", type=click.Choice(OVERLAYS), help="Initial overlays.  [default: as the workload says]")
@click.option(
    "--connectivity", type=float, help="Probability that an overlay is connected.  [default: as the workload says]"
)
@click.option("--keep", default="", metavar="A,B", help=f"Write more tables: {', '.join(KEEPS)}.")
@click.option("--partitions", type=click.IntRange(1, 100_000), help="Tasks to cut the work into; changes no result.")
@click.option("--out", type=options.FOLDER, help="Folder to make.  [default: runs/RUN, replaced if it is there]")
@options.overwrite
@click.option("--report", type=options.FOLDER, help="Also write an HTML page here.")
@options.common
def command(
    protocol: str,
    folder: Path,
    engine: str,
    seed: int,
    rounds: int,
    ttl: int,
    overlay: Overlay | None,
    connectivity: float | None,
    keep: str,
    partitions: int | None,
    out: Path | None,
    overwrite: bool,
    report: Path | None,
    master: str | None,
    as_json: bool,
) -> None:
    r"""Run PROTOCOL on the workload in DIR.

    \b
    Example:  ropewalk simulate stan universe --rounds 8 --keep rounds --json
    """
    find(protocol, engine)
    universe = Store.open(folder)
    universe.folder_of(SUBSCRIPTIONS)
    told = {"overlay": overlay, "connectivity": connectivity}
    chosen = universe.manifest.defaults | {name: value for name, value in told.items() if value is not None}
    settings = Settings(rounds=rounds, ttl=ttl, **chosen)
    job = Job(settings=settings, seed=seed, keep=_kept(keep), partitions=partitions)
    if report is not None:
        refuse_unwritable(report)
    talk = Talk()
    document, rows = execute(universe, job, out, overwrite=overwrite, master=master, talk=talk)
    if report is not None:
        write_report(report, document, rows)
        say(f"report: {report}")
    if as_json:
        show_json(document)
    else:
        show_run(document)


def execute(
    universe: Store, job: Job, out: Path | None, *, overwrite: bool, master: str | None, talk: Talk
) -> tuple[dict[str, Any], list[Row]]:
    """Run a job, measure it and store all of it: the JSON document, and every measure."""
    run = run_of(universe, job)
    target = out or Path("runs") / run
    settings = {"protocol": "stan", "engine": "batch", "universe": universe.manifest.name} | asdict(job.settings)
    opening_line(job.seed, settings, target)
    manifest = Manifest(name=run, made_by="simulate stan", seed=job.seed, settings=settings)
    replace = overwrite or out is None  # the same run gives the same tables: replacing them loses nothing
    with drafted(target, manifest, overwrite=replace) as draft, spark_for(talk, master) as spark:
        outcome = simulate(spark, universe, job, draft, talk.phase)
        with talk.phase("measure"):
            measured = holdings(outcome.tables["views"]).unionByName(fitness(outcome.tables["overlays"]))
            measures = write_table(draft, MEASURES, measured)
            rows = [(row["measure"], row["group"], row["value"]) for row in measures.collect()]
    document = {
        "run": run,
        "protocol": "stan",
        "engine": "batch",
        "seed": job.seed,
        "nodes": outcome.nodes,
        "topics": outcome.topics,
        "subscriptions": outcome.subscriptions,
        "rounds": job.settings.rounds,
        "settings": settings,
        "digest": outcome.digest,
        **summary(rows, stages_in_order(job.settings.rounds)),
        "out": str(target),
        "seconds": talk.seconds,
    }
    return document, rows


def _kept(said: str) -> frozenset[Keep]:
    wanted = [word for word in said.split(",") if word]
    for word in wanted:
        if word not in KEEPS:
            raise UsageError(f"--keep names {word!r}, but can only name: {', '.join(KEEPS)}.")
    return frozenset(cast("list[Keep]", wanted))

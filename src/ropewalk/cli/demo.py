"""`ropewalk demo`: the whole thread once, on a made-up universe, with a report at the end."""

from pathlib import Path

import click

from ropewalk.cli import options
from ropewalk.cli.spark import spark_for
from ropewalk.cli.table import show_run
from ropewalk.cli.talk import Talk, opening_line, show_json
from ropewalk.engines.job import Job
from ropewalk.experiments.run import chosen, execute
from ropewalk.experiments.workload import make_workload, settings_of
from ropewalk.report.page import refuse_unwritable, write_report
from ropewalk.tables.store import Store
from ropewalk.workloads.grid import SETS
from ropewalk.workloads.rates import Rates


@click.command()
@options.seed
@click.option("--out", type=options.FOLDER, default=Path("ropewalk-demo"), show_default=True, help="Folder to fill.")
@options.common
def command(seed: int, out: Path, master: str | None, as_json: bool) -> None:
    """Generate a universe, align it with StaN on embedded Spark, and write a report."""
    model, report = SETS["G"], out / "report.html"
    opening_line(seed, settings_of(model, Rates()), out)
    talk = Talk()
    refuse_unwritable(report)
    with spark_for(talk, master):
        place, session = out / "universe", spark_for(talk, master)
        make_workload(model, seed, place, overwrite=True, session=session, phase=talk.phase)
        universe = Store.open(place)
        job = Job(settings=chosen(universe, {}), seed=seed, keep=frozenset({"rounds"}))
        session = spark_for(talk, master)
        run = execute(universe, job, out / "run", overwrite=True, session=session, phase=talk.phase)
    write_report(report, run.document, run.rows)
    if as_json:
        show_json(run.document | {"report": str(report), "seconds": talk.seconds})
        return
    show_run(run.document)
    print()
    print(f"report: {report}")
    before_after = (
        f"{name} {run.document[held]['initial']['mean']:.1f} -> {run.document[held]['final']['mean']:.1f}"
        for held, name in (("lvs", "LVS"), ("pvs", "PVS"), ("connections", "connections"))
    )
    print(f"per node, before -> after: {', '.join(before_after)}")

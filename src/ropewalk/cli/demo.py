"""`ropewalk demo`: the whole thread once, on a made-up universe, with a report at the end."""

from pathlib import Path

import click

from ropewalk.cli import options
from ropewalk.cli.generate import make
from ropewalk.cli.simulate import execute
from ropewalk.cli.spark import spark_for
from ropewalk.cli.table import show_run
from ropewalk.cli.talk import Talk, show_json
from ropewalk.engines.batch.run import Job
from ropewalk.protocols.stan.settings import Settings
from ropewalk.report.page import write_report
from ropewalk.tables.store import Store
from ropewalk.workloads.grid import SETS


@click.command()
@options.seed
@click.option("--out", type=options.FOLDER, default=Path("ropewalk-demo"), show_default=True, help="Folder to fill.")
@options.common
def command(seed: int, out: Path, master: str | None, as_json: bool) -> None:
    """Generate a universe of 1000 nodes and 100 topics, align it with StaN on embedded Spark, and write a report."""
    talk = Talk()
    with spark_for(talk, master):
        make(SETS["G"], seed, out / "universe", overwrite=True, master=master, talk=talk)
        universe = Store.open(out / "universe")
        settings = Settings(**universe.manifest.defaults)
        job = Job(settings=settings, seed=seed, keep=frozenset({"rounds"}))
        document, rows = execute(universe, job, out / "run", overwrite=True, master=master, talk=talk)
    report = out / "report.html"
    write_report(report, document, rows)
    document["report"] = str(report)
    if as_json:
        show_json(document)
        return
    show_run(document)
    print()
    print(f"report: {report}")
    before_after = (
        f"{name} {document[held]['initial']['mean']:.1f} -> {document[held]['final']['mean']:.1f}"
        for held, name in (("lvs", "LVS"), ("pvs", "PVS"), ("connections", "connections"))
    )
    print(f"per node, before -> after: {', '.join(before_after)}")

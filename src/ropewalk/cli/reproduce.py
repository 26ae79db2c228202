"""`ropewalk reproduce [ID ...]`: measure what papers claim, judge each claim by its tolerance, and show what came out."""

import logging
import shlex
import tempfile
from pathlib import Path

import click
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from ropewalk.cli import options
from ropewalk.cli.spark import spark_for
from ropewalk.cli.talk import Talk, opening_line, say, show_json
from ropewalk.errors import RopewalkError, RunError, UsageError
from ropewalk.papers.catalogue import CLAIMS, chosen
from ropewalk.papers.contract import HOLDS, NOT_COMPARABLE, SCALES, Claim, Finding, Scale, find
from ropewalk.papers.lab import Lab, folder_of_traces
from ropewalk.report.claims import PAGE, RESULTS, documents, write_results
from ropewalk.report.page import refuse_unwritable
from ropewalk.tables.machine import cores

DID_NOT_HOLD = 1  # the exit code, also where a claim holds in part: something published did not come out
UNMEASURED = (
    RopewalkError,
    ArithmeticError,
    LookupError,
    TypeError,
    ValueError,
)  # of one claim; what Spark raises ends all


@click.command(
    epilog=f"Claims: {', '.join(CLAIMS)}. The exit code is 0 if all hold or cannot be compared, 1 if one does not hold, or"
    " only in part, and 4 if one could not be measured. Example: ropewalk reproduce A-T2 B-F6a --out results"
)
@click.argument("ids", metavar="[ID]...", nargs=-1)
@click.option(
    "--scale",
    type=click.Choice(SCALES),
    default="small",
    show_default=True,
    help="Minutes on two cores, or as many runs and as large as published.",
)
@options.seed
@click.option(
    "--data",
    type=options.FOLDER,
    envvar="ROPEWALK_DATA",
    help="Folder of public traces.  [default: ROPEWALK_DATA, or none]",
)
@click.option("--out", type=options.FOLDER, help="Folder for results.json, a figure per claim, and report.html.")
@options.overwrite
@options.common
def command(
    ids: tuple[str, ...],
    scale: Scale,
    seed: int,
    data: Path | None,
    out: Path | None,
    overwrite: bool,
    master: str | None,
    as_json: bool,
) -> int:
    """Measure what papers claim, and say what holds. All claims, or those whose ids are given."""
    claims, traces = chosen(ids), folder_of_traces(data)
    if out is not None:
        _refuse_place(out, overwrite)
    settings = {"claims": [claim.id for claim in claims], "scale": scale, "data": traces is not None}
    opening_line(seed, settings, out or "none")
    given = [] if traces is None else ["--data", str(traces)]
    again = shlex.join(["ropewalk", "reproduce", *ids, "--scale", scale, "--seed", str(seed), *given])
    talk, findings, failed = Talk(), list[Finding](), list[str]()
    with tempfile.TemporaryDirectory(prefix="ropewalk-reproduce-") as folder, spark_for(talk, master) as spark:
        if scale == "small":  # some thousand nodes: more partitions are only overhead, and change no result
            spark.conf.set("spark.sql.shuffle.partitions", str(2 * cores()))
        lab = Lab(spark=spark, folder=Path(folder), phase=talk.step, seed=seed, data=traces)
        for claim in claims:
            try:
                findings.append(_found(claim, lab, scale, talk))
            except UNMEASURED as error:  # the others can still be told
                logging.getLogger(__name__).exception(claim.id)
                sentence = error if isinstance(error, RopewalkError) else f"unexpected {type(error).__name__}: {error}"
                say(f"{claim.id} could not be measured: {sentence}")
                failed.append(claim.id)
                continue
            if out is not None:  # what is found so far is worth keeping, whatever becomes of the rest
                write_results(out, findings, again)
    if as_json:
        show_json(documents(findings) if out is not None else [finding.document() for finding in findings])
    else:
        _show(findings)
    if out is not None and findings:
        say(f"report: {out / PAGE}")
    if failed:
        raise RunError(f"{', '.join(failed)} could not be measured, as said above; --debug shows more.")
    return DID_NOT_HOLD if any(finding.verdict not in (HOLDS, NOT_COMPARABLE) for finding in findings) else 0


def _refuse_place(out: Path, overwrite: bool) -> None:
    refuse_unwritable(out / PAGE)
    if (out / RESULTS).exists() and not overwrite:
        raise UsageError(f"{out} has results already; choose another folder, or add --overwrite.")


def _found(claim: Claim, lab: Lab, scale: Scale, talk: Talk) -> Finding:
    with talk.phase(claim.id):
        finding = find(claim, lab, scale)
    say(f"{claim.id} {finding.verdict}")
    return finding


def _show(findings: list[Finding]) -> None:
    table = Table(box=SIMPLE)
    for column in ("claim", "verdict"):
        table.add_column(column, no_wrap=True)
    table.add_column("what came out")
    for finding in findings:
        table.add_row(finding.claim.id, finding.verdict, f"{finding.claim.sentence}\n{finding.why}\n")
    Console(highlight=False).print(table)

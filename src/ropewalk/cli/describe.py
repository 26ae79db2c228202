"""`ropewalk describe DIR`: what a stored universe looks like, as a table, one JSON document, or a page."""

from pathlib import Path
from typing import Any

import click
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from ropewalk.cli import options
from ropewalk.cli.spark import spark_for
from ropewalk.cli.talk import Talk, opening_line, say, show_json
from ropewalk.experiments.describe import SPREAD, describe, settings_of
from ropewalk.report.page import refuse_unwritable
from ropewalk.report.universe import write_description
from ropewalk.tables.schema import SUBSCRIPTIONS
from ropewalk.tables.store import Store
from ropewalk.universes.overlap import DRAWS


@click.command(epilog="Example: ropewalk describe universe --report universe.html")
@click.argument("folder", metavar="DIR", type=options.FOLDER)
@click.option(
    "--draws",
    type=click.IntRange(1, 1_000_000),
    default=DRAWS,
    show_default=True,
    help="Pairs of nodes to estimate the overlap from.",
)
@options.seed
@click.option("--report", type=options.FOLDER, help="Also write an HTML page here.")
@options.common
def command(folder: Path, draws: int, seed: int, report: Path | None, master: str | None, as_json: bool) -> None:
    """Say what a universe looks like: how subscriptions are spread, correlated and shared."""
    universe = Store.open(folder)
    universe.folder_of(SUBSCRIPTIONS)
    if report is not None:
        refuse_unwritable(report)
    opening_line(seed, settings_of(universe, draws), report or "none")
    talk = Talk()
    found = describe(universe, seed, draws=draws, session=spark_for(talk, master), phase=talk.phase)
    if report is not None:
        write_description(report, found)
        say(f"report: {report}")
    if as_json:
        show_json(found.document | {"seconds": talk.seconds})
    else:
        show_description(found.document)


def show_description(document: dict[str, Any]) -> None:
    """The document as tables on the terminal."""
    console = Console(highlight=False)
    sizes = f"{document['nodes']} nodes, {document['topics']} topics, {document['subscriptions']} subscriptions"
    console.print(f"{document['universe']}: {sizes}", soft_wrap=True)
    console.print(_spread(document))
    for name, words in SPREAD.items():
        console.print(f"{words}: {document[name]['power_law']['sentence']}", soft_wrap=True)
    console.print(_correlation(document))
    compared = [_compared(document[f"{what}_correlation"], f"{what}s") for what in ("topic", "node")]
    console.print(f"  of all pairs among {' and '.join(compared)}", soft_wrap=True)
    console.print(_overlap(document["overlap"]))


def _table(*columns: str) -> Table:
    table = Table(box=SIMPLE)
    table.add_column(columns[0])
    for column in columns[1:]:
        table.add_column(column, justify="right", no_wrap=True)
    return table


def _spread(document: dict[str, Any]) -> Table:
    table = _table("", "mean", "median", "p90", "p99", "max", "min")
    for name, words in SPREAD.items():
        of = document[name]
        percentiles = (f"{of[point]:.0f}" for point in ("median", "p90", "p99", "max", "min"))
        table.add_row(words, f"{of['mean']:.2f}", *percentiles)
    return table


def _correlation(document: dict[str, Any]) -> Table:
    topics, nodes = document["topic_correlation"], document["node_correlation"]
    table = _table("correlation", "value", "standard error")
    if "mean" in topics:
        table.add_row("of two topics, mean", *_with_error(topics["mean"], exact=topics["exact"]))
        table.add_row("of two topics, mean of |r|", *_with_error(topics["mean_absolute"], exact=topics["exact"]))
        for bound, share in topics["above"].items():
            table.add_row(f"pairs of topics above {bound}", *_percent(share, exact=topics["exact"]))
    for level, share in nodes.get("significant", {}).items():
        table.add_row(f"pairs of nodes significant at {level} %", *_percent(share, exact=nodes["exact"]))
    return table


def _compared(of: dict[str, Any], what: str) -> str:
    return f"all {of[what]} {what}" if of["exact"] else f"{of[what]} of {of['of']} {what}"


def _overlap(overlap: dict[str, Any]) -> Table:
    table = _table(f"two who share a topic ({overlap['draws']} draws)", "value", "standard error")
    words = {
        "J": "J, mean Jaccard similarity",
        "J0": "J0, after rewiring",
        "J/J0": "J/J0",
        "J'": "J', without the shared topic",
        "J0'": "J0', likewise after rewiring",
    }
    for name, said in words.items():
        if overlap.get(name) is not None:
            table.add_row(said, *_with_error(overlap[name]))
    return table


def _with_error(of: dict[str, float], *, exact: bool = False) -> tuple[str, str]:
    return f"{of['value']:.4f}", "exact" if exact else f"{of['standard_error']:.4f}"


def _percent(of: dict[str, float], *, exact: bool) -> tuple[str, str]:
    return f"{of['value']:.2%}", "exact" if exact else f"{of['standard_error']:.2%}"

"""What was found, for people."""

from typing import Any

from rich.console import Console
from rich.table import Table


def fan(title: str, found: dict[str, dict[str, Any]]) -> Table:
    """One publisher's table: a row per system."""
    measures = list(dict.fromkeys(name for each in found.values() for name in each.get("best", {})))
    table = Table(title=title, title_justify="left")
    for heading in ("system", "TLS", *measures, "runs"):
        table.add_column(heading, justify="left" if heading in {"system", "TLS"} else "right")
    for name, each in found.items():
        tls = "1.3" if each["tls"] else "no"
        if "best" not in each:
            table.add_row(name, tls, f"not measured: {each['not measured']}")
            continue
        best, ratios = each["best"], each.get("of bare", {})
        cells = [_cell(best[measure], ratios.get(measure)) if measure in best else "" for measure in measures]
        table.add_row(name, tls, *cells, str(len(each["runs"])))
        for size, run in _lossy(each["runs"]):
            table.add_row(
                "", "", f"[dim]{size}: {run['lost']} of {run['events']} lost at {run['published_per_s']:,.0f}/s[/]"
            )
    return table


def _lossy(runs: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """By size, the first run that lost something."""
    found: dict[str, dict[str, Any]] = {}
    for run in runs:
        for size, each in run.items():
            if isinstance(each, dict) and each.get("lost_before"):
                found.setdefault(size, each["lost_before"][0])
    return list(found.items())


def _cell(value: float | None, ratio: float | None) -> str:
    if value is None:
        return "lost some"
    shown = f"{value:,.0f}" if value >= 100 else f"{value:.2f}"  # noqa: PLR2004
    return shown if ratio is None else f"{shown}\n({ratio:.3f})"


def show(*tables: Table) -> None:
    """On standard output, as wide as they need to be."""
    console = Console(width=200)
    for table in tables:
        console.print(table)

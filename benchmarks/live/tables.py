"""What was found, for people."""

from collections.abc import Callable
from typing import Any

from network import PARTS
from rich.console import Console
from rich.table import Table
from targets import Reached


def fan(title: str, found: dict[str, dict[str, Any]]) -> Table:
    """One publisher's table: a row per system."""
    measures = list(dict.fromkeys(name for each in found.values() for name in each.get("measures", {})))
    table = Table(title=title, title_justify="left")
    for heading in ("system", "TLS", *measures, "connections", "turns"):
        table.add_column(heading, justify="left" if heading in {"system", "TLS"} else "right")
    for name, each in found.items():
        tls = "1.3" if each["tls"] else "no"
        if "runs" not in each:
            table.add_row(name, tls, f"not measured: {each['not measured']}")
            continue
        ratios = each["of bare"]
        cells = [_cell(each["measures"].get(measure), ratios.get(measure)) for measure in measures]
        failed = [run["failed"] for run in each["runs"] if "failed" in run]
        held = f"{each['connections']:.1f}" if "connections" in each else ""
        table.add_row(name, tls, *cells, held, str(len(each["runs"]) - len(failed)))
        for why in failed:
            table.add_row("", "", f"[dim]a turn failed: {why}[/]")
        for size, run in _lossy(each["runs"]):
            table.add_row(
                "", "", f"[dim]{size}: {run['lost']} of {run['events']} lost at {run['published_per_s']:,.0f}/s[/]"
            )
    return table


def times(title: str, found: dict[str, dict[str, Any]]) -> Table:
    """What others do, as so many times what nodes do in the same turn."""
    table = Table(title=title, title_justify="left")
    others = {name: each for name, each in found.items() if each.get("of nodes")}
    measures = list(dict.fromkeys(measure for each in others.values() for measure in each["of nodes"]))
    for heading in ("system", *measures):
        table.add_column(heading, justify="left" if heading == "system" else "right")
    for name, each in others.items():
        ratios = each["of nodes"]
        table.add_row(name, *(f"{ratios[each]['median']:.2f}" if each in ratios else "" for each in measures))
    return table


def reached(targets: dict[str, Reached]) -> Table:
    """How nodes stand with what we set out to reach."""
    table = Table(title="What we set out to reach: 1 and above is reached", title_justify="left")
    for heading in ("part", "what", "ratio"):
        table.add_column(heading, justify="right" if heading == "ratio" else "left")
    for part, each in targets.items():
        for what, ratio in each.items():
            table.add_row(part, what, _reached(ratio))
    return table


def _reached(ratio: float | None) -> str:
    if ratio is None:
        return "[bold red]cannot be told: the other was not measured, or lost some[/]"
    return f"{ratio:.3f}" if ratio >= 1 else f"[bold red]{ratio:.3f}[/]"


def network(found: dict[str, Any]) -> Table:
    """A row per network."""
    title = (
        f"{found['nodes']} nodes, 16 topics, 5 followed by each, events of 1 KB; counted after {found['rounds']} walks"
    )
    table = Table(title=title, title_justify="left")
    for heading in ("network", *NETWORK):
        table.add_column(heading, justify="left" if heading == "network" else "right")
    for name, each in found["networks"].items():
        failed = each.get("failed")
        table.add_row(name, *([f"not measured: {failed}"] if failed else [value(each) for value in NETWORK.values()]))
    return table


NETWORK: dict[str, Callable[[dict[str, Any]], str]] = {
    "connections a node": lambda each: f"{each['connections_mean']:.1f}",
    "for overlays": lambda each: f"{each['linked_mean']:.1f}",
    "reach, 20 % crashed": lambda each: f"{each['reach_after_crash']:.7f}",
    "40 %": lambda each: f"{each['reach_after_hard_crash']:.5f}",
    "frames a delivery": lambda each: f"{each['one_topic']['frames_per_delivery']:.2f}",
    "frames a node, 3 topics": lambda each: f"{each['three_topics']['frames_per_delivery']:.2f}",
    "to all, p50, p99 ms": lambda each: (
        f"{each['one_topic']['to_all_p50_ms']:.1f}, {each['one_topic']['to_all_p99_ms']:.0f}"
    ),
    "3 topics": lambda each: (
        f"{each['three_topics']['to_all_p50_ms']:.1f}, {each['three_topics']['to_all_p99_ms']:.0f}"
    ),
    "unhurried": lambda each: (
        f"{each['three_topics_unhurried']['to_all_p50_ms']:.1f}, {each['three_topics_unhurried']['to_all_p99_ms']:.0f}"
    ),
    "missed of owed": lambda each: (
        f"{sum(each[part]['missed'] for part in PARTS)} of {sum(each[part]['owed'] for part in PARTS)}"
    ),
    "KiB a node": lambda each: f"{each['kib_per_node']:,.0f}, {each['kib_per_node_with_events']:,.0f}",
    "start s": lambda each: f"{each['start_s']:.1f}",
    "CPU ms an event": lambda each: f"{each['one_topic']['cpu_ms_per_event']:.1f}",
    "idle CPU": lambda each: f"{each['idle_cpu_share']:.0%}",
    "naive of equal reach": lambda each: _naive(each.get("naive_of_equal_reach")),
    "after 40 %": lambda each: _naive(each.get("naive_of_equal_reach_after_hard_crash")),
    "even of equal reach": lambda each: _naive(each.get("even_of_equal_reach")),
    "even, 40 %": lambda each: _naive(each.get("even_of_equal_reach_after_hard_crash")),
}


def _naive(equal: dict[str, Any] | None) -> str:
    return f"degree {equal['degree']}: {equal['connections_mean']:.1f}" if equal else ""


def _lossy(runs: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """By size, the first run that lost something."""
    found: dict[str, dict[str, Any]] = {}
    for run in runs:
        for size, each in run.items():
            if not isinstance(each, dict):
                continue  # why it failed
            for name, rate in ((size, each), (f"{size}, a turn each", each["turns"])):
                if rate["lost_before"]:
                    found.setdefault(name, rate["lost_before"][0])
    return list(found.items())


def _cell(value: dict[str, float] | None, ratio: dict[str, float] | None) -> str:
    """The median, and that of the ratios to bare frames with the least and the most of them."""
    if value is None:
        return "lost some"
    middle = value["median"]
    shown = f"{middle:,.0f}" if middle >= 100 else f"{middle:.2f}"  # noqa: PLR2004
    return shown if ratio is None else f"{shown}\n{ratio['median']:.3f} ({ratio['least']:.3f} to {ratio['most']:.3f})"


def show(*tables: Table) -> None:
    """On standard output, as wide as they need to be."""
    console = Console(width=220)
    for table in tables:
        console.print(table)

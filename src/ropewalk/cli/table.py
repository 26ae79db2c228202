"""The numbers of a run as a table on the terminal."""

from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from ropewalk.measures.summary import HELD, ROUTING, SPREAD, TREES, events_said, fitness_shown

SHARES = ("weakly_connected", "strongly_connected")
FORMS = {"held_by_nobody": "{:.0f}", "clustering": "{:.3f}"} | dict.fromkeys(SHARES, "{:.1%}")
USUAL_FORM = "{:.2f}"


HOW = {"sync": "in lock step", "sequential": "of walks one after the other", "timed": "by timers of every node's own"}


def show_run(document: dict[str, Any]) -> None:
    """What a node holds before and after, and what became of the overlays."""
    console = Console(highlight=False)
    if "trees" in document:
        _show_trees(console, document)
        return
    if "routing" in document:
        _show_routing(console, document)
        return
    sizes = f"{document['nodes']} nodes, {document['topics']} topics, {document['subscriptions']} subscriptions"
    walked = document["settings"]["knowledge"] == "walks"
    rounds = "1 round" if document["rounds"] == 1 else f"{document['rounds']} rounds"
    how = f"{rounds} {HOW[document['settings']['schedule']]}" if walked else "everything known at once"
    manager = document["settings"]["manager"]
    managed = "" if manager == "given" else f", views kept by {manager}"
    found = ", members found by discovery (connections: with its links)" if document["settings"]["discover"] else ""
    console.print(f"{document['protocol']} in engine {document['settings']['engine']}, {how}{managed}{found}: {sizes}")
    table = Table(box=SIMPLE)
    table.add_column("per node")
    for name in ("mean", "change", "p99", "max"):
        table.add_column(name, justify="right", no_wrap=True)
    for held, words in HELD.items():
        before, after = document[held]["initial"], document[held]["final"]
        table.add_row(
            words,
            f"{before['mean']:.1f} -> {after['mean']:.1f}",
            _change(before["mean"], after["mean"]),
            f"{before['p99']:.0f} -> {after['p99']:.0f}",
            f"{before['max']:.0f} -> {after['max']:.0f}",
        )
    console.print(table)
    if document["settings"]["fitness"]:
        console.print(_overlays(document))
    if document["traffic"]:
        console.print(f"{document['traffic']['messages']:.0f} messages of walks sent{_with_ids(document['traffic'])}")
    if "events" in document:
        console.print(events_said(document), soft_wrap=True)
    console.print(f"digest {document['digest']}, tables in {document['out']}", soft_wrap=True)


def _show_trees(console: Console, document: dict[str, Any]) -> None:
    """What trees cost, and what nodes hold: where a hash puts everybody, and where the run does."""
    sizes = f"{document['nodes']} nodes, {document['topics']} topics, {document['subscriptions']} subscriptions"
    console.print(f"{document['protocol']} in engine {document['engine']}: {sizes}")
    table = Table(box=SIMPLE)
    table.add_column("trees and nodes")
    for words in ("hashed", document["protocol"], "change"):
        table.add_column(words, justify="right", no_wrap=True)
    rows = [(words, {stage: of[name] for stage, of in document["trees"].items()}) for name, words in TREES.items()]
    rows += [("connections of a node", {stage: of["mean"] for stage, of in document["connections"].items()})]
    rows += [("what the busiest relays", {stage: of["load_max"] for stage, of in document["trees"].items()})]
    for words, of in rows:
        before, after = of.get("initial"), of["final"]
        change = "" if before is None else _change(before, after)
        table.add_row(words, "" if before is None else f"{before:.2f}", f"{after:.2f}", change)
    console.print(table)
    if "events" in document:
        console.print(events_said(document), soft_wrap=True)
    console.print(f"digest {document['digest']}, tables in {document['out']}", soft_wrap=True)


def _show_routing(console: Console, document: dict[str, Any]) -> None:
    """What nodes link to, and where events get."""
    cells = f"{document['topics']} cells, {document['subscriptions']} times wanted"
    alike = f"{document['routing']['primaries']:.1%} of nodes are primaries"
    console.print(f"{document['protocol']} in engine {document['engine']}: {document['nodes']} nodes, {cells}; {alike}")
    table = Table(box=SIMPLE)
    table.add_column("per node")
    for words in ("mean", "max"):
        table.add_column(words, justify="right", no_wrap=True)
    for name, words in ROUTING.items():
        table.add_row(words, *(f"{document['routing'][name][point]:.2f}" for point in ("mean", "max")))
    connections = document["connections"]["final"]
    table.add_row("connections, either way", f"{connections['mean']:.2f}", f"{connections['max']:.2f}")
    console.print(table)
    if "spread" in document:
        events = Table(box=SIMPLE)
        events.add_column(f"{document['events']} events, {document['missed']} of {document['expected']} wanted missed")
        events.add_column("", justify="right", no_wrap=True)
        for name, words in SPREAD.items():
            value = document["spread"][name]
            events.add_row(words, "" if value is None else f"{value:.4f}")
        console.print(events)
    elif "events" in document:
        console.print(events_said(document), soft_wrap=True)
    console.print(f"digest {document['digest']}, tables in {document['out']}", soft_wrap=True)


def _overlays(document: dict[str, Any]) -> Table:
    table = Table(box=SIMPLE)
    table.add_column("overlays")
    for name in ("before", "after"):
        table.add_column(name, justify="right", no_wrap=True)
    for name, words in fitness_shown(document).items():
        form = FORMS.get(name, USUAL_FORM)
        table.add_row(words, *(form.format(document["fitness"][stage][name]) for stage in ("initial", "final")))
    return table


def _with_ids(traffic: dict[str, float]) -> str:
    return f", with {traffic['ids']:.0f} ids in them" if "ids" in traffic else ""


def _change(before: float, after: float) -> str:
    if not before and after:
        return ""  # of nothing
    return f"{100 * (after / before - 1) if before else 0.0:+.0f} %"

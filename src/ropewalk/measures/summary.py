"""The measures of one run as one document: what `simulate --json`, the terminal table and the report all show."""

from collections.abc import Iterable
from typing import Any

Row = tuple[str, str, float]  # measure, group, value

POINTS = ("mean", "p50", "p99", "max")
HELD = {
    "lvs": "LVS: logical links",
    "pvs": "PVS: distinct neighbours",
    "connections": "connections, either way",
    "in_links": "distinct holders",
}
TREES = {
    "relays_per_message": "relays that do not follow, a message",
    "relay_share": "share of messages that go to such",
    "hops": "links from the root, in the mean",
    "depth.p100": "links from the root, at the most",
}
ROUTING = {
    "table": "links in a routing table",
    "incoming": "links of others besides",
    "cells": "cells that a node wants",
    "bits": "bits that are set in its id",
    "received": "messages of events that come in",
    "unwanted": "events that come and are not wanted",
}
SPREAD = {
    "false_positives": "of nodes reached, those that do not want it",
    "false_positives.by_cell": "... since a cell is larger than a filter",
    "false_positives.by_bits": "... since bits stand for several cells",
    "false_negatives": "of nodes that want it, those not reached",
    "lost": "events that found no way in",
    "depth": "links to who wants it, in the mean",
    "messages": "messages for each node reached",
}
FITNESS = {
    "weakly_connected": "weakly connected",
    "strongly_connected": "strongly connected",
    "held_by_nobody": "members nobody holds",
    "clustering": "mean clustering coefficient",
    "diameter": "mean diameter",
    "diameter_at_most": "mean diameter, at most",
}


def summary(rows: Iterable[Row], first: str, last: str, by_round: list[str]) -> dict[str, Any]:
    """What nodes hold and how fit overlays are at the first and the last stage, mean links at those in between, messages."""
    value = {(measure, group): number for measure, group, number in rows}

    stages = [stage for stage in (first, last) if ("lvs.mean", stage) in value]  # some protocols have no first

    def before_and_after(held: str) -> dict[str, Any]:
        return {stage: {point: value[f"{held}.{point}", stage] for point in POINTS} for stage in stages}

    document: dict[str, Any] = {held: before_and_after(held) for held in HELD}
    document["lvs"] |= {"mean": value["lvs.mean", last], "max": value["lvs.max", last]}
    document["fitness"] = {
        stage: {name: value.get((f"overlay.{name}", stage)) for name in FITNESS} for stage in (first, last)
    }
    document["traffic"] = {
        what: sum(value.get((f"traffic.{what}", stage), 0) for stage in (by_round or (first, last)))
        for what in ("messages", "ids")
        if (f"traffic.{what}", last) in value
    }
    if ("tree.relay_share", last) in value:
        document["trees"] = {
            stage: {name: value[f"tree.{name}", stage] for name in TREES}
            | {"load_max": value["relay.load.p100", stage]}
            for stage in stages
        }
    if ("routing.table.mean", last) in value:
        document["routing"] = {
            name: {"mean": value[f"routing.{name}.mean", last], "max": value[f"routing.{name}.p100", last]}
            for name in ROUTING
        } | {"primaries": value["routing.primaries", last]}
    if ("spread.events", last) in value:
        document |= {
            "events": int(value["spread.events", last]),
            "expected": int(value["spread.wanted", last]),
            "delivered": int(value["spread.delivered", last]),
            "missed": int(value["spread.wanted", last] - value["spread.delivered", last]),
            "spread": {name: value.get((f"spread.{name}", last)) for name in SPREAD},
        }
    if ("delivery.count", last) in value:
        document |= {"delivered": int(value["delivery.count", last]), "duplicates": int(value["delivery.copies", last])}
        for name in ("hops", "latency"):
            document[name] = {point: value.get((f"{name}.{point}", last)) for point in ("mean", "p50", "p99")}
    if by_round:
        for held in ("lvs", "pvs"):
            document[held]["by_round"] = [value[f"{held}.mean", stage] for stage in by_round]
    return document


def fitness_shown(document: dict[str, Any]) -> dict[str, str]:
    """What is worth a line: the upper bound of the diameter only where it is not the diameter itself."""
    known = all(of["diameter"] == of["diameter_at_most"] for of in document["fitness"].values())
    return {name: words for name, words in FITNESS.items() if not (known and name == "diameter_at_most")}


def events_said(document: dict[str, Any]) -> str:
    """What became of events, in a sentence."""
    if not document["delivered"]:
        return f"{document['events']} events, delivered to nobody"
    hops, latency, frames = (document[name] for name in ("hops", "latency", "frames_per_delivery"))
    asked, events = document["settings"]["publish"], document["events"]
    away = f" of {asked} (publishers of the others were away)" if events < asked else ""
    said = (
        f"{events} events{away}, {document['delivered']} deliveries, {document['missed']} of {document['expected']} owed"
        f" missed; {frames:.2f} payload frames each"
    )
    if hops["p50"] is None:
        return said
    return (
        f"{said}; the owed after {latency['p50']:.2f} s (p99 {latency['p99']:.2f})"
        f" and {hops['p50']:.0f} hops (p99 {hops['p99']:.0f})"
    )

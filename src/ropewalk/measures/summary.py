"""The measures of one run as one document: what `simulate --json`, the terminal table and the report all show."""

from collections.abc import Iterable
from typing import Any

Row = tuple[str, str, float]  # measure, group, value

POINTS = ("mean", "p50", "p99", "max")
FITNESS = ("weakly_connected", "strongly_connected", "held_by_nobody", "clustering", "diameter")


def summary(rows: Iterable[Row], stages: list[str]) -> dict[str, Any]:
    """lvs, pvs, connections, in_links and fitness, before and after; by round where the rounds were kept."""
    value = {(measure, group): number for measure, group, number in rows}
    first, last = stages[0], stages[-1]

    def before_and_after(held: str) -> dict[str, Any]:
        return {stage: {point: value[f"{held}.{point}", stage] for point in POINTS} for stage in (first, last)}

    document: dict[str, Any] = {
        "lvs": {"mean": value["lvs.mean", last], "max": value["lvs.max", last], **before_and_after("lvs")},
        "pvs": before_and_after("pvs"),
        "connections": before_and_after("connections"),
        "in_links": before_and_after("in_links"),
        "fitness": {stage: {name: value[f"overlay.{name}", stage] for name in FITNESS} for stage in (first, last)},
    }
    if all(("pvs.mean", stage) in value for stage in stages):
        for held in ("lvs", "pvs"):
            document[held]["by_round"] = [value[f"{held}.mean", stage] for stage in stages]
    return document

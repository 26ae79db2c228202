"""One publisher, one or twenty subscribers: systems take turns, several times over, and the median of the turns counts.

Other work on the machine makes single runs worthless: all are kept beside the median, and so is by how much they differ. A ratio to bare
frames is that of the same turn. Only runs without loss count.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from ends import FailedError, Wanted, fanned
from systems.contract import System
from targets import Reached, beside

SIZES = {"100 B": 100, "1 KB": 1000}
A_SECOND = 200.0  # events, where latency is measured
SAMPLED = 2.5  # times as long as for a rate: of 200 a second one in a hundred is soon nobody
BASELINE = "bare"
SETTLED = 3.0  # seconds for which connections stay as they are, where there are several
LEAST_OF_BARE = 0.1  # of the rate of bare frames that nodes are to reach
BEHIND = ("redis", "mosquitto")  # systems that nodes are to be ahead of
OURS = "ropewalk"
RATE, TURNS = "{} /s", "{}, a turn each /s"  # in one breath, and each in a turn of the loop of its own


@dataclass(frozen=True, slots=True)
class Plan:
    """How long and how often."""

    events: int  # of one run, at the most
    seconds: float  # of one run, about
    repeat: int


async def measured(
    systems: Sequence[System], readers: int, plan: Plan, say: Callable[[str], None]
) -> dict[str, dict[str, Any]]:
    """By system: what was found in each turn, the median of these, and that of the ratios to bare frames."""
    missing = {system.name: why for system in systems if (why := system.missing())}
    turns: dict[str, list[dict[str, Any]]] = {system.name: [] for system in systems}
    for turn in range(1, plan.repeat + 1):
        for system in systems:
            if system.name in missing:
                continue
            say(f"1 to {readers}, {turn} of {plan.repeat}: {system.name}")
            try:
                turns[system.name].append(await _once(system, readers, plan))
            except (FailedError, OSError) as error:
                turns[system.name].append({"failed": str(error)})
    found: dict[str, dict[str, Any]] = {
        system.name: {"tls": system.tls, "not measured": missing[system.name]}
        if system.name in missing
        else {"tls": system.tls, "runs": turns[system.name]}
        for system in systems
    }
    compare(found)
    return found


async def _once(system: System, readers: int, plan: Plan) -> dict[str, Any]:
    async with fanned(system, readers) as ends:
        await ends.settle(0.2 if readers == 1 else SETTLED)
        found: dict[str, Any] = {}
        for name, size in SIZES.items():
            together, turns = (Wanted(size, plan.events, plan.seconds, each) for each in (False, True))
            found[name] = await ends.rate(together) | {"turns": await ends.rate(turns)}
        for name, size in SIZES.items():
            found[name] |= {"latency": await ends.latency(size, A_SECOND, SAMPLED * plan.seconds)}
        return found


def compare(found: dict[str, dict[str, Any]]) -> None:
    """Add what counts: by measure the median, the least and the most; the same of the ratios to bare frames, and to nodes, of the same turn."""
    turns = {name: [figures(run) for run in each["runs"]] for name, each in found.items() if "runs" in each}
    for name, theirs in turns.items():
        each = found[name]
        measures = list(dict.fromkeys(measure for figure in theirs for measure in figure))
        each["measures"] = {
            measure: _spread([figure[measure] for figure in theirs if measure in figure]) for measure in measures
        }
        each["of bare"] = _ratios(measures, theirs, turns.get(BASELINE, []))
        each["of nodes"] = _ratios(measures, theirs, turns.get(OURS, []))
        counted = [
            run[size]["connections"]
            for run in each["runs"]
            for size in SIZES
            if any(run.get(size, {}).get("connections", ()))
        ]
        if counted and len(counted[-1]) > 1:
            each["connections"] = sum(counted[-1]) / len(counted[-1])


def _ratios(
    measures: list[str], ours: list[dict[str, float]], others: list[dict[str, float]]
) -> dict[str, dict[str, float]]:
    """By measure, of one system to another, turn by turn."""
    ratios = {
        measure: [
            figure[measure] / other[measure]
            for figure, other in zip(ours, others, strict=False)
            if measure in figure and measure in other
        ]
        for measure in measures
    }
    return {measure: _spread(values) for measure, values in ratios.items() if values}


def figures(run: dict[str, Any]) -> dict[str, float]:
    """What one turn says, as far as nothing was lost."""
    found: dict[str, float] = {}
    for size in SIZES if "failed" not in run else ():
        for name, rate in ((RATE, run[size]), (TURNS, run[size]["turns"])):
            if not rate["lost"]:
                found[name.format(size)] = rate["deliveries_per_s"]
        if not run[size]["latency"]["lost"]:
            found |= {f"{size} {cut}": run[size]["latency"][f"{cut}_ms"] for cut in ("p50", "p99")}
    return found


def _spread(values: list[float]) -> dict[str, float]:
    return {"median": median(values), "least": min(values), "most": max(values)}


def targets(found: dict[str, dict[str, Any]]) -> Reached:
    """How nodes stand beside bare frames of the same kind, in one breath and in a turn each, and beside those that they are to be ahead of."""
    if OURS not in found:
        return {}
    reached: Reached = {}
    for size in SIZES:
        for measure in (RATE.format(size), TURNS.format(size)) if BASELINE in found else ():
            ratio = _median(found[OURS], "of bare", measure)
            bare = _median(found[BASELINE], "measures", measure)
            reached[f"{measure} / {LEAST_OF_BARE} of bare"] = None if bare is None else (ratio or 0.0) / LEAST_OF_BARE
        for other in (name for name in BEHIND if name in found):
            measure = RATE.format(size)
            ours, theirs = (_median(found[name], "measures", measure) for name in (OURS, other))
            reached[f"{measure} / {other}"] = beside(ours, theirs)
    return reached


def _median(each: dict[str, Any], kind: str, measure: str) -> float | None:
    value: dict[str, float] | None = each.get(kind, {}).get(measure)
    return None if value is None else value["median"]

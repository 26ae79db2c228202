"""One publisher, one or twenty subscribers: systems take turns, several times over, and the best of each counts.

Other work on the machine makes single runs worthless: all repetitions are kept beside the best. Only runs without loss count.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ends import FailedError, paired
from systems.contract import System

SIZES = {"100 B": 100, "1 KB": 1000}
A_SECOND = 200.0  # events, where latency is measured
BASELINE = "bare"
SETTLED = 3.0  # seconds for which connections stay as they are, where there are several


@dataclass(frozen=True, slots=True)
class Plan:
    """How long and how often."""

    events: int  # of one run, at the most
    seconds: float  # of one run, about
    repeat: int


async def measured(
    systems: Sequence[System], readers: int, plan: Plan, say: Callable[[str], None]
) -> dict[str, dict[str, Any]]:
    """By system: what was found in each repetition, the best of it, and that as a ratio to bare frames."""
    missing = {system.name: why for system in systems if (why := system.missing())}
    runs: dict[str, list[dict[str, Any]]] = {system.name: [] for system in systems}
    for turn in range(1, plan.repeat + 1):
        for system in systems:
            if system.name in missing:
                continue
            say(f"1 to {readers}, {turn} of {plan.repeat}: {system.name}")
            try:
                runs[system.name].append(await _once(system, readers, plan))
            except FailedError as error:
                runs[system.name].append({"failed": str(error)})
    found: dict[str, dict[str, Any]] = {
        name: {"not measured": missing[name]} if name in missing else {"best": _best(each), "runs": each}
        for name, each in runs.items()
    }
    _compare(found)
    for system in systems:
        found[system.name]["tls"] = system.tls
    return found


async def _once(system: System, readers: int, plan: Plan) -> dict[str, Any]:
    async with paired(system, readers) as pair:
        await pair.settle(0.2 if readers == 1 else SETTLED)
        found: dict[str, Any] = {name: await pair.rate(size, plan.events, plan.seconds) for name, size in SIZES.items()}
        for name, size in SIZES.items():
            found[name] |= {"latency": await pair.latency(size, A_SECOND, plan.seconds)}
        return found


def _best(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The highest rates and lowest latencies of runs without loss, and how many connections a subscriber has."""
    best: dict[str, Any] = {}
    for size in SIZES:
        rates = [run[size]["deliveries_per_s"] for run in runs if size in run and not run[size]["lost"]]
        best[f"{size} deliveries/s"] = max(rates, default=None)
        measured = [run[size]["latency"] for run in runs if size in run and not run[size]["latency"]["lost"]]
        for cut in ("p50_ms", "p99_ms") if measured else ():
            best[f"{size} {cut}"] = min(each[cut] for each in measured)
    counted = [run[size]["connections"] for run in runs for size in SIZES if run.get(size, {}).get("connections")]
    if counted and len(counted[-1]) > 1:
        best["connections"] = sum(counted[-1]) / len(counted[-1])
    return best


def _compare(found: dict[str, dict[str, Any]]) -> None:
    """Each rate as a share of what bare frames made, each time as a multiple."""
    bare = found.get(BASELINE, {}).get("best")
    for each in found.values():
        best = each.get("best")
        if bare and best:
            each["of bare"] = {
                name: value / bare[name]
                for name, value in best.items()
                if value and bare.get(name) and name != "connections"
            }

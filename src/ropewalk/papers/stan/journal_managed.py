"""StaN, section 3.5 again: whether an overlay manager that keeps running keeps overlays in one piece."""

from typing import Any

from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.papers.lab import Lab, Universe
from ropewalk.papers.nodes import NodesRun
from ropewalk.papers.stan.universes import ROUNDS, STAN, TTL, grid_universe
from ropewalk.papers.statistics import mean

REPETITIONS: dict[Scale, int] = {"small": 1, "paper": 5}
CELLS: dict[Scale, tuple[int, int]] = {"small": (300, 30), "paper": (1000, 100)}
MANAGERS = ("given", "scamp", "cyclon")
LATER = 2 * ROUNDS
LENGTHS: dict[Scale, list[int]] = {"small": [ROUNDS], "paper": [ROUNDS, LATER]}
CONNECTIVITY = 0.99  # the journal paper's views, on the workshop paper's plane


def measure(lab: Lab, scale: Scale) -> Measured:
    """Every node with timers of its own, with each manager and with none."""
    numbers: dict[str, Any] = {}
    for manager in MANAGERS:
        for rounds in LENGTHS[scale]:
            runs: list[NodesRun] = []
            for seed in lab.seeds(REPETITIONS[scale]):
                runs += [_run(lab, universe, seed, manager, rounds) for universe in _universes(lab, scale, seed)]
            numbers[f"{manager}, {rounds} rounds"] = _counted(runs)
    return Measured(numbers)


def _universes(lab: Lab, scale: Scale, seed: int) -> list[Universe]:
    cells = {CELLS["small"], CELLS[scale]}
    return [
        grid_universe(lab, "fig6", (100, 16), seed),
        *(grid_universe(lab, "G", cell, seed) for cell in sorted(cells)),
    ]


def _run(lab: Lab, universe: Universe, seed: int, manager: str, rounds: int) -> NodesRun:
    shape: dict[str, Any] = {"overlay": "fixed", "connectivity": CONNECTIVITY}
    return lab.nodes(universe, seed, manager=manager, rounds=rounds, ttl=TTL, **shape)


def _counted(runs: list[NodesRun]) -> dict[str, Any]:
    final = [run.stages[-1] for run in runs]
    counts = ("overlays", "weakly", "strongly", "held_by_nobody")
    return {
        **{name: sum(getattr(stage, name) for stage in final) for name in counts},
        "subscriptions": sum(run.subscriptions for run in runs),
        "lvs": [mean([run.stages[at].lvs for run in runs]) for at in (0, -1)],
    }


def _checks(numbers: Numbers, how: str) -> list[Check]:
    return [
        Check(f"{name}: {of[how]} of {of['overlays']} overlays {how} connected", of[how] == of["overlays"])
        for name, of in numbers.items()
        if not name.startswith("given")
    ]


def weakly(numbers: Numbers) -> list[Check]:
    """When links are walked both ways."""
    return _checks(numbers, "weakly")


def strongly(numbers: Numbers) -> list[Check]:
    """When they are walked forwards only."""
    return _checks(numbers, "strongly")


def draw(measured: Measured) -> list[Panel]:
    """Shares of overlays, manager by manager."""
    curves = [
        Curve(
            manager,
            [(float(at), of["strongly"] / of["overlays"]) for at, of in enumerate(_of(measured, manager))],
            "line",
            shade,
        )
        for shade, manager in enumerate(MANAGERS)
    ]
    return [
        Panel(
            title="Overlays that are strongly connected",
            x=f"0: after {ROUNDS} rounds, 1: after {LATER}",
            y="share of overlays",
            reading="A manager that keeps running finds most of those whom alignment has lost, but alignment goes on losing some.",
            curves=curves,
        )
    ]


def _of(measured: Measured, manager: str) -> list[dict[str, Any]]:
    return [of for name, of in measured.numbers.items() if name.startswith(manager)]


PLACE = "section 3.5, 'Connectivity'; section 2.2 leaves it to the overlay manager"
WEAK = Claim(
    id="B-C1-weak-managed",
    sentence="With the overlay manager running no overlay is disconnected: weakly, when links are walked both ways.",
    paper=STAN,
    place=PLACE,
    published={"disconnected overlays": 0},
    tolerance=f"SCAMP and Cyclon, {ROUNDS} rounds with timers (at paper scale also {LATER}): every overlay has one weak component",
    measure=measure,
    checks=weakly,
    draw=draw,
)
STRONG = Claim(
    id="B-C1-strong-managed",
    sentence="With the overlay manager running no overlay is disconnected: strongly, every node reachable from any other.",
    paper=STAN,
    place=PLACE,
    published={"disconnected overlays": 0},
    tolerance=f"SCAMP and Cyclon, {ROUNDS} rounds with timers (at paper scale also {LATER}): every overlay has one strong component",
    measure=measure,
    checks=strongly,
    draw=draw,
    explanation="The manager lets in again whom nobody holds, and link management lets go again of whoever ranks low: at any moment"
    " some are held by nobody. Links that carry events both ways need weak connectivity only, which was not lost here.",
)

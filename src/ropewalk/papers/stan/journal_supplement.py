"""StaN, the supplement that is lost: loss, churn, and how near it comes to what global knowledge would give."""

from itertools import product
from typing import Any

from ropewalk.engines.contract import FINAL, INITIAL
from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.papers.lab import Lab, Universe
from ropewalk.papers.nodes import NodesStage
from ropewalk.papers.stan.universes import ROUNDS, STAN, TTL, Cell, grid_universe
from ropewalk.papers.statistics import mean

CELLS: dict[Scale, list[Cell]] = {"small": [(300, 30)], "paper": [(300, 30), (1000, 100)]}
REPETITIONS: dict[Scale, int] = {"small": 1, "paper": 5}
CHURNED: dict[Scale, int] = {"small": 3, "paper": 5}  # where nodes come and go, whether overlays hold hangs on the seed
CONNECTIVITY = 0.99
CASES: dict[str, dict[str, Any]] = {
    "undisturbed": {},
    "5 % loss": {"loss": 0.05},
    "10 % loss": {"loss": 0.1},
    "10 % loss, snooping": {"loss": 0.1, "snoop": True},
    "SCAMP": {"manager": "scamp", "learn": True},
    "SCAMP, 2 % churn": {"manager": "scamp", "learn": True, "churn": 0.02},
    "SCAMP, 5 % churn": {"manager": "scamp", "learn": True, "churn": 0.05},
    "SCAMP, 5 % churn, strict": {"manager": "scamp", "churn": 0.05},
}
SMALL = ("undisturbed", "10 % loss", "10 % loss, snooping", "SCAMP, 5 % churn")  # what the verdict needs
KNOWING: dict[str, dict[str, Any]] = {
    "lock step": {"rounds": ROUNDS, "ttl": TTL},
    "everything known": {"knowledge": "everything"},
}
SHAPE: dict[str, Any] = {"overlay": "fixed", "connectivity": CONNECTIVITY}
LOST_AT_MOST = 0.5  # of the drop in PVS, by a tenth of all messages lost
THROUGHOUT = 0.99  # of the overlays: somebody may be on its way in or out when a round ends
GAP_AT_MOST = 1.35  # of the best possible: a prototype on set G ended at 27.3 for 21.3


def measure(lab: Lab, scale: Scale) -> Measured:
    """Set G with the journal paper's views; a manager only where nodes come and go."""

    def universes(repetitions: int) -> list[tuple[Universe, int]]:
        chosen = product(lab.seeds(repetitions), CELLS[scale])
        return [(grid_universe(lab, "G", cell, seed), seed) for seed, cell in chosen]

    numbers: dict[str, Any] = {}
    for name, told in CASES.items():
        if scale == "small" and name not in SMALL:
            continue
        of_seeds = universes((CHURNED if "churn" in told else REPETITIONS)[scale])
        runs = [lab.nodes(of, seed, rounds=ROUNDS, ttl=TTL, **SHAPE, **told) for of, seed in of_seeds]
        final = [run.stages[-1] for run in runs]
        later = [stage for run in runs for stage in run.stages[1:]]
        numbers[name] = {
            "pvs": [mean([run.stages[at].pvs for run in runs]) for at in (0, -1)],
            "connections": [mean([run.stages[at].connections for run in runs]) for at in (0, -1)],
            "weakly_connected": _share(final),
            "weakly_connected_in_all_rounds": _share(later),
        }
    for name, told in KNOWING.items():
        batch = [lab.run(of, seed, **SHAPE, **told) for of, seed in universes(REPETITIONS[scale])]
        numbers[name] = {"pvs": [mean([run.mean("pvs", stage) for run in batch]) for stage in (INITIAL, FINAL)]}
    return Measured(numbers)


def _share(stages: list[NodesStage]) -> float:
    return sum(stage.weakly for stage in stages) / sum(stage.overlays for stage in stages)


def checks(numbers: Numbers) -> list[Check]:
    """No numbers are known, so these are ours."""
    before, usual = numbers["undisturbed"]["pvs"]
    lossy, snooping = numbers["10 % loss"]["pvs"][1], numbers["10 % loss, snooping"]["pvs"][1]
    lost = (lossy - usual) / (before - usual)
    gap = numbers["lock step"]["pvs"][1] / numbers["everything known"]["pvs"][1]
    whole, throughout = (numbers["SCAMP, 5 % churn"][f"weakly_connected{when}"] for when in ("", "_in_all_rounds"))
    return [
        Check(f"10 % loss costs {lost:.0%} of the drop in PVS ({lossy:.1f} for {usual:.1f})", lost <= LOST_AT_MOST),
        Check(f"snooping gives it back ({snooping:.1f})", snooping < lossy),
        Check(f"at 5 % churn with SCAMP {whole:.1%} of the overlays end in one piece", whole == 1),
        Check(f"{throughout:.1%} are so after every round", throughout >= THROUGHOUT),
        Check(f"PVS ends at {gap:.2f} times the best possible", gap <= GAP_AT_MOST),
    ]


def draw(measured: Measured) -> list[Panel]:
    """Where each case ends."""
    points = [(float(at), of["pvs"][1]) for at, of in enumerate(measured.numbers.values())]
    return [
        Panel(
            title="PVS after 8 rounds",
            x="; ".join(f"{at}: {name}" for at, name in enumerate(measured.numbers)),
            y="mean PVS",
            reading="Lower is better; the last is the best possible at these view sizes.",
            curves=[Curve("final PVS", points, "line", 0)],
        )
    ]


CLAIM = Claim(
    id="B-S1",
    sentence="StaN withstands message loss and churn, and comes near a global-omniscient approach.",
    paper=STAN,
    place="section 3, which refers to a supplement",
    published="the supplement is not available",
    tolerance=f"10 % loss costs at most {LOST_AT_MOST:.0%} of the drop in PVS; snooping gives some back; 5 % churn with SCAMP leaves every overlay"
    f" in one piece in the end, and {THROUGHOUT:.0%} of them after every round; lock step ends at most {GAP_AT_MOST} times above the best possible",
    measure=measure,
    checks=checks,
    draw=draw,
    caveat="The tolerances are ours: no number of the supplement is known.",
)

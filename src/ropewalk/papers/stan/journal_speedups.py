"""StaN, sections 2.3 and 2.4: what helps walks along: neighbours' ids, and learning from walks that pass."""

from typing import Any

from ropewalk.engines.contract import INITIAL, stage_after
from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.papers.lab import Lab
from ropewalk.papers.stan.universes import FIRST_CELL, ROUNDS, STAN, TTL, grid_universe
from ropewalk.papers.statistics import mean

EARLY = 3
LOSS = 0.2
CHURN = 0.02
# what is compared: (with, without), each by what it changes
PAIRS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "neighbours' ids": ({}, {"collect": "visited"}),
    "passing walks": ({"snoop": True}, {}),
    "passing walks, under loss": ({"snoop": True, "loss": LOSS}, {"loss": LOSS}),
    "passing walks, under churn": ({"snoop": True, "churn": CHURN}, {"churn": CHURN}),
}
TIMED_CELL = (300, 30)
LOSSY: dict[str, Any] = {"loss": 0.05}
TIMED_PAIRS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "neighbours' ids, nodes with timers": (LOSSY, LOSSY | {"collect": "visited"}),
    "passing walks, nodes with timers": (LOSSY | {"snoop": True}, LOSSY),
}


def measure(lab: Lab, scale: Scale) -> Measured:
    """Set G, 1000 x 100, round by round; with timers 300 x 30."""
    whole, part = (grid_universe(lab, "G", cell, lab.seed) for cell in (FIRST_CELL, TIMED_CELL))
    stages = [INITIAL, *(stage_after(turn, ROUNDS) for turn in range(1, ROUNDS + 1))]
    repetitions = lab.seeds(1 if scale == "small" else 10)

    def by_round(told: dict[str, Any]) -> list[float]:
        runs = [lab.run(whole, seed, keep={"rounds"}, rounds=ROUNDS, ttl=TTL, **told) for seed in repetitions]
        return [mean([run.mean("pvs", stage) for run in runs]) for stage in stages]

    def timed(told: dict[str, Any]) -> list[float]:
        runs = [lab.nodes(part, seed, rounds=ROUNDS, ttl=TTL, **told) for seed in repetitions]
        return [mean([run.stages[turn].pvs for run in runs]) for turn in range(ROUNDS + 1)]

    found = {name: {"with": by_round(on), "without": by_round(off)} for name, (on, off) in PAIRS.items()}
    found |= {name: {"with": timed(on), "without": timed(off)} for name, (on, off) in TIMED_PAIRS.items()}
    return Measured(found)


def checks(numbers: Numbers) -> list[Check]:
    """Fewer neighbours after a few rounds, pair by pair."""
    return [
        Check(
            f"{name}: PVS after {EARLY} rounds {of['with'][EARLY]:.1f} with, {of['without'][EARLY]:.1f} without",
            of["with"][EARLY] < of["without"][EARLY],
        )
        for name, of in numbers.items()
    ]


def draw(measured: Measured) -> list[Panel]:
    """Each pair."""
    return [
        Panel(
            title=name.capitalize(),
            x="round",
            y="mean PVS",
            reading="The lower line has converged further.",
            curves=[Curve(side, list(enumerate(of[side])), "line", at) for at, side in enumerate(("with", "without"))],
        )
        for name, of in measured.numbers.items()
    ]


CLAIM = Claim(
    id="B-D2",
    sentence="Adding neighbours' ids to a walk speeds convergence up; learning from passing walks does too, and counters loss and churn.",
    paper=STAN,
    place="sections 2.3 and 2.4",
    published="no numbers",
    tolerance=f"set G: PVS after {EARLY} rounds is lower with than without, for each pair (loss {LOSS:g}, churn {CHURN:g} a round)",
    measure=measure,
    checks=checks,
    draw=draw,
)

"""StaN, Figure 6(a): logical and physical views round by round, 100 nodes and 16 topics."""

from ropewalk.engines.contract import INITIAL, stage_after
from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.papers.lab import Lab, Run
from ropewalk.papers.stan.universes import ROUNDS, STAN, grid_universe, journal_run
from ropewalk.papers.statistics import mean

BEFORE, BEFORE_WITHIN = 25.0, 1.0
AFTER, AFTER_WITHIN = 15.0, 1.5
FEW, CLOSE = 3, 0.5  # after a few rounds it is this close to where it ends
REPETITIONS = 5  # the paper's


def fig6_runs(lab: Lab) -> list[Run]:
    """One universe and one run for each seed."""
    return [
        journal_run(lab, grid_universe(lab, "fig6", (100, 16), seed), seed, {"rounds"})
        for seed in lab.seeds(REPETITIONS)
    ]


def measure(lab: Lab, scale: Scale) -> Measured:  # noqa: ARG001 (as many runs as in the paper at any scale)
    """Means over five runs."""
    runs = fig6_runs(lab)
    stages = [INITIAL, *(stage_after(turn, ROUNDS) for turn in range(1, ROUNDS + 1))]
    by_run = {held: [[run.mean(held, stage) for stage in stages] for run in runs] for held in ("lvs", "pvs")}
    means = {held: [mean(column) for column in zip(*rows, strict=True)] for held, rows in by_run.items()}
    constant = all(len(set(row)) == 1 for row in by_run["lvs"])
    return Measured({"lvs": means["lvs"], "lvs_constant": constant, "pvs": means["pvs"]})


def checks(numbers: Numbers) -> list[Check]:
    """The numbers of the text, and how soon."""
    pvs = numbers["pvs"]
    constant = "LVS is the same in every round of every run" if numbers["lvs_constant"] else "LVS changes"
    return [
        Check(constant, numbers["lvs_constant"]),
        Check(f"PVS begins at {pvs[0]:.1f}", abs(pvs[0] - BEFORE) <= BEFORE_WITHIN),
        Check(f"PVS ends at {pvs[-1]:.1f}", abs(pvs[-1] - AFTER) <= AFTER_WITHIN),
        Check(f"round {FEW} is within {pvs[FEW] - pvs[-1]:.2f} of the end", pvs[FEW] - pvs[-1] <= CLOSE),
    ]


def draw(measured: Measured) -> list[Panel]:
    """The figure's simulated half."""
    published = [(0.0, BEFORE), (float(ROUNDS), AFTER)]
    return [
        Panel(
            title="100 nodes, 16 topics",
            x="round",
            y="mean per node",
            reading="LVS must not move; PVS is published as 25 at the start and about 15 at the end.",
            curves=[
                Curve("LVS", list(enumerate(measured.numbers["lvs"])), "line", 1),
                Curve("PVS", list(enumerate(measured.numbers["pvs"])), "line", 0),
                Curve("PVS as published", published, "law", 0),
            ],
        )
    ]


CLAIM = Claim(
    id="B-F6a",
    sentence="LVS stays constant while PVS drops from 25 to around 15 after just a few rounds.",
    paper=STAN,
    place="Figure 6(a), section 3.4",
    published={"PVS before": BEFORE, "PVS after": AFTER},
    tolerance=f"LVS equal in all rounds; PVS {BEFORE:.0f} +- {BEFORE_WITHIN:.0f} before, {AFTER:.0f} +- {AFTER_WITHIN} after, mean of"
    f" {REPETITIONS} runs; after {FEW} rounds within {CLOSE} of the end",
    measure=measure,
    checks=checks,
    draw=draw,
    caveat="The universe has no printed parameters; set fig6 was fitted to this figure. The simulated curve only: the live half"
    " needs live nodes.",
)

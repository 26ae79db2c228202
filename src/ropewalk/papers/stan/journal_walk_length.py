"""StaN, section 2.4: a walk needs to be about as long as an overlay is wide."""

from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.papers.lab import Lab
from ropewalk.papers.stan.universes import FIRST_CELL, ROUNDS, STAN, grid_universe
from ropewalk.papers.statistics import rises

LENGTHS: dict[Scale, tuple[int, ...]] = {"small": (1, 5, 8, 16), "paper": (*range(1, 11), 12, 14, 16)}
STEEPER = 2.0


def measure(lab: Lab, scale: Scale) -> Measured:
    """Set G, 1000 nodes and 100 topics, the same but for the length of walks."""
    universe = grid_universe(lab, "G", FIRST_CELL, lab.seed)
    runs = {ttl: lab.run(universe, lab.seed, rounds=ROUNDS, ttl=ttl) for ttl in LENGTHS[scale]}
    diameter = next(iter(runs.values())).document["fitness"]["initial"]["diameter"]
    fpvs = {ttl: run.mean("pvs", "final") for ttl, run in runs.items()}
    return Measured({"diameter": diameter, "fpvs": {str(ttl): value for ttl, value in fpvs.items()}})


def checks(numbers: Numbers) -> list[Check]:
    """Shorter hurts, and beyond the diameter a hop brings less than before it."""
    fpvs = {int(ttl): value for ttl, value in numbers["fpvs"].items()}
    lengths = sorted(fpvs)
    knee = min(lengths[1:-1], key=lambda ttl: abs(ttl - numbers["diameter"]))
    short, long = (_per_hop(fpvs, *ends) for ends in ((lengths[0], knee), (knee, lengths[-1])))
    falling = rises([-fpvs[ttl] for ttl in lengths])
    said = ", ".join(f"{fpvs[ttl]:.1f} at {ttl}" for ttl in lengths)
    return [
        Check(f"FPVS by TTL is {said}", falling),
        Check(
            f"a hop saves {short:.2f} up to TTL {knee} (the mean diameter is {numbers['diameter']:.1f}) and {long:.2f} beyond",
            short >= STEEPER * long,
        ),
    ]


def _per_hop(fpvs: dict[int, float], first: int, last: int) -> float:
    return (fpvs[first] - fpvs[last]) / (last - first)


def draw(measured: Measured) -> list[Panel]:
    """Final views by length."""
    points = [(float(ttl), value) for ttl, value in measured.numbers["fpvs"].items()]
    at = measured.numbers["diameter"]
    ends = [(at, min(y for _, y in points)), (at, max(y for _, y in points))]
    return [
        Panel(
            title="FPVS by the length of walks",
            x="TTL",
            y="mean per node",
            reading="Left of the dashed line walks are shorter than overlays are wide.",
            curves=[Curve("FPVS", points), Curve("mean diameter", ends, "law", 3)],
        )
    ]


CLAIM = Claim(
    id="B-D1",
    sentence="The TTL only needs to be on the order of the overlay's diameter; shorter walks keep nodes from knowing each other.",
    paper=STAN,
    place="section 2.4",
    published="no numbers",
    tolerance=f"FPVS after {ROUNDS} rounds falls with TTL, and a hop up to the mean diameter saves at least {STEEPER:g} times what a hop beyond it does",
    measure=measure,
    checks=checks,
    draw=draw,
)

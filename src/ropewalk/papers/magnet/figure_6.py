"""Magnet, Figure 6: what is saved where interests are places."""

from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.papers.lab import Lab
from ropewalk.papers.magnet.sweeps import MAGNET, Case, costs, in_percent
from ropewalk.papers.statistics import rises
from ropewalk.workloads.spatial import Spatial

FOLLOWED = (8, 16, 32)
SIZES: dict[Scale, tuple[int, ...]] = {"small": (500, 1000, 2000), "paper": (1000, 2000, 5000, 10_000)}
LEAST, MOST = 0.70, 0.85  # "almost 80 %"
WHERE = (10_000, 32)


def measure(lab: Lab, scale: Scale) -> Measured:
    """Networks of all sizes."""
    cases = [
        Case(f"{size} nodes, t = {followed}", Spatial(nodes=size, subscriptions_per_node=float(followed)))
        for size in SIZES[scale]
        for followed in FOLLOWED
    ]
    found = costs(lab, scale, "SPATIAL", cases)
    return Measured({"sizes": list(SIZES[scale]), "costs": {name: cost.numbers() for name, cost in found.items()}})


def _saving(numbers: Numbers, size: int, followed: int) -> float:
    return float(numbers["costs"][f"{size} nodes, t = {followed}"]["saving"])


def checks(numbers: Numbers) -> list[Check]:
    """More with more nodes and with more subscriptions; almost 80 % in the largest network."""
    sizes = numbers["sizes"]
    found = []
    for followed in FOLLOWED:
        savings = [_saving(numbers, size, followed) for size in sizes]
        said = f"t = {followed}: {in_percent(savings)} are saved with {', '.join(map(str, sizes))} nodes, rising"
        found.append(Check(said, rises(savings)))
    for size in sizes:
        savings = [_saving(numbers, size, followed) for followed in FOLLOWED]
        found.append(Check(f"{size} nodes: rising with t", rises(savings)))
    if sizes[-1] == WHERE[0]:
        saving = _saving(numbers, *WHERE)
        said = f"{100 * saving:.1f} % with {WHERE[0]} nodes and t = {WHERE[1]}"
        found.append(Check(said, LEAST <= saving <= MOST))
    return found


def draw(measured: Measured) -> list[Panel]:
    """The figure."""
    numbers = measured.numbers
    return [
        Panel(
            title="Where interests are places",
            x="nodes",
            y="share of uninterested relays that is saved",
            reading="The more nodes there are, and the more each follows, the nearer are those with the same interests.",
            curves=[
                Curve(
                    f"t = {followed}",
                    [(size, _saving(numbers, size, followed)) for size in numbers["sizes"]],
                    "line",
                    at,
                )
                for at, followed in enumerate(FOLLOWED)
            ],
        )
    ]


CLAIM = Claim(
    id="M-F6",
    sentence="Where interests are places Magnet saves almost 80 % with 10,000 nodes that follow 32 topics each.",
    paper=MAGNET,
    place="Figure 6, section 4.3",
    published={"saved at 10,000 nodes, t = 32": "almost 80 %"},
    tolerance=f"{100 * LEAST:.0f} to {100 * MOST:.0f} % there (paper scale); rising with nodes and with topics",
    measure=measure,
    checks=checks,
    draw=draw,
)

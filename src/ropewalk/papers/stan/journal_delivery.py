"""StaN, section 2.1: an event reaches everybody who follows one of its topics, and nobody else."""

from typing import Any

from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.papers.lab import Lab
from ropewalk.papers.stan.universes import STAN, TTL, grid_universe

CELLS: dict[Scale, tuple[int, int]] = {"small": (150, 15), "paper": (1000, 100)}
EVENTS = {CELLS["small"]: 100, CELLS["paper"]: 1000}
ROUNDS = 8
SHAPE: dict[str, Any] = {"overlay": "fixed", "connectivity": 0.99}
CASES: dict[str, dict[str, Any]] = {
    "nothing lost": {},
    "a tenth of all messages lost": {"loss": 0.1},
    "and nodes come and go": {"loss": 0.1, "churn": 0.01},
    "and they find topics by themselves": {"loss": 0.1, "churn": 0.01, "discover": True},
}


def measure(lab: Lab, scale: Scale) -> Measured:
    """Events on up to two topics while overlays align."""
    numbers = {}
    for cell in sorted({CELLS["small"], CELLS[scale]}):
        universe = grid_universe(lab, "G", cell, lab.seed)
        for name, told in CASES.items():
            shape = {"connectivity": SHAPE["connectivity"]} if told.get("churn") else SHAPE  # SCAMP makes its own views
            settings = {"rounds": ROUNDS, "ttl": TTL} | shape | told
            run = lab.nodes(universe, lab.seed, events=EVENTS[cell], topics_per_event=2, **settings)
            numbers[f"{cell[0]} nodes, {name}"] = run.events
    return Measured(numbers)


def checks(numbers: Numbers) -> list[Check]:
    """Complete and accurate, to the last event."""
    found = []
    for name, of in numbers.items():
        reached = of["expected"] - of["missed"]
        said = f"{name}: {reached} of {of['expected']} deliveries that were owed"
        found.append(Check(said, of["missed"] == 0 < of["expected"]))
        found.append(Check(f"{name}: {of['unwanted']} to nodes that follow none of the topics", of["unwanted"] == 0))
    return found


def draw(measured: Measured) -> list[Panel]:
    """What it costs."""
    numbers = measured.numbers
    return [
        Panel(
            title="Payload frames",
            x=", ".join(f"{at}: {name}" for at, name in enumerate(numbers)),
            y="frames sent per delivery",
            reading="One would be a perfect tree; what is lost must be sent again.",
            curves=[
                Curve("frames", [(float(at), of["frames_per_delivery"]) for at, of in enumerate(numbers.values())])
            ],
        )
    ]


CLAIM = Claim(
    id="B-P1",
    sentence="Every subscriber of a topic gets every event on it, and nobody else does.",
    paper=STAN,
    place="section 2.1: completeness and accuracy",
    published={"complete": "100 %", "to others": 0},
    tolerance="no owed delivery missed, none to a node that follows no topic of the event, in every case",
    measure=measure,
    checks=checks,
    draw=draw,
    caveat="An event is owed to whoever had followed one of its topics for three periods when it was published, and stays. The paper's own dissemination is in a supplement that cannot be had; ours is in docs/delivery.md.",
)

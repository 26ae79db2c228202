"""StAN, Figure 2: view sizes round by round."""

from ropewalk.engines.contract import INITIAL, stage_after
from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.papers.lab import Lab
from ropewalk.papers.stan.universes import CORNERS, ROUNDS, WORKSHOP, workshop_run

EARLY, MOST = 3, 0.75  # by round 3, three quarters of the drop


def measure(lab: Lab, scale: Scale) -> Measured:  # noqa: ARG001 (the figure's four sizes are small)
    """The four configurations of the figure, set G."""
    numbers = []
    stages = [INITIAL, *(stage_after(turn, ROUNDS) for turn in range(1, ROUNDS + 1))]
    for cell in CORNERS:
        run = workshop_run(lab, "G", cell, lab.seed)
        total, unique = ([run.mean(held, stage) for stage in stages] for held in ("lvs", "pvs"))
        share = (unique[0] - unique[EARLY]) / (unique[0] - unique[-1])
        numbers.append(
            {"nodes": cell[0], "topics": cell[1], "total": total, "unique": unique, "share_of_drop_early": share}
        )
    return Measured({"configurations": numbers})


def checks(numbers: Numbers) -> list[Check]:
    """Total to the last digit, unique by most of its way."""
    configurations = numbers["configurations"]
    flat = all(set(of["total"]) == {of["total"][0]} for of in configurations)
    least = min(of["share_of_drop_early"] for of in configurations)
    return [
        Check("total is the same in every round" if flat else "total changes from round to round", flat),
        Check(f"by round {EARLY} at least {least:.0%} of the drop in {ROUNDS} rounds is done", least >= MOST),
    ]


def draw(measured: Measured) -> list[Panel]:
    """As in the paper, physical links only on a panel of their own."""
    configurations = measured.numbers["configurations"]

    def curves(which: str) -> list[Curve]:
        return [
            Curve(f"{of['nodes']} nodes, {of['topics']} topics", list(enumerate(of[which])), "line", at)
            for at, of in enumerate(configurations)
        ]

    return [
        Panel(
            title=title,
            x="round",
            y="mean per node",
            reading=reading,
            curves=curves(which),
        )
        for which, title, reading in (
            ("total", "Total view size", "Flat: the protocol changes no logical view's size."),
            (
                "unique",
                "Unique view size",
                "Falls steeply at first: most links that can be shared are found within few rounds.",
            ),
        )
    ]


CLAIM = Claim(
    id="A-F2",
    sentence="The total view size stays what it is while the unique view size falls quickly, in few iterations.",
    paper=WORKSHOP,
    place="Figure 2, section 3.1",
    published="shape only: total flat, unique falls fast",
    tolerance=f"total is equal in all rounds; by round {EARLY} at least {MOST:.0%} of the drop of {ROUNDS} rounds is done, in"
    " all four configurations",
    measure=measure,
    checks=checks,
    draw=draw,
)

"""Magnet, Figure 5: which topics the cost comes from."""

from ropewalk.engines.contract import FINAL, INITIAL
from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.papers.lab import Lab
from ropewalk.papers.magnet.sweeps import MAGNET, NODES, POWER_LAW, Case, average, runs
from ropewalk.workloads.multi_modal import MultiModal

CASES = {"1 of 10": (1, 10), "5 of 25": (5, 25)}  # the most and the least correlated that are shown
FIRST = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
POPULAR, ALMOST_NONE = 100, 0.05
STAGES = {"magnet": FINAL, "strawman": INITIAL}


def measure(lab: Lab, scale: Scale) -> Measured:
    """Of all messages on the most popular topics, the share that goes to who does not follow."""
    cases = [
        Case(name, MultiModal(nodes=NODES[scale], categories=total, categories_per_node=chosen), POWER_LAW)
        for name, (chosen, total) in CASES.items()
    ]
    found = runs(lab, scale, "MULTI-MODAL, by popularity", cases)
    return Measured(
        {
            name: {
                who: {str(rank): average(repeated, f"tree.relay_share_of_first.{rank}", stage) for rank in FIRST}
                for who, stage in STAGES.items()
            }
            for name, repeated in found.items()
        }
    )


def checks(numbers: Numbers) -> list[Check]:
    """Almost none for the most popular; Magnet below the strawman for any number of topics."""
    found = []
    for name, of in numbers.items():
        share = of["magnet"][str(POPULAR)]
        said = f"{name}: {100 * share:.1f} % of the messages on the {POPULAR} most popular topics"
        below = all(of["magnet"][str(rank)] <= of["strawman"][str(rank)] for rank in FIRST)
        whole = of["magnet"][str(FIRST[-1])], of["strawman"][str(FIRST[-1])]
        found += [
            Check(said, share < ALMOST_NONE),
            Check(f"{name}: {100 * whole[0]:.1f} % for {100 * whole[1]:.1f} % over all, and nowhere above", below),
        ]
    return found


def draw(measured: Measured) -> list[Panel]:
    """Both panels on the right of the figure."""
    return [
        Panel(
            title=f"Categories: {name}",
            x="topics, the most popular first",
            y="share of messages to who does not follow",
            reading="Over the x most popular topics together. Popular topics have so many followers that hardly anybody else is on the way.",
            curves=[
                Curve(who, [(rank, shares[str(rank)]) for rank in FIRST], "line", at)
                for at, (who, shares) in enumerate(of.items())
            ],
            log_x=True,
        )
        for name, of in measured.numbers.items()
    ]


CLAIM = Claim(
    id="M-F5",
    sentence="Hardly any message on a popular topic goes to a node that does not follow it.",
    paper=MAGNET,
    place="Figure 5, section 4.2",
    published='almost no overhead for the most popular topics ("the first 100 seconds")',
    tolerance=f"below {100 * ALMOST_NONE:.0f} % over the {POPULAR} most popular topics; Magnet not above the strawman for any number of them",
    measure=measure,
    checks=checks,
    draw=draw,
    caveat="The hundred seconds are read as a hundred topics, one a second, in the order of popularity, as the text has it.",
)

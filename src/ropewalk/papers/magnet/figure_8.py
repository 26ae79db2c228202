"""Magnet, Figure 8: what is saved where topics have a hierarchy."""

from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.papers.lab import Lab
from ropewalk.papers.magnet.sweeps import MAGNET, Case, costs, in_percent
from ropewalk.papers.statistics import falls, rises
from ropewalk.workloads.hierarchical import HierarchicalTopics

BITS: dict[Scale, int] = {"small": 10, "paper": 14}  # nodes and topics: 2^14 in the paper
HOMOPHILY = (0.5, 1.0, 1.5, 2.0, 3.0)
SHARES = (0.1, 0.3, 0.5)  # initFrac
FOLLOWED = (8, 16, 32, 64)  # Z
LEAST, MOST = 0.2, 0.6
USUAL_SHARE = 0.1


def _model(scale: Scale, **told: float) -> HierarchicalTopics:
    size = 1 << BITS[scale]
    usual: dict[str, float] = {"homophily": 2.0, "initial_share": USUAL_SHARE, "subscriptions_per_node": 16.0}
    return HierarchicalTopics(nodes=size, topics=size, **usual | told)  # type: ignore[arg-type]


def measure_correlation(lab: Lab, scale: Scale) -> Measured:
    """Homophily, and how much of the universe is made without it."""
    cases = [
        Case(f"lambda {homophily:g}, initFrac {share:g}", _model(scale, homophily=homophily, initial_share=share))
        for share in SHARES
        for homophily in HOMOPHILY
    ]
    found = costs(lab, scale, "HIERARCHICAL-TOPICS", cases)
    return Measured({name: cost.numbers() for name, cost in found.items()})


def _savings(numbers: Numbers, share: float) -> list[float]:
    return [numbers[f"lambda {homophily:g}, initFrac {share:g}"]["saving"] for homophily in HOMOPHILY]


def checks_correlation(numbers: Numbers) -> list[Check]:
    """More with more homophily, less with a larger start; from 20 to 60 % where the start is a tenth."""
    found = []
    for share in SHARES:
        savings = _savings(numbers, share)
        found.append(Check(f"initFrac {share:g}: {in_percent(savings)} are saved, rising with lambda", rises(savings)))
    for place, homophily in enumerate(HOMOPHILY):
        savings = [_savings(numbers, share)[place] for share in SHARES]
        found.append(Check(f"lambda {homophily:g}: falling with initFrac", falls(savings)))
    usual = _savings(numbers, USUAL_SHARE)
    said = f"{100 * min(usual):.0f} to {100 * max(usual):.0f} % at initFrac {USUAL_SHARE:g}"
    return [*found, Check(said, min(usual) >= LEAST and max(usual) <= MOST)]


def draw_correlation(measured: Measured) -> list[Panel]:
    """Figure 8(a)."""
    return [
        Panel(
            title="How much interests correlate",
            x="homophily (lambda)",
            y="share of uninterested relays that is saved",
            reading="The more nodes keep to what is near their interests, and the less of the universe was made without that, the more is saved.",
            curves=[
                Curve(
                    f"initFrac {share:g}",
                    list(zip(HOMOPHILY, _savings(measured.numbers, share), strict=True)),
                    "line",
                    at,
                )
                for at, share in enumerate(SHARES)
            ],
        )
    ]


def measure_sizes(lab: Lab, scale: Scale) -> Measured:
    """Subscriptions of all sizes."""
    cases = [Case(f"Z = {size}", _model(scale, subscriptions_per_node=float(size))) for size in FOLLOWED]
    found = costs(lab, scale, "HIERARCHICAL-TOPICS, sizes", cases)
    return Measured({name: cost.numbers() for name, cost in found.items()})


def checks_sizes(numbers: Numbers) -> list[Check]:
    """The fewer the better."""
    savings = [numbers[f"Z = {size}"]["saving"] for size in FOLLOWED]
    sizes = ", ".join(map(str, FOLLOWED))
    return [Check(f"{in_percent(savings)} are saved at Z = {sizes}, falling", falls(savings))]


def draw_sizes(measured: Measured) -> list[Panel]:
    """Figure 8(b)."""
    numbers = measured.numbers
    return [
        Panel(
            title="How much nodes follow",
            x="topics that the average node follows (Z)",
            y="share of uninterested relays that is saved",
            reading="In the paper it is best at Z = 8.",
            curves=[Curve("saved", [(size, numbers[f"Z = {size}"]["saving"]) for size in FOLLOWED], "line", 0)],
        )
    ]


CORRELATION = Claim(
    id="M-F8a",
    sentence="Where topics have a hierarchy Magnet saves more the more nodes keep to what is near, from 20 to 60 %.",
    paper=MAGNET,
    place="Figure 8(a), section 4.4",
    published="from 20 to 60 %; rising with lambda, falling with initFrac",
    tolerance="monotone in both; 20 to 60 % at initFrac 10 %",
    measure=measure_correlation,
    checks=checks_correlation,
    draw=draw_correlation,
    explanation="Which lambda and initFrac the range of 20 to 60 % is over is not printed.",
)
SIZE = Claim(
    id="M-F8b",
    sentence="It saves most where nodes follow fewest topics (8).",
    paper=MAGNET,
    place="Figure 8(b), section 4.4",
    published="best at Z = 8",
    tolerance="what is saved falls with Z",
    measure=measure_sizes,
    checks=checks_sizes,
    draw=draw_sizes,
)

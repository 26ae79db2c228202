"""StAN, Figure 1: how subscriptions are spread in its synthetic universe."""

from itertools import pairwise
from typing import Any

from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.papers.lab import Lab
from ropewalk.papers.spread import at_least, per_doubling, spread
from ropewalk.papers.stan.universes import FIRST_CELL, WORKSHOP, grid_universe

FEW = 0.10  # of the topics: what "few subscriptions" is to mean for the median node
MANY = 0.95  # of the topics: "a considerable number" for the busiest
SETS = ("F", "G")


def measure(lab: Lab, scale: Scale) -> Measured:
    """The sets fitted to StAN's tables, 1000 nodes and 100 topics."""
    numbers: dict[str, list[dict[str, Any]]] = {}
    curves: dict[str, list[tuple[float, float]]] = {}
    for name in SETS:
        for seed in lab.seeds(1 if scale == "small" else 5):
            universe = grid_universe(lab, name, FIRST_CELL, seed)
            topics, nodes = lab.described(universe, "spread", spread)
            found = {
                "seed": seed,
                "median_share_of_topics": nodes.quantile(0.5) / universe.topics,
                "busiest_share_of_topics": int(nodes.values[-1]) / universe.topics,
                "topics_per_doubling": per_doubling(topics),
                "nodes_per_doubling": per_doubling(nodes),
            }
            numbers.setdefault(name, []).append(found)
            curves.setdefault(f"topics {name}", at_least(topics))
            curves.setdefault(f"nodes {name}", at_least(nodes))
    return Measured(numbers, curves)


def checks(numbers: Numbers) -> list[Check]:
    """Few follow much, and on log-log axes both densities fall."""
    every = [found for name in SETS for found in numbers[name]]
    median = max(found["median_share_of_topics"] for found in every)
    busiest = min(found["busiest_share_of_topics"] for found in every)
    falling = [_falls(found[which]) for found in every for which in ("topics_per_doubling", "nodes_per_doubling")]
    return [
        Check(f"the median node follows at most {median:.1%} of the topics", median <= FEW),
        Check(f"the busiest node follows at least {busiest:.0%} of them", busiest >= MANY),
        Check(f"{sum(falling)} of {len(falling)} densities fall from doubling to doubling", all(falling)),
    ]


def _falls(counts: list[int]) -> bool:
    """Whether the density falls: each doubling is twice as wide as the one before."""
    return all(later < 2 * earlier for earlier, later in pairwise(counts))


def draw(measured: Measured) -> list[Panel]:
    """The two halves of the figure, as complementary distributions."""
    return [
        Panel(
            title=title,
            x=x,
            y=f"share of {which} with at least so many",
            reading="A power law is a straight line here; the papers draw how many have exactly so many.",
            curves=[
                Curve(f"set {name}", measured.curves[f"{which} {name}"], "points", at) for at, name in enumerate(SETS)
            ],
            log_x=True,
            log_y=True,
        )
        for which, title, x in (
            ("topics", "Popularity", "subscribers of a topic"),
            ("nodes", "Interest", "subscriptions of a node"),
        )
    ]


CLAIM = Claim(
    id="A-F1",
    sentence="Few topics are highly popular and many are small; most nodes follow few topics, a few follow many.",
    paper=WORKSHOP,
    place="Figure 1, section 3",
    published="shape only: two falling log-log distributions",
    tolerance=f"the median node follows at most {FEW:.0%} of the topics, the busiest at least {MANY:.0%}, and both"
    " densities fall from each doubling of the value to the next, in sets F and G",
    measure=measure,
    checks=checks,
    draw=draw,
    caveat="The paper prints no parameters of its grid; sets F and G are fitted to its tables.",
    explanation="The shape is there but for its lowest end: of the nodes, more follow 4 to 7 topics than 1 to 3, since a radius"
    " that reaches one point reaches several.",
)

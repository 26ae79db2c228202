"""StAN, Table 1: how many pairs have significantly correlated subscriptions."""

from functools import partial

from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.papers.lab import Lab
from ropewalk.papers.stan.universes import FIRST_CELL, WORKSHOP, grid_universe
from ropewalk.papers.statistics import mean
from ropewalk.universes.correlation import node_correlation

PUBLISHED = {"90": 69.0, "95": 61.0, "98": 51.0, "99": 45.0}  # % by % of confidence
POINTS = 5.0
DECIDING = "F"
REPETITIONS: dict[Scale, dict[str, int]] = {"small": {"F": 3, "G": 1}, "paper": {"F": 40, "G": 5}}


def measure(lab: Lab, scale: Scale) -> Measured:
    """The share of pairs of nodes whose 0/1 vectors over the topics are significantly correlated."""
    numbers = {}
    for name, repetitions in REPETITIONS[scale].items():
        by_seed = []
        for seed in lab.seeds(repetitions):
            universe = grid_universe(lab, name, FIRST_CELL, seed)
            found = lab.described(universe, "correlation of nodes", partial(node_correlation, seed=seed))
            by_seed.append({level: 100 * share["value"] for level, share in found["significant"].items()})
        means = {level: mean([shares[level] for shares in by_seed]) for level in PUBLISHED}
        numbers[name] = {"mean": means, "by_seed": by_seed}
    return Measured(numbers)


def checks(numbers: Numbers) -> list[Check]:
    """Level by level, on the set that was fitted to this table too."""
    found = numbers[DECIDING]["mean"]
    return [
        Check(f"{found[level]:.1f} % at {level} % ({published:.0f} published)", abs(found[level] - published) <= POINTS)
        for level, published in PUBLISHED.items()
    ]


def draw(measured: Measured) -> list[Panel]:
    """Published against measured."""
    curves = [Curve("published", [(float(level), share) for level, share in PUBLISHED.items()], "law", 3)]
    for shade, (name, found) in enumerate(measured.numbers.items()):
        points = [(float(level), share) for level, share in found["mean"].items()]
        curves.append(Curve(f"set {name}, mean of {len(found['by_seed'])}", points, "line", shade))
    return [
        Panel(
            title="Pairs with significant correlation",
            x="% of confidence",
            y="% of pairs of nodes",
            reading="How many pairs of nodes have subscriptions that are more alike, or less, than chance would make them.",
            curves=curves,
        )
    ]


CLAIM = Claim(
    id="A-T1",
    sentence="69, 61, 51 and 45 % of the nodes have correlated subscriptions at 90, 95, 98 and 99 % confidence.",
    paper=WORKSHOP,
    place="Table 1, section 3",
    published=PUBLISHED,
    tolerance=f"pairs of nodes, set {DECIDING}: within {POINTS:.0f} points at each level, mean over the seeds",
    measure=measure,
    checks=checks,
    draw=draw,
    caveat="'% nodes' is read as the share of pairs of nodes; set G, fitted to Table 2, is reported beside it and decides nothing.",
    explanation="A single universe, as the paper had, differs from seed to seed by as much as is missing.",
)

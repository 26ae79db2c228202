"""Magnet, Figure 7: the popularity of HIERARCHICAL-TOPICS is a power law."""

from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.papers.lab import Lab
from ropewalk.papers.spread import at_least
from ropewalk.papers.statistics import mean
from ropewalk.universes.distributions import subscribers_per_topic
from ropewalk.universes.tails import power_law
from ropewalk.workloads.hierarchical import HierarchicalTopics

EXPONENT, MARGIN = 1.68, 0.15
REPETITIONS: dict[Scale, int] = {"small": 1, "paper": 8}


def measure(lab: Lab, scale: Scale) -> Measured:
    """2^14 nodes and topics, the paper's parameters, our readings."""
    fits, curves = [], {}
    for seed in lab.seeds(REPETITIONS[scale]):
        universe = lab.made(f"HIERARCHICAL-TOPICS, seed {seed}", HierarchicalTopics(), seed)
        popularity = lab.described(universe, "popularity", subscribers_per_topic)
        fit = power_law(popularity)
        fits.append({"seed": seed} | {name: fit[name] for name in ("exponent", "standard_error", "xmin", "tail_share")})
        curves[universe.title] = at_least(popularity)
    return Measured({"exponent": mean([fit["exponent"] for fit in fits]), "fits": fits}, curves)


def checks(numbers: Numbers) -> list[Check]:
    """The one number printed."""
    found = numbers["exponent"]
    said = f"the fitted exponent is {found:.2f}, mean of {len(numbers['fits'])}"
    return [Check(said, abs(found - EXPONENT) <= MARGIN)]


def draw(measured: Measured) -> list[Panel]:
    """The complementary distribution beside the published law."""
    curves = [Curve(title, points, "points", at) for at, (title, points) in enumerate(measured.curves.items())]
    first = next(iter(measured.curves.values()))
    tail = float(measured.numbers["fits"][0]["xmin"])
    share = next(y for x, y in first if x >= tail)
    end = first[-1][0]
    law = [(tail, share), (end, share * (end / tail) ** (1 - EXPONENT))]
    return [
        Panel(
            title="Popularity of topics",
            x="subscribers of a topic",
            y="share of topics with at least so many",
            reading="The dashed line has the published exponent, laid on the tail that the fit chose.",
            curves=[*curves, Curve(f"exponent {EXPONENT}", law, "law", 3)],
            log_x=True,
            log_y=True,
        )
    ]


CLAIM = Claim(
    id="M-F7",
    sentence="The popularity of topics in HIERARCHICAL-TOPICS follows a power law with exponent 1.68.",
    paper="Magnet",
    place="Figure 7, section 4.4",
    published={"exponent": EXPONENT},
    tolerance=f"the maximum-likelihood exponent of the tail is {EXPONENT} +- {MARGIN}",
    measure=measure,
    checks=checks,
    draw=draw,
    caveat="The reading of the workload (popularity by rank) was chosen by this figure, so it confirms nothing; the power law"
    " describes the top 2 % of the topics.",
)

"""StaN, section 2.1: views grow with the logarithm of a topic's subscribers, with nobody counting them."""

import math
from typing import Any

import numpy as np

from ropewalk.engines.job import Job
from ropewalk.engines.sim.run import begin, population_of
from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.papers.lab import Lab
from ropewalk.papers.stan.universes import STAN
from ropewalk.protocols.sampling.scamp.node import Settings as Scamp
from ropewalk.protocols.stan import kernel
from ropewalk.protocols.stan.settings import Settings
from ropewalk.seeds import chance

SIZES: dict[Scale, tuple[int, ...]] = {"small": (100, 300, 1000), "paper": (100, 300, 1000, 3000, 10_000)}
FIXED_SIZES = (
    30,
    100,
    300,
    1000,
    3000,
    10_000,
    30_000,
    100_000,
    300_000,
    1_000_000,
)  # the rule rounds up to whole neighbours
SETTINGS = Settings(schedule="timed", manager="scamp", rounds=0)
NETWORKS = 8  # of each size, with seeds that follow each other: the slope of a single one was seen from 1.2 to 2.6
WITHIN_FIXED = 0.1  # of a slope of 1
WITHIN_SCAMP = 0.2  # of a slope of c + 1


def measure(lab: Lab, scale: Scale) -> Measured:
    """Topics of each size: the fixed rule's views, and those that SCAMP makes on average."""
    fixed = {str(size): float(SETTINGS.fan_out(size)) for size in FIXED_SIZES}
    scamp = {}
    for size in SIZES[scale]:
        with lab.phase(f"one topic of {size}, {NETWORKS} times"):
            scamp[str(size)] = float(np.mean([_scamp_view(size, lab.seed + turn) for turn in range(NETWORKS)]))
    copies = Scamp.for_connectivity(SETTINGS.connectivity).copies
    return Measured({"fixed": _fitted(fixed), "scamp": _fitted(scamp), "copies": copies})


def _scamp_view(size: int, seed: int) -> float:
    """The mean view of a network in which everybody has subscribed, one after the other."""
    ids = np.sort(np.array([chance(seed, "node", number) for number in range(size)], np.int64))
    members = kernel.Members(np.array([1]), np.array([0, size]), ids)
    population = population_of(members, Job(settings=SETTINGS, seed=seed), [])
    begin(population, {})
    return float(np.mean([len(view) for view in population.views()[1].values()]))


def _fitted(sizes: dict[str, float]) -> dict[str, Any]:
    logarithms = [math.log(int(size)) for size in sizes]
    slope, offset = np.polyfit(logarithms, list(sizes.values()), 1)
    return {"mean_view": sizes, "slope": float(slope), "offset": float(offset)}


def checks(numbers: Numbers) -> list[Check]:
    """The slope against ln n."""
    fixed, scamp, expected = numbers["fixed"]["slope"], numbers["scamp"]["slope"], numbers["copies"] + 1
    return [
        Check(f"fixed views grow by {fixed:.2f} ln n", abs(fixed - 1) <= WITHIN_FIXED),
        Check(
            f"SCAMP's, with c = {numbers['copies']}, by {scamp:.2f} ln n",
            abs(scamp - expected) <= WITHIN_SCAMP * expected,
        ),
    ]


def draw(measured: Measured) -> list[Panel]:
    """Views by size."""
    curves = []
    for shade, name in enumerate(("fixed", "scamp")):
        points = [(float(size), value) for size, value in measured.numbers[name]["mean_view"].items()]
        curves.append(Curve(name, points, "line", shade))
    return [
        Panel(
            title="Views of one topic",
            x="subscribers",
            y="mean view size",
            reading="On a logarithmic axis both are straight lines.",
            curves=curves,
            log_x=True,
        )
    ]


CLAIM = Claim(
    id="B-P2",
    sentence="View sizes grow with the logarithm of a topic's subscribers.",
    paper=STAN,
    place="section 2.1",
    published="logarithmic",
    tolerance=f"slope of view size against ln n: 1 +- {WITHIN_FIXED} by the fixed rule, c + 1 within {WITHIN_SCAMP:.0%} with SCAMP",
    measure=measure,
    checks=checks,
    draw=draw,
)

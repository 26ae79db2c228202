"""StaN, Figures 3 and 4: popularity and interest are power laws, of one shape in all universes of a trace."""

from typing import Any

from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.papers.lab import Lab, Universe
from ropewalk.papers.spread import at_least, spread
from ropewalk.papers.stan.universes import CANDIDATES, STAN, like_trace
from ropewalk.universes.sample import ALL
from ropewalk.universes.tails import power_law
from ropewalk.workloads.trace_like import SETS

MARGIN = 0.15
MADE: dict[Scale, dict[str, tuple[str, ...]]] = {
    "small": {"L": ("L7", "L8"), "W": ("W7", "W8")},
    "paper": {letter: tuple(f"{letter}{number}" for number in range(1, 9)) for letter in "LW"},
}
TRACE = "gowalla"  # large enough, with no list cut short
TRACE_SEEDS: dict[Scale, tuple[int, ...]] = {"small": (1000, 5000), "paper": (1000, 5000, ALL)}
SIDES = {"popularity": "subscribers of a topic", "interest": "subscriptions of a node"}


def measure(lab: Lab, scale: Scale) -> Measured:
    """Exponents of the tails, universe by universe."""
    families: dict[str, list[Universe]] = {
        letter: [like_trace(lab, name, SETS[name].correlation, lab.seed) for name in names]
        for letter, names in MADE[scale].items()
    }
    cut = [lab.cut(TRACE, seeds, CANDIDATES[scale]) for seeds in TRACE_SEEDS[scale]]
    if all(universe is not None for universe in cut):
        families[TRACE] = [universe for universe in cut if universe is not None]
    numbers: dict[str, list[dict[str, Any]]] = {}
    curves: dict[str, list[tuple[float, float]]] = {}
    for family, universes in families.items():
        for universe in universes:
            both = dict(zip(SIDES, lab.described(universe, "spread", spread), strict=True))
            fits = {side: power_law(found) for side, found in both.items()}
            row = {
                side: {name: fit.get(name) for name in ("exponent", "xmin", "tail_share")} for side, fit in fits.items()
            }
            numbers.setdefault(family, []).append({"universe": universe.title} | row)
            curves |= {f"{side}|{universe.title}": at_least(found) for side, found in both.items()}
    return Measured(numbers, curves, lab.lacking(TRACE))


def checks(numbers: Numbers) -> list[Check]:
    """Each exponent against the mean of its family."""
    found = []
    for family, universes in numbers.items():
        for side in SIDES:
            exponents = [of[side]["exponent"] for of in universes]
            if None in exponents:
                found.append(Check(f"{family}: {side} is no power law in every universe", holds=False))
                continue
            middle = sum(exponents) / len(exponents)
            apart = max(abs(exponent / middle - 1) for exponent in exponents)
            said = ", ".join(f"{exponent:.2f}" for exponent in exponents)
            found.append(Check(f"{family}: {side} has exponents {said}", apart <= MARGIN))
    return found


def draw(measured: Measured) -> list[Panel]:
    """All universes on each other."""
    panels = []
    for side, x in SIDES.items():
        own = [(key, points) for key, points in measured.curves.items() if key.startswith(f"{side}|")]
        panels.append(
            Panel(
                title=side.capitalize(),
                x=x,
                y="share with at least so many",
                reading="A power law is a straight line, and universes of one trace have parallel ones.",
                curves=[Curve(key.partition("|")[2], points, "points", at) for at, (key, points) in enumerate(own)],
                log_x=True,
                log_y=True,
            )
        )
    return panels


CLAIM = Claim(
    id="B-F3/4",
    sentence="Subscribers per topic and subscriptions per node follow power laws, of the same shape in all sub-universes.",
    paper=STAN,
    place="Figures 3 and 4, section 3.2",
    published="shape only: log-log distributions of several universes",
    tolerance=f"the exponents of the tails of a family of universes lie within {MARGIN:.0%} of their mean, on both sides",
    measure=measure,
    checks=checks,
    draw=draw,
    caveat="Trace-like universes have their laws by construction, so only the public trace (Gowalla) can say something new.",
    explanation="Where universes are small, few values are left in a tail, and a fit finds it wherever they happen to be straight.",
)

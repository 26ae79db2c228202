"""StAN, Figure 3: how many neighbours and holders nodes have, before and after."""

from ropewalk.engines.contract import INITIAL
from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel, distribution
from ropewalk.papers.lab import Lab, Run
from ropewalk.papers.stan.universes import FIRST_CELL, WORKSHOP, stage_of, workshop_run
from ropewalk.papers.statistics import Floats, ks_distance, laid_out
from ropewalk.tables.frames import read_table
from ropewalk.tables.schema import VIEWS

ALIKE = 0.1  # KS distance of the distributions of in- and out-degrees
LOW, UNCHANGED = 10, 0.1  # the lowest tenth of the nodes: their median degree changes by no more than this share
WHEN = {"before": INITIAL, "after": stage_of("G")}
SIDES = {"out": "pvs", "in": "in_links"}


def measure(lab: Lab, scale: Scale) -> Measured:  # noqa: ARG001 (one size, small)
    """Set G, 1000 nodes and 100 topics: out-degree is PVS, in-degree the distinct holders."""
    run = workshop_run(lab, "G", FIRST_CELL, lab.seed)
    degrees = {
        (side, when): _degrees(lab, run, held, stage) for side, held in SIDES.items() for when, stage in WHEN.items()
    }
    numbers = {
        "largest": {f"{side} {when}": float(found[-1]) for (side, when), found in degrees.items()},
        "low": {f"{side} {when}": float(found[found.size * LOW // 200]) for (side, when), found in degrees.items()},
        "in_against_out": {when: ks_distance(degrees["in", when], degrees["out", when]) for when in WHEN},
    }
    curves = {f"{side} {when}": distribution(found.tolist()) for (side, when), found in degrees.items()}
    return Measured(numbers, curves)


def _degrees(lab: Lab, run: Run, held: str, stage: str) -> Floats:
    views = read_table(lab.spark, run.store, VIEWS).filter(f"stage = '{stage}'")
    return laid_out({row[0]: row[1] for row in views.groupBy(held).count().collect()})  # one row per degree


def checks(numbers: Numbers) -> list[Check]:
    """The highest vanish, the lowest stay, and in is as out."""
    largest, low, apart = numbers["largest"], numbers["low"], numbers["in_against_out"]
    found = []
    for side in SIDES:
        before, after = largest[f"{side} before"], largest[f"{side} after"]
        found.append(Check(f"the largest {side}-degree goes from {before:.0f} to {after:.0f}", after < before))
    for side in SIDES:
        before, after = low[f"{side} before"], low[f"{side} after"]
        said = f"among the lowest {LOW} % the median {side}-degree goes from {before:.0f} to {after:.0f}"
        found.append(Check(said, abs(after - before) <= UNCHANGED * before))
    found += [Check(f"in and out {when}: KS distance {apart[when]:.2f}", apart[when] <= ALIKE) for when in WHEN]
    return found


def draw(measured: Measured) -> list[Panel]:
    """The four distributions."""
    curves = [
        Curve(f"{side}-degree {when}", measured.curves[f"{side} {when}"], "steps", 2 * at + (when == "after"))
        for at, side in enumerate(SIDES)
        for when in WHEN
    ]
    return [
        Panel(
            title="Degrees of the physical graph",
            x="neighbours (out) or holders (in) of a node",
            y="share of nodes with at most so many",
            reading="After StAN the curves end further left; the paper has the in- and the out-curve of each moment on each other.",
            curves=curves,
        )
    ]


CLAIM = Claim(
    id="A-F3",
    sentence="StAN eliminates the highest degrees, leaves the lower ones as they are, and keeps in- and out-degrees alike.",
    paper=WORKSHOP,
    place="Figure 3, section 3.1",
    published="shape only: four cumulative distributions",
    tolerance=f"the largest in- and out-degree fall; the median of the lowest {LOW} % changes by at most {UNCHANGED:.0%}; the KS"
    f" distance of in- and out-degrees is at most {ALIKE} before and after",
    measure=measure,
    checks=checks,
    draw=draw,
    explanation="Walks find nodes in proportion to how many hold them and never bring their source along, so a node that few"
    " hold is held by fewer still: in-degrees spread out where out-degrees do not.",
)

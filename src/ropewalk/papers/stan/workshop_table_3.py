"""StAN, Table 3: clustering and diameter of the graph of physical links."""

from ropewalk.engines.contract import INITIAL
from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.papers.lab import Lab
from ropewalk.papers.stan.universes import FIRST_CELL, WORKSHOP, stage_of, workshop_run

PUBLISHED = {"before": {"clustering": 0.50, "diameter": 3}, "after": {"clustering": 0.13, "diameter": 4}}
MARGIN = {"before": 0.08, "after": 0.03}
WHEN = {"before": INITIAL, "after": stage_of("G")}


def measure(lab: Lab, scale: Scale) -> Measured:  # noqa: ARG001 (one size, small)
    """Set G, 1000 nodes and 100 topics; physical links are used both ways."""
    run = workshop_run(lab, "G", FIRST_CELL, lab.seed)
    return Measured(
        {
            when: {name: run.values[f"physical.{name}", stage] for name in PUBLISHED[when]}
            for when, stage in WHEN.items()
        }
    )


def checks(numbers: Numbers) -> list[Check]:
    """Both numbers, at both moments."""
    found = []
    for when, margin in MARGIN.items():
        clustering, diameter = numbers[when]["clustering"], numbers[when]["diameter"]
        published = PUBLISHED[when]
        apart = abs(clustering - published["clustering"])
        found.append(
            Check(f"clustering {when} {clustering:.3f} ({published['clustering']} published)", apart <= margin)
        )
        said = f"diameter {when} {diameter:.0f} ({published['diameter']} published)"
        found.append(Check(said, diameter == published["diameter"]))
    return found


def draw(measured: Measured) -> list[Panel]:
    """Before and after, beside what was published."""
    panels = []
    for name in ("clustering", "diameter"):
        ours = [(float(at), float(measured.numbers[when][name])) for at, when in enumerate(WHEN)]
        theirs = [(float(at), float(PUBLISHED[when][name])) for at, when in enumerate(WHEN)]
        panels.append(
            Panel(
                title=name.capitalize(),
                x="0: before, 1: after",
                y=name,
                reading="Of the undirected graph whose edges are the physical links.",
                curves=[Curve("measured", ours), Curve("published", theirs, "law", 3)],
            )
        )
    return panels


CLAIM = Claim(
    id="A-T3",
    sentence="The clustering coefficient of the physical graph falls from 0.50 to 0.13, its diameter grows from 3 to 4.",
    paper=WORKSHOP,
    place="Table 3, section 3.1",
    published=PUBLISHED,
    tolerance=f"undirected, set G: clustering within {MARGIN['before']} before and {MARGIN['after']} after, diameters equal",
    measure=measure,
    checks=checks,
    draw=draw,
    caveat="The paper does not say whether links are walked one way or both; both is what its numbers fit.",
)

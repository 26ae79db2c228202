"""StaN, Figure 7: whose physical views shrink, and by how much, in the smallest universes of both traces."""

from typing import Any

from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.papers.lab import Lab, Universe
from ropewalk.papers.stan.improvement import MUCH, improvement
from ropewalk.papers.stan.universes import (
    DECIDING_TRACES,
    MEDIUM,
    MILD,
    STAN,
    STRONG,
    cut_traces,
    journal_run,
    like_trace,
)

NEARLY_ALL, MOST = 0.95, 0.5
LOSSES = 0.001  # of all nodes: what "only for nodes with very low IPVS" leaves room for outside the lowest decile
REPETITIONS: dict[Scale, int] = {"small": 1, "paper": 10}
CORRELATIONS: dict[Scale, tuple[float, ...]] = {"small": (MILD, STRONG), "paper": (MILD, MEDIUM, STRONG)}
SIZES = ("L8", "W8")


def measure(lab: Lab, scale: Scale) -> Measured:
    """Universes of the two sizes, mildly and strongly correlated; and, where they are, universes of public traces."""
    numbers: dict[str, list[dict[str, Any]]] = {"like_traces": [], "traces": []}
    curves = {}

    def gained(universe: Universe) -> dict[str, Any]:
        found = improvement(lab, universe, [journal_run(lab, universe, seed) for seed in lab.seeds(REPETITIONS[scale])])
        curves[universe.title] = found.scatter
        return {"universe": universe.title} | found.numbers

    for size in SIZES:
        for correlation in CORRELATIONS[scale]:
            about = {"size": size, "correlation": correlation}
            numbers["like_traces"].append(about | gained(like_trace(lab, size, correlation, lab.seed)))
    for trace, universe in cut_traces(lab, scale).items():
        numbers["traces"].append({"trace": trace} | gained(universe))
    return Measured(numbers, curves, lab.lacking(*DECIDING_TRACES))


def checks(numbers: Numbers) -> list[Check]:
    """Everybody gains; many much, where correlation is strong; only the least lose."""
    every = numbers["like_traces"] + numbers["traces"]
    much = {(of["size"], of["correlation"]): of["gains_much"] for of in numbers["like_traces"]}
    gains, able = (min(of[which] for of in every) for which in ("gains", "gains_of_those_with_several"))
    loses = max(of["loses_above_lowest_decile"] for of in every)
    strong, mild = much["W8", STRONG], much["L8", MILD]
    found = [
        Check(f"in each universe at least {gains:.1%} of the nodes are below the diagonal", gains >= NEARLY_ALL),
        Check(f"of those that follow two topics or more, at least {able:.1%}", able >= NEARLY_ALL),
        Check(f"{strong:.0%} of the nodes of W8 at strong correlation improve by more than {MUCH:.0%}", strong > MOST),
        Check(f"{mild:.0%} of those of L8 at mild correlation do", mild < strong),
        Check(f"above the lowest decile of IPVS at most {loses:.2%} of all nodes lose", loses <= LOSSES),
    ]
    for size in SIZES:
        at = {correlation: share for (of, correlation), share in much.items() if of == size}
        more = at[STRONG] > at[MILD]
        said = f"{size}: {at[MILD]:.0%} of the nodes at correlation {MILD:g}, {at[STRONG]:.0%} at {STRONG:g} improve by so much"
        found.append(Check(said, more))
    return found


def draw(measured: Measured) -> list[Panel]:
    """IPVS against FPVS for a sample of the nodes."""
    panels = []
    for title, points in measured.curves.items():
        end = max((x for x, _ in points), default=1.0)
        panels.append(
            Panel(
                title=title,
                x="IPVS",
                y="FPVS",
                reading="A node below the dashed line holds fewer neighbours than before; the paper has nearly all there.",
                curves=[Curve("unchanged", [(1.0, 1.0), (end, end)], "law", 3), Curve("a node", points, "points")],
                log_x=True,
                log_y=True,
            )
        )
    return panels


CLAIM = Claim(
    id="B-F7",
    sentence="Nearly all nodes reduce their physical view; most of Wikipedia's by over 40 %, fewer of LiveJournal's; only nodes"
    " with very low IPVS lose.",
    paper=STAN,
    place="Figure 7, section 3.4",
    published="shape only: scatter plots of L8 and W8; 'the majority of Wikipedia's nodes have an improvement over 40 %'",
    tolerance=f"at least {NEARLY_ALL:.0%} of the nodes improve, and as many of those that follow two topics or more; more than half of W8's at strong correlation ({STRONG:g}) by more than"
    f" {MUCH:.0%}, fewer of L8's at mild ({MILD:g}); more at strong than at mild for both sizes; outside the lowest decile of"
    f" IPVS at most {LOSSES:.1%} of all nodes lose",
    measure=measure,
    checks=checks,
    draw=draw,
    caveat="The paper's traces are gone: the sizes are theirs, subscriptions per node and correlation are ours. Deciles are of the"
    " nodes that follow two topics or more; who follows one has nothing to share or to split.",
    explanation="Who follows one topic stays on the diagonal, at the low end, where points lie on each other; how many such nodes"
    " there are, and how much others gain, depends on subscriptions per node, which the paper does not print.",
)

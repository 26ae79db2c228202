"""StaN, section 3.5: no overlay ever falls apart. Two readings of "connected", each with its own verdict."""

from typing import Any

from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.papers.lab import Lab, Run
from ropewalk.papers.stan.journal_figure_6 import fig6_runs
from ropewalk.papers.stan.universes import DECIDING_TRACES, MILD, STAN, STRONG, cut_traces, journal_run, like_trace

REPETITIONS: dict[Scale, int] = {"small": 1, "paper": 10}
PLACE = "section 3.5, 'Connectivity'"


def measure(lab: Lab, scale: Scale) -> Measured:
    """All the journal paper's kinds of universes: synthetic, as large as its traces, and of public traces."""
    runs: dict[str, list[Run]] = {"set fig6, 100 x 16": fig6_runs(lab)}
    universes = [like_trace(lab, size, at, lab.seed) for size in ("L8", "W8") for at in (MILD, STRONG)]
    for universe in (*universes, *cut_traces(lab, scale).values()):
        runs[universe.title] = [journal_run(lab, universe, seed) for seed in lab.seeds(REPETITIONS[scale])]
    return Measured({name: _counted(of) for name, of in runs.items()}, left_out=lab.lacking(*DECIDING_TRACES))


def _counted(runs: list[Run]) -> dict[str, Any]:
    """Overlays in one piece, of all overlays of all runs."""
    topics = sum(run.document["topics"] for run in runs)

    def kept(how: str, stage: str) -> int:
        return sum(round(run.document["fitness"][stage][f"{how}_connected"] * run.document["topics"]) for run in runs)

    return {
        "overlays": topics,
        **{how: {"before": kept(how, "initial"), "after": kept(how, "final")} for how in ("weakly", "strongly")},
        "held_by_nobody": sum(round(run.document["fitness"]["final"]["held_by_nobody"]) for run in runs),
        "subscriptions": sum(run.document["subscriptions"] for run in runs),
    }


def _checks(numbers: Numbers, how: str) -> list[Check]:
    """Never is never: one overlay in two pieces and it does not hold."""
    before, after = (sum(of[how][when] for of in numbers.values()) for when in ("before", "after"))
    overlays = sum(of["overlays"] for of in numbers.values())
    said = f"{after} of {overlays} overlays are {how} connected after {len(numbers)} kinds of runs ({before} before)"
    return [Check(said, after == overlays)]


def weakly(numbers: Numbers) -> list[Check]:
    """When links are walked both ways."""
    return _checks(numbers, "weakly")


def strongly(numbers: Numbers) -> list[Check]:
    """When they are walked forwards only: "all nodes are reachable from any other node" (StaN 2.2)."""
    return _checks(numbers, "strongly")


def draw(measured: Measured) -> list[Panel]:
    """Shares before and after, universe by universe."""
    panels = []
    for how in ("weakly", "strongly"):
        curves = [
            Curve(
                name,
                [(float(at), of[how][when] / of["overlays"]) for at, when in enumerate(("before", "after"))],
                "line",
                at_,
            )
            for at_, (name, of) in enumerate(measured.numbers.items())
        ]
        panels.append(
            Panel(
                title=f"Overlays that are {how} connected",
                x="0: before, 1: after",
                y="share of overlays",
                reading="The paper saw none fall apart.",
                curves=curves,
            )
        )
    return panels


WEAK = Claim(
    id="B-C1-weak",
    sentence="Not a single overlay is disconnected after StaN: weakly, when links are walked both ways.",
    paper=STAN,
    place=PLACE,
    published={"disconnected overlays": 0},
    tolerance="every overlay of every run has one weak component after 8 rounds",
    measure=measure,
    checks=weakly,
    draw=draw,
    caveat="The link manager alone, without an overlay manager that repairs.",
)
STRONG_CLAIM = Claim(
    id="B-C1-strong",
    sentence="Not a single overlay is disconnected after StaN: strongly, every node reachable from any other.",
    paper=STAN,
    place=f"{PLACE}; 'reachable from any other node' is section 2.2",
    published={"disconnected overlays": 0},
    tolerance="every overlay of every run has one strong component after 8 rounds",
    measure=measure,
    checks=strongly,
    draw=draw,
    caveat="The link manager alone, without an overlay manager that repairs.",
    explanation="A walk finds nodes in proportion to how many hold them and adds whom it visits and their views, never its source:"
    " a node that nobody holds is found by nobody again. So the paper must mean weak components, or lean on the overlay manager.",
)

"""StaN, Figure 9: clustering and diameter of the overlays, before and after."""

from typing import Any

from ropewalk.engines.contract import FINAL, INITIAL
from ropewalk.measures.named import from_to
from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel, distribution
from ropewalk.papers.lab import Lab, Run, Universe
from ropewalk.papers.stan.universes import DECIDING_TRACES, MILD, STAN, STRONG, cut_traces, journal_run, like_trace
from ropewalk.papers.statistics import mean
from ropewalk.tables.frames import read_table
from ropewalk.tables.schema import OVERLAYS

ALIKE = 0.1  # KS distance of a distribution before and after
NEARLY_ALL = 0.95  # of the overlays; ours
DRAWN = 20_000  # overlays; of more, those with the lowest hash of their topic
COMPARED = ("clustering", "diameter")
CHANGED = from_to(INITIAL, FINAL)
REPETITIONS: dict[Scale, int] = {"small": 1, "paper": 10}


def measure(lab: Lab, scale: Scale) -> Measured:
    """Per overlay, over all runs of a universe."""
    curves: dict[str, list[tuple[float, float]]] = {}
    universes = [like_trace(lab, size, at, lab.seed) for size in ("L8", "W8") for at in (MILD, STRONG)]
    numbers = [
        _compared(lab, universe, REPETITIONS[scale], curves)
        for universe in (*universes, *cut_traces(lab, scale).values())
    ]
    return Measured({"universes": numbers}, curves, lab.lacking(*DECIDING_TRACES))


def _compared(
    lab: Lab, universe: Universe, repetitions: int, curves: dict[str, list[tuple[float, float]]]
) -> dict[str, Any]:
    runs = [journal_run(lab, universe, seed) for seed in lab.seeds(repetitions)]
    curves |= _distributions(lab, universe, runs[0])

    def over_runs(measure: str, group: str) -> float:
        return mean([run.values[measure, group] for run in runs])

    return {
        "universe": universe.title,
        "overlays": sum(run.document["topics"] for run in runs),
        **{
            name: {
                "before": over_runs(f"overlay.{name}", INITIAL),
                "after": over_runs(f"overlay.{name}", FINAL),
                "ks": over_runs(f"overlay.{name}.ks", CHANGED),
            }
            for name in COMPARED
        },
        "diameter_within_1": over_runs("overlay.diameter.within_1", CHANGED),
    }


def _distributions(lab: Lab, universe: Universe, run: Run) -> dict[str, list[tuple[float, float]]]:
    """What is drawn: one run."""
    chosen = read_table(lab.spark, run.store, OVERLAYS).selectExpr("*", "xxhash64(topic) as hashed")
    curves = {}
    for stage in (INITIAL, FINAL):
        rows = chosen.filter(f"stage = '{stage}'").orderBy("hashed", "topic").limit(DRAWN).collect()
        for name in COMPARED:
            curves[f"{universe.title}|{name}|{stage}"] = distribution([float(row[name]) for row in rows])
    return curves


def checks(numbers: Numbers) -> list[Check]:
    """Universe by universe: both distributions, and overlay by overlay the diameter."""
    found = []
    for of in numbers["universes"]:
        for name in COMPARED:
            before, after, apart = (of[name][what] for what in ("before", "after", "ks"))
            said = f"{of['universe']}: {name} {before:.3f} to {after:.3f}, KS {apart:.3f}"
            found.append(Check(said, apart <= ALIKE))
        share = of["diameter_within_1"]
        found.append(Check(f"{of['universe']}: {share:.1%} of the diameters move by 1 at most", share >= NEARLY_ALL))
    return found


def draw(measured: Measured) -> list[Panel]:
    """Two distributions on each other, for both numbers of each universe."""
    panels = []
    for of in measured.numbers["universes"]:
        for name in COMPARED:
            curves = [
                Curve(said, measured.curves[f"{of['universe']}|{name}|{stage}"], "steps", shade)
                for shade, (stage, said) in enumerate((("initial", "before"), ("final", "after")))
            ]
            panels.append(
                Panel(
                    title=f"{of['universe']}: {name}",
                    x=f"{name} of an overlay",
                    y="share of overlays with at most so much",
                    reading="The paper has both curves on each other.",
                    curves=curves,
                )
            )
    return panels


CLAIM = Claim(
    id="B-F9",
    sentence="Clustering coefficients and diameters of the overlays are distributed as before.",
    paper=STAN,
    place="Figure 9, section 3.5",
    published="shape only: distributions before and after almost indistinguishable, for L8 and W8",
    tolerance=f"in each universe the KS distance before and after is at most {ALIKE}, of clustering and of diameters, and at least"
    f" {NEARLY_ALL:.0%} of the diameters move by 1 at most",
    measure=measure,
    checks=checks,
    draw=draw,
    caveat="The paper's traces are gone: the sizes are theirs, subscriptions per node and correlation are ours.",
)

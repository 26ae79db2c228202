"""StaN, Figure 9: clustering and diameter of the overlays, before and after."""

from typing import Any

from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel, distribution
from ropewalk.papers.lab import Lab, Universe
from ropewalk.papers.stan.universes import DECIDING_TRACES, MILD, STAN, STRONG, cut_traces, journal_run, like_trace
from ropewalk.papers.statistics import ks_distance, mean
from ropewalk.tables.frames import read_table
from ropewalk.tables.schema import OVERLAYS

ALIKE = 0.1  # KS distance of a distribution before and after
LONGER = 1.0  # of a diameter
MOST_OVERLAYS = 20_000  # that are compared; of more, those with the lowest hash of their topic
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
    found: dict[str, dict[str, list[float]]] = {
        name: {"initial": [], "final": []} for name in ("clustering", "diameter")
    }
    longer: list[int] = []
    for seed in lab.seeds(repetitions):
        overlays = read_table(lab.spark, journal_run(lab, universe, seed).store, OVERLAYS)
        chosen = overlays.filter("stage in ('initial', 'final')").selectExpr("*", "xxhash64(topic) as hashed")
        rows = chosen.orderBy("hashed", "topic", "stage").limit(2 * MOST_OVERLAYS).collect()
        for name, by_stage in found.items():
            for row in rows:
                by_stage[row["stage"]].append(float(row[name]))
        longer += [
            after["diameter"] - before["diameter"] for after, before in zip(rows[::2], rows[1::2], strict=True)
        ]  # final, initial
    for name, by_stage in found.items():
        for stage, values in by_stage.items():
            curves[f"{universe.title}|{name}|{stage}"] = distribution(values)
    return {
        "universe": universe.title,
        "overlays": len(longer),
        **{
            name: {
                "before": mean(by_stage["initial"]),
                "after": mean(by_stage["final"]),
                "ks": ks_distance(by_stage["initial"], by_stage["final"]),
            }
            for name, by_stage in found.items()
        },
        "diameter_within_1": sum(abs(change) <= LONGER for change in longer) / len(longer),
    }


def checks(numbers: Numbers) -> list[Check]:
    """Universe by universe: both distributions, and overlay by overlay the diameter."""
    found = []
    for of in numbers["universes"]:
        name, clustering, diameter = of["universe"], of["clustering"], of["diameter"]
        said = f"{name}: clustering {clustering['before']:.3f} to {clustering['after']:.3f}, KS {clustering['ks']:.2f}"
        found.append(Check(said, clustering["ks"] <= ALIKE))
        moved = abs(diameter["after"] - diameter["before"])
        said = f"{name}: diameter {diameter['before']:.2f} to {diameter['after']:.2f}"
        found.append(Check(said, moved <= LONGER))
    return found


def draw(measured: Measured) -> list[Panel]:
    """Two distributions on each other, for both numbers of each universe."""
    panels = []
    for of in measured.numbers["universes"]:
        for name in ("clustering", "diameter"):
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
    tolerance=f"the KS distance of the clustering of overlays before and after is at most {ALIKE}, and their mean diameter moves by at"
    f" most {LONGER:g}, in each universe",
    measure=measure,
    checks=checks,
    draw=draw,
    caveat="The paper's traces are gone: the sizes are theirs, subscriptions per node and correlation are ours.",
)

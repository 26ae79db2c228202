"""StaN, Figure 8: how physical views grow with the number of topics."""

from typing import Any

from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.papers.lab import Lab, Universe
from ropewalk.papers.stan.universes import CANDIDATES, DECIDING_TRACES, MILD, STAN, STRONG, journal_run, like_trace
from ropewalk.papers.statistics import mean, slope

TIMES = 2.0
SIZES: dict[Scale, dict[str, list[str]]] = {
    "small": {letter: [f"{letter}{number}" for number in (7, 8)] for letter in "LW"},
    "paper": {letter: [f"{letter}{number}" for number in range(1, 9)] for letter in "LW"},
}
TEN_TIMES_UP_TO = 10_000  # topics of universes that run ten times at paper scale, as in the paper; larger ones run once
TRACE_SEEDS: dict[Scale, list[int]] = {"small": [200, 1000], "paper": [200, 1000, 5000]}


def measure(lab: Lab, scale: Scale) -> Measured:
    """Families of universes that differ in size: as large as StaN's, or cut from public traces."""
    families: dict[str, list[dict[str, Any]]] = {}

    def views(universe: Universe) -> dict[str, Any]:
        repetitions = 10 if scale == "paper" and universe.topics <= TEN_TIMES_UP_TO else 1
        runs = [journal_run(lab, universe, seed) for seed in lab.seeds(repetitions)]
        ipvs, fpvs = (mean([run.mean("pvs", stage) for run in runs]) for stage in ("initial", "final"))
        sizes = {"nodes": universe.nodes, "topics": universe.topics, "subscriptions": universe.subscriptions}
        return {"universe": universe.title, **sizes, "runs": len(runs), "ipvs": ipvs, "fpvs": fpvs}

    for letter, sizes in SIZES[scale].items():
        for correlation in (MILD, STRONG):
            of = [views(like_trace(lab, size, correlation, lab.seed)) for size in sizes]
            families[f"{letter}, correlation {correlation:g}"] = of
    for trace in DECIDING_TRACES:
        cut = [lab.cut(trace, seeds, CANDIDATES[scale]) for seeds in TRACE_SEEDS[scale]]
        if all(universe is not None for universe in cut):
            families[trace] = [views(universe) for universe in cut if universe is not None]
    numbers = {name: _compared(sorted(of, key=lambda each: int(each["topics"]))) for name, of in families.items()}
    return Measured(numbers, left_out=lab.lacking(*DECIDING_TRACES))


def _compared(of: list[dict[str, Any]]) -> dict[str, Any]:
    topics = [float(each["topics"]) for each in of]
    before, after = (slope(topics, [each[name] for each in of]) for name in ("ipvs", "fpvs"))
    levels = [each["ipvs"] / each["fpvs"] for each in of]
    return {
        "universes": of,
        "slope_before": before,
        "slope_after": after,
        "times_slower": before / after if after > 0 and before > 0 else None,  # views that do not grow say nothing
        "times_smaller": levels,
    }


def checks(numbers: Numbers) -> list[Check]:
    """Family by family."""
    return [
        Check(f"{name}: {of['times_slower']:.2f} times slower", of["times_slower"] >= TIMES)
        for name, of in numbers.items()
        if of["times_slower"] is not None
    ]


def draw(measured: Measured) -> list[Panel]:
    """A panel for each family."""
    panels = []
    for name, of in measured.numbers.items():
        ipvs, fpvs = ([(float(each["topics"]), each[held]) for each in of["universes"]] for held in ("ipvs", "fpvs"))
        panels.append(
            Panel(
                title=name,
                x="topics",
                y="mean per node",
                reading="The lower line is to rise half as steeply as the upper, or less.",
                curves=[Curve("IPVS", ipvs, "line", 1), Curve("FPVS", fpvs, "line", 0)],
            )
        )
    return panels


CLAIM = Claim(
    id="B-F8",
    sentence="With StaN the number of physical links grows slower with the number of topics, by a factor of two.",
    paper=STAN,
    place="Figure 8, section 3.4",
    published={"times slower": TIMES},
    tolerance=f"the slope of IPVS over topics is at least {TIMES:g} times that of FPVS, in each family of universes where both grow",
    measure=measure,
    checks=checks,
    draw=draw,
    caveat="The paper's traces are gone: the sizes are theirs, subscriptions per node and correlation are ours. At paper scale"
    f" universes of up to {TEN_TIMES_UP_TO} topics run ten times, larger ones once.",
    explanation="How much steeper depends on how alike subscriptions are and on how many a node has, which the paper does not print.",
)

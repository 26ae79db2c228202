"""StaN, Figure 5: topics are mildly correlated in LiveJournal, more strongly in Wikipedia."""

from functools import partial
from typing import Any

from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.papers.lab import Lab, Universe
from ropewalk.papers.stan.universes import CANDIDATES, MILD, STAN, STRONG, TRACE_SEEDS, like_trace
from ropewalk.universes.correlation import topic_correlation
from ropewalk.universes.sample import ALL

ENOUGH_TOPICS = 253  # of a universe to compare: L8, the paper's smallest
TRACES = ("livejournal", "wikipedia", "gowalla", "github", "youtube")
SEEDS = dict.fromkeys(TRACES, TRACE_SEEDS) | {"wikipedia": ALL}  # the public Wikipedia trace has 1000 pages in all


def measure(lab: Lab, scale: Scale) -> Measured:
    """Mean absolute Pearson correlation of pairs of topics."""

    def correlated(universe: Universe) -> dict[str, Any]:
        found = lab.described(universe, "correlation of topics", partial(topic_correlation, seed=lab.seed)).document
        sizes = {"universe": universe.title, "nodes": universe.nodes, "topics": universe.topics}
        return sizes | {"mean_absolute": found["mean_absolute"]["value"], "quantiles": found["quantiles"]}

    traces = {}
    for trace in TRACES:
        universe = lab.cut(trace, SEEDS[trace], CANDIDATES[scale])
        if universe is not None:
            traces[trace] = correlated(universe)
    made = {
        f"{size}, correlation {at:g}": correlated(like_trace(lab, size, at, lab.seed))
        for size in ("L8", "W8")
        for at in (MILD, STRONG)
    }
    return Measured({"traces": traces, "made": made}, left_out=lab.lacking(*TRACES))


def checks(numbers: Numbers) -> list[Check]:
    """Only two traces can say it, and only if both leave a universe to compare."""
    both = [numbers["traces"].get(trace) for trace in ("wikipedia", "livejournal")]
    wikipedia, livejournal = both
    if wikipedia is None or livejournal is None or min(wikipedia["topics"], livejournal["topics"]) < ENOUGH_TOPICS:
        return []
    more, less = wikipedia["mean_absolute"], livejournal["mean_absolute"]
    return [Check(f"mean |r| is {more:.4f} in Wikipedia and {less:.4f} in LiveJournal", more > less)]


def draw(measured: Measured) -> list[Panel]:
    """Quantiles of the correlation of two topics, instead of a shaded map."""
    every = measured.numbers["traces"] | measured.numbers["made"]
    curves = [
        Curve(name, [(value, float(share[1:]) / 100) for share, value in of["quantiles"].items()], "line", shade)
        for shade, (name, of) in enumerate(every.items())
    ]
    return [
        Panel(
            title="Correlation of two topics",
            x="Pearson correlation",
            y="share of pairs with at most so much",
            reading="The further right a curve runs, the more grey in the paper's map.",
            curves=curves,
        )
    ]


CLAIM = Claim(
    id="B-F5",
    sentence="Topics are mildly correlated in LiveJournal and more strongly in Wikipedia.",
    paper=STAN,
    place="Figure 5, section 3.2",
    published="shading only",
    tolerance=f"the mean absolute correlation of topics is larger in Wikipedia than in LiveJournal, in universes of at least {ENOUGH_TOPICS}"
    " topics (L8's)",
    measure=measure,
    checks=checks,
    draw=draw,
    explanation="The paper's traces are gone; the public Wikipedia trace has 1000 pages, too few to cut a universe of that size from."
    " Correlation of made-up universes is chosen, so they can decide nothing.",
)

"""StaN, section 2.1: what StaN gains comes from correlation and from how many topics a node follows."""

from typing import Any

from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.papers.lab import Lab, Universe
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
from ropewalk.papers.statistics import mean, rises
from ropewalk.workloads.trace_like import TraceLike

DISJOINT = TraceLike(
    nodes=600, topics=10, mean_subscriptions=1.0, popularity_exponent=1.0, interest_exponent=2.0, max_subscriptions=1,
    correlation=0.0,
)  # fmt: skip
CORRELATIONS: dict[Scale, tuple[float, ...]] = {
    "small": (MILD, MEDIUM, STRONG),
    "paper": (0.0, MILD, 0.25, MEDIUM, 0.75, STRONG),
}
SUBSCRIPTIONS: dict[Scale, dict[str, tuple[float, ...]]] = {  # means; the least that L8 and W8 can have is 1.6 and 12.5
    "small": {"L8": (4.0, 6.6, 13.2)},
    "paper": {"L8": (4.0, 6.6, 13.2, 26.4), "W8": (16.0, 24.5, 49.0)},
}
REPETITIONS: dict[Scale, int] = {"small": 1, "paper": 10}


def measure(lab: Lab, scale: Scale) -> Measured:
    """Disjoint topics, two sweeps, and public traces beside themselves rewired."""

    def gain(universe: Universe) -> dict[str, Any]:
        runs = [journal_run(lab, universe, seed) for seed in lab.seeds(REPETITIONS[scale])]
        ipvs, fpvs = (mean([run.mean("pvs", stage) for run in runs]) for stage in ("initial", "final"))
        return {"universe": universe.title, "ipvs": ipvs, "fpvs": fpvs, "gain": 1 - fpvs / ipvs}

    numbers: dict[str, Any] = {"disjoint": gain(lab.made("topics nobody shares", DISJOINT, lab.seed))}
    numbers["by_correlation"] = {
        size: [{"correlation": at} | gain(like_trace(lab, size, at, lab.seed)) for at in CORRELATIONS[scale]]
        for size in ("L8", "W8")
    }
    numbers["by_subscriptions"] = {
        size: [
            {"subscriptions": at} | gain(like_trace(lab, size, STRONG, lab.seed, mean_subscriptions=at)) for at in means
        ]
        for size, means in SUBSCRIPTIONS[scale].items()
    }
    numbers["traces"] = {
        trace: {"as it is": gain(universe), "rewired": gain(lab.rewired(universe))}
        for trace, universe in cut_traces(lab, scale).items()
    }
    return Measured(numbers, left_out=lab.lacking(*DECIDING_TRACES))


def checks(numbers: Numbers) -> list[Check]:
    """None without sharing, and more with more of either."""
    disjoint = numbers["disjoint"]["gain"]
    found = [Check(f"on disjoint topics the gain is {disjoint:.4f}", disjoint == 0.0)]
    for sweep, what in (("by_correlation", "correlation"), ("by_subscriptions", "subscriptions")):
        for size, of in numbers[sweep].items():
            gains = [each["gain"] for each in of]
            said = ", ".join(f"{each['gain']:.1%} at {each[what]:g}" for each in of)
            found.append(Check(f"{size} by {what}: {said}", rises(gains)))
    for trace, of in numbers["traces"].items():
        real, rewired = of["as it is"]["gain"], of["rewired"]["gain"]
        found.append(Check(f"{trace}: {real:.1%}, and {rewired:.1%} once rewired", real > rewired))
    return found


def draw(measured: Measured) -> list[Panel]:
    """Both sweeps."""
    return [
        Panel(
            title=f"Gain by {what}",
            x=f"{what} (mean per node)" if what == "subscriptions" else what,
            y="1 - FPVS / IPVS",
            reading="The paper says that this rises.",
            curves=[
                Curve(size, [(each[what], each["gain"]) for each in of], "line", shade)
                for shade, (size, of) in enumerate(measured.numbers[sweep].items())
            ],
        )
        for sweep, what in (("by_correlation", "correlation"), ("by_subscriptions", "subscriptions"))
    ]


CLAIM = Claim(
    id="B-C2",
    sentence="Without correlation StaN degenerates to one overlay per topic; its gain is driven by correlation and by"
    " subscriptions per node.",
    paper=STAN,
    place="section 2.1",
    published="no numbers",
    tolerance="the gain 1 - FPVS / IPVS is exactly 0 where no node follows two topics; it rises with the correlation of trace-like"
    " universes and with their mean subscriptions; that of a public trace is above that of the same trace rewired",
    measure=measure,
    checks=checks,
    draw=draw,
    caveat="Independent subscriptions (correlation 0, or rewired) still meet in popular topics, so the gain is 0 only where topics"
    " are disjoint.",
)

"""What the figures of Kato et al. have in common: stock quotes at the sizes chosen here, and runs of many of them at once.

The paper prints the size of an id, the number of nodes and that of events; how many stocks and cells there are, how wide a
subscription is and how many bits stand for a cell are ours (docs/papers/kato.md, 8).
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from ropewalk.engines.batch.content_sweep import ContentPoint
from ropewalk.papers.contract import Scale
from ropewalk.papers.lab import Lab, Swept
from ropewalk.papers.statistics import mean
from ropewalk.protocols.kato.settings import Settings
from ropewalk.workloads.stock_quotes import StockQuotes

KATO = "Kato et al."
GROUP = "final"
REPETITIONS: dict[Scale, int] = {"small": 2, "paper": 10}  # Kato IV: 10 simulation runs
SIZES: dict[Scale, tuple[int, ...]] = {
    "small": (250, 500, 1000, 2000),
    "paper": (125, 250, 500, 1000, 2000, 4000),  # Kato IV: up to 4000
}
LARGEST: dict[Scale, int] = {"small": 1000, "paper": 4000}
EVENTS_EACH: dict[Scale, int] = {"small": 2, "paper": 2}  # Kato IV: at most 10 events of every node
STOCKS, PRICE_CELLS = 16, 64  # ours: as many cells as an id has bits


def quotes(nodes: int, **more: Any) -> StockQuotes:
    """The usual workload: one (stock, low, high) of every node, with both ends drawn."""
    told: dict[str, Any] = {"law": "uniform", "ranges": "random", "filters_per_node": 1}
    return StockQuotes(nodes=nodes, stocks=STOCKS, price_cells=PRICE_CELLS, **told | more)


def popular(nodes: int, exponent: float, law: str = "rank") -> StockQuotes:
    """Subscriptions themselves are popular: whole ones, with their ranges, are drawn by the law."""
    return quotes(nodes, law=law, exponent=exponent, alike=True)


class Case(NamedTuple):
    """A point of a figure."""

    name: str
    model: StockQuotes
    settings: Settings = Settings()
    repetitions: int | None = None


def runs(lab: Lab, scale: Scale, title: str, cases: Sequence[Case]) -> dict[str, list[Swept]]:
    """Every case with every seed, as one Spark job."""
    points = {
        case.name: [
            ContentPoint(
                name=f"{title}: {case.name}, seed {seed}",
                model=case.model,
                settings=case.settings,
                seed=seed,
                events=EVENTS_EACH[scale] * case.model.nodes,
            )
            for seed in lab.seeds(case.repetitions or REPETITIONS[scale])
        ]
        for case in cases
    }
    every = [point for repeated in points.values() for point in repeated]
    found = lab.content_sweep(title, every, ("routing", "spreads"))
    return {name: [found[point.name] for point in repeated] for name, repeated in points.items()}


def average(repeated: Sequence[Swept], measure: str) -> float:
    """A measure, in the mean of some runs."""
    return mean([run[measure, GROUP] for run in repeated])


def logarithmic(x: Sequence[float], y: Sequence[float]) -> tuple[float, float, float]:
    """The line through (ln x, y) that leaves the least squares: where it begins, how it rises, and how much it explains (R^2)."""
    logs = [math.log(each) for each in x]
    middle_x, middle_y = mean(logs), mean(y)
    across = math.fsum((a - middle_x) * (b - middle_y) for a, b in zip(logs, y, strict=True))
    slope = across / math.fsum((a - middle_x) ** 2 for a in logs)
    start = middle_y - slope * middle_x
    left = math.fsum((b - start - slope * a) ** 2 for a, b in zip(logs, y, strict=True))
    total = math.fsum((b - middle_y) ** 2 for b in y)
    return start, slope, 1 - left / total if total else 1.0

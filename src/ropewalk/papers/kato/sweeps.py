"""What the figures of Kato et al. have in common: stock quotes at the sizes chosen here, and runs of many of them at once.

The paper prints the size of an id, the number of nodes and that of events; how many stocks and cells there are, how wide a
subscription is and how many bits stand for a cell are ours (docs/papers/kato.md, 8).
"""

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


def flat(nodes: int) -> StockQuotes:
    """Four ranges each, all of one width: nobody covers anybody."""
    return quotes(nodes, ranges="fixed", filters_per_node=4)


def popular(nodes: int, exponent: float, law: str = "rank") -> StockQuotes:
    """Subscriptions themselves are popular: whole ones, with their ranges, are drawn by the law."""
    return quotes(nodes, law=law, exponent=exponent, alike=True)


def equally_popular(nodes: int) -> StockQuotes:
    """The same subscriptions, all of them drawn alike often: what differs from `popular` is the law alone."""
    return quotes(nodes, law="uniform", alike=True)


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

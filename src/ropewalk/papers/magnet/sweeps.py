"""What Magnet's figures have in common: runs on made-up universes, and what Magnet saves there against its strawman."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ropewalk.engines.batch.rings import Plan
from ropewalk.engines.batch.sweep import Point
from ropewalk.engines.contract import FINAL, INITIAL
from ropewalk.papers.contract import Scale
from ropewalk.papers.drawing import Curve, Kind
from ropewalk.papers.lab import Lab, Swept
from ropewalk.papers.statistics import mean
from ropewalk.protocols.magnet.settings import NAME, Settings
from ropewalk.workloads.contract import LocalModel
from ropewalk.workloads.rates import Rates

MAGNET = "Magnet"
POWER_LAW = Rates("power-law")
REPETITIONS: dict[Scale, int] = {"small": 1, "paper": 5}
NODES: dict[Scale, int] = {"small": 1000, "paper": 10_000}


class Cost(NamedTuple):
    """Uninterested relays a message, in the mean of all repetitions."""

    magnet: float
    strawman: float

    @property
    def saving(self) -> float:
        """The share of the strawman's that Magnet saves."""
        return 1 - self.magnet / self.strawman

    def numbers(self) -> dict[str, float]:
        """As a document has them."""
        return {"magnet": self.magnet, "strawman": self.strawman, "saving": self.saving}


class Case(NamedTuple):
    """A point of a figure."""

    name: str
    model: LocalModel
    rates: Rates = Rates()
    settings: Settings = Settings()


def runs(lab: Lab, scale: Scale, title: str, cases: Sequence[Case], table: str = "trees") -> dict[str, list[Swept]]:
    """Every case with every seed, as one Spark job; what one table of the runs says."""
    points = {
        case.name: [
            Point(
                name=f"{title}: {case.name}, seed {seed}",
                model=case.model,
                rates=case.rates,
                plan=Plan(NAME, case.settings, seed),
            )
            for seed in lab.seeds(REPETITIONS[scale])
        ]
        for case in cases
    }
    found = lab.sweep(title, [point for repeated in points.values() for point in repeated], (table,))
    return {name: [found[point.name] for point in repeated] for name, repeated in points.items()}


def costs(lab: Lab, scale: Scale, title: str, cases: Sequence[Case]) -> dict[str, Cost]:
    """What messages cost in every case."""
    return {name: cost_of(repeated) for name, repeated in runs(lab, scale, title, cases).items()}


def cost_of(repeated: Sequence[Swept]) -> Cost:
    """What messages cost in some runs."""
    return Cost(*(average(repeated, "tree.relays_per_message", stage) for stage in (FINAL, INITIAL)))


def average(repeated: Sequence[Swept], measure: str, stage: str = FINAL) -> float:
    """A measure, in the mean of some runs."""
    return mean([run[measure, stage] for run in repeated])


def in_percent(values: Sequence[float]) -> str:
    """Shares as a reader wants them."""
    return ", ".join(f"{100 * value:.1f}" for value in values) + " %"


def both(points: Iterable[tuple[float, dict[str, float]]], kind: Kind = "line") -> list[Curve]:
    """Magnet and its strawman, over what was varied."""
    known = list(points)
    return [Curve(who, [(x, of[who]) for x, of in known], kind, at) for at, who in enumerate(("magnet", "strawman"))]

"""How unevenly subscriptions are spread: by topic and by node, as a histogram that fits on one machine."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import Column
from pyspark.sql import functions as F

from ropewalk.universes.interests import Interests

Longs = NDArray[np.int64]

PERCENTILES = {"median": 0.5, "p90": 0.9, "p99": 0.99}


@dataclass(frozen=True, slots=True)
class Distribution:
    """How many times each value occurs; values ascend."""

    values: Longs
    counts: Longs

    @classmethod
    def of(cls, rows: Iterable[tuple[int, int]]) -> "Distribution":
        """From (value, count) pairs in any order."""
        both = np.array(sorted(tuple(row) for row in rows), np.int64).reshape(-1, 2)
        return cls(both[:, 0].copy(), both[:, 1].copy())

    @property
    def size(self) -> int:
        """How many values there are, repeats included."""
        return int(self.counts.sum())

    def quantile(self, share: float) -> float:
        """The value below which this share lies, between two values in proportion."""
        position = share * (self.size - 1)
        low = int(position)
        first, second = self.ordered(np.array([low, min(low + 1, self.size - 1)])).tolist()
        return float(first + (second - first) * (position - low))

    def ordered(self, positions: Longs) -> Longs:
        """The values at these positions when all are laid out in order."""
        return self.values[np.searchsorted(np.cumsum(self.counts), positions, side="right")]

    def spread_out(self, most: int) -> Longs:
        """All values in order; or, of more than `most`, as many evenly spaced quantiles."""
        if self.size <= most:
            return np.repeat(self.values, self.counts)
        return self.ordered((2 * np.arange(most) + 1) * self.size // (2 * most))

    def summary(self) -> dict[str, float]:
        """Mean, percentiles, extremes."""
        mean = int((self.values * self.counts).sum()) / self.size
        percentiles = {name: self.quantile(share) for name, share in PERCENTILES.items()}
        return {"mean": mean, **percentiles, "max": int(self.values[-1]), "min": int(self.values[0])}


def subscribers_per_topic(interests: Interests) -> Distribution:
    """How many topics have so many subscribers."""
    counted = interests.topics.groupBy("subscribers").count()
    return Distribution.of((row[0], row[1]) for row in counted.collect())  # one row per different number


def subscriptions_per_node(interests: Interests) -> Distribution:
    """How many nodes follow so many topics."""
    size: Column = F.size("topics").cast("long").alias("subscriptions")
    counted = interests.nodes.groupBy(size).count()
    return Distribution.of((row[0], row[1]) for row in counted.collect())

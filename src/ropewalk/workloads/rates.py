"""How often somebody publishes on a topic: `topics`, made up for a workload that does not say.

Paper: Magnet section 4.2 (uniform, or a power law of exponent 0.75). Rates are relative: their mean is 1.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ropewalk.arrays.chance import chances, stream
from ropewalk.errors import UsageError
from ropewalk.tables.frames import chance_column, conform
from ropewalk.tables.schema import TOPICS

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]
Law = Literal["uniform", "power-law"]
LAWS: tuple[Law, ...] = ("uniform", "power-law")

COUNTED_EXACTLY = 1_000_000  # terms of the sum over ranks; the rest is an integral
STEEPEST = 4.0


@dataclass(frozen=True, slots=True)
class Rates:
    """Uniform, or rank^-exponent over a random ranking that knows nothing of popularity."""

    law: Law = "uniform"
    exponent: float = 0.75  # Magnet 4.2

    def __post_init__(self) -> None:
        if self.law not in LAWS:
            raise UsageError(f"rates is {self.law!r}, but must be one of: {', '.join(LAWS)}.")
        if not 0.0 <= self.exponent <= STEEPEST:
            raise UsageError(f"rate-exponent is {self.exponent}, but must be from 0 to {STEEPEST:.0f}.")

    def of(self, topics: Longs, seed: int) -> Floats:
        """The same for some topics of as many, by their ids, without Spark."""
        if self.law == "uniform":
            return np.ones(topics.size)
        share = (chances(stream(seed, "rate"), topics[:, None]) >> 10) * 2.0**-53
        ranks = np.floor(share * topics.size) + 1
        rates: Floats = ranks**-self.exponent / (sum_of_ranks(topics.size, self.exponent) / max(topics.size, 1))
        return rates

    def topics(self, subscriptions: DataFrame, count: int, seed: int) -> DataFrame:
        """`topics` for the `count` topics of a universe. Each draws its rank by its own chance, so two may share one."""
        topics = subscriptions.select("topic").distinct()
        if self.law == "uniform":
            return conform(TOPICS, topics.withColumn("rate", F.lit(1.0)))
        share = F.shiftright(chance_column(seed, "rate", F.col("topic")), 10) * F.lit(2.0**-53)  # seeds.unit
        rank = F.floor(share * count) + 1
        mean = sum_of_ranks(count, self.exponent) / max(count, 1)
        return conform(TOPICS, topics.withColumn("rate", F.pow(rank, F.lit(-self.exponent)) / F.lit(mean)))


def sum_of_ranks(count: int, exponent: float) -> float:
    """1^-exponent + 2^-exponent + ... + count^-exponent."""
    exact = min(count, COUNTED_EXACTLY)
    head = float(np.sum(np.arange(1, exact + 1, dtype=np.float64) ** -exponent))
    if count == exact:
        return head
    low, high = exact + 0.5, count + 0.5
    if exponent == 1.0:
        return head + float(np.log(high / low))
    power = 1.0 - exponent
    return head + float((high**power - low**power) / power)

"""How many each has: whole numbers that follow a bounded power law and add up to a given total.

Nothing here is drawn. The k-th largest of n numbers is the quantile of rank k, so two universes of one size have the
same numbers, and a fit finds the exponent that was asked for without the noise of a sample. Who has which number is
the business of whoever deals them out.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]

HALVINGS = 64  # of an interval of doubles: more change nothing


@dataclass(frozen=True, slots=True)
class Sizes:
    """`counts[k]` of them have `values[k]`; the largest first. Small even where there are millions: few values differ."""

    values: Longs
    counts: Longs

    @property
    def total(self) -> int:
        """The sum over all of them."""
        return int(np.sum(self.values * self.counts))

    def each(self) -> Longs:
        """One number for each, the largest first."""
        return np.repeat(self.values, self.counts)


def power_law_sizes(count: int, total: int, exponent: float, least: int, most: int) -> Sizes:
    """`count` numbers from `least` to `most` whose shares fall as x^-exponent, and whose sum is `total`.

    Exponent, count and total leave one thing open, and that gives way: the largest number is as large as the total
    needs. Where not even `most` is large enough, the smallest number rises above `least`.
    """
    if not count * least <= total <= count * most:
        raise ValueError(f"{count} numbers from {least} to {most} cannot add up to {total}")
    mass = np.concatenate((np.zeros(1), np.cumsum(np.arange(1, most + 1, dtype=np.float64) ** -exponent)))

    def falling_short(low: float, high: float) -> bool:
        return int(np.sum(_above(mass, low, high, count))) <= total

    if falling_short(least, most):
        low, high = _largest(lambda low: falling_short(low, most), least, most), float(most)
    else:
        low, high = float(least), _largest(lambda high: falling_short(least, high), least, most)
    sizes = np.bincount(_above(mass, low, high, count), minlength=count + 1)[:0:-1].cumsum()[::-1].astype(np.int64)
    return _counted(_topped_up(sizes, total, most))


def _above(mass: Floats, low: float, high: float, count: int) -> Longs:
    """How many of `count` stratified quantiles are above 0, 1, 2, ...; a bound between two numbers cuts a share off."""
    numbers = np.arange(int(np.ceil(high)), dtype=np.float64)
    points = np.arange(mass.size)
    ends = np.interp((low - 1.0, high), points, mass)
    reached = np.clip(mass[: numbers.size], *ends)
    share = (ends[1] - reached) / (ends[1] - ends[0]) if ends[1] > ends[0] else (numbers < high).astype(np.float64)
    return np.floor(share * count + 0.5).astype(np.int64)


def _largest(fits: Callable[[float], bool], low: float, high: float) -> float:
    """The largest bound that still fits, between one that does and one that may not."""
    if fits(high):
        return high
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _topped_up(sizes: Longs, total: int, most: int) -> Longs:
    """The few that rounding left out, one each for the largest that may still grow."""
    left = total - int(sizes.sum())
    while left > 0:
        growing = np.flatnonzero(sizes < most)[:left]
        sizes[growing] += 1
        left -= growing.size
    return sizes


def _counted(sizes: Longs) -> Sizes:
    values, counts = np.unique(sizes, return_counts=True)
    return Sizes(values[::-1].copy(), counts[::-1].astype(np.int64))

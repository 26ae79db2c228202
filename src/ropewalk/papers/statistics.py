"""Numbers about samples that several claims are judged by."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def mean(values: Sequence[float]) -> float:
    """Summed exactly, so that no order of runs matters."""
    return math.fsum(values) / len(values)


def root_mean_square(values: Sequence[float]) -> float:
    """Of errors that may cancel out in a mean."""
    return math.sqrt(mean([value * value for value in values]))


def ks_distance(first: ArrayLike, second: ArrayLike) -> float:
    """The largest difference of two empirical distributions (Kolmogorov and Smirnov)."""
    a, b = (np.sort(np.asarray(sample, np.float64)) for sample in (first, second))
    everywhere = np.concatenate((a, b))
    shares: list[Floats] = [np.searchsorted(sample, everywhere, side="right") / sample.size for sample in (a, b)]
    return float(np.abs(shares[0] - shares[1]).max())


def spearman(first: ArrayLike, second: ArrayLike) -> float:
    """How well one sample's order tells the other's: the correlation of ranks, equal values sharing theirs."""
    a, b = (_ranks(np.asarray(sample, np.float64)) for sample in (first, second))
    return float(np.corrcoef(a, b)[0, 1])


def _ranks(sample: Floats) -> Floats:
    _, places, counts = np.unique(sample, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return np.asarray((ends - (counts - 1) / 2)[places], np.float64)


def laid_out(histogram: Mapping[float, int]) -> Floats:
    """All values of a histogram, each as often as it occurs, ascending."""
    values = sorted(histogram)
    return np.repeat(np.array(values, np.float64), [histogram[value] for value in values])


def slope(x: Sequence[float], y: Sequence[float]) -> float:
    """Of the line through points that leaves the least squares."""
    middle_x, middle_y = mean(x), mean(y)
    across = math.fsum((a - middle_x) * (b - middle_y) for a, b in zip(x, y, strict=True))
    return across / math.fsum((a - middle_x) ** 2 for a in x)


def explained(found: Sequence[float], said: Sequence[float]) -> float:
    """How much of what was found a law explains that says this instead: R^2, 1 where both are the same."""
    middle = mean(found)
    left = math.fsum((a - b) ** 2 for a, b in zip(found, said, strict=True))
    total = math.fsum((a - middle) ** 2 for a in found)
    return 1 - left / total if total else float(left == 0)


def falls(values: Sequence[float]) -> bool:
    """Whether each value is below the one before."""
    return all(later < earlier for earlier, later in pairwise(values))


def rises(values: Sequence[float]) -> bool:
    """Whether each value is above the one before."""
    return all(later > earlier for earlier, later in pairwise(values))

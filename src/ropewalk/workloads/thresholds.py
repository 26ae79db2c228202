"""Where to cut so that an exact number of candidates lies below, when the candidates are too many to sort in one place.

A model gives each candidate a time, a distance, any number that is not negative; `key_of` turns it into an integer in
the same order. Counting keys by their upper bits narrows the cut down to one bin, counting again within that bin to
one of its bins, and so on. Counts are integers and their sums do not depend on how the work was divided.
"""

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import SparkSession

from ropewalk.arrays.compiled import compiled

Longs = NDArray[np.int64]

BIN_BITS = 16
BINS = 1 << BIN_BITS
SHIFTS = (48, 32, 16, 0)  # of one pass after the other over the 63 bits of a key
ALWAYS = -1  # the key of a candidate that lies below any cut
BEYOND = 2**63 - 1  # a cut above every key; as a double it is no number

Tally = Callable[[int, int], Longs]


@compiled
def key_of(value: float) -> np.int64:
    """A number that is not negative as an integer in the same order: the bits of an IEEE double are one."""
    return np.int64(np.float64(value).view(np.int64))


@compiled
def tally_key(counts: Longs, key: np.int64, low: int, shift: int) -> None:
    """Count a key: in slot 0 what lies below `low`, then one slot for each bin of width 2^shift from there on."""
    if key < low:
        counts[0] += 1
    else:
        bin_ = (key - low) >> shift
        if bin_ < BINS:
            counts[bin_ + 1] += 1


def cut_for(wanted: int, tally: Tally, slack: int = 0) -> int:
    """The key below which `wanted` candidates lie, or a number that differs by at most `slack` or as little as can be.

    Where fewer candidates exist, the answer is `BEYOND`.
    """
    low = 0
    for shift in SHIFTS:
        below = np.cumsum(tally(low, shift))  # below[k]: of the keys under low + k bins
        if below[-1] < wanted and low == 0:
            break
        after = max(int(np.searchsorted(below, wanted)), 1)
        edges = (after, after - 1)
        nearest = min(edges, key=lambda edge: abs(int(below[edge]) - wanted))
        if abs(int(below[nearest]) - wanted) <= slack or shift == SHIFTS[-1]:
            return low + (nearest << shift)
        low += (after - 1) << shift
    return BEYOND


def tally_over(spark: SparkSession, nodes: int, counted: Callable[[Iterator[Longs]], Longs]) -> Longs:
    """The tallies of all nodes, added up: `counted` takes some of the nodes, in batches."""

    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        counts = counted(batch.column(0).to_numpy() for batch in batches)
        yield pa.RecordBatch.from_arrays([pa.array([counts.tobytes()], pa.binary())], names=["counts"])

    rows = spark.range(0, nodes, numPartitions=slices_of(spark)).mapInArrow(count, "counts binary").collect()
    total = np.zeros(BINS + 1, np.int64)
    for row in rows:
        total += np.frombuffer(row["counts"], np.int64)
    return total


def slices_of(spark: SparkSession) -> int:
    """Into how many tasks a model divides its nodes."""
    return int(spark.conf.get("spark.sql.shuffle.partitions") or 1)

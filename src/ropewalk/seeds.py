"""Chance by name: every random choice is a hash of the run's seed and of labels that say which choice it is.

There is no stream to advance, so a choice does not depend on what was drawn before it, in which order, by which
thread, task or executor. Two choices with equal labels are the same choice: labels must tell them apart. The same
numbers come out of `arrays.chance` (numba) and `tables.frames.chance_column` (Spark SQL).
"""

from ropewalk.ids import xxhash64


def chance(seed: int, what: str, *labels: int | str) -> int:
    """A uniform 63-bit number for the choice called `what` with these labels."""
    return xxhash64(seed, what, *labels) >> 1


def pick(drawn: int, count: int) -> int:
    """Turn a chance into an index below `count` (at most 2^31): its top 32 bits, scaled."""
    return ((drawn >> 31) * count) >> 32


def unit(drawn: int) -> float:
    """Turn a chance into a number in [0, 1), from its top 53 bits."""
    return (drawn >> 10) * 2.0**-53


def stream(seed: int, what: str) -> int:
    """The hash state after `seed` and `what`: a compiled kernel goes on from here with the labels alone."""
    return xxhash64(seed, what)

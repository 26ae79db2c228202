"""Several threads for one call: kernels hold no lock, and each writes only what belongs to its own members."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

T = TypeVar("T")

SMALLEST_PART = 1 << 14  # members; below that a thread is not worth its start


def in_parts(members: int, threads: int, work: Callable[[tuple[int, int]], T]) -> list[T]:
    """Call `work` on ranges (from, to) that together are all members, a thread each."""
    parts = max(1, min(threads, members // SMALLEST_PART))
    bounds = [members * part // parts for part in range(parts + 1)]
    ranges = list(pairwise(bounds))
    if parts == 1:
        return [work(ranges[0])]
    with ThreadPoolExecutor(parts) as pool:
        return list(pool.map(work, ranges))

"""What we set out to reach, as ratios: 1 and above is reached.

What nodes did not show counts as not reached. Where it is the other side that was not measured, or lost events at any pace, nothing can be
told, and that is said: it does not hold either.
"""

Reached = dict[str, float | None]
"""By what was to be reached; None: there is nothing to hold it against."""


def beside(ours: float | None, other: float | None, wanted: float = 1.0) -> float | None:
    """How near a figure comes to so many times another."""
    if other is None:
        return None
    return (ours or 0.0) / (wanted * other)


def at_most(ours: float | None, most: float) -> float:
    """How near a figure comes to a bound from above."""
    return most / ours if ours else 0.0


def holds(reached: dict[str, Reached]) -> bool:
    """Whether all of every part is reached."""
    return all(ratio is not None and ratio >= 1 for each in reached.values() for ratio in each.values())

"""How often something may happen: so many times at once, and so many a second from then on."""

from typing import NamedTuple


class Rate(NamedTuple):
    """A bound on how often."""

    a_second: float
    at_once: float


class Bucket:
    """What is left of it. Time is handed in, and never goes back."""

    __slots__ = ("at", "left", "rate")

    def __init__(self, rate: Rate, now: float) -> None:
        self.rate, self.left, self.at = rate, rate.at_once, now

    def take(self, now: float, count: float = 1.0) -> bool:
        """Whether it may happen so many times now; if it may not, it is as if it had not."""
        self.left = min(self.rate.at_once, self.left + max(0.0, now - self.at) * self.rate.a_second)
        self.at = max(self.at, now)
        if count > self.left:
            return False
        self.left -= count
        return True

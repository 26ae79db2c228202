"""How things went: one point after the other, the further apart the longer it goes on, so that there are never many."""

from typing import Any

from ropewalk.dashboard.ledger import Ledger, Versions

STEP = 1.0  # ours, seconds between points, to begin with
MOST_POINTS = 600  # ours: then every second one goes, and they come half as often: ten minutes, twenty, forty ...
RATES = 2  # the last numbers of a point are of all the time since the one before it; the others are of its moment
FAR = 3600.0  # ours, seconds without a row after which nothing is drawn in between


class Series:
    """Points by time; each is a list of numbers."""

    def __init__(self, versions: Versions) -> None:
        self.points: Ledger[float, list[Any]] = Ledger(versions)
        self.step = STEP
        self._order: list[float] = []
        self._due: float | None = None

    def due(self, now: float) -> float | None:
        """When the next point is to be taken, if that is not later than now."""
        if self._due is None or now - self._due > FAR:
            self._due = now
        return self._due if self._due <= now else None

    def turn_back(self, now: float) -> None:
        """It is earlier than it seemed."""
        for gone in [at for at in self._order if at > now]:
            self.points.drop(gone)
        self._order, self._due = [at for at in self._order if at <= now], None

    def take(self, at: float, values: list[Any]) -> None:
        """A point."""
        self.points.put(at, values)
        self._order.append(at)
        if len(self._order) > MOST_POINTS:
            self._thin()
        self._due = at + self.step

    def _thin(self) -> None:
        """Every second one goes. The next one stands for its time, too: else what happened then would be gone with it."""
        for gone, kept in zip(self._order[1::2], self._order[2::2], strict=True):
            before, values = self.points.get(gone), self.points.get(kept)
            assert before is not None
            assert values is not None
            means = [(old + new) / 2 for old, new in zip(before[-RATES:], values[-RATES:], strict=True)]
            self.points.drop(gone)
            self.points.put(kept, [*values[:-RATES], *means])
        self._order = self._order[::2]
        self.step *= 2

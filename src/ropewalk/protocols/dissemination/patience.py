"""How long an advertised event may take to come by itself before it is asked for: not much longer than others took.

And longer where this node is late with its own timers: then it is with all else, and what it would ask for may have come, and be unread.
Where all on a machine are, asking too soon is more work for everybody, and makes them later still.

Ours, after what TCP does for answers (RFC 6298): mean and spread of how late events were are kept, and patience is the mean and
four times the spread. Where events outrun what is said of them, as they do on a good tree, that is soon the least there is.
"""

OF_MEAN, OF_SPREAD = 1 / 8, 1 / 4  # RFC 6298: how much the latest counts
SPREADS = 4  # likewise: patience beyond the mean
HOPS = 4  # ours: how often an event, or a question and its answer, has to wait for somebody who is as late
MOST_LATE = 10.0  # ours, seconds: that are made up for so
HALVES = 5.0  # ours, seconds: after which half of it counts, if no timer has told since


class Patience:
    """That of one node, in seconds."""

    __slots__ = ("least", "mean", "most", "spread")

    def __init__(self, least: float, most: float) -> None:
        self.least, self.most = least, most
        self.mean: float | None = None  # until something has come
        self.spread = 0.0

    def came(self, late: float) -> None:
        """An event has come by itself, so long after it was advertised; 0 if before."""
        if self.mean is None:
            self.mean, self.spread = late, late / 2
        elif late or self.mean or self.spread:
            self.spread += OF_SPREAD * (abs(late - self.mean) - self.spread)
            self.mean += OF_MEAN * (late - self.mean)

    def seconds(self) -> float:
        """How long to wait for the next."""
        if self.mean is None:
            return self.most
        return min(self.most, max(self.least, self.mean + SPREADS * self.spread))


class Lateness:
    """How late one node is of late."""

    __slots__ = ("at", "late")

    def __init__(self) -> None:
        self.late = 0.0  # seconds; grows at once, and shrinks slowly: with every timer, and as time goes by
        self.at = 0.0  # when that was

    def fired(self, late: float, now: float) -> None:
        """A timer was so late."""
        late, known = max(0.0, late), self._still(now)
        self.late, self.at = late if late > known else known + OF_MEAN * (late - known), now

    def seconds(self, now: float) -> float:
        """How much longer to wait for anything."""
        return min(MOST_LATE, HOPS * self._still(now))

    def _still(self, now: float) -> float:
        """What is left of it: a node that stood still once is not late for ever after."""
        return self.late and self.late * 0.5 ** (max(0.0, now - self.at) / HALVES)

"""Who is gone, and not believed in for a while: others go on naming it."""

BELIEVED_AGAIN = 4.0  # ours, periods: by then all who had links with it have noticed
MOST_REMEMBERED = 1024  # ours


class Departed:
    """Those that one node has lost."""

    __slots__ = ("period", "until")

    def __init__(self, period: float) -> None:
        self.period = period
        self.until: dict[int, float] = {}  # the oldest first; at most MOST_REMEMBERED

    def add(self, node: int, now: float) -> None:
        """Somebody is gone."""
        self.until.pop(node, None)
        self.until[node] = now + BELIEVED_AGAIN * self.period
        if len(self.until) > MOST_REMEMBERED:
            del self.until[next(iter(self.until))]

    def has(self, node: int, now: float) -> bool:
        """Whether it went so lately that nobody's word for it counts, but its own."""
        return self.until.get(node, now) > now

    def back(self, node: int) -> None:
        """It has said something."""
        self.until.pop(node, None)

    def tidy(self, now: float) -> None:
        """Forget who went long ago."""
        self.until = {node: until for node, until in self.until.items() if until > now}

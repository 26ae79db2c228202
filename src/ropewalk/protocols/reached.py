"""Bounds that a node has reached: what it has therefore not taken in, or forgotten too early, is counted, so that nothing goes unsaid."""

UNSOUND = "messages that nobody who keeps the rules sends"


class Reached:
    """How often, by which bound."""

    __slots__ = ("counts",)

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}  # one for each bound that there is

    def note(self, bound: str) -> None:
        """Once more."""
        self.counts[bound] = self.counts.get(bound, 0) + 1

"""What a node keeps for one topic that it follows."""

from collections.abc import Iterable

from ropewalk.protocols.contract import Contact, Level
from ropewalk.protocols.sampling.contract import Manager, Overlay

MOST_GONE = 1024  # ours: departures remembered; with more than this in a few periods, memory is no help


class Following:
    """The overlay as this node sees it, its manager, its walks, and what they have brought."""

    __slots__ = (
        "due", "era", "explore", "gone", "heard", "level", "manager", "overlay", "replied", "round", "turn", "wait", "walk_state",
    )  # fmt: skip

    def __init__(self, overlay: Overlay, manager: Manager, level: Level, walk_state: int) -> None:
        self.overlay, self.manager, self.level = overlay, manager, level
        self.walk_state = walk_state  # where the chances of every walk on this topic start
        self.era = 0  # which of the node's subscriptions this is
        self.turn = 0  # walks started; never less, or two walks would take the same way
        self.round = 0  # periods begun
        self.explore: Contact | None = None  # where the next walk begins, if not at a neighbour
        self.wait, self.due = 1, 0  # rounds between two walks; the round from which on the next is due
        self.heard: list[frozenset[Contact]] = []  # in lock step, what the round brings; emptied when it closes
        self.replied = False  # in lock step, whether the round brought a reply
        self.gone: dict[int, float] = {}  # who is gone, and until when nobody who names it is believed

    def believed(self, candidates: Iterable[Contact], now: float) -> Iterable[Contact]:
        """Without those who are known to be gone."""
        if not self.gone:
            return candidates
        gone = self.gone
        return [contact for contact in candidates if gone.get(contact.id, now) <= now]

    def bury(self, node: int, until: float) -> None:
        """Believe nobody who names this node until then."""
        self.gone[node] = until
        if len(self.gone) > MOST_GONE:
            del self.gone[next(iter(self.gone))]

    def tidy(self, now: float) -> None:
        """Forget who was gone long ago."""
        self.gone = {node: until for node, until in self.gone.items() if until > now}

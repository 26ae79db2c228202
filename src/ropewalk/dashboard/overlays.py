"""One topic: who follows it, and who holds whom."""

from collections.abc import Iterable

from ropewalk.dashboard.ledger import Ledger, Links, Versions


class Overlay:
    """Nodes are numbers here."""

    __slots__ = ("_held", "links", "members", "members_shown")

    def __init__(self, versions: Versions) -> None:
        self.members: dict[int, bool] = {}  # whether all of its events are wanted, or only some, by their content
        self.members_shown: Ledger[int, int] = Ledger(versions)
        self.links = Links(versions)  # who holds the other
        self._held: dict[int, dict[int, None]] = {}

    def join(self, node: int, *, wants_all: bool) -> None:
        """It follows the topic."""
        self.members[node] = wants_all
        self.members_shown.put(node, 1)

    def part(self, node: int) -> None:
        """It does so no longer."""
        self.members.pop(node, None)
        self.members_shown.drop(node)

    def hold(self, node: int, neighbours: Iterable[int]) -> None:
        """It holds these, and no others."""
        before, now = self._held.pop(node, {}), dict.fromkeys(neighbours)
        if now:
            self._held[node] = now
        for other in [other for other in before if other not in now]:
            self.links.say(node, other, there=False)
        for other in [other for other in now if other not in before]:
            self.links.say(node, other, there=True)

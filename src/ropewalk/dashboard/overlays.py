"""One topic: who follows it, and who holds whom."""

from collections.abc import Iterable

from ropewalk.dashboard.ledger import Ledger, Versions


class Overlay:
    """Nodes are numbers here."""

    __slots__ = ("_held", "links", "members", "members_shown")

    def __init__(self, versions: Versions) -> None:
        self.members: dict[int, None] = {}
        self.members_shown: Ledger[int, int] = Ledger(versions)
        self.links: Ledger[tuple[int, int], int] = Ledger(
            versions
        )  # the lower end holds the other: 1; is held: 2; both: 3
        self._held: dict[int, dict[int, None]] = {}

    def join(self, node: int) -> None:
        """It follows the topic."""
        self.members[node] = None
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
            self._mark(node, other, there=False)
        for other in [other for other in now if other not in before]:
            self._mark(node, other, there=True)

    def _mark(self, node: int, other: int, *, there: bool) -> None:
        pair, mine = (min(node, other), max(node, other)), 1 if node < other else 2
        said = self.links.get(pair) or 0
        said = said | mine if there else said & ~mine
        if said:
            self.links.put(pair, said)
        else:
            self.links.drop(pair)

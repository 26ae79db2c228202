"""After repair every overlay is in one piece, when links are walked both ways, as announced links can be."""

from typing import ClassVar

from ropewalk.engines.sim.invariants.contract import Invariant
from ropewalk.engines.sim.population import Population


class Connected(Invariant):
    """Checked at rest, topic by topic among those that are there."""

    name: ClassVar[str] = "connected"

    def at_rest(self, population: Population) -> str | None:
        """See `Invariant`."""
        for topic, views in population.views().items():
            pieces = weak_components(views)
            if pieces > 1:
                return f"the overlay of {topic} is in {pieces} pieces"
        return None


def weak_components(views: dict[int, list[int]]) -> int:
    """In how many pieces an overlay is, if links can be used both ways."""
    around: dict[int, list[int]] = {node: [] for node in views}
    for node, view in views.items():
        for other in view:
            if other in around:
                around[node].append(other)
                around[other].append(node)
    return len(_pieces(around))


def _pieces(around: dict[int, list[int]]) -> list[list[int]]:
    seen: set[int] = set()
    pieces: list[list[int]] = []
    for start in around:
        if start in seen:
            continue
        seen.add(start)
        piece, edge = [], [start]
        while edge:
            node = edge.pop()
            piece.append(node)
            for other in around[node]:
                if other not in seen:
                    seen.add(other)
                    edge.append(other)
        pieces.append(piece)
    return pieces

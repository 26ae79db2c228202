"""After repair every overlay is in one piece: weakly, and strongly where events travel links both ways or a manager sees to it."""

from typing import ClassVar

from ropewalk.engines.sim.invariants.contract import Invariant
from ropewalk.engines.sim.population import Population, Views


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


def strong_components(views: dict[int, list[int]]) -> int:
    """In how many pieces it is, if they cannot: Kosaraju's two passes."""
    order: list[int] = []
    seen: set[int] = set()
    for start, first in views.items():
        stack = [(start, iter(first))] if start not in seen else []
        seen.add(start)
        while stack:
            node, rest = stack[-1]
            for other in rest:
                if other in views and other not in seen:
                    seen.add(other)
                    stack.append((other, iter(views[other])))
                    break
            else:
                order.append(node)
                stack.pop()
    back: dict[int, list[int]] = {node: [] for node in views}
    for node, view in views.items():
        for other in view:
            if other in back:
                back[other].append(node)
    return len(_pieces(back, list(reversed(order))))


def _pieces(around: dict[int, list[int]], order: list[int] | None = None) -> list[list[int]]:
    seen: set[int] = set()
    pieces: list[list[int]] = []
    for start in around if order is None else order:
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


def all_weak(views: Views) -> bool:
    """Whether every overlay is in one piece."""
    return all(weak_components(held) <= 1 for held in views.values())

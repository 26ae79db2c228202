"""At rest those who want the same are one group with one primary, and both ends of every link know of it."""

from typing import ClassVar

from ropewalk.engines.sim.invariants.contract import Invariant, Moment
from ropewalk.engines.sim.population import Population
from ropewalk.protocols.kato.messages import MOST_ALIKE
from ropewalk.protocols.kato.node import Node


class OneGroup(Invariant):
    """A node is always in its own group; at rest all groups are whole."""

    name: ClassVar[str] = "one group"

    def after(self, moment: Moment) -> str | None:
        """See `Invariant`."""
        node = moment.node
        if not isinstance(node, Node):
            return None
        if not node.alike.has(node.me.id):
            return "is not in its own group"
        stands = None if node.alike.is_primary else node.alike.primary
        return None if node.neighbours.primary == stands else f"takes {node.neighbours.primary} for its primary"

    def at_rest(self, population: Population) -> str | None:
        """See `Invariant`."""
        nodes = {id_: each.node for id_, each in population.simulator.processes.items() if isinstance(each.node, Node)}
        groups: dict[tuple[int, ...], set[int]] = {}
        for id_, node in nodes.items():
            groups.setdefault(tuple(sorted(node.topics)), set()).add(id_)
        for cells, members in groups.items():
            for id_ in members if cells and len(members) <= MOST_ALIKE else ():
                if set(nodes[id_].alike.orders) != members:
                    return (
                        f"node {id_} is in a group with {sorted(nodes[id_].alike.orders)}, not with {sorted(members)}"
                    )
        for id_, node in nodes.items():
            for other in node.neighbours.around:
                wrong = _wrong_between(node, other, nodes)
                if wrong is not None:
                    return f"node {id_} {wrong}"
        return None


def _wrong_between(node: Node, other: int, nodes: dict[int, Node]) -> str | None:
    if other not in nodes:
        return f"has a link with {other}, which is gone"
    theirs = nodes[other].neighbours
    if (other in node.neighbours.table.all()) != (node.me.id in theirs.incoming):
        return f"and {other} do not agree on whether it links to that"
    if node.neighbours.around[other].sight.profile != theirs.profile:
        return f"takes {other} to want what it does not"
    return None

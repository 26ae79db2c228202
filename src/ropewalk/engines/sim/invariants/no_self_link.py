"""No node is its own neighbour, its own holder, or at the other end of its own link."""

from typing import ClassVar

from ropewalk.engines.sim.invariants.contract import Invariant
from ropewalk.engines.sim.population import Population
from ropewalk.engines.sim.simulator import Process
from ropewalk.protocols.contract import Connect, Effect, Input, Send
from ropewalk.protocols.stan.node import Node


class NoSelfLink(Invariant):
    """Checked for the node's state and for what it wants done."""

    name: ClassVar[str] = "no self link"

    def after(
        self,
        population: Population,  # noqa: ARG002
        process: Process,  # noqa: ARG002
        node: Node,
        event: Input,  # noqa: ARG002
        effects: list[Effect],
    ) -> str | None:
        """See `Invariant`."""
        me = node.me.id
        for topic, following in node.topics.items():
            if following.overlay.view.holds(me) or me in following.overlay.held_by:
                return f"is its own neighbour on {topic}"
        for effect in effects:
            if (isinstance(effect, Connect) and effect.contact.id == me) or (
                isinstance(effect, Send) and effect.to.id == me
            ):
                return "wants a link to itself"
        return "has a link to itself" if me in node.neighbours.links.by_id else None

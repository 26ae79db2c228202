"""No node is its own neighbour, its own holder, or at the other end of its own link."""

from typing import ClassVar

from ropewalk.engines.sim.invariants.contract import Invariant, Moment
from ropewalk.protocols.baselines.gossipsub.node import Node as GossipsubNode
from ropewalk.protocols.contract import Connect, Send
from ropewalk.protocols.kato.node import Node as KatoNode
from ropewalk.protocols.scribe.node import Node as ScribeNode
from ropewalk.protocols.stan.node import Node as StanNode


class NoSelfLink(Invariant):
    """Checked for the node's state and for what it wants done."""

    name: ClassVar[str] = "no self link"

    def after(self, moment: Moment) -> str | None:
        """See `Invariant`."""
        node, me = moment.node, moment.node.me.id
        for topic, contacts in node.held().items():
            if any(contact.id == me for contact in contacts):
                return f"is its own neighbour on {topic}"
        for effect in moment.effects:
            if (isinstance(effect, Connect) and effect.contact.id == me) or (
                isinstance(effect, Send) and effect.to.id == me
            ):
                return "wants a link to itself"
        if isinstance(node, StanNode) and any(me in each.overlay.held_by for each in node.topics.values()):
            return "is its own holder"
        linked = isinstance(node, StanNode | GossipsubNode) and me in node.neighbours.links.by_id
        linked |= isinstance(node, ScribeNode | KatoNode) and me in node.links.by_id
        return "has a link to itself" if linked else None

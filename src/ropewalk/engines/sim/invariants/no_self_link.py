"""No node is its own neighbour, its own holder, or at the other end of its own link."""

from typing import ClassVar

from ropewalk.engines.sim.invariants.contract import Invariant, Moment
from ropewalk.protocols.contract import Connect, Send


class NoSelfLink(Invariant):
    """Checked for the node's state and for what it wants done."""

    name: ClassVar[str] = "no self link"

    def after(self, moment: Moment) -> str | None:
        """See `Invariant`."""
        me = moment.node.me.id
        for topic, following in moment.stan.topics.items():
            if following.overlay.view.holds(me) or me in following.overlay.held_by:
                return f"is its own neighbour on {topic}"
        for effect in moment.effects:
            if (isinstance(effect, Connect) and effect.contact.id == me) or (
                isinstance(effect, Send) and effect.to.id == me
            ):
                return "wants a link to itself"
        return "has a link to itself" if me in moment.stan.neighbours.links.by_id else None

"""No event is handed to a node that follows none of its topics."""

from typing import ClassVar

from ropewalk.engines.sim.invariants.contract import Invariant, Moment
from ropewalk.protocols.contract import Deliver


class OnlyFollowers(Invariant):
    """Checked for everything that is delivered."""

    name: ClassVar[str] = "only followers"

    def after(self, moment: Moment) -> str | None:
        """See `Invariant`."""
        for effect in moment.effects:
            if isinstance(effect, Deliver) and not any(map(moment.node.follows, effect.event.topics)):
                return f"is handed {effect.event.id} on {effect.event.topics}, none of which it follows"
        return None

"""No event is handed to the same incarnation of a node twice within the time for which ids are remembered."""

from typing import ClassVar

from ropewalk.engines.sim.invariants.contract import Invariant, Moment
from ropewalk.protocols.contract import Deliver, Node


class AtMostOnce(Invariant):
    """Checked for everything that is delivered."""

    name: ClassVar[str] = "at most once"

    def __init__(self, seen: float | None = None) -> None:
        self.seen = seen  # None: as StaN's nodes are set
        self._handed: dict[tuple[Node, int], float] = {}  # (node, event) -> when

    def after(self, moment: Moment) -> str | None:
        """See `Invariant`."""
        for effect in moment.effects:
            if isinstance(effect, Deliver):
                before = self._handed.get((moment.node, effect.event.id))
                seen = self.seen if self.seen is not None else moment.stan.events.settings.seen
                if before is not None and moment.now - before <= seen:
                    return f"is handed {effect.event.id} again, {moment.now - before:.1f} s after the first time"
                self._handed[moment.node, effect.event.id] = moment.now
        return None

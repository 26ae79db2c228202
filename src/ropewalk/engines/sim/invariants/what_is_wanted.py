"""No event is handed to a node whose filters it does not match, whatever cell it lies in."""

from typing import ClassVar

from ropewalk.engines.sim.invariants.contract import Invariant, Moment
from ropewalk.protocols.content.filters import Filter, is_wanted
from ropewalk.protocols.contract import Deliver, Node, Subscribe, Unsubscribe


class WhatIsWanted(Invariant):
    """Checked for everything that is delivered, by what each node was told."""

    name: ClassVar[str] = "what is wanted"

    def __init__(self) -> None:
        self._told: dict[Node, dict[int, tuple[Filter, ...]]] = {}

    def before(self, moment: Moment) -> None:
        """See `Invariant`."""
        told = self._told.setdefault(moment.node, {})
        match moment.event:
            case Subscribe():
                told[moment.event.topic] = moment.event.filters
            case Unsubscribe():
                told.pop(moment.event.topic, None)
            case _:
                pass

    def after(self, moment: Moment) -> str | None:
        """See `Invariant`."""
        told = self._told[moment.node]
        for effect in moment.effects:
            if isinstance(effect, Deliver):
                mine = [told[topic] for topic in effect.event.topics if topic in told]
                if not any(is_wanted(dict(effect.event.content), filters) for filters in mine):
                    return f"is handed {effect.event.id}, which says {effect.event.content}"
        return None

"""An event is recalled only from a node that has it: what waits to be sent to others is still needed."""

from typing import ClassVar

from ropewalk.engines.sim.invariants.contract import Invariant, Moment
from ropewalk.engines.sim.liars import Liar
from ropewalk.protocols.contract import Deliver, Publish, Recall


class RecalledFromOwners(Invariant):
    """Checked for everything that is recalled. Who lies about what it has does so at its own expense."""

    name: ClassVar[str] = "recalled from owners"

    def __init__(self) -> None:
        self._owners: set[tuple[int, int]] = set()  # (node, event)
        self._liars: set[int] = set()

    def after(self, moment: Moment) -> str | None:
        """See `Invariant`."""
        me = moment.node.me.id
        if isinstance(moment.node, Liar):
            self._liars.add(me)
        if isinstance(moment.event, Publish):
            self._owners.add((me, moment.event.event.id))
        for effect in moment.effects:
            match effect:
                case Deliver(event):
                    self._owners.add((me, event.id))
                case Recall(to, _, recalled) if to.id not in self._liars and (to.id, recalled) not in self._owners:
                    return f"recalls {recalled} from {to.id}, which has never had it"
        return None

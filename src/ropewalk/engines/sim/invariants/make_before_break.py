"""A neighbour is let go only when its successor's link is up: improving a view never makes it shorter."""

from typing import ClassVar

from ropewalk.engines.sim.invariants.contract import Invariant, Moment
from ropewalk.protocols.contract import Disconnect, Input, LinkUp, Received, TimerFired
from ropewalk.protocols.stan.messages import KeepAlive, Reply, Walk
from ropewalk.protocols.stan.walks import Close, Open


class MakeBeforeBreak(Invariant):
    """Checked for inputs that can only improve views; and no link that a view needs is ever taken down by its own node."""

    name: ClassVar[str] = "make before break"

    def __init__(self) -> None:
        self._held: dict[int, int] = {}  # neighbours by topic, before the input

    def before(self, moment: Moment) -> None:
        """See `Invariant`."""
        self._held = {topic: len(following.overlay.view.contacts) for topic, following in moment.stan.topics.items()}

    def after(self, moment: Moment) -> str | None:
        """See `Invariant`."""
        if _improves(moment.event):
            for topic, following in moment.stan.topics.items():
                now = len(following.overlay.view.contacts)
                if now < self._held.get(topic, 0):
                    return f"held {self._held[topic]} neighbours on {topic}, and now {now}"
        for effect in moment.effects:
            if isinstance(effect, Disconnect):
                for topic, following in moment.stan.topics.items():
                    if following.overlay.view.holds(effect.contact.id):
                        return f"takes down the link to {effect.contact.id}, its neighbour on {topic}"
        return None


def _improves(event: Input) -> bool:
    match event:
        case Received(_, Walk() | Reply() | KeepAlive()) | TimerFired(Open() | Close()) | LinkUp():
            return True
        case _:
            return False

"""No message tells a node that another follows a topic which it does not follow itself (StAN, the property of its title).

Who has followed a topic may still be told about it by those that do not know yet that it has gone.
"""

from typing import ClassVar

from ropewalk.engines.sim.invariants.contract import Invariant, Moment
from ropewalk.protocols.contract import Send, Subscribe
from ropewalk.protocols.stan.messages import KeepAlive


class NoDisclosure(Invariant):
    """Checked for everything that is sent; who ever followed what is noted as it happens."""

    name: ClassVar[str] = "no disclosure"

    def __init__(self) -> None:
        self._followed: dict[int, set[int]] = {}  # topic -> who follows it or did

    def before(self, moment: Moment) -> None:
        """See `Invariant`."""
        if isinstance(moment.event, Subscribe):
            self._followed.setdefault(moment.event.topic, set()).add(moment.node.me.id)

    def after(self, moment: Moment) -> str | None:
        """See `Invariant`."""
        for effect in moment.effects:
            if not isinstance(effect, Send):
                continue
            message = effect.message
            for topic in message.topics if isinstance(message, KeepAlive) else (message.topic,):
                if effect.to.id not in self._followed.get(topic, ()):
                    return f"tells {effect.to.id}, which never followed {topic}, about it by a {message.kind}"
        return None

"""No message tells a node that another follows a topic which it does not follow itself (StAN, the property of its title).

Whoever has followed a topic may still be told about it by those that do not know yet that it has gone, for some periods.
Where nodes find each other by discovery, it may be handed an event by a publisher to whom it had shown that it follows, and
be turned to by somebody who names nobody else, once that has waited for its next walk. Later, only those that followed it
at the same time may turn to it; and it may answer that it follows the topic no longer.
"""

from typing import ClassVar

from ropewalk.engines.sim.invariants.contract import Invariant, Moment
from ropewalk.engines.sim.liars import Liar
from ropewalk.protocols.contract import Leave, Message, Send, Subscribe, Unsubscribe
from ropewalk.protocols.dissemination.messages import Inject, Taken
from ropewalk.protocols.sampling.contract import Left, ManagerName

FOR_GOOD = float("inf")
NEVER = (FOR_GOOD, -FOR_GOOD)
# Periods: until the last who held it has noticed that it is gone, and walks no longer name it. In Cyclon's tables an address
# goes on from node to node until somebody turns to it: as many periods as a table has places, at the most.
GRACE: dict[ManagerName, float] = {"given": 6.0, "scamp": 6.0, "cyclon": 26.0}


class NoDisclosure(Invariant):
    """Checked for everything that is sent; who follows what is noted as it happens."""

    name: ClassVar[str] = "no disclosure"

    def __init__(self) -> None:
        self._liars: dict[int, None] = {}  # that name each other on all topics, and so learn of all
        self._times: dict[tuple[int, int], tuple[float, float]] = {}  # (node, topic) -> from when, until when

    def before(self, moment: Moment) -> None:
        """See `Invariant`."""
        me, event = moment.node.me.id, moment.event
        if isinstance(moment.node, Liar) and moment.node.naming is not None:
            self._liars[me] = None
        if isinstance(event, Subscribe):
            self._times[me, event.topic] = (moment.now, FOR_GOOD)
        ending = [event.topic] if isinstance(event, Unsubscribe) else []
        for topic in moment.stan.topics if isinstance(event, Leave) else ending:
            self._times[me, topic] = (self._times[me, topic][0], moment.now)

    def after(self, moment: Moment) -> str | None:
        """See `Invariant`."""
        for effect in moment.effects:
            if not isinstance(effect, Send) or isinstance(effect.message, Left | Taken):
                continue  # they answer whoever has named the topic itself
            message = effect.message
            for topic in message.topics if effect.to.id not in self._liars else ():
                if not self._may_be_told(effect.to.id, topic, message, moment):
                    return f"tells {effect.to.id}, which does not follow {topic}, about it by a {message.kind}"
        return None

    def _may_be_told(self, node: int, topic: int, message: Message, moment: Moment) -> bool:
        settings, until = moment.stan.settings, self._times.get((node, topic), NEVER)[1]
        if moment.now <= until + _named_for(message, topic, moment):
            return True
        together = self._times.get((moment.node.me.id, topic), NEVER)[0] <= until and message.contacts() <= 1
        return together or moment.now <= until + GRACE[settings.manager] * settings.period


def _named_for(message: Message, topic: int, moment: Moment) -> float:
    """Seconds after it has gone for which a node may still be found."""
    settings, discovery = moment.stan.settings, moment.stan.of_discovery
    if isinstance(message, Inject):  # to whom has shown that it follows, and is remembered for that
        return moment.stan.events.settings.remembered + 2 * discovery.patience + settings.period
    if not settings.discover or message.contacts() > 1:
        return 0.0
    # it showed that it follows, and then waited to be where a walk begins
    wait = settings.slowest if settings.adaptive else 1
    following = moment.stan.topics.get(topic)
    period = moment.stan.neighbours.period(following) if following is not None else settings.period
    return 2 * discovery.patience + (1 + wait) * period

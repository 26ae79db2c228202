"""Flooding: what one random overlay per topic costs where nothing is shared, pruned or repaired.

Ours, as the least that works; libp2p's floodsub does the same on its connections. An event is flooded on each of its topics
apart: whoever gets it on a topic for the first time sends it to all its neighbours there but the one it came from, as one
frame for each link and topic. What is lost is not asked for: other links bring it, or none. It is part of a node
(`protocols.stan`) that holds views and does not walk, so views are random and stay so.

Messages: a `dissemination.messages.Push` on one topic, and no other. Timers: none; ids are forgotten when the node tidies up.
"""

from collections.abc import Iterable
from typing import Any

from ropewalk.protocols.contract import Contact, Deliver, Effect, Event, Send, quick
from ropewalk.protocols.dissemination.contract import NeighboursOn
from ropewalk.protocols.dissemination.messages import Inject, Push
from ropewalk.protocols.dissemination.settings import MOST_CROSSED, MOST_PAYLOAD, MOST_SEEN, MOST_TOPICS, Settings


@quick
class Flooded(Push):
    """An event on one of its topics. On another it may cross the same link at the same moment, and is another message."""

    def labels(self) -> tuple[int, ...]:
        """One a topic and time."""
        return (*Push.labels(self), *self.topics)


class Flood:
    """The events of one node. Of the settings only `seen` plays a part."""

    __slots__ = ("delivered", "neighbours", "seen", "settings")

    def __init__(self, settings: Settings, neighbours: NeighboursOn, _: int) -> None:
        self.settings, self.neighbours = settings, neighbours
        self.seen: dict[tuple[int, int], float] = {}  # when which event came on which topic, oldest first
        self.delivered: dict[int, float] = {}  # when each event came first, or was published, oldest first

    def publish(self, event: Event, now: float) -> list[Effect]:
        """An event of this node's own: flooded on those of its topics that are followed here."""
        if event.id in self.delivered:
            return []
        _remember(self.delivered, event.id, now)
        effects: list[Effect] = []
        for topic in dict.fromkeys(event.topics):
            effects += self._relay(event, topic, None, 1, now)
        return effects

    def inject(self, inject: Inject, now: float) -> list[Effect]:
        """An event of a stranger's: as if it came on all topics of it that are followed here."""
        event = inject.event
        if event.id in self.delivered or len(event.payload) > MOST_PAYLOAD or len(event.topics) > MOST_TOPICS:
            return []
        return [Deliver(event, 1), *self.publish(event, now)]

    def refuse(self, event: int, sender: Contact, now: float) -> list[Effect]:  # noqa: ARG002
        """What is not wanted is remembered, so that it is not taken from others."""
        _remember(self.delivered, event, now)
        return []

    def lost(self, node: int) -> None:
        """Nobody is known to have anything."""

    def receive(self, sender: Contact, message: Any, now: float) -> list[Effect]:
        """Take a message in."""
        return self._pushed(sender, message, now) if isinstance(message, Push) else []

    def fire(self, timer: object, now: float) -> list[Effect]:  # noqa: ARG002
        """Nothing: no timer is ever set."""
        return []

    def met(self, contacts: Iterable[Contact]) -> list[Effect]:  # noqa: ARG002
        """Nothing is repaired."""
        return []

    def unlinked(self, gone: Iterable[tuple[int, int]], now: float) -> list[Effect]:  # noqa: ARG002
        """Nor is anything here."""
        return []

    def unspread(self, topic: int) -> list[tuple[Event, float]]:  # noqa: ARG002
        """None: an event has gone to all neighbours when it came."""
        return []

    def knows(self, event: int) -> bool:
        """Whether an event has come."""
        return event in self.delivered

    def has(self, event: int) -> bool:
        """Whether it has come."""
        return event in self.delivered

    def leave(self, now: float) -> list[Effect]:  # noqa: ARG002
        """Nothing."""
        return []

    def tidy(self, now: float) -> list[Effect]:
        """Once per period: forget what is old."""
        before = now - self.settings.seen
        self.seen = {key: at for key, at in self.seen.items() if at > before}
        self.delivered = {event: at for event, at in self.delivered.items() if at > before}
        return []

    def _pushed(self, sender: Contact, push: Push, now: float) -> list[Effect]:
        event = push.event
        if len(event.payload) > MOST_PAYLOAD or len(event.topics) > MOST_TOPICS or len(push.topics) != 1:
            return []  # nobody who keeps the rules sends this
        (topic,) = push.topics
        if topic not in event.topics or (event.id, topic) in self.seen or self.neighbours(topic) is None:
            return []
        effects: list[Effect] = []
        if event.id not in self.delivered:
            _remember(self.delivered, event.id, now)
            effects.append(Deliver(event, push.hops))
        return effects + self._relay(event, topic, sender, min(push.hops + 1, MOST_CROSSED), now)

    def _relay(self, event: Event, topic: int, sender: Contact | None, hops: int, now: float) -> list[Effect]:
        neighbours = self.neighbours(topic)
        if neighbours is None:
            return []
        _remember(self.seen, (event.id, topic), now)
        push = Flooded(event, (topic,), hops, asked=False)
        return [Send(contact, push) for contact in neighbours.values() if sender is None or contact.id != sender.id]


def _remember(times: dict[Any, float], key: int | tuple[int, int], now: float) -> None:
    times[key] = now
    if len(times) > MOST_SEEN:
        del times[next(iter(times))]

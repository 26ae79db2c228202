"""What a node publishes, and what strangers hand to it: into topics that it follows, over links, else through members that are found."""

from collections.abc import Container, Iterable
from typing import Protocol

from ropewalk.errors import UsageError
from ropewalk.protocols.contract import Contact, Effect, Event, Report
from ropewalk.protocols.dissemination.contract import Events, NeighboursOn
from ropewalk.protocols.dissemination.injection import Injections
from ropewalk.protocols.dissemination.messages import Inject, Taken
from ropewalk.protocols.dissemination.settings import MOST_PAYLOAD, MOST_TOPICS
from ropewalk.protocols.links import Links


class Followed(Container[int], Iterable[int], Protocol):
    """Topics that are followed now."""


class Saying:
    """Part of a node that knows who its neighbours are."""

    __slots__ = ("events", "injections", "links", "me", "near", "topics")

    def __init__(
        self, me: int, topics: Followed, events: Events, injections: Injections, links: Links, near: NeighboursOn
    ) -> None:
        self.me, self.topics, self.links, self.near = me, topics, links, near
        self.events, self.injections = events, injections

    def publish(self, event: Event, now: float) -> list[Effect]:
        """Into every topic of an event: over links where it is followed, else through members that are found."""
        if not event.topics:
            raise UsageError(f"event {event.id} has no topic, but needs one at least.")
        if len(event.payload) > MOST_PAYLOAD or len(event.topics) > MOST_TOPICS:
            why = f"at most {MOST_PAYLOAD} bytes and {MOST_TOPICS} topics are carried"
            return [Report(event, topic, why) for topic in event.topics]
        effects = self.events.publish(event, now)
        for topic in event.topics:
            if topic not in self.topics:
                effects += self.injections.publish(event, topic, now)
        return effects

    def hand_on(self, topic: int, now: float) -> list[Effect]:
        """Ours: a topic is about to be followed no longer; what nobody on it may have yet must not be lost with that."""
        near = self.near(topic) if topic in self.topics else None
        if near is None:
            return []
        return self.injections.hand_on(self.events.unspread(topic), topic, tuple(near.values()), now)

    def let_in(self, sender: Contact, message: Inject, now: float) -> list[Effect]:
        """A stranger hands an event in, for a topic that is followed here."""
        if message.topic not in self.topics or message.topic not in message.event.topics:
            return []  # the publisher tries others
        effects = self.events.inject(message, now)
        if not self.events.has(message.event.id):
            return effects
        return effects + self.links.post(sender, Taken(message.topic, message.event.id), now)

    def unheard(self) -> dict[int, float]:
        """Topics on which events of this node's own wait for a first neighbour, or for somebody to let them in, and since when."""
        found: dict[int, float] = {}
        for topic in self.topics:
            for event, at in self.events.unspread(topic) if not self.near(topic) else ():
                if event.publisher == self.me:
                    found[topic] = max(at, found.get(topic, at))
        for (_, topic), injected in self.injections.open.items():
            if injected.event.publisher == self.me and not injected.unwanted:
                found[topic] = max(injected.at, found.get(topic, injected.at))
        return found

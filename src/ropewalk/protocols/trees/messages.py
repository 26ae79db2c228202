"""What nodes of a tree tell each other. A tree has a number besides its topic: a node may be on several kinds of them."""

from dataclasses import dataclass
from typing import ClassVar

from ropewalk.protocols.contract import AboutTopic, Contact, Event, OfTopic, Topic
from ropewalk.protocols.dht.settings import MOST_HOPS
from ropewalk.protocols.dissemination.settings import MOST_PAYLOAD, MOST_TOPICS
from ropewalk.protocols.trees.settings import MOST_BEAT, MOST_CROSSED, MOST_IDS, MOST_SAID

Branch = tuple[Topic, int, int, tuple[int, ...]]
"""A topic, who its root is, the root's last beat that has come here, and the events that came lately."""


@dataclass(frozen=True, slots=True)
class OfBranches:
    """A message about some topics."""

    tree: int
    branches: tuple[Branch, ...]

    @property
    def topics(self) -> tuple[int, ...]:
        """All that are named."""
        return tuple(topic for topic, _, _, _ in self.branches)

    def contacts(self) -> int:
        """A root each, and a topic, a beat and an id take as much."""
        return sum(3 + len(ids) for _, _, _, ids in self.branches)

    def labels(self) -> tuple[int, ...]:
        """What it is about."""
        return (self.tree, *(number for topic, _, beat, ids in self.branches for number in (topic, beat, len(ids))))


@dataclass(frozen=True, slots=True)
class Graft(OfBranches):
    """The sender is the receiver's child on these topics (Scribe's JOIN, and its answer to heartbeats)."""

    kind: ClassVar[str] = "graft"


@dataclass(frozen=True, slots=True)
class Bear(OfBranches):
    """The receiver is the sender's child on these (Scribe's heartbeat)."""

    kind: ClassVar[str] = "bear"


@dataclass(frozen=True, slots=True)
class Prune:
    """The sender is no longer the receiver's child on these, or will not have it as one (Scribe's LEAVE)."""

    kind: ClassVar[str] = "prune"
    tree: int
    topics: tuple[Topic, ...]

    def contacts(self) -> int:
        """Nobody, but a topic takes as much."""
        return len(self.topics)

    def labels(self) -> tuple[int, ...]:
        """What it is about."""
        return (self.tree, *self.topics)


@dataclass(frozen=True, slots=True)
class Shed(OfTopic):
    """An event, along a tree."""

    kind: ClassVar[str] = "shed"
    event: Event
    hops: int  # links it has crossed, this one included

    def contacts(self) -> int:
        """The publisher, and as much for the event's id and each topic."""
        return 2 + len(self.event.topics)

    def labels(self) -> tuple[int, ...]:
        """One a time."""
        return (self.event.id, self.topic, self.hops)


@dataclass(frozen=True, slots=True)
class Lack(OfTopic):
    """Send these, of which you have told."""

    kind: ClassVar[str] = "lack"
    ids: tuple[int, ...]

    def contacts(self) -> int:
        """Nobody, but an id takes as much."""
        return len(self.ids)

    def labels(self) -> tuple[int, ...]:
        """What is asked for."""
        return (self.topic, *self.ids)


@dataclass(frozen=True, slots=True)
class Submit(OfTopic):
    """An event on its way to a topic's home, handed on from node to node."""

    kind: ClassVar[str] = "submit"
    event: Event
    publisher: Contact
    hops: int

    def contacts(self) -> int:
        """The publisher, and as much for the event's id and each topic."""
        return 3 + len(self.event.topics)

    def labels(self) -> tuple[int, ...]:
        """One a time."""
        return (self.event.id, self.topic, self.hops)


@dataclass(frozen=True, slots=True)
class Keep(OfTopic):
    """An event that has come to its home: keep it, too, should the home go before it has told anybody."""

    kind: ClassVar[str] = "keep"
    event: Event

    def contacts(self) -> int:
        """The publisher, and as much for the event's id and each topic."""
        return 2 + len(self.event.topics)

    def labels(self) -> tuple[int, ...]:
        """One an event."""
        return (self.event.id, self.topic)


@dataclass(frozen=True, slots=True)
class OfEvent(AboutTopic):
    """A message that says one thing about one event on one topic."""

    id: int

    def labels(self) -> tuple[int, ...]:
        """One an event."""
        return (self.topic, self.id)


@dataclass(frozen=True, slots=True)
class Kept(OfEvent):
    """It is kept."""

    kind: ClassVar[str] = "kept"


@dataclass(frozen=True, slots=True)
class Accepted(OfEvent):
    """It has come to its home, and somebody else keeps it, too."""

    kind: ClassVar[str] = "accepted"


Message = Graft | Bear | Prune | Shed | Lack | Submit | Keep | Kept | Accepted


def is_sound(message: Message) -> bool:
    """Whether somebody who keeps the rules could have sent it."""
    match message:
        case Graft() | Bear():
            counted = all(0 <= beat < MOST_BEAT and len(ids) <= MOST_IDS for _, _, beat, ids in message.branches)
            return counted and message.contacts() <= 3 * MOST_SAID
        case Prune():
            return len(message.topics) <= MOST_SAID
        case Lack():
            return len(message.ids) <= MOST_IDS
        case Shed() | Submit() | Keep():
            return _is_carrier(message)
        case Kept() | Accepted():
            return True


def _is_carrier(message: Shed | Submit | Keep) -> bool:
    event = message.event
    carried = len(event.payload) <= MOST_PAYLOAD and len(event.topics) <= MOST_TOPICS and message.topic in event.topics
    match message:
        case Shed():
            return carried and 0 <= message.hops <= MOST_CROSSED
        case Submit():
            return carried and 0 <= message.hops <= MOST_HOPS and message.publisher.id == event.publisher
        case Keep():
            return carried

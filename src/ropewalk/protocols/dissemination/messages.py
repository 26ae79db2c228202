"""What nodes tell each other about events."""

from dataclasses import dataclass
from typing import ClassVar

from ropewalk.protocols.contract import AboutTopic, Event, Topic, quick

Offer = tuple[int, tuple[Topic, ...]]
"""An event's id, and those of its topics on which sender and receiver are neighbours."""


@quick
class Push:
    """The event itself, once per link whatever the number of its topics."""

    kind: ClassVar[str] = "push"
    event: Event
    topics: tuple[Topic, ...]  # on which it is sent: those on which sender and receiver are neighbours
    hops: int  # links it has crossed, this one included
    asked: bool  # it answers a Want
    age: float = (
        0.0  # seconds for which it has been about: nobody keeps it longer than it would have from the beginning
    )

    def contacts(self) -> int:
        """The publisher, and as much for the event's id and each topic."""
        return 2 + len(self.event.topics)

    def labels(self) -> tuple[int, ...]:
        """One a time."""
        return (self.event.id, self.hops, self.asked)


@dataclass(frozen=True, slots=True)
class Have:
    """IHAVE: these can be had from the sender."""

    kind: ClassVar[str] = "have"
    offers: tuple[Offer, ...]
    alone: bool = False  # no Push comes, even where the link is eager
    answer: bool = False  # say which of them you have

    @property
    def topics(self) -> tuple[int, ...]:
        """All that are named."""
        return tuple(dict.fromkeys(topic for _, topics in self.offers for topic in topics))

    def contacts(self) -> int:
        """Nobody, but an id takes as much."""
        return sum(1 + len(topics) for _, topics in self.offers)

    def labels(self) -> tuple[int, ...]:
        """What it says."""
        return tuple(event for event, _ in self.offers)


@dataclass(frozen=True, slots=True)
class Ids:
    """What is said about events that the other end has named."""

    ids: tuple[int, ...]
    topics: tuple[Topic, ...]

    def contacts(self) -> int:
        """Nobody, but an id takes as much."""
        return len(self.ids) + len(self.topics)

    def labels(self) -> tuple[int, ...]:
        """What it says."""
        return (*self.ids, *self.topics)


@dataclass(frozen=True, slots=True)
class Want(Ids):
    """IWANT: send these; and what comes on these topics from now on, without being asked (GRAFT)."""

    kind: ClassVar[str] = "want"


@dataclass(frozen=True, slots=True)
class Spare(Ids):
    """IDONTWANT: the sender has these; and wants nothing more on these topics without asking (PRUNE)."""

    kind: ClassVar[str] = "spare"


@dataclass(frozen=True, slots=True)
class Inject:
    """An event from a publisher that does not follow the topic: let it in."""

    kind: ClassVar[str] = "inject"
    event: Event
    topic: Topic
    lead: bool  # spread it at once; others that it is handed to only offer it, so that waves do not meet and cut trees
    age: float = 0.0  # as of a Push

    @property
    def topics(self) -> tuple[int, ...]:
        """The one on which it enters; the event's others are its own affair."""
        return (self.topic,)

    def contacts(self) -> int:
        """As a Push."""
        return 2 + len(self.event.topics)

    def labels(self) -> tuple[int, ...]:
        """One a topic."""
        return (self.event.id, self.topic)


@dataclass(frozen=True, slots=True)
class Taken(AboutTopic):
    """It is in."""

    kind: ClassVar[str] = "taken"
    event: int

    def labels(self) -> tuple[int, ...]:
        """One an event."""
        return (self.topic, self.event)


Message = Push | Have | Want | Spare | Inject | Taken

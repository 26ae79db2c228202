"""What gossipsub nodes tell each other: three kinds of frame, each one RPC of the specification with one of its fields."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from ropewalk.protocols.baselines.gossipsub.settings import MOST_SAID
from ropewalk.protocols.contract import Contact, Event, Topic

Ids = tuple[Topic, tuple[int, ...]]
"""A topic, and events on it by their ids: a message of gossipsub's is an event on one topic."""


@dataclass(frozen=True, slots=True)
class Interests:
    """SUBSCRIBE and UNSUBSCRIBE: what the sender follows besides what it has said before, and what no longer."""

    kind: ClassVar[str] = "interests"
    follows: tuple[Topic, ...]
    no_longer: tuple[Topic, ...] = ()

    @property
    def topics(self) -> tuple[int, ...]:
        """All that are named."""
        return self.follows + self.no_longer

    def contacts(self) -> int:
        """Nobody, but a topic takes as much."""
        return len(self.follows) + len(self.no_longer)

    def labels(self) -> tuple[int, ...]:
        """What it says."""
        return (len(self.follows), *self.topics)


@dataclass(frozen=True, slots=True)
class Publication:
    """An event on one of its topics."""

    kind: ClassVar[str] = "publication"
    event: Event
    topic: Topic
    hops: int  # links it has crossed, this one included

    @property
    def topics(self) -> tuple[int, ...]:
        """The one."""
        return (self.topic,)

    def contacts(self) -> int:
        """The publisher, and as much for the event's id and the topic."""
        return 3

    def labels(self) -> tuple[int, ...]:
        """One a time."""
        return (self.event.id, self.topic, self.hops)


@dataclass(frozen=True, slots=True)
class Control:
    """All that is to be said on one link at one moment, whatever the topics."""

    kind: ClassVar[str] = "control"
    grafts: tuple[Topic, ...] = ()  # GRAFT: the receiver is in the sender's mesh
    prunes: tuple[tuple[Topic, int], ...] = ()  # PRUNE: it is not, and will not be for so many seconds (1.1)
    haves: tuple[Ids, ...] = ()  # IHAVE: these can be had
    wants: tuple[Ids, ...] = ()  # IWANT: send these

    @property
    def topics(self) -> tuple[int, ...]:
        """All that are named."""
        pruned, had, wanted = ([topic for topic, _ in each] for each in (self.prunes, self.haves, self.wants))
        return tuple(dict.fromkeys([*self.grafts, *pruned, *had, *wanted]))

    def contacts(self) -> int:
        """Nobody, but a topic, an id and a time take as much each."""
        ids = sum(1 + len(ids) for _, ids in (*self.haves, *self.wants))
        return len(self.grafts) + 2 * len(self.prunes) + ids

    def labels(self) -> tuple[int, ...]:
        """What it says."""
        return tuple(_numbers(self))


Message = Interests | Publication | Control


def _numbers(control: Control) -> Iterator[int]:
    yield len(control.grafts)
    yield from control.grafts
    yield len(control.prunes)
    for prune in control.prunes:
        yield from prune
    for offers in (control.haves, control.wants):
        yield len(offers)
        for topic, ids in offers:
            yield topic
            yield len(ids)
            yield from ids


@dataclass(slots=True)
class Draft:
    """What is yet to be said on one link: as few frames as bounds allow."""

    contact: Contact
    grafts: list[int] = field(default_factory=list)
    prunes: list[tuple[int, int]] = field(default_factory=list)
    haves: list[Ids] = field(default_factory=list)

    def frames(self) -> Iterator[Control]:
        """One, unless it would be too long."""
        grafts, prunes, haves = self.grafts, self.prunes, list(self.haves)
        while grafts or prunes or haves:
            room = MOST_SAID
            now_grafted, grafts = grafts[:room], grafts[room:]
            room -= len(now_grafted)
            now_pruned, prunes = prunes[: room // 2], prunes[room // 2 :]
            room -= 2 * len(now_pruned)
            now_had: list[Ids] = []
            while haves and len(haves[0][1]) < room:
                room -= 1 + len(haves[0][1])
                now_had.append(haves.pop(0))
            yield Control(tuple(now_grafted), tuple(now_pruned), tuple(now_had))


class Drafts:
    """What is yet to be said, by link; in the order in which there was something to say."""

    __slots__ = ("by_id",)

    def __init__(self) -> None:
        self.by_id: dict[int, Draft] = {}

    def to(self, contact: Contact) -> Draft:
        """What is to be said to this node."""
        return self.by_id.setdefault(contact.id, Draft(contact))

"""What nodes ask each other to find the members of a topic. None says which topic: they carry its tag.

A node believes nothing that it is told about others. Whom an answer names is asked before it is counted on, and who serves
a tag can only be said by itself: it is whoever sends `Serve`. Even that is only believed once it has been proven.
"""

from dataclasses import dataclass
from typing import ClassVar

from ropewalk.protocols.contract import Contact
from ropewalk.protocols.discovery.settings import MOST_ADDRESS, MOST_CLOSER, MOST_NAMED
from ropewalk.protocols.discovery.tags import ID_BITS


@dataclass(frozen=True, slots=True)
class OfTag:
    """A message about one tag."""

    topics: ClassVar[tuple[int, ...]] = ()
    tag: int  # of a topic, or any id whose neighbourhood is wanted

    def contacts(self) -> int:
        """Nobody, but a tag takes as much."""
        return 1

    def labels(self) -> tuple[int, ...]:
        """One a tag."""
        return (self.tag,)


@dataclass(frozen=True, slots=True)
class Turned(OfTag):
    """A question or its answer; the turn says which question, so that late and doubled answers are known as such."""

    turn: int

    def labels(self) -> tuple[int, ...]:
        """One a question."""
        return (self.tag, self.turn)


@dataclass(frozen=True, slots=True)
class Seek(Turned):
    """Whom do you know near this tag? And who serves it, if members are sought."""

    kind: ClassVar[str] = "seek"
    members: bool


@dataclass(frozen=True, slots=True)
class Found(Turned):
    """The answer: those of the sender's contacts that are closest, and some that have left their contact with it."""

    kind: ClassVar[str] = "found"
    closer: tuple[Contact, ...]
    serving: tuple[Contact, ...]

    def contacts(self) -> int:
        """The tag, and all that are named."""
        return 1 + len(self.closer) + len(self.serving)


@dataclass(frozen=True, slots=True)
class Serve(Turned):
    """The sender serves this tag: name it to those who seek members, for the time of a lease."""

    kind: ClassVar[str] = "serve"


@dataclass(frozen=True, slots=True)
class Served(Turned):
    """The answer, with some others that serve it."""

    kind: ClassVar[str] = "served"
    full: bool  # there was no room: the sender was not taken in
    serving: tuple[Contact, ...]

    def contacts(self) -> int:
        """The tag, and all that are named."""
        return 1 + len(self.serving)


@dataclass(frozen=True, slots=True)
class Unserve(OfTag):
    """The sender serves it no longer."""

    kind: ClassVar[str] = "unserve"


@dataclass(frozen=True, slots=True)
class Shown(Turned):
    """That the sender knows the topic of a tag."""

    proof: int

    def contacts(self) -> int:
        """Nobody, but a tag and a proof take as much as two."""
        return 2


@dataclass(frozen=True, slots=True)
class Prove(Shown):
    """Show it, too."""

    kind: ClassVar[str] = "prove"


@dataclass(frozen=True, slots=True)
class Proven(Shown):
    """The answer; a wrong one of who does not serve the tag, or does not believe the question."""

    kind: ClassVar[str] = "proven"


OfLookups = Seek | Found | Serve | Served | Unserve
OfProofs = Prove | Proven
Message = OfLookups | OfProofs


def is_sound(message: object) -> bool:
    """Whether a node that keeps the rules could have sent it."""
    match message:
        case Found():
            named = _are_contacts(message.closer, MOST_CLOSER) and _are_contacts(message.serving, MOST_NAMED)
            return named and _is_id(message.tag) and _is_id(message.turn)
        case Served():
            return _are_contacts(message.serving, MOST_NAMED) and _is_id(message.tag) and _is_id(message.turn)
        case Seek() | Serve():
            return _is_id(message.tag) and _is_id(message.turn)
        case Prove() | Proven():
            return _is_id(message.tag) and _is_id(message.turn) and _is_id(message.proof)
        case Unserve():
            return _is_id(message.tag)
        case _:
            return False


def _is_id(value: object) -> bool:
    return isinstance(value, int) and 0 <= value < 1 << ID_BITS


def _are_contacts(value: object, most: int) -> bool:
    return isinstance(value, tuple) and len(value) <= most and all(map(_is_contact, value))


def _is_contact(value: object) -> bool:
    return (
        isinstance(value, Contact)
        and _is_id(value.id)
        and isinstance(value.address, str)
        and len(value.address) <= MOST_ADDRESS
    )

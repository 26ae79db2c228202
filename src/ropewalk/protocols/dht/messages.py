"""What nodes on rings tell each other. A ring has a number: a node may sit on several.

Nothing here says what anybody follows but `Met`, which answers a walk on the skewed ring.
"""

from dataclasses import dataclass
from typing import ClassVar

from ropewalk.protocols.contract import Contact, Topic
from ropewalk.protocols.dht.places import Seat, is_place
from ropewalk.protocols.dht.settings import MOST_HOPS

MOST_SEATS = 64  # ours: in one message
MOST_FOLLOWED = 1024  # ours: topics that a node says it follows, at the most


@dataclass(frozen=True, slots=True)
class OfRing:
    """A message about one ring."""

    topics: ClassVar[tuple[int, ...]] = ()
    ring: int

    def contacts(self) -> int:
        """Nobody, but a place takes as much."""
        return 1

    def labels(self) -> tuple[int, ...]:
        """One a ring."""
        return (self.ring,)


@dataclass(frozen=True, slots=True)
class Stabilise(OfRing):
    """The receiver is the sender's successor, as far as it knows; who stands between them is asked for."""

    kind: ClassVar[str] = "stabilise"
    place: bytes


@dataclass(frozen=True, slots=True)
class Neighbours(OfRing):
    """The answer; also said unasked to who has got another successor."""

    kind: ClassVar[str] = "neighbours"
    place: bytes
    before: tuple[Seat, ...]  # the predecessor, if it is known
    after: tuple[Seat, ...]  # the successor list

    def contacts(self) -> int:
        """A seat is a node and a place."""
        return 1 + 2 * (len(self.before) + len(self.after))


@dataclass(frozen=True, slots=True)
class Parted(OfRing):
    """The sender sits there no longer; who sat on either side of it."""

    kind: ClassVar[str] = "parted"
    before: tuple[Seat, ...]
    after: tuple[Seat, ...]

    def contacts(self) -> int:
        """A seat is a node and a place."""
        return 2 * (len(self.before) + len(self.after))


@dataclass(frozen=True, slots=True)
class Hold(OfRing):
    """The receiver is a finger of the sender's: stay linked, and say where you sit now."""

    kind: ClassVar[str] = "hold"
    place: bytes


@dataclass(frozen=True, slots=True)
class Held(OfRing):
    """The answer."""

    kind: ClassVar[str] = "held"
    place: bytes


@dataclass(frozen=True, slots=True)
class Locate(OfRing):
    """Who sits at a place, or next after it? Handed on from node to node, and answered to who asks."""

    kind: ClassVar[str] = "locate"
    target: bytes
    seeker: Contact
    turn: int
    hops: int  # links crossed so far

    def contacts(self) -> int:
        """Who asks, the place, and which question it is."""
        return 3

    def labels(self) -> tuple[int, ...]:
        """One a question and hop."""
        return (self.ring, self.seeker.id, self.turn, self.hops)


@dataclass(frozen=True, slots=True)
class Located(OfRing):
    """The answer: who does, and who sits next after it."""

    kind: ClassVar[str] = "located"
    turn: int
    seats: tuple[Seat, ...]

    def contacts(self) -> int:
        """A seat is a node and a place."""
        return 1 + 2 * len(self.seats)

    def labels(self) -> tuple[int, ...]:
        """One a question."""
        return (self.ring, self.turn)


@dataclass(frozen=True, slots=True)
class Stroll(OfRing):
    """Go on at random among those who sit after one place and not after another, then say where you came to (Magnet 2.2)."""

    kind: ClassVar[str] = "stroll"
    low: bytes
    high: bytes
    seeker: Contact
    turn: int
    left: int  # steps

    def contacts(self) -> int:
        """Who asks, two places, which walk it is."""
        return 4

    def labels(self) -> tuple[int, ...]:
        """One a walk and step."""
        return (self.ring, self.seeker.id, self.turn, self.left)


@dataclass(frozen=True, slots=True)
class Met(OfRing):
    """Where a walk has come to, and what is followed there."""

    kind: ClassVar[str] = "met"
    turn: int
    place: bytes
    follows: tuple[Topic, ...]

    @property
    def topics(self) -> tuple[int, ...]:  # type: ignore[override]
        """What the sender follows."""
        return self.follows

    def contacts(self) -> int:
        """Nobody, but a place and a topic take as much each."""
        return 2 + len(self.follows)

    def labels(self) -> tuple[int, ...]:
        """One a walk."""
        return (self.ring, self.turn)


Message = Stabilise | Neighbours | Parted | Hold | Held | Locate | Located | Stroll | Met


def is_sound(message: Message) -> bool:
    """Whether somebody who keeps the rules could have sent it."""
    match message:
        case Stabilise() | Hold() | Held():
            return is_place(message.place)
        case Neighbours() | Parted():
            placed = isinstance(message, Parted) or is_place(message.place)
            return placed and len(message.before) <= 1 and _are_sound(message.before + message.after)
        case Locate():
            return is_place(message.target) and 0 <= message.hops <= MOST_HOPS
        case Located():
            return _are_sound(message.seats)
        case Stroll():
            return is_place(message.low) and is_place(message.high) and 0 <= message.left <= MOST_HOPS
        case Met():
            return is_place(message.place) and len(message.follows) <= MOST_FOLLOWED


def _are_sound(seats: tuple[Seat, ...]) -> bool:
    return len(seats) <= MOST_SEATS and all(is_place(seat.place) for seat in seats)

"""What Magnet's nodes tell each other besides what rings and trees have to say.

Samples name nodes and all that they follow: whoever is on a topic's membership tree learns of some followers' interests, and so
does whoever asks the topic's home. Magnet is built on that; StaN tells nobody.
"""

from dataclasses import dataclass
from typing import ClassVar

from ropewalk.protocols.contract import Contact, OfTopic, Topic
from ropewalk.protocols.dht.messages import MOST_SEATS
from ropewalk.protocols.dht.places import Seat, is_place, number_of
from ropewalk.protocols.dht.settings import MOST_HOPS

MOST_FOLLOWED = 512  # ours: topics that one follower is said to follow
MOST_NAMED = 4096  # ours: topics in one sample; who is beyond that is left out
MOST_SAMPLE = 64  # ours: followers in one sample


@dataclass(frozen=True, slots=True)
class Follower:
    """Who follows a topic, where it sits, and what else it follows."""

    seat: Seat
    follows: tuple[Topic, ...]
    drawn: int  # by chance: the lowest of all make a sample that no shape of tree can bend


@dataclass(frozen=True, slots=True)
class OfSample(OfTopic):
    """Some followers of a topic."""

    followers: tuple[Follower, ...]

    def contacts(self) -> int:
        """A follower is a node, a place, a number and its topics."""
        return sum(3 + len(follower.follows) for follower in self.followers)

    def labels(self) -> tuple[int, ...]:
        """Whom it names."""
        return (self.topic, *(follower.drawn for follower in self.followers))


@dataclass(frozen=True, slots=True)
class Gather(OfSample):
    """A sample of those at or below the sender on the membership tree, on its way up (Magnet 3.1)."""

    kind: ClassVar[str] = "gather"


@dataclass(frozen=True, slots=True)
class Sample(OfSample):
    """A sample of all who follow a topic: from its home, down the tree or to who asked."""

    kind: ClassVar[str] = "sample"
    rate: float = 0.0  # events that the home has seen on the topic in a period, lately


@dataclass(frozen=True, slots=True)
class Query(OfTopic):
    """Who follows a topic? Handed on to its home, which answers."""

    kind: ClassVar[str] = "query"
    seeker: Contact
    hops: int

    def contacts(self) -> int:
        """Who asks."""
        return 1

    def labels(self) -> tuple[int, ...]:
        """One a seeker and hop."""
        return (self.topic, self.seeker.id, self.hops)


@dataclass(frozen=True, slots=True)
class Beside:
    """The sender would like to sit right after the receiver (Magnet 3.2)."""

    kind: ClassVar[str] = "beside"
    topics: ClassVar[tuple[int, ...]] = ()
    turn: int

    def contacts(self) -> int:
        """Nobody."""
        return 0

    def labels(self) -> tuple[int, ...]:
        """One a time."""
        return (self.turn,)


@dataclass(frozen=True, slots=True)
class Seated:
    """The answer: where, and who sits around that."""

    kind: ClassVar[str] = "seated"
    topics: ClassVar[tuple[int, ...]] = ()
    turn: int
    place: bytes
    before: bytes  # where the sender sits
    after: tuple[Seat, ...]  # none: there is no room, or the sender does not sit anywhere itself

    def contacts(self) -> int:
        """A seat is a node and a place."""
        return 3 + 2 * len(self.after)

    def labels(self) -> tuple[int, ...]:
        """One a time."""
        return (self.turn,)


@dataclass(frozen=True, slots=True)
class OfTarget(OfTopic):
    """Who is to get onto a topic's tree."""

    target: Seat
    hops: int  # links crossed so far

    def contacts(self) -> int:
        """A node and a place."""
        return 2

    def labels(self) -> tuple[int, ...]:
        """One a target and hop."""
        return (self.topic, self.target.contact.id, number_of(self.target.place), self.hops)


@dataclass(frozen=True, slots=True)
class Enter(OfTarget):
    """Let the target in from the topic's home: on its way there."""

    kind: ClassVar[str] = "enter"
    firm: bool  # whether all on the way down are to be children of who hands it on, whoever is above them now


@dataclass(frozen=True, slots=True)
class Climb(OfTarget):
    """Let the target in from where the way to it leaves the tree: on its way up to there (Algorithm 2, its second phase)."""

    kind: ClassVar[str] = "climb"


@dataclass(frozen=True, slots=True)
class Reach(OfTarget):
    """Be on the tree, and hand this on towards the target (its third phase)."""

    kind: ClassVar[str] = "reach"
    root: Seat  # the home
    firm: bool  # as in Enter


Message = Gather | Sample | Query | Beside | Seated | Enter | Climb | Reach


def is_sound(message: Message) -> bool:
    """Whether somebody who keeps the rules could have sent it."""
    match message:
        case Gather() | Sample():
            return _is_sample(message)
        case Query():
            return 0 <= message.hops <= MOST_HOPS
        case Beside():
            return True
        case Seated():
            seats = message.after
            placed = is_place(message.place) and is_place(message.before)
            return placed and len(seats) <= MOST_SEATS and all(is_place(each.place) for each in seats)
        case Reach():
            return 0 <= message.hops <= MOST_HOPS and is_place(message.target.place) and is_place(message.root.place)
        case Enter() | Climb():
            return 0 <= message.hops <= MOST_HOPS and is_place(message.target.place)


def _is_sample(message: Gather | Sample) -> bool:
    if isinstance(message, Sample) and not 0 <= message.rate < float("inf"):
        return False
    named = sum(len(follower.follows) for follower in message.followers)
    return named <= MOST_NAMED and len(message.followers) <= MOST_SAMPLE and all(map(_is_sound, message.followers))


def _is_sound(follower: Follower) -> bool:
    return is_place(follower.seat.place) and len(follower.follows) <= MOST_FOLLOWED


def lowest(followers: list[Follower], count: int) -> tuple[Follower, ...]:
    """A sample of a sample: each node once, those with the lowest numbers, and no more than a message carries."""
    found: dict[int, Follower] = {}
    for follower in sorted(followers, key=lambda each: (each.drawn, each.seat.contact.id)):
        found.setdefault(follower.seat.contact.id, follower)
    kept: list[Follower] = []
    named = 0
    for follower in found.values():
        named += len(follower.follows)
        if len(kept) >= min(count, MOST_SAMPLE) or named > MOST_NAMED:
            break
        kept.append(follower)
    return tuple(kept)

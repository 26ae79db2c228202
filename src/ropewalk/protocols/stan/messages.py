"""What StaN nodes tell each other about one topic."""

from dataclasses import dataclass
from typing import ClassVar

from ropewalk.protocols.contract import Contact


@dataclass(frozen=True, slots=True)
class Walk:
    """COLLECTWALK (StaN, Algorithm 2): handed from neighbour to neighbour, collecting who is there."""

    kind: ClassVar[str] = "walk"
    topic: int
    source: Contact
    turn: int  # how many walks its source has started on this topic before
    hop: int  # how many nodes it has visited before
    seen: frozenset[Contact]  # its order means nothing: whoever ranks it has an order of its own

    def contacts(self) -> int:
        """The nodes that it has collected; its source is in the header."""
        return len(self.seen)

    def labels(self) -> tuple[int, ...]:
        """What tells this step from every other."""
        return (self.topic, self.source.id, self.turn, self.hop)


@dataclass(frozen=True, slots=True)
class Reply:
    """COLLECTREPLY: what a walk has collected, on its way back along the walk's path."""

    kind: ClassVar[str] = "reply"
    topic: int
    source: Contact
    turn: int
    hop: int  # of the walk that reached its sender: it counts down to 0 at the source
    seen: frozenset[Contact]

    def contacts(self) -> int:
        """The nodes that the walk has collected."""
        return len(self.seen)

    def labels(self) -> tuple[int, ...]:
        """What tells this step back from every other."""
        return (self.topic, self.source.id, self.turn, self.hop)


@dataclass(frozen=True, slots=True)
class Relay(Reply):
    """A reply that is handed on: counted apart, since the paper's replies need no handing on."""

    kind: ClassVar[str] = "relay"


@dataclass(frozen=True, slots=True)
class Announce:
    """LINK: the sender holds the receiver as a neighbour. Ours: so the receiver knows, and events can come back."""

    kind: ClassVar[str] = "announce"
    topic: int

    def contacts(self) -> int:
        """Nobody is named."""
        return 0

    def labels(self) -> tuple[int, ...]:
        """One a topic."""
        return (self.topic,)


@dataclass(frozen=True, slots=True)
class Withdraw:
    """UNLINK: it does so no longer."""

    kind: ClassVar[str] = "withdraw"
    topic: int

    def contacts(self) -> int:
        """Nobody is named."""
        return 0

    def labels(self) -> tuple[int, ...]:
        """One a topic."""
        return (self.topic,)


@dataclass(frozen=True, slots=True)
class KeepAlive:
    """On every link once per period: the sender lives, and holds the receiver on exactly these topics.

    It repairs what lost, late or doubled announcements have left; `number` tells an old one from a new one.
    """

    kind: ClassVar[str] = "keep-alive"
    topic: ClassVar[int] = -1
    number: int
    topics: tuple[int, ...]

    def contacts(self) -> int:
        """Topics count as much as nodes."""
        return len(self.topics)

    def labels(self) -> tuple[int, ...]:
        """One a period."""
        return (self.number,)


Message = Walk | Reply | Relay | Announce | Withdraw | KeepAlive

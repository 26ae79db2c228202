"""What StaN nodes tell each other about one topic."""

from dataclasses import dataclass
from typing import ClassVar

from ropewalk.protocols.contract import AboutTopic, Contact, OfTopic, Topic


@dataclass(frozen=True, slots=True)
class Step(OfTopic):
    """One step of a walk, there or back, with what it has collected."""

    source: Contact
    turn: int  # how many walks its source has started on this topic before
    hop: int  # how many nodes the walk had visited before the one at its farther end
    seen: frozenset[Contact]  # its order means nothing: whoever ranks it has an order of its own

    def contacts(self) -> int:
        """The nodes that it has collected; its source is in the header."""
        return len(self.seen)

    def labels(self) -> tuple[int, ...]:
        """What tells this step from every other."""
        return (self.topic, self.source.id, self.turn, self.hop)


@dataclass(frozen=True, slots=True)
class Walk(Step):
    """COLLECTWALK (StaN, Algorithm 2): handed from neighbour to neighbour, collecting who is there."""

    kind: ClassVar[str] = "walk"


@dataclass(frozen=True, slots=True)
class Reply(Step):
    """COLLECTREPLY: what a walk has collected, from where it ends. On its way back `hop` counts down to 0."""

    kind: ClassVar[str] = "reply"


@dataclass(frozen=True, slots=True)
class Relay(Reply):
    """A reply that is handed on: counted apart, since the paper's replies need no handing on."""

    kind: ClassVar[str] = "relay"


@dataclass(frozen=True, slots=True)
class Announce(AboutTopic):
    """LINK: the sender holds the receiver as a neighbour. Ours: so the receiver knows who holds it."""

    kind: ClassVar[str] = "announce"


@dataclass(frozen=True, slots=True)
class Withdraw(AboutTopic):
    """UNLINK: it does so no longer."""

    kind: ClassVar[str] = "withdraw"


@dataclass(frozen=True, slots=True)
class KeepAlive:
    """On every link once per period: the sender lives, and holds the receiver on exactly these topics.

    It repairs what lost, late or doubled announcements have left; `number` tells an old one from a new one.
    """

    kind: ClassVar[str] = "keep-alive"
    number: int
    topics: tuple[Topic, ...]

    def contacts(self) -> int:
        """Topics count as much as nodes."""
        return len(self.topics)

    def labels(self) -> tuple[int, ...]:
        """One a period."""
        return (self.number,)


Message = Walk | Reply | Relay | Announce | Withdraw | KeepAlive

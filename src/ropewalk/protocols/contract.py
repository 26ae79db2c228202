"""What every protocol node is: a state machine that is told inputs and answers with effects, and nothing else.

`handle(input, now)` returns a list of effects. A node reads no clock, draws no chance but by hashing its seed with labels,
opens nothing and sends nothing: whoever drives it (the simulator, or a process with sockets) does what the effects say
and tells it what came of that. Time is in seconds from any origin, and never goes backwards.

**Send needs a link.** A driver drops what is sent where no link is up. Connect asks for one; LinkUp or LinkDown follows.
A link is one connection between two nodes, whoever asked for it, and both ends are told of it.
"""

from dataclasses import dataclass
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    Protocol,
    TypeVar,
    dataclass_transform,
    runtime_checkable,
)

from ropewalk.errors import UsageError
from ropewalk.protocols.content.filters import Content, Filter

HEADER_BYTES = 32  # ours: kind, topic, source, turn and hop, with the frame around them
ID_BYTES = 8
MOST_NEIGHBOURS = 256  # ours: on one topic, if its level says nothing else; no rule here asks for as many

Topic = Annotated[int, "topic"]
"""A topic's id. Messages say so where they carry one, so that a wire can say it in fewer bytes."""

Cause = Literal["closed", "left", "failed"]
"""Why a link is down: an end no longer needs it, an end said good-bye, or it broke or never came up."""


Made = TypeVar("Made")


@dataclass_transform(frozen_default=True)
def quick(kind: type[Made]) -> type[Made]:
    """A frozen dataclass with slots, of which a node makes some for every event: nothing keeps others from changing it but type checks.

    What Python does to freeze one takes three times as long as making it.
    """
    return dataclass(slots=True, unsafe_hash=True)(kind)


class Contact(NamedTuple):
    """A node as others know it."""

    id: int
    address: str = ""  # where it can be reached, in words of the transport; empty in the simulator


@quick
class Event:
    """What somebody has to say to all who follow one of its topics."""

    id: int  # nobody else's: two events of one id are one event
    publisher: int
    topics: tuple[Topic, ...]
    payload: bytes
    content: Content = ()  # what filters look at, where topics are cells


BY_NAME_BYTES, CHARACTER_BYTES = 256, 4  # ours: what an attribute of an event takes at the most, and a character in it


def bytes_of(event: Event) -> int:
    """What an event takes where it is kept: its payload, and what it says by name."""
    return len(event.payload) + bytes_by_name(event) if event.content else len(event.payload)


def bytes_by_name(event: Event) -> int:
    """What it says by name, of that."""
    words = [word for attribute in event.content for word in attribute if isinstance(word, str)]
    return BY_NAME_BYTES * len(event.content) + CHARACTER_BYTES * sum(map(len, words))


class Message(Protocol):
    """What one node sends another: a frozen dataclass with bounded fields."""

    kind: ClassVar[str]

    @property
    def topics(self) -> tuple[int, ...]:
        """Which topics it tells of: that its sender follows them, or somebody whom it names does."""

    def contacts(self) -> int:
        """How many nodes it names, which is what its size depends on."""

    def labels(self) -> tuple[int, ...]:
        """What tells it from other messages of its kind between the same two nodes at the same moment."""


class Carrier(Message, Protocol):
    """One with an event in it."""

    @property
    def event(self) -> Event:
        """What it carries."""


@dataclass(frozen=True, slots=True)
class OfTopic:
    """A message that tells of one topic."""

    topic: Topic

    @property
    def topics(self) -> tuple[int, ...]:
        """The one."""
        return (self.topic,)


@dataclass(frozen=True, slots=True)
class AboutTopic(OfTopic):
    """A message that says one thing about a topic and names nobody; what it says is its kind."""

    def contacts(self) -> int:
        """Nobody."""
        return 0

    def labels(self) -> tuple[int, ...]:
        """One a topic."""
        return (self.topic,)


def size_of(message: Message) -> int:
    """Bytes that a message takes, by a stated model: a header and eight bytes for every node it names."""
    return HEADER_BYTES + ID_BYTES * message.contacts()


# Inputs


@quick
class Received:
    """A message came over a link."""

    sender: Contact
    message: Any  # one of the protocol's own


@dataclass(frozen=True, slots=True)
class TimerFired:
    """A timer is due: what SetTimer handed out comes back."""

    timer: Any


@dataclass(frozen=True, slots=True)
class LinkUp:
    """There is a link to this node now, whoever asked for it."""

    contact: Contact


@dataclass(frozen=True, slots=True)
class LinkDown:
    """There is none any more, or there never was."""

    contact: Contact
    cause: Cause


@dataclass(frozen=True, slots=True)
class Level:
    """The service that a topic gets; None: as the node's settings say."""

    period: float | None = None  # seconds between two walks
    connectivity: float | None = None  # the probability that its overlay is connected, which sizes views
    most: int | None = None  # neighbours, whatever the overlay manager asks for: the topic's fan-out, at the most

    def __post_init__(self) -> None:
        if self.period is not None and self.period <= 0:
            raise UsageError(f"a level's period is {self.period}, but must be above 0.")
        if self.connectivity is not None and not 0 < self.connectivity < 1:
            raise UsageError(
                f"a level's connectivity is {self.connectivity}, but must be a probability between 0 and 1."
            )
        if self.most is not None and not 1 <= self.most <= MOST_NEIGHBOURS:
            raise UsageError(f"a level's most is {self.most}, but must be from 1 to {MOST_NEIGHBOURS}.")


@dataclass(frozen=True, slots=True)
class Join:
    """Enter a network, through nodes that are there. Without it a node knows only whom it is told of with each topic.

    Told a second time, it knows more ways in; the secret stays the first.
    """

    seeds: tuple[Contact, ...]  # one that lives suffices; none for the first node of all
    secret: bytes = b""  # what all nodes of the network share and nobody else knows, if there is such a thing


@dataclass(frozen=True, slots=True)
class Subscribe:
    """Follow a topic from now on."""

    topic: int
    # who is known to follow it: a whole view where views are given, else one suffices, and none if the node has joined
    contacts: tuple[Contact, ...]
    level: Level = Level()
    filters: tuple[Filter, ...] = ()  # of its events those that match one of these; all, if there are none


@dataclass(frozen=True, slots=True)
class Unsubscribe:
    """Follow it no longer."""

    topic: int


@quick
class Publish:
    """Get an event to all who follow one of its topics."""

    event: Event


@dataclass(frozen=True, slots=True)
class Refuse:
    """An event has come that whoever stands before the node does not let in: do not ask for it, and take it from nobody."""

    sender: Contact
    event: int


@dataclass(frozen=True, slots=True)
class Leave:
    """Say good-bye to everybody: nothing will be handled after this."""


Command = Join | Subscribe | Unsubscribe | Publish | Refuse | Leave
Input = Received | TimerFired | LinkUp | LinkDown | Join | Subscribe | Unsubscribe | Publish | Refuse | Leave


# Effects


@quick
class Send:
    """Send a message over the link to this node."""

    to: Contact
    message: Any


@dataclass(frozen=True, slots=True)
class SetTimer:
    """Fire this timer after so many seconds. Timers cannot be taken back: whoever gets one checks whether it still matters."""

    delay: float
    timer: Any


@dataclass(frozen=True, slots=True)
class Connect:
    """Bring up a link to this node."""

    contact: Contact


@dataclass(frozen=True, slots=True)
class Disconnect:
    """Take down the link to this node."""

    contact: Contact
    cause: Literal["closed", "left"] = "closed"


@quick
class Deliver:
    """Hand an event to whoever subscribed here."""

    event: Event
    hops: int  # links that it crossed


@dataclass(frozen=True, slots=True)
class Report:
    """Tell whoever published an event that it did not get into one of its topics."""

    event: Event
    topic: int
    why: str


@dataclass(frozen=True, slots=True)
class Entered:
    """Tell whoever published an event that it is in one of its topics that it does not follow."""

    event: int
    topic: int


@dataclass(frozen=True, slots=True)
class Recall:
    """A message that carries this event has become useless to this node: if it still waits to be sent, let it be."""

    to: Contact
    kind: str  # of message
    event: int


Effect = Send | SetTimer | Connect | Disconnect | Deliver | Report | Entered | Recall


class Node(Protocol):
    """A participant of any protocol, as drivers know it."""

    me: Contact

    def handle(self, event: Input, now: float) -> list[Effect]:
        """Take one input in; what is to be done about it."""

    def follows(self, topic: int) -> bool:
        """Whether it follows a topic now."""

    def held(self) -> dict[int, list[Contact]]:
        """Whom it holds as neighbours, for every topic that it follows."""


@runtime_checkable
class Lasting(Node, Protocol):
    """One that can run on sockets: whoever runs it wants to know when it is among others, and when it can go."""

    def awaited(self) -> tuple[int, int]:
        """What it waits for before it is among others: links, or places on trees; and on how many topics it is alone."""

    def has_had(self, event: int) -> bool:
        """Whether an event has come before."""

    def is_beside(self, node: int, topic: int) -> bool:
        """Whether another is a neighbour on a topic, so that it follows it as well."""

    def forgot_before(self) -> float:
        """Until when the latest came of all events that were forgotten for want of room and not of age; minus infinity: there are none."""

    def unheard(self) -> dict[int, float]:
        """Topics on which nobody else may have got all events of this node's own yet, and when the last was published."""

    def left_out(self) -> dict[str, int]:
        """What was not taken in, or forgotten too early, since a bound was reached: how often, by which."""

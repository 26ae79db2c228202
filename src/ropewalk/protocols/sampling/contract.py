"""What an overlay manager is: a state machine for one topic at one node, which asks for changes to the topic's one view.

It reads the view and who holds this node (`Overlay`), and changes neither: it answers with effects, to which it may add
requests to the node that it is part of.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol

from ropewalk.protocols.contract import AboutTopic, Contact, Effect, Input
from ropewalk.protocols.view import View

ManagerName = Literal["given", "scamp", "cyclon"]


@dataclass(slots=True)
class Overlay:
    """What a node knows of one topic's overlay."""

    topic: int
    view: View
    held_by: dict[int, Contact] = field(default_factory=dict)  # who has announced that it holds this node
    coming: dict[int, None] = field(default_factory=dict)  # who becomes a neighbour as soon as its link is up

    def has(self, node: int) -> bool:
        """Whether the node of this id is a neighbour, or about to be."""
        return node in self.coming or self.view.holds(node)


@dataclass(frozen=True, slots=True)
class Grow:
    """Hold one more neighbour: this one."""

    contact: Contact


@dataclass(frozen=True, slots=True)
class Shrink:
    """Hold one neighbour fewer: an empty place goes first, then the worst."""


@dataclass(frozen=True, slots=True)
class Forget:
    """This node follows the topic no longer: hold it no more, and believe nobody who names it, for a while.

    Its place stays.
    """

    node: int


@dataclass(frozen=True, slots=True)
class Offer:
    """Rank these: link management takes in those that it likes better."""

    contacts: tuple[Contact, ...]


@dataclass(frozen=True, slots=True)
class Explore:
    """Let the next walk begin at this node, which need not be a neighbour."""

    contact: Contact


@dataclass(frozen=True, slots=True)
class Post:
    """Send this, after bringing up a link if there is none."""

    to: Contact
    message: Any


Request = Grow | Shrink | Forget | Offer | Explore | Post


@dataclass(frozen=True, slots=True)
class Left(AboutTopic):
    """The sender follows the topic no longer."""

    kind: ClassVar[str] = "left"


@dataclass(frozen=True, slots=True)
class Check:
    """The only timer of managers: once per period. Each topic has its own, so that no topic's history hangs on another's."""

    topic: int
    era: int  # which subscription it is for


class Manager(Protocol):
    """An overlay manager, as the node that it is part of knows it."""

    def handle(self, event: Input, now: float) -> list[Effect | Request]:
        """Take in what concerns its topic: commands, its messages, links that went down, and `Check`."""

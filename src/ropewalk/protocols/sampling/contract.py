"""What an overlay manager is: a state machine for one topic at one node, which asks for changes to the topic's one view.

It reads the view and who holds this node (`Overlay`), and changes neither: it answers with effects, to which it may add
requests to the node that it is part of.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol

from ropewalk.protocols.contract import AboutTopic, Contact, Effect, Input
from ropewalk.protocols.reached import Reached
from ropewalk.protocols.view import View

ManagerName = Literal["given", "scamp", "cyclon"]


@dataclass(slots=True)
class Overlay:
    """What a node knows of one topic's overlay."""

    topic: int
    view: View
    held_by: dict[int, Contact] = field(default_factory=dict)  # who has announced that it holds this node
    coming: dict[int, None] = field(default_factory=dict)  # who becomes a neighbour as soon as its link is up
    reached: Reached = field(default_factory=Reached)  # bounds, as the node counts them
    _around: dict[int, Contact] | None = None  # as of `_changes`; None: to be found anew
    _changes: int = 0  # of the view

    def has(self, node: int) -> bool:
        """Whether the node of this id is a neighbour, or about to be."""
        return node in self.coming or self.view.holds(node)

    def hold(self, contact: Contact) -> None:
        """Somebody has announced that it holds this node."""
        self.held_by[contact.id] = contact
        self._around = None

    def let_go(self, node: int) -> bool:
        """Somebody holds this node no more; whether it did."""
        self._around = None
        return self.held_by.pop(node, None) is not None

    def around(self) -> dict[int, Contact]:
        """All that are linked with this node, in either direction: to be read only, as every event asks for it."""
        if self._around is None or self._changes != self.view.changes:
            self._around = self.held_by | dict(zip(self.view.ids, self.view.contacts, strict=True))
            self._changes = self.view.changes
        return self._around


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

"""What gets events about is: a state machine that is part of a node which knows its neighbours."""

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from ropewalk.protocols.contract import Contact, Effect, Event
from ropewalk.protocols.dissemination.messages import Inject
from ropewalk.protocols.dissemination.settings import Settings

NeighboursOn = Callable[[int], "dict[int, Contact] | None"]
"""With whom events of a topic are exchanged, over links that are up; None for a topic that is not followed."""
Around = dict[int, tuple[Contact, list[int]]]
"""Neighbours by id, and the topics on which they are that."""


class Events(Protocol):
    """The events of one node."""

    settings: Settings

    def publish(self, event: Event, now: float) -> list[Effect]:
        """An event of this node's own."""

    def inject(self, inject: Inject, now: float) -> list[Effect]:
        """One of somebody's that is no neighbour, for a topic that is followed here."""

    def met(self, contacts: Iterable[Contact]) -> list[Effect]:
        """These are neighbours on one topic more than before."""

    def unlinked(self, gone: Iterable[tuple[int, int]], now: float) -> list[Effect]:
        """Topics, and who is no longer a neighbour there, or on one side only."""

    def refuse(self, event: int, sender: Contact, now: float) -> list[Effect]:
        """An event has come that is not wanted here."""

    def lost(self, node: int) -> None:
        """A node is gone, with all that it had."""

    def knows(self, event: int) -> bool:
        """Whether an event has come, or was refused."""

    def has(self, event: int) -> bool:
        """Whether an event has come, and can be had here if this way of spreading them has anything to ask for."""

    def receive(self, sender: Contact, message: Any, now: float) -> list[Effect]:
        """Take a message in."""

    def fire(self, timer: object, now: float) -> list[Effect]:
        """A timer is due that is nobody else's."""

    def unspread(self, topic: int) -> list[tuple[Event, float]]:
        """Events, and when they were published, that nobody else is known to have on a topic that is about to be followed no longer."""

    def leave(self, now: float) -> list[Effect]:
        """What to send before the node goes."""

    def tidy(self, now: float) -> list[Effect]:
        """Once per period: forget what is old."""


MakeEvents = Callable[[Settings, NeighboursOn, int], Events]
"""With a number of the node's own, by which it draws: others do not know it, where that matters."""

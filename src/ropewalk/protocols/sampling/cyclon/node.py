"""Cyclon: a small, fresh, random table of addresses, kept by swapping with the oldest entry.

Paper: Voulgaris, Gavidia, van Steen, "CYCLON: inexpensive membership management for unstructured P2P overlays", JNSM 2005,
enhanced shuffling. Views come from a table, as with `given`: if Cyclon shuffled a view it would undo its alignment. So its
entries are candidates for link management, and a way back for whoever has lost all neighbours.
"""

from dataclasses import dataclass
from typing import ClassVar

from ropewalk.protocols.contract import Contact, Effect, Input, LinkDown, OfTopic, Received, Subscribe, TimerFired
from ropewalk.protocols.sampling.contract import Left, Offer, Overlay, Post, Request
from ropewalk.protocols.sampling.given import node as given
from ropewalk.seeds import chance

OLDEST = 20  # ours, periods: whoever has not been heard of for so long may be gone, and nobody should go on naming it
Entry = tuple[Contact, int]  # a contact, and its age in periods


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Both from section 5 of the paper: the smallest table it evaluates, and the longest swap."""

    table_size: int = 20
    swap_length: int = 8


@dataclass(frozen=True, slots=True)
class Entries(OfTopic):
    """Entries of a table, one way or the other."""

    turn: int
    offer: tuple[Entry, ...]

    def contacts(self) -> int:
        """What it offers."""
        return len(self.offer)

    def labels(self) -> tuple[int, ...]:
        """One a swap."""
        return (self.topic, self.turn)


@dataclass(frozen=True, slots=True)
class Swap(Entries):
    """Entries for entries; the first is the sender itself, of age 0."""

    kind: ClassVar[str] = "swap"


@dataclass(frozen=True, slots=True)
class SwapBack(Entries):
    """The answer."""

    kind: ClassVar[str] = "swap-back"


Message = Swap | SwapBack


class Node:
    """Cyclon for one topic at one node, beside views that are given."""

    __slots__ = ("first", "given", "me", "open", "overlay", "paid_with", "seed", "settings", "table", "turn")

    def __init__(self, me: Contact, overlay: Overlay, settings: Settings, seed: int) -> None:
        self.me, self.overlay, self.settings, self.seed = me, overlay, settings, seed
        self.given = given.Node(overlay)
        self.table: dict[Contact, int] = {}  # contact -> age; at most table_size
        self.first: tuple[Contact, ...] = ()  # who was there at first, for when nobody else is left; at most table_size
        self.paid_with: tuple[Entry, ...] = ()  # entries that the open swap may be paid for with
        self.open = -1  # the turn of the swap that is yet to be answered; -1: none
        self.turn = 0  # swaps begun and answered; labels every choice

    def handle(self, event: Input, now: float) -> list[Effect | Request]:
        """See `sampling.contract.Manager`."""
        match event:
            case Received():
                return self._receive(event, now)
            case TimerFired():
                return self._open_swap()
            case Subscribe():
                self.first = event.contacts[: self.settings.table_size]
                self.table = dict.fromkeys(self.first, 0)
            case LinkDown():
                self.table.pop(event.contact, None)
        return self.given.handle(event, now)

    def _receive(self, event: Received, now: float) -> list[Effect | Request]:
        match event.message:
            case Swap():
                answer = self._sample(self.settings.swap_length)
                self._merge(event.message.offer, answer)
                reply = SwapBack(self.overlay.topic, event.message.turn, answer)
                return [Post(event.sender, reply), *self._offered(event.message.offer)]
            case SwapBack():
                if event.message.turn != self.open:
                    return []  # too late, or never asked for
                self.open = -1
                self._merge(event.message.offer, self.paid_with)
                return self._offered(event.message.offer)
            case Left():
                self.table.pop(event.sender, None)
                return self.given.handle(event, now)
            case _:
                return self.given.handle(event, now)

    def _open_swap(self) -> list[Effect | Request]:
        self.table = {contact: age + 1 for contact, age in self.table.items() if age < OLDEST}
        if not self.table:  # everybody has failed: begin anew, as when it came
            self.table = dict.fromkeys(self.first, 0)
        if not self.table:
            return []
        oldest = max(self.table, key=self.table.__getitem__)
        del self.table[oldest]  # it comes back only by answering
        self.paid_with = self._sample(self.settings.swap_length - 1)
        answers: list[Effect | Request] = [
            Post(oldest, Swap(self.overlay.topic, self.turn, ((self.me, 0), *self.paid_with)))
        ]
        self.open = self.turn
        if not self.overlay.view.contacts:  # rescue
            answers.append(Offer(tuple(self.table)))
        return answers

    def _offered(self, offer: tuple[Entry, ...]) -> list[Effect | Request]:
        return [Offer(tuple(contact for contact, _ in offer[: self.settings.swap_length]))]

    def _sample(self, count: int) -> tuple[Entry, ...]:
        self.turn += 1
        topic, me = self.overlay.topic, self.me.id
        drawn = {contact: chance(self.seed, "swap", topic, me, self.turn, contact.id) for contact in self.table}
        return tuple(sorted(self.table.items(), key=lambda entry: drawn[entry[0]])[:count])

    def _merge(self, offer: tuple[Entry, ...], paid_with: tuple[Entry, ...]) -> None:
        """Empty places first, then those of entries that went the other way."""
        replaceable = [contact for contact, _ in paid_with if contact in self.table]
        for contact, age in offer[: self.settings.swap_length]:
            if contact.id != self.me.id and contact not in self.table:
                if len(self.table) >= self.settings.table_size and replaceable:
                    del self.table[replaceable.pop()]
                if len(self.table) < self.settings.table_size:
                    self.table[contact] = age

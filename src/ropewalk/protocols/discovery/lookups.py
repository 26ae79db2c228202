"""One search for the nodes closest to an id, as far as it has come: whom it knows of, and whom to ask next.

Kademlia, section 2.3: ask the closest that are known for closer ones, a few at a time, until the closest have all answered.
Whom an answer names may be gone or made up. Ours: an answer whose contacts fail again and again is believed last.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from ropewalk.protocols.contract import Contact
from ropewalk.protocols.discovery.settings import MISLED, MOST_ASKED, MOST_FOUND, MOST_KNOWN, WITNESSES, Settings

State = Literal["new", "asked", "answered", "failed"]


@dataclass(slots=True)
class Candidate:
    """A contact that a lookup knows of."""

    contact: Contact
    namer: int  # whose answer named it first; the node itself, if it knew it before
    state: State = "new"


@dataclass(slots=True)
class Lookup:
    """A search that is under way."""

    target: int
    me: int
    settings: Settings
    members: bool  # whether members are sought, or only the closest
    width: int  # how many of the closest are to answer
    thorough: bool = False  # whether all of the closest are asked, however many members are named
    candidates: dict[int, Candidate] = field(default_factory=dict)  # at most MOST_ASKED, and MOST_KNOWN that are new
    claims: dict[int, tuple[Contact, ...]] = field(default_factory=dict)  # who has answered -> whom it names a member
    misled: dict[int, int] = field(default_factory=dict)  # namer -> how many that it named have failed
    asked: int = 0  # questions so far
    again: bool = False  # whether those who failed have been asked a second time
    over: bool = False  # nothing is asked any more

    def learn(self, contacts: Iterable[Contact], namer: int) -> None:
        """These may be close. Of those yet to be asked, the first in line are kept."""
        for contact in contacts:
            if contact.id != self.me and contact.id not in self.candidates:
                self.candidates[contact.id] = Candidate(contact, namer)
        new = [candidate for candidate in self.candidates.values() if candidate.state == "new"]
        if len(new) > MOST_KNOWN:
            for candidate in sorted(new, key=self._rank)[MOST_KNOWN:]:
                del self.candidates[candidate.contact.id]

    def learn_members(self, contacts: tuple[Contact, ...], witness: int) -> None:
        """These are said to serve the tag."""
        others = tuple(dict.fromkeys(contact for contact in contacts if contact.id != self.me))
        if others:
            self.claims[witness] = others

    def ask(self, contact: Contact) -> bool:
        """Count a question to somebody in particular, unless it has been asked, or enough have."""
        self.learn((contact,), self.me)
        candidate = self.candidates.get(contact.id)
        if candidate is None or candidate.state != "new" or self.asked >= MOST_ASKED:
            return False
        candidate.state = "asked"
        self.asked += 1
        return True

    def next(self) -> list[Contact]:
        """Whom to ask now; the lookup is over if there is nobody to ask or to wait for, or if enough is known."""
        waiting = sum(candidate.state == "asked" for candidate in self.candidates.values())
        asked = [] if self._has_enough() else self._ask_closest(self.settings.alpha - waiting)
        if not asked and not waiting and self.members and not self.claims and not self.again:
            asked = self._ask_again()
        self.over = self._has_enough() or not (asked or waiting)
        return asked

    def answered(self, node: int) -> None:
        """It is there."""
        self.candidates[node].state = "answered"

    def failed(self, node: int) -> None:
        """It is not there, or does not answer."""
        candidate = self.candidates[node]
        candidate.state = "failed"
        if candidate.namer != self.me:
            self.misled[candidate.namer] = self.misled.get(candidate.namer, 0) + 1

    def closest(self) -> list[Contact]:
        """Who answered, the closest first."""
        return [candidate.contact for candidate in self._closest() if candidate.state == "answered"]

    def found(self) -> tuple[Contact, ...]:
        """The members that were named: first whom the closest name, most of them, and at the head of their lists.

        One that is said to be in two places is there twice: it will be seen which of them is true.
        """
        near = self._near()
        votes: dict[Contact, int] = {}
        place: dict[Contact, tuple[bool, int]] = {}
        for witness, contacts in self.claims.items():
            for position, contact in enumerate(contacts):
                votes[contact] = votes.get(contact, 0) + 1
                place[contact] = min(place.get(contact, (True, position)), (witness not in near, position))
        best = sorted(votes, key=lambda contact: (place[contact][0], -votes[contact], place[contact][1]))
        return tuple(best)[:MOST_FOUND]

    def _has_enough(self) -> bool:
        """Whether enough members are known, of more than one that should know them: those farther away never end it.

        Nor does anybody, where those who were named before turned out to be none.
        """
        if self.thorough:
            return False
        claims = [self.claims[node] for node in self._near() if node in self.claims] if self.members else []
        named = {contact.id for contacts in claims for contact in contacts}
        return len(claims) >= WITNESSES and len(named) >= self.settings.enough

    def _near(self) -> dict[int, None]:
        """Where members leave their contacts, as far as is known."""
        return dict.fromkeys((self.me, *(candidate.contact.id for candidate in self._closest())))

    def _ask_closest(self, count: int) -> list[Contact]:
        new = [candidate.contact for candidate in self._closest() if candidate.state == "new"]
        return [contact for contact in new[: max(0, count)] if self.ask(contact)]

    def _ask_again(self) -> list[Contact]:
        """Before giving up: only a message may have been lost."""
        self.again = True
        for candidate in self.candidates.values():
            if candidate.state == "failed":
                candidate.state = "new"
        return self._ask_closest(self.settings.alpha)

    def _closest(self) -> list[Candidate]:
        there = [candidate for candidate in self.candidates.values() if candidate.state != "failed"]
        return sorted(there, key=self._rank)[: self.width]

    def _rank(self, candidate: Candidate) -> tuple[bool, int]:
        misleading = candidate.state == "new" and self.misled.get(candidate.namer, 0) >= MISLED
        return misleading, candidate.contact.id ^ self.target

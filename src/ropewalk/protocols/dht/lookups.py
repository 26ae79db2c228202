"""Questions that go round a ring: who sits at a place? They are handed on from node to node; the answer comes straight back."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ropewalk.protocols.contract import Contact, Effect, SetTimer
from ropewalk.protocols.dht.messages import Locate, Located
from ropewalk.protocols.dht.places import Seat, is_between
from ropewalk.protocols.dht.ring import Ring
from ropewalk.protocols.dht.settings import MOST_HOPS, MOST_QUESTIONS, MOST_REMEMBERED
from ropewalk.protocols.links import Links
from ropewalk.seeds import chance, pick

ASTRAY = 8  # ours: nodes that are not on the ring, to which a question is handed on by chance
Purpose = Literal["join", "finger", "merge"]


@dataclass(frozen=True, slots=True)
class Overdue:
    """Time for a question to have been answered."""

    ring: int
    turn: int


@dataclass(slots=True)
class Question:
    """One that is on its way."""

    purpose: Purpose
    target: bytes
    tries: int  # left
    is_stuck: bool = False  # whether it has come to somebody who is not on the ring, and knows no further


class Lookups:
    """The questions of one node about one ring."""

    __slots__ = ("elsewhere", "found", "links", "me", "open", "parked", "remembered", "ring", "seed", "turn")

    def __init__(self, ring: Ring, seed: int, elsewhere: Callable[[], Contact | None]) -> None:
        self.ring, self.me, self.seed = ring, ring.me, seed
        self.elsewhere = (
            elsewhere  # to whom questions of others go while this node is not on the ring; None: they wait here
        )
        self.links: Links = ring.links
        self.open: dict[int, Question] = {}  # by turn, at most MOST_QUESTIONS
        self.turn = 0  # questions asked so far
        self.remembered: dict[int, Contact] = {}  # who was met, the last to be met last; at most MOST_REMEMBERED
        self.parked: dict[int, Locate] = {}  # questions of others for which there was no way, by who asks; likewise
        # answers that whoever owns this is yet to look at; no seats: there was no answer
        self.found: list[tuple[Purpose, bytes, tuple[Seat, ...]]] = []

    def remember(self, contact: Contact) -> None:
        """Somebody is there, who may be asked one day."""
        if contact.id == self.me.id:
            return
        self.remembered.pop(contact.id, None)
        self.remembered[contact.id] = contact
        if len(self.remembered) > MOST_REMEMBERED:
            del self.remembered[next(iter(self.remembered))]

    def forget(self, node: int) -> None:
        """Somebody has said good-bye."""
        self.remembered.pop(node, None)

    def ask(self, purpose: Purpose, target: bytes, now: float) -> list[Effect]:
        """Find out who sits at a place, or next after it. On the ring the way begins here, else at somebody who was met."""
        if len(self.open) >= MOST_QUESTIONS:
            self.links.reached.note("questions on rings")
            return []
        self.turn += 1
        self.open[self.turn] = Question(purpose, target, self.ring.settings.tries)
        return self._send(self.turn, now)

    def is_asking(self, purpose: Purpose) -> bool:
        """Whether such a question is on its way."""
        return any(question.purpose == purpose for question in self.open.values())

    def fire(self, turn: int, now: float) -> list[Effect]:
        """An answer has taken too long: ask again, or give up."""
        question = self.open.get(turn)
        if question is None:
            return []
        question.tries -= 1
        if question.tries > 0:
            return self._send(turn, now)
        del self.open[turn]
        self.found.append((question.purpose, question.target, ()))
        return []

    def answered(self, message: Located) -> None:
        """An answer has come; one that names nobody says that a question to join is stuck."""
        question = self.open.get(message.turn)
        if question is None:
            return
        if not message.seats:
            question.is_stuck = question.purpose == "join"
            return
        del self.open[message.turn]
        self.found.append((question.purpose, question.target, message.seats))

    def pass_on(self, message: Locate, now: float) -> list[Effect]:
        """Answer somebody's question, or hand it on."""
        ring = self.ring
        if message.hops >= MOST_HOPS:
            self.links.reached.note("ways that lead nowhere")
            return []
        seats = self._known(message.target) if ring.place is not None else ()
        if seats and message.seeker.id == self.me.id:  # it has come round to who asked
            self.answered(Located(ring.number, message.turn, seats))
            return []
        if seats:
            return self.links.answer(message.seeker, Located(ring.number, message.turn, seats), now)
        onward = self._onward(message)
        if onward is None:
            return self._park(message, now) if ring.place is None else []
        further = Locate(ring.number, message.target, message.seeker, message.turn, message.hops + 1)
        return self.links.pass_on(onward, further, now)

    def _park(self, message: Locate, now: float) -> list[Effect]:
        """Keep a question until this node is on the ring, and say so."""
        if message.seeker.id not in self.parked and len(self.parked) >= MOST_QUESTIONS:
            self.links.reached.note("questions that wait")
            return []
        self.parked[message.seeker.id] = message
        if message.seeker.id == self.me.id:
            return []
        return self.links.answer(message.seeker, Located(self.ring.number, message.turn, ()), now)

    def resume(self, now: float) -> list[Effect]:
        """This node is on the ring now: go on with questions of others that it did not know what to do with."""
        parked, self.parked = self.parked, {}
        effects: list[Effect] = []
        for message in parked.values():
            effects += self.pass_on(message, now)
        return effects

    def _onward(self, message: Locate) -> Contact | None:
        """Next on the way."""
        if self.ring.place is not None:
            seat = self.ring.towards(message.target)
            return seat.contact if seat is not None else None
        onward = self.elsewhere()
        if onward is None or onward.id != message.seeker.id:
            return onward
        if message.hops >= ASTRAY:
            return None
        # who asks is whom others would be sent to: anybody may know more
        others = [contact for node, contact in self.remembered.items() if node != message.seeker.id]
        drawn = chance(self.seed, "astray", self.me.id, message.seeker.id, message.turn, message.hops)
        return others[pick(drawn, len(others))] if others else None

    def _known(self, target: bytes) -> tuple[Seat, ...]:
        """The answer, if it is known here."""
        ring = self.ring
        assert ring.place is not None
        if ring.owns(target) or not ring.successors:
            return (ring.seat, *ring.successors)
        if is_between(ring.place, target, ring.successors[0].place):
            return tuple(ring.successors)
        return ()

    def _send(self, turn: int, now: float) -> list[Effect]:
        question = self.open[turn]
        message = Locate(self.ring.number, question.target, self.me, turn, 0)
        overdue = SetTimer(self.ring.settings.patience, Overdue(self.ring.number, turn))
        if (
            question.purpose != "finger"
        ):  # through somebody else: this node does not know, or must not trust what it knows
            others = [contact for node, contact in self.remembered.items() if node not in self.ring.avoided]
            others = others or list(self.remembered.values())
            if not others:
                del self.open[turn]
                self.found.append((question.purpose, question.target, ()))
                return []
            drawn = chance(self.seed, "entrance", self.me.id, self.ring.number, turn, question.tries)
            return [overdue, *self.links.post(others[pick(drawn, len(others))], message, now)]
        if self.ring.place is None:
            del self.open[turn]
            return []
        seats = self._known(question.target)
        if seats:
            self.answered(Located(self.ring.number, turn, seats))
            return []
        return [overdue, *self.pass_on(message, now)]

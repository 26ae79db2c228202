"""Where a node sits on the skewed ring: right after the most similar that it knows (Magnet 3.2, Algorithm 1).

It asks the home of each of its topics for a sample, and then the most similar of all who are named for a place beside it: half-way
to its successor. Who does not answer is struck off, and the next is asked. Who knows nobody sits where a hash of its name says; so does
who is told that there is no room.

Ours: who changes what it follows sits down anew, but not more often than `rejoined` says, unless it followed nothing when it
sat down; and should nobody sit anywhere, the one node to which the beginning of the control ring falls sits down first.
"""

from collections.abc import Callable
from dataclasses import dataclass

from ropewalk.protocols.contract import Contact, Effect, SetTimer
from ropewalk.protocols.dht.control import Control
from ropewalk.protocols.dht.lookups import Lookups
from ropewalk.protocols.dht.places import Seat, key_of, midway, place_of
from ropewalk.protocols.dht.ring import Ring
from ropewalk.protocols.links import Links
from ropewalk.protocols.magnet.membership import Membership
from ropewalk.protocols.magnet.messages import Beside, Query, Sample, Seated
from ropewalk.protocols.magnet.similarity import similarity
from ropewalk.seeds import chance

BEGINNING = b""


@dataclass(frozen=True, slots=True)
class Decide:
    """Time to go on with what is known by now."""

    turn: int


class Placing:
    """How one node comes to its place."""

    __slots__ = (
        "asked", "beside", "changed", "control", "hashed", "is_placing", "links", "lookups", "me", "membership", "moved_from",
        "queried", "ring", "seated_at", "seed", "similar", "topics", "turn", "unconcerned",
    )  # fmt: skip

    def __init__(
        self, me: Contact, links: Links, control: Control, ring: Ring, membership: Membership, seed: int,
        topics: dict[int, None], *, similar: bool,
    ) -> None:  # fmt: skip
        self.me, self.links, self.control, self.ring, self.membership, self.seed = (
            me,
            links,
            control,
            ring,
            membership,
            seed,
        )
        self.topics, self.similar = topics, similar
        self.lookups = Lookups(ring, seed, self._first)
        self.hashed = place_of(me.id)
        self.turn = 0  # counts what is waited for
        self.is_placing = False
        self.queried: dict[int, None] = {}  # topics whose samples have yet to come
        self.asked: dict[int, None] = {}  # who was asked for a place, and did not give one
        self.beside: Contact | None = None  # who is asked now
        self.changed = False  # whether what it follows is not what it was when it sat down
        self.unconcerned = True  # whether it followed nothing when it sat down
        self.seated_at = float("-inf")
        self.moved_from: Callable[[float], list[Effect]] = (
            lambda _: []
        )  # what is to be done before the place is given up

    # Looking for a place

    def begin(self, now: float) -> list[Effect]:
        """Look for a place, unless that goes on."""
        if self.is_placing or self.control.ring.place is None:
            return []
        self.is_placing, self.asked, self.beside, self.changed = True, {}, None, False
        self.queried = dict.fromkeys(self.topics) if self.similar else {}
        effects: list[Effect] = []
        for topic in list(self.queried):
            effects += self.membership.query(Query(topic, self.me, 0), now)
            if self.control.ring.owns(key_of(topic)):
                self.queried.pop(topic, None)
        return effects + (self._wait() if self.queried else self._ask(now))

    def sampled(self, message: Sample, now: float) -> list[Effect]:
        """A sample has come."""
        if not self.is_placing or message.topic not in self.queried:
            return []
        self.membership.learn(message)
        return self.answered(message.topic, now)

    def answered(self, topic: int, now: float) -> list[Effect]:
        """No answer about a topic is waited for any more: it has come, or the question has, since this node is the home."""
        if not self.is_placing or topic not in self.queried:
            return []
        del self.queried[topic]
        return self._ask(now) if not self.queried else []

    def decide(self, turn: int, now: float) -> list[Effect]:
        """What has not come by now is not waited for."""
        if turn != self.turn or not self.is_placing:
            return []
        if self.beside is not None:
            return self.refused(self.beside.id, now)
        self.queried = {}
        return self._ask(now)

    def refused(self, node: int, now: float) -> list[Effect]:
        """Somebody cannot be reached, or has no room."""
        if not self.is_placing or self.beside is None or self.beside.id != node:
            return []
        self.beside = None
        return self._ask(now)

    def seated(self, sender: Contact, message: Seated, now: float) -> list[Effect]:
        """A place is offered."""
        if not self.is_placing or self.beside is None or sender.id != self.beside.id or message.turn != self.turn:
            return []
        if not message.after:
            return self.refused(sender.id, now)
        return self._sit(message.place, message.after, now, Seat(sender, message.before))

    def _ask(self, now: float) -> list[Effect]:
        """The most similar that has not been asked."""
        best = self._most_similar()
        if best is None:
            return self._by_hash(now)
        self.beside = best
        self.asked[best.id] = None
        around = [seat.contact.id for seat in (self.ring.predecessor, *self.ring.successors[:1]) if seat is not None]
        if self.ring.place is not None and best.id in around:  # it sits there already
            self._end(now)
            return []
        waiting = self._wait()
        return waiting + self.links.post(best, Beside(self.turn), now)

    def _most_similar(self) -> Contact | None:
        if not self.similar:
            return None
        rates = self.membership.rates
        ranked: list[tuple[float, int, Contact]] = []
        for node, follower in self.membership.view().items():
            if node not in self.asked:
                tie = chance(self.seed, "tie", self.me.id, node)
                alike = similarity(self.topics, follower.follows, rates)
                ranked.append((-alike, tie, follower.seat.contact))
        return min(ranked)[2] if ranked else None

    def _first(self) -> Contact | None:
        """Who sits first if nobody does, or somebody who is nearer to it."""
        seat = self.control.ring.towards(BEGINNING)
        return seat.contact if seat is not None else None

    def _by_hash(self, now: float) -> list[Effect]:
        self.beside = None
        if self.ring.place is not None:  # rather than move at random it stays
            self._end(now)
            return []
        if not self.control.ring.successors:
            return self._sit(self.hashed, (), now)
        if self.lookups.is_asking("join"):
            return []
        return self.lookups.ask("join", self.hashed, now) + self.settle(now)

    def overdue(self, turn: int, now: float) -> list[Effect]:
        """A question has taken too long; if nobody can answer it, since nobody sits anywhere, somebody has to be the first."""
        question = self.lookups.open.get(turn)
        alone = question is not None and question.is_stuck and self.ring.place is None
        if alone and self.control.ring.owns(BEGINNING):
            del self.lookups.open[turn]
            return self._sit(self.hashed, (), now)
        return self.lookups.fire(turn, now) + self.settle(now)

    def settle(self, now: float) -> list[Effect]:
        """Make use of answers about the skewed ring."""
        effects: list[Effect] = []
        while self.lookups.found:
            purpose, _, seats = self.lookups.found.pop(0)
            others = tuple(seat for seat in seats if seat.contact.id != self.me.id)
            if purpose == "join" and self.is_placing and self.ring.place is None:
                if others:
                    effects += self._sit(self.hashed, others, now)
                else:
                    self.is_placing = False  # until the next heartbeat
            elif purpose == "merge" and others and others[:1] == seats[:1]:
                effects += self.ring.consider(seats[0], now)
        return effects

    def _sit(self, place: bytes, after: tuple[Seat, ...], now: float, before: Seat | None = None) -> list[Effect]:
        self._end(now)
        effects: list[Effect] = []
        if self.ring.place is not None:
            effects += self.moved_from(now) + self.ring.stand_up(now)
        others = [seat for seat in after if seat.contact.id != self.me.id]
        return effects + self.ring.sit(place, others, now, before)

    def _end(self, now: float) -> None:
        self.is_placing, self.beside, self.queried = False, None, {}
        self.seated_at, self.unconcerned = now, not self.topics

    def _wait(self) -> list[Effect]:
        self.turn += 1
        return [SetTimer(self.ring.settings.patience, Decide(self.turn))]

    # Others

    def make_room(self, sender: Contact, message: Beside, now: float) -> list[Effect]:
        """Somebody wants to sit right after this node."""
        ring = self.ring
        if ring.place is None:
            return self.links.post(sender, Seated(message.turn, BEGINNING, BEGINNING, ()), now)
        after = [seat for seat in ring.successors if seat.contact.id != sender.id]
        place = midway(ring.place, after[0].place if after else ring.place)
        if place is None:
            return self.links.post(sender, Seated(message.turn, BEGINNING, BEGINNING, ()), now)
        following = (*after, ring.seat)[: ring.settings.successors]
        effects = self.links.post(sender, Seated(message.turn, place, ring.place, following), now)
        ring.expect(Seat(sender, place))
        return effects

    # Once per period

    def beat(self, beats: int, now: float) -> list[Effect]:
        """Sit down if there is no place yet, or what it follows has changed; see that there is one ring."""
        settings = self.ring.settings
        if self.ring.place is None:
            return self.begin(now)
        effects: list[Effect] = []
        settled = now < self.seated_at + settings.rejoined * settings.period and not self.unconcerned
        if self.changed and self.similar and not settled:
            effects += self.begin(now)
        if (beats % settings.merged == 0 or not self.ring.successors) and not self.lookups.is_asking("merge"):
            effects += self.lookups.ask("merge", self.ring.place, now)
        return effects + self.settle(now)

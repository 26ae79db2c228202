"""The control ring of a node: where it sits at its id, and whatever has a hash is found (Magnet 3.1, over Chord)."""

from ropewalk.protocols.contract import Contact, Effect
from ropewalk.protocols.dht.chord import Chord
from ropewalk.protocols.dht.lookups import Lookups
from ropewalk.protocols.dht.messages import Locate, Located, Message, Met, Stroll
from ropewalk.protocols.dht.places import place_of
from ropewalk.protocols.dht.ring import Ring
from ropewalk.protocols.dht.settings import Settings, is_due
from ropewalk.protocols.links import Links

CONTROL = 0  # the ring's number


class Control:
    """Ring, questions and fingers, and how they go together."""

    __slots__ = ("chord", "lookups", "place", "ring", "settings")

    def __init__(self, me: Contact, links: Links, settings: Settings, seed: int) -> None:
        self.settings, self.place = settings, place_of(me.id)
        self.ring = Ring(CONTROL, me, links, settings)
        self.lookups = Lookups(self.ring, seed, self._lower)
        self.chord = Chord(self.ring, self.lookups)

    def join(self, seeds: tuple[Contact, ...], now: float) -> list[Effect]:
        """Take the place on the ring that these nodes are on; with none, on one of its own."""
        for contact in seeds:
            self.lookups.remember(contact)
        if self.ring.place is not None:
            return self._look_for_itself(now)
        if not self.lookups.remembered:
            return self.ring.sit(self.place, (), now)
        if self.lookups.is_asking("join"):
            return []
        return self.lookups.ask("join", self.place, now) + self.settle(now)

    def beat(self, beats: int, now: float) -> list[Effect]:
        """A period is over."""
        effects = self.ring.beat(now)
        if self.ring.place is None:
            return self.join((), now) if self.lookups.remembered else []
        if beats % self.settings.merged == 0 or not self.ring.successors:
            effects += self._look_for_itself(now)
        if is_due(beats, self.settings.refreshed):
            effects += self.chord.begin(now)
        return effects + self.settle(now)

    def receive(self, sender: Contact, message: Message, now: float) -> list[Effect]:
        """Take in what another node says of this ring."""
        match message:
            case Locate():
                return self.lookups.pass_on(message, now) + self.settle(now)
            case Located():
                self.lookups.answered(message)
                return self.settle(now)
            case Stroll() | Met():
                return []  # nobody walks here
            case _:
                return self.ring.receive(sender, message, now)

    def overdue(self, turn: int, now: float) -> list[Effect]:
        """A question has taken too long; if nobody can answer it, since nobody sits anywhere, somebody has to be the first."""
        question = self.lookups.open.get(turn)
        alone = question is not None and question.is_stuck and self.ring.place is None
        if alone and self._lower() is None:
            del self.lookups.open[turn]
            return self.ring.sit(self.place, (), now) + self.lookups.resume(now)
        return self.lookups.fire(turn, now) + self.settle(now)

    def is_alone(self) -> bool:
        """Whether there is nobody else, as far as is known."""
        return not self.ring.successors and not self.lookups.remembered

    def _lower(self) -> Contact | None:
        """Of all that were met, who has the lowest id, if that is not this node: it sits first if nobody does."""
        lowest = min(self.lookups.remembered.values(), default=self.ring.me)
        return lowest if lowest.id < self.ring.me.id else None

    def _look_for_itself(self, now: float) -> list[Effect]:
        if self.lookups.is_asking("merge"):
            return []
        return self.lookups.ask("merge", self.place, now) + self.settle(now)

    def settle(self, now: float) -> list[Effect]:
        """Make use of answers."""
        effects: list[Effect] = []
        while self.lookups.found:
            purpose, _, seats = self.lookups.found.pop(0)
            others = tuple(seat for seat in seats if seat.contact.id != self.ring.me.id)
            match purpose:
                case "join":
                    if others and self.ring.place is None:
                        effects += self.ring.sit(self.place, others, now) + self.lookups.resume(now)
                        effects += self.chord.begin(now)
                case "merge":
                    if others and others[:1] == seats[:1]:
                        effects += self.ring.consider(seats[0], now)
                case "finger":
                    effects += self.chord.found(seats, now)
        return effects

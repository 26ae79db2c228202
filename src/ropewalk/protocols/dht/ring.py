"""A ring as one node keeps it: who sits next, who before, and how a way goes on (Stoica et al., Chord, SIGCOMM 2001).

Every period a node asks its successor who stands between them, and takes over its successor list. A newcomer asks the
node that will be its successor, which tells the one that was before it, and tells the newcomer who that is: so the ring is closed
in two messages each way, and periods only repair what was lost. Who cannot be reached, or is silent for some periods, is given up.

Ours: a node that could not be reached is not believed in for a while, whoever names it, until it speaks itself. A node that is alone, or whose
ring may have fallen apart, looks for itself through nodes that it met before (`control`).
"""

from collections.abc import Iterable, Iterator

from ropewalk.protocols.contract import Contact, Effect
from ropewalk.protocols.dht.messages import Held, Hold, Neighbours, Parted, Stabilise
from ropewalk.protocols.dht.places import Seat, is_between, is_within, turn
from ropewalk.protocols.dht.settings import MOST_FINGERS, MOST_HOLDERS, Settings
from ropewalk.protocols.links import Links

MOST_AVOIDED = 64  # ours: nodes that could not be reached, remembered; the oldest go first


class Ring:
    """One ring at one node. It is part of a node that owns the links, and closes those that idle."""

    __slots__ = (
        "avoided", "fingers", "holders", "links", "me", "number", "place", "predecessor", "predecessor_at", "settings",
        "successors",
    )  # fmt: skip

    def __init__(self, number: int, me: Contact, links: Links, settings: Settings) -> None:
        self.number, self.me, self.links, self.settings = number, me, links, settings
        self.place: bytes | None = None  # None: not on the ring
        self.successors: list[
            Seat
        ] = []  # nearest first, at most `settings.successors`; none: alone, as far as is known
        self.predecessor: Seat | None = None
        self.predecessor_at = 0.0  # when it last said that this node is its successor
        self.fingers: dict[int, Seat] = {}  # by id, at most MOST_FINGERS
        self.holders: dict[int, tuple[Seat, float]] = {}  # whose finger this node is, and when they last said so
        self.avoided: dict[int, float] = {}  # who could not be reached, and when; oldest first, at most MOST_AVOIDED

    # Where things are

    @property
    def seat(self) -> Seat:
        """Where this node sits."""
        assert self.place is not None
        return Seat(self.me, self.place)

    def held(self) -> Iterator[Seat]:
        """Whom it links to on this ring: its successor, and fingers."""
        yield from self.successors[:1]
        yield from self.fingers.values()

    def owns(self, key: bytes, whence: bytes | None = None) -> bool:
        """Whether a key falls to this node: it is the first from there on.

        While nobody is known before it, that is what whoever hands something on believes, which sits at `whence`.
        """
        if self.place is None:
            return False
        if self.predecessor is None:
            return not self.successors or (whence is not None and is_between(whence, key, self.place))
        return is_between(self.predecessor.place, key, self.place)

    def towards(self, key: bytes, whence: bytes | None = None) -> Seat | None:
        """Who comes next on the way to whoever owns a key: the last before it, then the one after that; None if it is here.

        What somebody at `whence` takes to be this node's, and is not, goes back to who has come in between since.
        """
        if self.place is None or not self.successors or self.owns(key, whence):
            return None
        if whence is not None and self.predecessor is not None and is_between(whence, key, self.place):
            return self.predecessor
        first = self.successors[0]
        if is_between(self.place, key, first.place):
            return first
        return self._farthest(key, beyond=False)

    def onto(self, place: bytes) -> Seat | None:
        """Who comes next on the way to who sits at a place: the farthest that is not beyond it. None: nobody before it is known."""
        if self.place is None or not self.successors or place == self.place:
            return None
        return self._farthest(place, beyond=True) if is_between(self.place, self.successors[0].place, place) else None

    def _farthest(self, place: bytes, *, beyond: bool) -> Seat:
        """Of those it is linked with; its successor if there is no better."""
        assert self.place is not None
        here, best = self.place, self.successors[0]
        far, end = turn(here, best.place), turn(here, place)
        for seat in self.fingers.values():
            distance = turn(here, seat.place)
            if (
                far < distance
                and (distance < end or (beyond and distance == end))
                and self.links.is_up(seat.contact.id)
            ):
                best, far = seat, distance
        return best

    # Coming and going

    def sit(self, place: bytes, after: Iterable[Seat], now: float, before: Seat | None = None) -> list[Effect]:
        """Take a place; who is known to sit after it, nearest first, and who before it."""
        self.place = place
        self.predecessor, self.predecessor_at = before, now
        self.successors = self._in_order(after)
        return self._ask_first(now)

    def stand_up(self, now: float) -> list[Effect]:
        """Give up the place."""
        told = [seat for seat in (self.predecessor, *self.successors[:1]) if seat is not None]
        message = self._parting()
        effects: list[Effect] = []
        for contact in dict.fromkeys(seat.contact for seat in told):
            if self.links.is_up(contact.id):
                effects += self.links.post(contact, message, now)
        self.place, self.predecessor = None, None
        self.successors, self.fingers, self.holders = [], {}, {}
        return effects

    def expect(self, seat: Seat) -> None:
        """Somebody has been given the place right after this node's own, and will say so itself."""
        kept = [other for other in self.successors if other.contact.id != seat.contact.id]
        self.successors = [seat, *kept][: self.settings.successors]

    def consider(self, seat: Seat, now: float) -> list[Effect]:
        """Somebody may sit between this node and its successor."""
        if self.place is None or seat.contact.id == self.me.id or seat.contact.id in self.avoided:
            return []
        if self.successors and not is_within(self.place, seat.place, self.successors[0].place):
            return []
        kept = [other for other in self.successors if other.contact.id != seat.contact.id]
        self.successors = [seat, *kept][: self.settings.successors]
        return self._ask_first(now)

    def gone(self, node: int, now: float) -> list[Effect]:
        """A node is not there any more, or cannot be reached from here."""
        self.avoided.pop(node, None)
        self.avoided[node] = now
        if len(self.avoided) > MOST_AVOIDED:
            del self.avoided[next(iter(self.avoided))]
        return self._strike(node, now)

    def _strike(self, node: int, now: float) -> list[Effect]:
        self.fingers.pop(node, None)
        self.holders.pop(node, None)
        if self.predecessor is not None and self.predecessor.contact.id == node:
            self.predecessor = None
        first = self.successors[0].contact.id if self.successors else None
        self.successors = [seat for seat in self.successors if seat.contact.id != node]
        if not self.successors and self.predecessor is not None:
            self.successors = [self.predecessor]
        return self._ask_first(now) if first == node else []

    # Once per period

    def beat(self, now: float) -> list[Effect]:
        """Ask the successor, hold the fingers, give up who is silent."""
        silent = now - self.settings.missed * self.settings.period
        self.avoided = {node: at for node, at in self.avoided.items() if at > silent}
        if self.place is None:
            return []
        self.holders = {node: held for node, held in self.holders.items() if held[1] > silent}
        if self.predecessor is not None and self.predecessor_at <= silent:
            self.predecessor = None
        effects: list[Effect] = []
        for seat in [*self.successors[:1], *self.fingers.values()]:
            link = self.links.by_id.get(seat.contact.id)
            if link is not None and link.heard_at <= silent:
                effects += self.gone(seat.contact.id, now)
        for seat in self.fingers.values():
            effects += self.links.post(seat.contact, Hold(self.number, self.place), now)
        return effects + self._ask_first(now)

    def hold(self, fingers: Iterable[Seat], now: float) -> list[Effect]:
        """Have these as fingers from now on, and no others."""
        assert self.place is not None
        former = self.fingers
        wanted = [seat for seat in fingers if seat.contact.id not in (self.me.id, *self.avoided)]
        self.fingers = {seat.contact.id: seat for seat in wanted[:MOST_FINGERS]}
        effects: list[Effect] = []
        for node, seat in self.fingers.items():
            if node not in former or not self.links.is_up(node):
                effects += self.links.post(seat.contact, Hold(self.number, self.place), now)
        return effects

    def neighbours(self) -> dict[int, Seat]:
        """All who are linked with this node because of the ring, whoever holds whom."""
        found = {node: seat for node, (seat, _) in self.holders.items()}
        found |= self.fingers
        for seat in (*self.successors[:1], self.predecessor):
            if seat is not None:
                found[seat.contact.id] = seat
        return {node: seat for node, seat in found.items() if self.links.is_up(node)}

    # What others say

    def receive(
        self, sender: Contact, message: Stabilise | Neighbours | Parted | Hold | Held, now: float
    ) -> list[Effect]:
        """Take in what another says of this ring."""
        if self.place is None:
            return []
        match message:
            case Stabilise():
                return self._followed(Seat(sender, message.place), now)
            case Neighbours():
                return self._told(Seat(sender, message.place), message, now)
            case Parted():
                return self._parted(sender, message, now)
            case Hold():
                if sender.id in self.holders or len(self.holders) < MOST_HOLDERS:
                    self.holders[sender.id] = (Seat(sender, message.place), now)
                else:
                    self.links.reached.note("nodes whose finger it is")
                return self.links.post(sender, Held(self.number, self.place), now)
            case Held():
                if sender.id in self.fingers:
                    self.fingers[sender.id] = Seat(sender, message.place)
                return []

    def _followed(self, seat: Seat, now: float) -> list[Effect]:
        """Somebody has this node as its successor."""
        assert self.place is not None
        former, effects = self.predecessor, list[Effect]()
        known = former is not None and former.contact.id == seat.contact.id
        if former is None or known or is_within(former.place, seat.place, self.place):
            self.predecessor, self.predecessor_at = seat, now
            if former is not None and not known and self.links.is_up(former.contact.id):
                effects += self.links.post(former.contact, self._neighbours(), now)
        effects += self.links.post(seat.contact, self._neighbours(former if not known else None), now)
        if not self.successors or is_within(self.place, seat.place, self.successors[0].place):
            effects += self.consider(seat, now)
        return effects

    def _told(self, seat: Seat, message: Neighbours, now: float) -> list[Effect]:
        """Somebody says who sits around it: the successor, or who should be. A newcomer learns who sits before it, and greets it."""
        assert self.place is not None
        first = self.successors[0] if self.successors else None
        if first is None or seat.contact.id != first.contact.id:
            between = first is not None and is_within(self.place, seat.place, first.place)
            return self.consider(seat, now) if between else []
        if seat.place != first.place:  # it sits elsewhere now
            del self.successors[0]
            return self.consider(seat, now) or self._ask_first(now)
        self.successors = self._in_order([seat, *message.after])
        for before in message.before:
            if is_within(self.place, before.place, seat.place):
                return self.consider(before, now)
            nearer = self.predecessor is None or is_within(self.predecessor.place, before.place, self.place)
            if nearer and before.contact.id != self.me.id and before.contact.id not in self.avoided:
                self.predecessor, self.predecessor_at = before, now
                return self.links.post(before.contact, self._neighbours(), now)
        return []

    def _parted(self, sender: Contact, message: Parted, now: float) -> list[Effect]:
        was_first = bool(self.successors) and self.successors[0].contact.id == sender.id
        was_before = self.predecessor is not None and self.predecessor.contact.id == sender.id
        if was_first:
            self.successors = self._in_order([seat for seat in message.after if seat.contact.id != sender.id])
        effects = self._strike(sender.id, now)
        if was_before and message.before and message.before[0].contact.id != self.me.id:
            self.predecessor, self.predecessor_at = message.before[0], now
        return effects + (self._ask_first(now) if was_first else [])

    def _neighbours(self, former: Seat | None = None) -> Neighbours:
        """As it is, or was until somebody came who is told so."""
        assert self.place is not None
        predecessor = former or self.predecessor
        before = () if predecessor is None else (predecessor,)
        return Neighbours(self.number, self.place, before, tuple(self.successors))

    def _parting(self) -> Parted:
        before = () if self.predecessor is None else (self.predecessor,)
        return Parted(self.number, before, tuple(self.successors))

    def _ask_first(self, now: float) -> list[Effect]:
        if self.place is None or not self.successors:
            return []
        return self.links.post(self.successors[0].contact, Stabilise(self.number, self.place), now)

    def _in_order(self, seats: Iterable[Seat]) -> list[Seat]:
        """As many as one after the other sit clockwise, before it comes round to this node."""
        assert self.place is not None
        found: list[Seat] = []
        last = None
        for seat in seats:
            distance = turn(self.place, seat.place)
            if seat.contact.id == self.me.id or (last is not None and distance <= last):
                break
            if seat.contact.id not in self.avoided:
                found.append(seat)
            last = distance
        return found[: self.settings.successors]

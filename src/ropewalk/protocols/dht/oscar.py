"""OSCAR's fingers: for a ring on which nodes may sit anyhow (Girdzijauskas et al.; Magnet 2.2).

A node samples the population by random walks, and takes the median: half of all sit before it. Then it samples that half, and so on,
until nobody but its successor is left: partitions of halving population, nearest last. Each finger goes into one of these, each as
likely as any, and there to one node that a walk comes to, or to the more similar of two. All of it is done anew from time to
time, so that fingers follow the population as it changes; until then the former ones stay.

Walks go over links in either direction, and stay between two places: they are handed on to neighbours in between only.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from ropewalk.protocols.contract import Contact, Effect, SetTimer
from ropewalk.protocols.dht.messages import MOST_FOLLOWED, Met, Stroll
from ropewalk.protocols.dht.places import Seat, is_between, turn
from ropewalk.protocols.dht.ring import Ring
from ropewalk.protocols.dht.settings import MOST_MEDIANS
from ropewalk.seeds import chance, pick, unit

COUPLE = 2
STEPS = 12  # ours: of a walk over the whole population; enough to forget where it began among thousands
FEWER = 4  # ours: of one in the last partitions, where there are only a few nodes
TRIES = 4  # ours: for one finger; near a node there are few to choose from

Topics = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Returned:
    """Time for walks to have come back."""

    ring: int
    era: int  # which walks


@dataclass(slots=True)
class Finger:
    """One that is being looked for."""

    low: bytes
    high: bytes
    start: Contact  # where walks begin
    tries: int = TRIES
    out: dict[int, None] = field(default_factory=dict)  # walks that have yet to come back
    met: list[tuple[Seat, Topics]] = field(default_factory=list)


class Oscar:
    """The fingers of one node on a ring where places are skewed."""

    __slots__ = (
        "choose", "edges", "era", "fingers", "follows", "found", "mean", "met", "out", "ring", "seed", "turn",
    )  # fmt: skip

    def __init__(
        self,
        ring: Ring,
        seed: int,
        mean: float,
        follows: Callable[[], Topics],
        choose: Callable[[Topics], float] | None,
    ) -> None:
        self.ring, self.seed = ring, seed
        self.mean = mean  # fingers, over all nodes
        self.follows = follows  # what this node follows
        self.choose = choose  # how similar another is; None: one is as good as another
        self.era = 0  # counts batches of walks
        self.turn = 0  # walks so far
        self.edges: list[Seat] = []  # the medians so far, each nearer than the one before
        self.out: dict[int, None] = {}  # walks for the next median that have yet to come back
        self.met: list[Seat] = []  # where the others came to
        self.fingers: list[Finger] = []  # being looked for
        self.found: list[Seat] = []  # so far

    def begin(self, now: float) -> list[Effect]:
        """Sample the population anew."""
        self.edges, self.fingers, self.found = [], [], []
        self.out, self.met = {}, []
        if self.ring.place is None or not self.ring.successors:
            return []
        return self._sample(now)

    # The walks of others

    def stroll(self, message: Stroll, now: float) -> list[Effect]:
        """Somebody's walk has come here: it goes on, or ends."""
        ring = self.ring
        if ring.place is None or message.seeker.id == ring.me.id:
            return []  # nobody is met by its own walk; who says so makes it up
        inside = [seat for seat in ring.neighbours().values() if is_between(message.low, seat.place, message.high)]
        inside = [seat for seat in inside if seat.contact.id != message.seeker.id]
        if message.left == 0 or not inside:
            follows = self.follows()[:MOST_FOLLOWED]
            return ring.links.answer(message.seeker, Met(ring.number, message.turn, ring.place, follows), now)
        drawn = chance(self.seed, "stroll", ring.me.id, message.seeker.id, message.turn, message.left)
        onward = inside[pick(drawn, len(inside))]
        further = Stroll(ring.number, message.low, message.high, message.seeker, message.turn, message.left - 1)
        return ring.links.pass_on(onward.contact, further, now)

    # Its own

    def returned(self, sender: Contact, message: Met, now: float) -> list[Effect]:
        """A walk has ended."""
        if self.ring.place is None:
            return []
        seat = Seat(sender, message.place)
        if message.turn in self.out:
            del self.out[message.turn]
            if is_between(self.ring.place, seat.place, self._edge()):
                self.met.append(seat)
            return self._halve(now) if not self.out else []
        for finger in self.fingers:
            if message.turn in finger.out:
                del finger.out[message.turn]
                if is_between(finger.low, seat.place, finger.high):
                    finger.met.append((seat, message.follows))
                return self._decide(finger, now) if not finger.out else []
        return []

    def overdue(self, era: int, now: float) -> list[Effect]:
        """Walks that have not come back by now are lost."""
        if era != self.era:
            return []
        if self.out:
            self.out = {}
            return self._halve(now)
        effects: list[Effect] = []
        for finger in list(self.fingers):
            finger.out = {}
            effects += self._decide(finger, now)
        return effects

    def _edge(self) -> bytes:
        assert self.ring.place is not None
        return self.edges[-1].place if self.edges else self.ring.place

    def _sample(self, now: float) -> list[Effect]:
        """Walks among all who sit between this node and the last median."""
        assert self.ring.place is not None
        self.met = []
        steps = max(FEWER, STEPS - len(self.edges))
        effects: list[Effect] = []
        for _ in range(self.ring.settings.walks):
            walk, sent = self._walk(self.ring.place, self._edge(), self.ring.successors[0].contact, steps, now)
            self.out[walk] = None
            effects += sent
        return effects + self._wait()

    def _walk(self, low: bytes, high: bytes, start: Contact, steps: int, now: float) -> tuple[int, list[Effect]]:
        self.turn += 1
        message = Stroll(self.ring.number, low, high, self.ring.me, self.turn, steps)
        return self.turn, self.ring.links.post(start, message, now)

    def _wait(self) -> list[Effect]:
        self.era += 1
        return [SetTimer(self.ring.settings.patience, Returned(self.ring.number, self.era))]

    def _halve(self, now: float) -> list[Effect]:
        """The median of where walks came to; if it is the successor, there is nothing left to halve."""
        here = self.ring.place
        if here is None or not self.ring.successors:
            return []
        inside = sorted(self.met, key=lambda seat: turn(here, seat.place))
        last = len(self.edges) + 1 >= MOST_MEDIANS
        if inside:
            median = inside[len(inside) // 2]
            if turn(here, median.place) < turn(here, self._edge()):
                self.edges.append(median)
                if median.contact.id != self.ring.successors[0].contact.id and not last:
                    return self._sample(now)
        return self._choose(now)

    def _choose(self, now: float) -> list[Effect]:
        """Look for as many fingers as this node wants."""
        here = self.ring.place
        assert here is not None
        self.fingers, self.found = [], []
        parts = len(self.edges)
        if not parts:
            return self.ring.hold((), now)
        for number in range(wanted_fingers(self.ring.me.id, self.mean, parts, self.seed)):
            self.fingers.append(self._finger(number, TRIES))
        effects: list[Effect] = []
        for finger in list(self.fingers):
            effects += self._look(finger, now)
        return effects + self._wait()

    def _finger(self, number: int, tries: int) -> Finger:
        """Between two medians, or between the last and this node."""
        assert self.ring.place is not None
        drawn = chance(self.seed, "partition", self.ring.me.id, self.era, number, tries)
        part = pick(drawn, len(self.edges))
        high = self.edges[part - 1].place if part else self.ring.place
        low = self.edges[part]
        return Finger(low.place, high, low.contact, tries)

    def _look(self, finger: Finger, now: float) -> list[Effect]:
        effects: list[Effect] = []
        for _ in range(COUPLE if self.choose is not None else 1):
            walk, sent = self._walk(finger.low, finger.high, finger.start, STEPS, now)
            finger.out[walk] = None
            effects += sent
        return effects

    def _decide(self, finger: Finger, now: float) -> list[Effect]:
        """Take one of those whom walks have come to, unless all are fingers already."""
        known = {seat.contact.id for seat in self.found}
        known |= {self.ring.me.id, self.ring.successors[0].contact.id if self.ring.successors else self.ring.me.id}
        fresh = [each for each in finger.met if each[0].contact.id not in known]
        if fresh:
            choose = self.choose
            best = fresh[0] if choose is None else max(fresh, key=lambda each: choose(each[1]))
            self.found.append(best[0])
        place = self.fingers.index(finger)
        if fresh or finger.tries <= 1:
            del self.fingers[place]
            return self._end(now) if not self.fingers else []
        again = self.fingers[place] = self._finger(place, finger.tries - 1)
        return self._look(again, now) + self._wait()

    def _end(self, now: float) -> list[Effect]:
        return self.ring.hold(self.found, now) if self.ring.place is not None else []


def wanted_fingers(node: int, mean: float, partitions: int, seed: int) -> int:
    """From one to as many as there are partitions, evenly spread about the mean: as `kernel.oscar.wanted_fingers`."""
    bounded = min(max(mean, 1.0), float(max(partitions, 1)))
    most = min(int(2 * bounded - 1), max(partitions, 1))
    least = 2 * bounded - most
    exact = least - 0.5 + unit(chance(seed, "fingers", node)) * (most - least + 1.0)
    return max(1, int(exact + 0.5))

"""Chord's fingers: from each node, those that sit half the ring away, a quarter, an eighth, and so on (Stoica et al.).

They are looked for from the nearest to the farthest, each once: where the next finger would be nearer than the last that was
found, it is that one.
"""

from ropewalk.protocols.contract import Effect
from ropewalk.protocols.dht.lookups import Lookups
from ropewalk.protocols.dht.places import ID_BITS, Seat, place_of
from ropewalk.protocols.dht.ring import Ring

WHOLE = 1 << ID_BITS


class Chord:
    """The fingers of one node on a ring where it sits at its id."""

    __slots__ = ("bit", "lookups", "ring", "swept")

    def __init__(self, ring: Ring, lookups: Lookups) -> None:
        self.ring, self.lookups = ring, lookups
        self.bit = ID_BITS  # the next to look for; none left: nobody looks
        self.swept: list[Seat] = []  # found so far

    def begin(self, now: float) -> list[Effect]:
        """Look for all fingers anew, unless that goes on."""
        if self.bit < ID_BITS or not self.ring.successors:
            return []
        self.swept = []
        return self._go_on(self.ring.successors[0], now)

    def found(self, seats: tuple[Seat, ...], now: float) -> list[Effect]:
        """A finger was looked for; whoever was found, if anybody."""
        if self.bit >= ID_BITS:
            return []
        if not seats:  # an answer was lost: keep what there is until the next time
            self.bit = ID_BITS
            return self._end([*self.swept, *self.ring.fingers.values()], now)
        if seats[0].contact.id == self.ring.me.id:  # all the others are nearer
            self.bit = ID_BITS
            return self._end(self.swept, now)
        self.swept.append(seats[0])
        return self._go_on(seats[0], now)

    def _go_on(self, last: Seat, now: float) -> list[Effect]:
        """Look for the first finger that is farther than the last."""
        me = self.ring.me.id
        distance = (last.contact.id - me) % WHOLE
        self.bit = distance.bit_length()
        if self.bit >= ID_BITS:
            return self._end(self.swept, now)
        return self.lookups.ask("finger", place_of((me + (1 << self.bit)) % WHOLE), now)

    def _end(self, found: list[Seat], now: float) -> list[Effect]:
        return self.ring.hold(found, now) if self.ring.place is not None else []

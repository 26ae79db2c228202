"""Whoever a node has as its successors sits after it, one after the other; at rest they are those who sit there."""

from itertools import pairwise
from typing import ClassVar

from ropewalk.engines.sim.invariants.contract import Invariant, Moment
from ropewalk.engines.sim.population import Population
from ropewalk.protocols.dht.places import turn
from ropewalk.protocols.dht.ring import Ring
from ropewalk.protocols.scribe.node import Node as ScribeNode


class RingOrder(Invariant):
    """Checked for the successor lists of a node; at rest for everybody's, and for who sits before whom."""

    name: ClassVar[str] = "ring order"

    def after(self, moment: Moment) -> str | None:
        """See `Invariant`."""
        for ring in moment.node.rings() if isinstance(moment.node, ScribeNode) else ():
            place = ring.place
            if place is None:
                continue
            distances = [turn(place, seat.place) for seat in ring.successors]
            if any(one >= other for one, other in pairwise(distances)):
                return f"has successors on ring {ring.number} in a wrong order"
            if any(seat.contact.id == ring.me.id for seat in ring.successors):
                return f"is its own successor on ring {ring.number}"
        return None

    def at_rest(self, population: Population) -> str | None:
        """See `Invariant`."""
        by_ring: dict[int, list[Ring]] = {}
        for process in population.simulator.processes.values():
            for ring in process.node.rings() if isinstance(process.node, ScribeNode) else ():
                if ring.place is None:
                    return f"node {ring.me.id} does not sit on ring {ring.number}"
                by_ring.setdefault(ring.number, []).append(ring)
        for rings in by_ring.values():
            rings.sort(key=lambda ring: ring.place or b"")
            for number, ring in enumerate(rings):
                wrong = _wrong_with(ring, rings[number + 1 :] + rings[:number], rings[number - 1])
                if wrong is not None:
                    return wrong
        return None


def _wrong_with(ring: Ring, after: list[Ring], before: Ring) -> str | None:
    wanted = [other.me.id for other in after[: ring.settings.successors]]
    found = [seat.contact.id for seat in ring.successors]
    if found[:1] != wanted[:1]:
        return f"node {ring.me.id} has {found[:1]} as its successor on ring {ring.number}, which is {wanted[:1]}"
    predecessor = ring.predecessor.contact.id if ring.predecessor is not None else None
    if after and predecessor != before.me.id:
        return f"node {ring.me.id} has {predecessor} before it on ring {ring.number}, which is {before.me.id}"
    if not set(found) <= {other.me.id for other in after}:
        return f"node {ring.me.id} has successors on ring {ring.number} that are gone"
    return None

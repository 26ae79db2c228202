"""Who wants the same as a node: one ring in the order in which they came, and the first stands for all of them.

Paper: Kato III-B. Outsiders link to the primary only; events go round the ring; when the primary goes, whoever came next is that.
Ours: everybody knows all members, so whoever is gone is skipped, however many go at once. Nobody is in charge of the list: what
changes is passed round, and neighbours on the ring compare lists at every heartbeat.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable

from ropewalk.ids import weight
from ropewalk.protocols.contract import Contact
from ropewalk.protocols.kato.messages import MOST_ALIKE, MOST_ORDER, MOST_STRUCK, Member, Struck
from ropewalk.protocols.kato.profiles import Profile

FAR = 2**40  # ours: places that no group uses up
HEIRS = 2  # ours: members that are told whom the primary links with


class Alike:
    """The group of one node."""

    __slots__ = ("digest", "heard", "known", "me", "orders", "ranked", "since", "struck")

    def __init__(self, me: Contact) -> None:
        self.me = me
        self.orders: dict[int, Member] = {}  # at most MOST_ALIKE
        self.ranked: list[tuple[int, int]] = []  # the same as (order, id), ascending
        self.digest = 0  # of the same
        self.known: tuple[Profile, ...] = ()  # whom the primary links with, as it last said
        self.heard: dict[int, float] = {}  # when others on the ring were last heard of
        self.since = 0.0  # when this node began to want what it wants
        self.struck: dict[int, int] = {}  # who is gone, and the place that it had; the latest, at most MOST_STRUCK
        self._put((me, 0))

    @property
    def primary(self) -> Contact:
        """Who stands for all."""
        return self._at(0)

    @property
    def is_primary(self) -> bool:
        """Whether that is this node."""
        return self.ranked[0][1] == self.me.id

    @property
    def is_alone(self) -> bool:
        """Whether nobody else is in it."""
        return len(self.ranked) == 1

    def has(self, node: int) -> bool:
        """Whether somebody is in it."""
        return node in self.orders

    def members(self) -> tuple[Member, ...]:
        """All of them."""
        return tuple(self.orders.values())

    def ring(self) -> dict[int, Contact]:
        """The two beside it; one, if there are two in all."""
        at = bisect_left(self.ranked, (self.orders[self.me.id][1], self.me.id))
        beside = (self._at(at - 1), self._at((at + 1) % len(self.ranked)))
        return {each.id: each for each in beside if each.id != self.me.id}

    def watched(self) -> dict[int, Contact]:
        """With whom heartbeats are exchanged: the ring, and between the primary and who is next."""
        near = self.ring()
        heirs = self.heirs()
        if self.is_primary:
            near |= {each.id: each for each in heirs}
        elif any(each.id == self.me.id for each in heirs):
            near[self.primary.id] = self.primary
        return near

    def heirs(self) -> list[Contact]:
        """Who is primary next."""
        return [self._at(place) for place in range(1, min(1 + HEIRS, len(self.ranked)))]

    def merge(self, members: Iterable[Member]) -> tuple[Member, ...]:
        """Others want the same: who is new, or stands further back than was known."""
        changed = []
        for contact, order in members:
            known = self.orders.get(contact.id)
            if order <= self.struck.get(contact.id, -1) or not self.is_near(order):
                continue  # said by who has not heard that it is gone, or by who makes it up
            if (known is None and len(self.orders) < MOST_ALIKE) or (known is not None and known[1] < order):
                self._take(contact.id)
                self._put((self.me if contact.id == self.me.id else contact, order))
                changed.append(self.orders[contact.id])
        return tuple(changed)

    def is_near(self, order: int) -> bool:
        """Whether a place can be anybody's: beyond what any history comes to, one after the other."""
        return order <= max(FAR, self.ranked[-1][0] + 2 * MOST_ALIKE)

    def welcome(self, member: Member, *, alone: bool, older: bool) -> tuple[Member, ...]:
        """Somebody is to be in it, too. Who is alone comes after all others; of two that are, who is younger."""
        if member[0].id in self.orders:
            return self.merge([member])
        last = self._last((member[1],))
        if alone and not (self.is_alone and older):
            return self.merge([(member[0], last)])
        return self.merge([member, (self.me, last)]) if self.is_alone else self.merge([member])

    def strike(self, node: int) -> tuple[Struck, ...]:
        """Somebody is gone, if it was in it."""
        if node == self.me.id or node not in self.orders:
            return ()
        order = self.orders[node][1]
        self._take(node)
        self.heard.pop(node, None)
        self.struck.pop(node, None)
        self.struck[node] = order
        if len(self.struck) > MOST_STRUCK:
            del self.struck[next(iter(self.struck))]
        return ((node, order),)

    def returned(self, contact: Contact) -> tuple[Member, ...]:
        """Somebody who was taken to be gone says itself that it is not: it comes last."""
        if contact.id not in self.struck:
            return ()
        return self.merge([(contact, self._last((self.struck[contact.id],)))])

    def come_last(self, order: int) -> tuple[Member, ...]:
        """Others have given this node up, as who has this place: it is there, after all of them."""
        return self.merge([(self.me, self._last((order,)))])

    def _last(self, others: Iterable[int]) -> int:
        return min(1 + max(self.ranked[-1][0], *others), MOST_ORDER)

    def alone(self, now: float) -> None:
        """It wants something else now."""
        self.since = now
        for node in list(self.orders):
            self._take(node)
        self._put((self.me, 0))
        self.known = ()
        self.heard.clear()
        self.struck.clear()

    def _at(self, place: int) -> Contact:
        return self.orders[self.ranked[place][1]][0]

    def _put(self, member: Member) -> None:
        contact, order = member
        self.orders[contact.id] = member
        insort(self.ranked, (order, contact.id))
        self.digest ^= weight(contact.id, order)

    def _take(self, node: int) -> None:
        member = self.orders.pop(node, None)
        if member is not None:
            self.ranked.remove((member[1], node))
            self.digest ^= weight(node, member[1])

"""How those who want the same become one group, stay one, and have somebody who stands for them.

Paper: Kato III-B and III-C: who finds its id taken joins that ring; succession is by join order. `alike` is what a node knows of its
group, this is what it does about it.
"""

from ropewalk.protocols.contract import Contact, Effect
from ropewalk.protocols.kato.alike import Alike
from ropewalk.protocols.kato.departed import Departed
from ropewalk.protocols.kato.messages import MOST_ALIKE, Alive, Circle, Enrol, Linking, Member, Struck, in_messages
from ropewalk.protocols.kato.neighbours import Neighbours
from ropewalk.protocols.kato.profiles import is_alike
from ropewalk.protocols.links import Links


class Groups:
    """One node's part in its group."""

    __slots__ = ("alike", "departed", "enrolled", "links", "listed", "neighbours")

    def __init__(self, alike: Alike, neighbours: Neighbours, links: Links, departed: Departed) -> None:
        self.alike, self.neighbours, self.links, self.departed = alike, neighbours, links, departed
        self.enrolled: dict[int, float] = {}  # whom this node has asked to be in its group, and when; for a period
        self.listed: dict[int, float] = {}  # when somebody was last told of all members; likewise

    # Who belongs together

    def make(self, now: float) -> list[Effect]:
        """Ask those who turned out to want the same to make one group, while there is room in it."""
        effects: list[Effect] = []
        while self.neighbours.alike:
            node, contact = self.neighbours.alike.popitem()
            lately = self.enrolled.get(node, -1e9) > now - 0.9 * self.neighbours.settings.period
            if lately or self.alike.has(node):
                continue
            if len(self.alike.orders) < MOST_ALIKE:
                effects += self._ask_in(contact, now)
            else:
                self.links.reached.note("nodes that want the same")
        return effects

    def _ask_in(self, contact: Contact, now: float) -> list[Effect]:
        """Ask to be in somebody's group."""
        self.enrolled[contact.id] = now
        me, age = self.alike.orders[self.alike.me.id], now - self.alike.since
        return self.links.post(contact, Enrol(self.neighbours.looker.name, (me,), self.alike.is_alone, age), now)

    def enrol(self, sender: Contact, message: Enrol, now: float) -> list[Effect]:
        """Others say that they want the same: whoever wants something else by now says so."""
        (_, order), *_ = message.members
        if not self._is_ours(message) or message.members[0][0].id != sender.id:
            return self.neighbours.tell(sender, now, anew=True)
        self.departed.back(sender.id)
        self.alike.heard[sender.id] = now
        was = self.alike.primary
        older = message.age > now - self.alike.since
        changed = self.alike.returned(sender)
        changed += self.alike.welcome((sender, order), alone=message.alone, older=older)
        effects = self._changed(was, changed, (), now, besides=sender.id)
        if not self.alike.has(sender.id):  # there is no room: it is one to link to, as others are
            return effects + self.neighbours.tell(sender, now, anew=True)
        return effects + self._tell_all(sender, now, anew=bool(changed))

    def circle(self, sender: Contact, message: Circle, now: float) -> list[Effect]:
        """A member tells who has come and who is gone."""
        if not self._is_ours(message):
            return self.neighbours.tell(sender, now, anew=True)
        if not self.alike.has(sender.id) and sender.id not in self.enrolled:
            return []  # nobody has asked it
        was = self.alike.primary
        self.departed.back(sender.id)
        effects: list[Effect] = []
        gone: tuple[Struck, ...] = ()
        changed = self.alike.merge(message.members)
        for node, order in message.gone:
            known = self.alike.orders.get(node)
            if known is None or known[1] > order or not self.alike.is_near(order):
                continue  # it is back, after all others
            if node == self.alike.me.id:
                changed += self.alike.come_last(order)
            elif self.alike.heard.get(node, -1e9) > now - self.neighbours.settings.period:
                effects += self.links.post(known[0], self._circle((), ((node, order),)), now)  # let it say so itself
            else:
                gone += self.alike.strike(node)
        return effects + self._changed(was, changed, gone, now, besides=sender.id)

    def _is_ours(self, message: Enrol | Circle) -> bool:
        """Whether it is about those who want what this node wants by now."""
        return bool(self.neighbours.profile.cells) and message.name == self.neighbours.looker.name

    # What follows from it

    def _changed(
        self, was: Contact, came: tuple[Member, ...], gone: tuple[Struck, ...], now: float, besides: int = -1
    ) -> list[Effect]:
        """The group is another: pass on what has changed, and see who stands for it."""
        if not came and not gone:
            return []
        effects: list[Effect] = []
        for contact, _ in came:
            self.neighbours.let_go(contact.id)
        ring = self.alike.ring()
        for contact in ring.values():
            self.alike.heard.setdefault(contact.id, now)
            if contact.id != besides:
                effects += self.links.post(contact, self._circle(came, gone), now)
        self.neighbours.met += ring.values()
        return effects + self._stand(was, now)

    def _stand(self, was: Contact, now: float) -> list[Effect]:
        if self.alike.is_primary:
            return self.neighbours.stand_up(self.alike.known, now) if self.neighbours.primary is not None else []
        if was != self.alike.primary:
            self.alike.known = ()
        return self.neighbours.retire(self.alike.primary, now)

    def _tell_all(self, contact: Contact, now: float, *, anew: bool = False) -> list[Effect]:
        """Who is in the group, and who is not any more: so much that nobody is told twice in a moment."""
        if not anew and self.listed.get(contact.id, -1e9) > now - self.neighbours.settings.period / 2:
            return []
        self.listed[contact.id] = now
        effects: list[Effect] = []
        gone = tuple(self.alike.struck.items())
        for members in in_messages(self.alike.members()):
            effects += self.links.post(contact, self._circle(members, gone), now)
        return effects

    def _circle(self, members: tuple[Member, ...], gone: tuple[Struck, ...]) -> Circle:
        return Circle(self.neighbours.looker.name, members, gone)

    def part(self, now: float) -> list[Effect]:
        """Be in no group any more: the others are told."""
        effects: list[Effect] = []
        me = self.alike.me.id
        for contact in self.alike.ring().values():
            effects += self.links.post(contact, self._circle((), ((me, self.alike.orders[me][1]),)), now)
        self.alike.alone(now)
        self.enrolled.clear()
        self.listed.clear()
        return effects + self.neighbours.stand_up((), now) if self.neighbours.primary is not None else effects

    def lost(self, node: int, now: float) -> list[Effect]:
        """Somebody is gone."""
        was = self.alike.primary
        return self._changed(was, (), self.alike.strike(node), now)

    # Heartbeats

    def beat(self, now: float) -> list[Effect]:
        """Tell those beside this node, and who is next, that it is there."""
        effects: list[Effect] = []
        since = now - self.neighbours.settings.period
        self.enrolled = {node: at for node, at in self.enrolled.items() if at > since}
        self.listed = {node: at for node, at in self.listed.items() if at > since}
        number, digest = self.neighbours.number, self.alike.digest
        for contact in self.alike.watched().values():
            effects += self.links.post(contact, Alive(False, number, digest), now)
        if self.alike.is_primary and not self.alike.is_alone:
            effects += self._tell_heirs(now)
        return effects

    def _tell_heirs(self, now: float) -> list[Effect]:
        """Whom this node links with, for when it goes."""
        effects: list[Effect] = []
        for contact in self.alike.heirs():
            effects += self.links.post(contact, self.neighbours.state(held=False), now)
        return effects

    def heard(self, sender: Contact, message: Linking | Alive, now: float) -> list[Effect]:
        """A member says that it is there, and what it has."""
        self.alike.heard[sender.id] = now
        if isinstance(message, Linking):
            return self._said(sender, message, now)
        if message.digest == self.alike.digest:
            return []
        if not message.digest:  # it does not know that this node is one of them
            return self._ask_in(sender, now)
        return self._tell_all(sender, now)

    def _said(self, sender: Contact, message: Linking, now: float) -> list[Effect]:
        own, *others = message.profiles
        if not is_alike(self.neighbours.looker.sees(own)):
            return self.lost(sender.id, now) + self.neighbours.linked(message, now)
        if sender.id == self.alike.primary.id and not message.retired:
            self.alike.known = tuple(others)
        if message.answer or message.held:  # it does not know that this node is one of them
            return self._ask_in(sender, now)
        return []

    def silent(self, since: float, now: float) -> list[int]:
        """Of those with whom heartbeats are exchanged, who has not been heard of."""
        watched = self.alike.watched()
        self.alike.heard = {node: self.alike.heard.get(node, now) for node in watched}
        return [node for node, at in self.alike.heard.items() if at < since]

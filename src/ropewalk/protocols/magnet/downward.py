"""How the tree of a topic grows over the skewed ring: from above, along the way to who follows (Magnet 3.3, Algorithm 2).

A node that wants to be on it asks another follower that it knows, which hands the wish up the tree until the way to that node
goes over a child of whoever has it (*as printed*), or it asks the topic's home (*strict*, and whenever the other way did not lead anywhere).
From there the way goes over the ring, and whoever it passes is on the tree.

Ours: a node from which the way goes on must lie between home and target, else the way would go round the ring. So parents always sit
between the home and their children, and there are no circles while homes and places stay. Homes do move, whenever somebody comes or
goes. So who has children, and has lost who was above it, asks for a *firm* way: from the home, and all on it become children of
each other, whoever was above them before. Else one of them may be below the very node that looks for a parent.
"""

from dataclasses import replace

from ropewalk.protocols.contract import Contact, Effect
from ropewalk.protocols.dht.places import Seat, is_within, key_of
from ropewalk.protocols.dht.ring import Ring
from ropewalk.protocols.dht.settings import MOST_HOPS
from ropewalk.protocols.links import Links
from ropewalk.protocols.magnet.membership import Membership
from ropewalk.protocols.magnet.messages import Climb, Enter, Reach
from ropewalk.protocols.trees.branches import Branch, Trees
from ropewalk.protocols.trees.settings import MOST_BRANCHES
from ropewalk.seeds import chance, pick

MOST_WAITING = 1024  # ours: nodes that wait for the home to sit down
HIGHEST = 24  # ours: links from a follower up to where a way leaves its tree; more is a circle


class Downward:
    """Trees over the skewed ring, at one node."""

    __slots__ = (
        "attempts", "control", "links", "me", "membership", "moving", "ring", "roots", "seed", "sought_at", "strict", "trees", "waiting",
    )  # fmt: skip

    def __init__(
        self, me: Contact, links: Links, control: Ring, ring: Ring, membership: Membership, seed: int, *, strict: bool
    ) -> None:
        self.me, self.links, self.control, self.ring, self.membership, self.seed = (
            me,
            links,
            control,
            ring,
            membership,
            seed,
        )
        self.strict = strict
        self.trees: Trees  # told by whoever puts both together
        self.attempts: dict[int, int] = {}  # topic -> how often a way was looked for since the last was found
        self.roots: dict[int, Seat] = {}  # topic -> its home, as the last way said
        self.waiting: dict[
            tuple[int, int], Enter
        ] = {}  # by topic and target: until this node sits; at most MOST_WAITING
        self.sought_at: dict[int, float] = {}  # topic -> when a way was last asked for
        self.moving: dict[int, None] = {}  # topics whose homes have moved since

    def is_root(self, topic: int) -> bool:
        """See `trees.branches.Ways`."""
        return self.control.owns(key_of(topic))

    def doubt(self, topic: int) -> None:
        """See `trees.branches.Ways`: the next way begins at the home, whatever others say where that is."""
        self.attempts[topic] = 1

    def moved(self, topic: int) -> None:
        """See `trees.branches.Ways`: all seek anew, at their next heartbeat."""
        self.moving[topic] = None

    def takes(self, topic: int) -> bool:
        """See `trees.branches.Ways`: only who is on the tree has children."""
        return self.is_root(topic)

    def seek(self, topic: int, now: float) -> list[Effect]:
        """See `trees.branches.Ways`."""
        branch = self.trees.by_topic.get(topic)
        if branch is None or self.ring.place is None or self.is_root(topic):
            return []
        if branch.parent is not None and not self._is_due(topic, now):
            return []
        self.sought_at[topic] = now
        self.moving.pop(topic, None)
        attempt = self.attempts[topic] = self.attempts.get(topic, 0) + 1
        firm = self.strict or bool(branch.children) or branch.parent is not None
        helper = self._helper(topic, attempt) if not firm and attempt % 2 else None
        if helper is not None:
            return self.links.post(helper, Climb(topic, self.ring.seat, 0), now)
        return self.enter(Enter(topic, self.ring.seat, 0, firm), now)

    def _is_due(self, topic: int, now: float) -> bool:
        """The home has moved; in strict mode the way is looked for again and again, since the ring changes."""
        settings = self.ring.settings
        refreshed = self.strict and now >= self.sought_at.get(topic, now) + settings.refreshed * settings.period
        return refreshed or topic in self.moving

    def _helper(self, topic: int, attempt: int) -> Contact | None:
        """Another follower, by chance (its first phase)."""
        known = [each for each in self.membership.views.get(topic, ()) if each.seat.contact.id != self.me.id]
        if not known:
            return None
        drawn = chance(self.seed, "graft", self.me.id, topic, attempt, self.membership.rounds)
        return known[pick(drawn, len(known))].seat.contact

    def enter(self, message: Enter, now: float, whence: bytes | None = None) -> list[Effect]:
        """On the way to the topic's home; there the way down begins."""
        topic, key = message.topic, key_of(message.topic)
        if self.control.owns(key, whence):
            if self.ring.place is None:
                if len(self.waiting) < MOST_WAITING:
                    self.waiting[topic, message.target.contact.id] = message
                else:
                    self.links.reached.note("nodes that wait for the home")
                return []
            return self._go_on(Reach(topic, message.target, 0, self.ring.seat, message.firm), now)
        onward = self.control.towards(key, whence)
        if onward is None or message.hops >= MOST_HOPS:
            return []
        return self.links.pass_on(onward.contact, replace(message, hops=message.hops + 1), now)

    def sits(self, now: float) -> list[Effect]:
        """Now ways can begin here."""
        waiting, self.waiting = self.waiting, {}
        effects: list[Effect] = []
        for message in waiting.values():
            effects += self.enter(message, now)
        return effects

    def climb(self, message: Climb, now: float) -> list[Effect]:
        """On the way up, until the way down begins."""
        topic, target = message.topic, message.target
        if self.ring.place is None or target.contact.id == self.me.id or message.hops >= HIGHEST:
            return []
        if self.is_root(topic):
            return self._go_on(Reach(topic, target, 0, self.ring.seat, firm=False), now)
        branch, root = self.trees.by_topic.get(topic), self.roots.get(topic)
        fresh = now - self.ring.settings.missed * self.ring.settings.period
        if branch is None or branch.parent is None or root is None or branch.beat_at < fresh:
            return []  # not on the tree, or on what is no tree any more
        onward = self.ring.onto(target.place)
        if (
            is_within(root.place, self.ring.place, target.place)
            and onward is not None
            and onward.contact.id in branch.children
        ):
            return self._go_on(Reach(topic, target, 0, root, firm=False), now)
        return self.links.pass_on(branch.parent, Climb(topic, target, message.hops + 1), now)

    def reach(self, sender: Contact, message: Reach, now: float) -> list[Effect]:
        """On the way down: who is passed is on the tree from now on."""
        topic = message.topic
        if self.ring.place is None or self.is_root(topic) or message.hops >= MOST_HOPS:
            return []
        branch = self.trees.by_topic.get(topic)
        effects: list[Effect] = []
        if branch is None or branch.parent is None or message.firm:
            effects += self.trees.adopt(topic, sender, now)
            branch = self.trees.by_topic.get(topic)
            if branch is None:
                return []  # it is on too many trees already
            branch.root = message.root.contact.id
        self.roots[topic] = message.root
        if message.target.contact.id == self.me.id:
            self.attempts.pop(topic, None)
            return effects
        return effects + self._go_on(message, now)

    def _go_on(self, message: Reach, now: float) -> list[Effect]:
        onward = self.ring.onto(message.target.place)
        if onward is None:
            return []  # nobody sits there any more
        if message.topic not in self.trees.by_topic:
            if len(self.trees.by_topic) >= MOST_BRANCHES:
                self.links.reached.note("trees")
                return []
            self.trees.by_topic[message.topic] = Branch(now)
        return self.links.pass_on(onward.contact, replace(message, hops=message.hops + 1), now)

    def beat(self) -> None:
        """Forget what is over."""
        for known in (self.attempts, self.roots, self.sought_at, self.moving):
            for topic in [topic for topic in known if topic not in self.trees.by_topic]:
                del known[topic]

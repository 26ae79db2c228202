"""Magnet: similar nodes sit close together on a ring, and the trees of their topics follow it (Girdzijauskas et al.).

Paper: "Magnet: practical subscription clustering for Internet-scale publish/subscribe" (DEBS 2010), sections 2 and 3. A node sits
on two rings. On the control ring it sits at its id (`dht.control`); there every topic has a home, and a membership tree
towards it, which is Scribe's (`scribe`). Up and down that tree come samples of who follows the topic (`membership`). By these a
node takes its place on the skewed ring (`placing`), whose fingers OSCAR chooses (`dht.oscar`). Over it grow the trees that events
come down (`downward`, `trees`).
"""

from dataclasses import dataclass
from typing import Any

from ropewalk.protocols.contract import Contact, Effect, SetTimer
from ropewalk.protocols.dht.lookups import Overdue
from ropewalk.protocols.dht.messages import Locate, Located, Met, Stroll
from ropewalk.protocols.dht.messages import Message as OfRing
from ropewalk.protocols.dht.oscar import Oscar, Returned
from ropewalk.protocols.dht.places import Seat, place_of
from ropewalk.protocols.dht.ring import Ring
from ropewalk.protocols.dht.settings import Settings as RingSettings
from ropewalk.protocols.dht.settings import is_due
from ropewalk.protocols.magnet.downward import Downward
from ropewalk.protocols.magnet.membership import Membership
from ropewalk.protocols.magnet.messages import Beside, Climb, Enter, Gather, Query, Reach, Sample, Seated, is_sound
from ropewalk.protocols.magnet.messages import Message as OfMagnet
from ropewalk.protocols.magnet.placing import Decide, Placing
from ropewalk.protocols.magnet.settings import Settings
from ropewalk.protocols.magnet.similarity import similarity
from ropewalk.protocols.reached import UNSOUND
from ropewalk.protocols.scribe import node as scribe
from ropewalk.protocols.trees.branches import Trees
from ropewalk.protocols.trees.messages import Bear, Graft, Prune
from ropewalk.protocols.trees.messages import Message as OfTree
from ropewalk.protocols.trees.settings import Settings as TreeSettings

SKEWED = 1  # the number of the ring, and of trees over it


@dataclass(frozen=True, slots=True)
class Place:
    """Time to look for a place, with all that has been subscribed to by now."""


class Node(scribe.Node):
    """One participant. It is handled by whoever drives it; see `protocols.contract`."""

    __slots__ = ("downward", "gather", "grown", "membership", "oscar", "placing", "skewed", "was_seated")

    def __init__(
        self,
        me: Contact,
        settings: Settings,
        seed: int,
        *,
        of_rings: RingSettings | None = None,
        of_trees: TreeSettings | None = None,
    ) -> None:
        super().__init__(me, settings, seed, of_rings=of_rings, of_trees=of_trees)
        links, control, rings = self.links, self.control, self.control.settings
        self.trees.recent = lambda *_: ()  # no event comes along these
        self.skewed = Ring(SKEWED, me, links, rings)
        self.membership = Membership(
            me, links, control.ring, self.trees, settings.samples, seed, self.topics, self._seat,
            rated=settings.similarity == "rates",
        )  # fmt: skip
        similar = settings.placement == "similar"
        self.placing = Placing(me, links, control, self.skewed, self.membership, seed, self.topics, similar=similar)
        choose = self._similarity if settings.choice == "similar" else None
        self.oscar = Oscar(self.skewed, seed, settings.degree / 2 - 1, self._followed, choose)
        strict = settings.grafting == "strict"
        self.downward = Downward(me, links, control.ring, self.skewed, self.membership, seed, strict=strict)
        self.grown = Trees(
            SKEWED, me, links, self.events.settings, rings, self.follows, self.events.recent, self.downward
        )
        self.downward.trees = self.events.trees = self.grown
        self.events.came = self.membership.came
        self.placing.moved_from = self._moved
        self.was_seated = False
        self.gather = settings.gather

    def come_back(self, former: scribe.Node) -> None:
        """See `scribe.Node`."""
        super().come_back(former)
        if isinstance(former, Node):
            self.placing.lookups.turn, self.placing.turn = former.placing.lookups.turn, former.placing.turn
            self.oscar.turn, self.membership.rounds = former.oscar.turn, former.membership.rounds

    def held(self) -> dict[int, list[Contact]]:
        """See `contract.Node`: parent and children on the tree that events come down."""
        return {topic: self.grown.neighbours(topic) for topic in self.topics}

    def rings(self) -> tuple[Ring, ...]:
        """See `scribe.Node`."""
        return (self.control.ring, self.skewed)

    def kinds_of_trees(self) -> tuple[Trees, ...]:
        """See `scribe.Node`."""
        return (self.trees, self.grown)

    def _seat(self) -> Seat | None:
        return self.skewed.seat if self.skewed.place is not None else None

    def _followed(self) -> tuple[int, ...]:
        return tuple(self.topics)

    def _similarity(self, follows: tuple[int, ...]) -> float:
        return similarity(self.topics, follows, self.membership.rates)

    # Coming and going

    def _subscribe(self, topic: int, now: float) -> list[Effect]:
        if topic in self.topics:
            return []
        self.placing.changed = True
        return [*super()._subscribe(topic, now), *self.grown.join(topic, now)]

    def _unsubscribe(self, topic: int, now: float) -> list[Effect]:
        if topic not in self.topics:
            return []
        self.placing.changed = True
        return super()._unsubscribe(topic, now) + self.grown.leave(topic, now)

    def _leave(self, now: float) -> list[Effect]:
        return self.skewed.stand_up(now) + super()._leave(now)

    def _forget(self, node: int) -> None:
        super()._forget(node)
        self.placing.lookups.forget(node)

    def _gone(self, node: int, now: float) -> list[Effect]:
        self.membership.strike(node)
        effects = super()._gone(node, now) + self.skewed.gone(node, now)
        return effects + self.grown.gone(node, now) + self.placing.refused(node, now)

    def _arrive(self, now: float) -> list[Effect]:
        """Once it sits on the control ring it can look for a place on the other."""
        effects = super()._arrive(now)
        if self.control.ring.place is not None and self.skewed.place is None and not self.placing.is_placing:
            effects.append(SetTimer(self.gather, Place()))
        return effects

    def _rerouted(self, now: float) -> list[Effect]:
        effects, changed = self.trees.reroute(now)
        for topic in changed:
            effects += self.membership.tell(topic, now)
        effects += self.grown.take_root(now)
        for topic in self.grown.orphans():
            effects += self.grown.join(topic, now)
        return effects

    def _sits(self, now: float) -> list[Effect]:
        """Once it sits there it can be on trees, and have fingers."""
        if self.skewed.place is None or self.was_seated:
            return []
        self.was_seated = True
        effects = self.oscar.begin(now) + self.downward.sits(now) + self.placing.lookups.resume(now)
        for topic in self.topics:
            effects += self.membership.tell(topic, now)
            effects += self.grown.join(topic, now)
        return effects

    def _moved(self, now: float) -> list[Effect]:
        """Leave all trees over the ring before the place is given up."""
        self.was_seated = False
        return self.grown.fell(now)

    # What happens

    def _join(self, seeds: tuple[Contact, ...], now: float) -> list[Effect]:
        for contact in seeds:
            self.placing.lookups.remember(contact)
        return super()._join(seeds, now)

    def _link_up(self, contact: Contact, now: float) -> list[Effect]:
        if contact.id != self.me.id:
            self.placing.lookups.remember(contact)
        return super()._link_up(contact, now)

    def _fire(self, timer: object, now: float) -> list[Effect]:
        match timer:
            case Place():
                effects = self.placing.begin(now) if self.skewed.place is None else []
            case Decide(turn):
                effects = self.placing.decide(turn, now)
            case Overdue(ring, turn) if ring == SKEWED:
                effects = self.placing.overdue(turn, now)
            case Returned(_, era):
                effects = self.oscar.overdue(era, now)
            case _:
                effects = super()._fire(timer, now)
        return effects + self._sits(now)

    def _tend(self, now: float) -> list[Effect]:
        effects = super()._tend(now)
        effects += self.skewed.beat(now)
        effects += self.placing.beat(self.beats, now)
        if self.was_seated and is_due(self.beats, self.control.settings.resampled):
            effects += self.oscar.begin(now)
        self.downward.beat()
        return effects + self.membership.beat(now) + self.grown.beat(now)

    def _take_in(self, sender: Contact, message: Any, now: float) -> list[Effect]:
        if isinstance(message, OfMagnet):
            if not is_sound(message):
                self.links.reached.note(UNSOUND)
                return []
            effects = self._of_magnet(sender, message, now)
        else:
            effects = super()._take_in(sender, message, now)
        return effects + self._sits(now)

    def _of_ring(self, sender: Contact, message: OfRing, now: float) -> list[Effect]:
        if message.ring != SKEWED:
            return super()._of_ring(sender, message, now)
        match message:
            case Locate():
                return self.placing.lookups.pass_on(message, now) + self.placing.settle(now)
            case Located():
                self.placing.lookups.answered(message)
                return self.placing.settle(now)
            case Stroll():
                return self.oscar.stroll(message, now)
            case Met():
                return self.oscar.returned(sender, message, now)
            case _:
                return self.skewed.receive(sender, message, now)

    def _of_tree(self, sender: Contact, message: OfTree, now: float) -> list[Effect]:
        """Of which trees it is says its number; events come down those over the skewed ring only."""
        match message:
            case Graft():
                if message.tree == SKEWED:
                    return self.grown.grafted(sender, message, now) + self.events.compare(sender, message.branches)
                return self.trees.grafted(sender, message, now)
            case Bear():
                if message.tree == SKEWED:
                    return self.grown.borne(sender, message, now) + self.events.compare(sender, message.branches)
                return self.trees.borne(sender, message, now)
            case Prune():
                return (self.grown if message.tree == SKEWED else self.trees).pruned(sender, message, now)
            case _:
                return super()._of_tree(sender, message, now)

    def _of_magnet(self, sender: Contact, message: OfMagnet, now: float) -> list[Effect]:
        match message:
            case Gather():
                return self.membership.gather(sender, message, now)
            case Sample():
                return self.placing.sampled(message, now) or self.membership.sampled(sender, message, now)
            case Query():
                effects = self.membership.query(message, now, place_of(sender.id))
                return effects + (self.placing.answered(message.topic, now) if message.seeker.id == self.me.id else [])
            case Beside():
                return self.placing.make_room(sender, message, now)
            case Seated():
                return self.placing.seated(sender, message, now)
            case Enter():
                return self.downward.enter(message, now, place_of(sender.id))
            case Climb():
                return self.downward.climb(message, now)
            case Reach():
                return self.downward.reach(sender, message, now)

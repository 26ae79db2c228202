"""Scribe: a tree for each topic, made of the ways from its followers to the topic's home (Castro et al., 2002).

The home is the node that the topic's hash falls to, on a ring (`dht`). Who follows a topic has as its parent the next node
on its way there, and so has every node on the way. Events come from the home (`trees`).
"""

from dataclasses import dataclass
from typing import Any

from ropewalk.protocols.contract import (
    Command,
    Contact,
    Effect,
    Input,
    Join,
    Leave,
    LinkDown,
    LinkUp,
    Publish,
    Received,
    Refuse,
    SetTimer,
    Subscribe,
    TimerFired,
    Unsubscribe,
)
from ropewalk.protocols.dht import messages as ring_messages
from ropewalk.protocols.dht.control import CONTROL, Control
from ropewalk.protocols.dht.lookups import Overdue
from ropewalk.protocols.dht.messages import Message as OfRing
from ropewalk.protocols.dht.places import key_of, place_of
from ropewalk.protocols.dht.ring import Ring
from ropewalk.protocols.dht.runs import OfRuns
from ropewalk.protocols.dht.settings import Settings as RingSettings
from ropewalk.protocols.links import Links
from ropewalk.protocols.reached import UNSOUND
from ropewalk.protocols.trees import messages as tree_messages
from ropewalk.protocols.trees.branches import Trees
from ropewalk.protocols.trees.events import Events, HandIn
from ropewalk.protocols.trees.messages import Accepted, Bear, Graft, Keep, Kept, Lack, Prune, Shed, Submit
from ropewalk.protocols.trees.messages import Message as OfTree
from ropewalk.protocols.trees.settings import Settings as TreeSettings
from ropewalk.protocols.trees.settings import settings_for
from ropewalk.protocols.trees.standing import Standing
from ropewalk.seeds import chance, unit

UNTOLD = 3.0  # ours, seconds: how long a node waits to be told of another before it takes itself for the first
MEMBERSHIP = 0  # the number of trees over the control ring


@dataclass(frozen=True, slots=True)
class Alone:
    """Time to be the first of a network, if nobody has told of another."""


@dataclass(frozen=True, slots=True)
class Beat:
    """The heartbeat, once per period."""


@dataclass(frozen=True, slots=True)
class Round:
    """Time to look after everything: right after a heartbeat."""


class Upward:
    """How a tree over the control ring grows: from each of its nodes towards the home."""

    __slots__ = ("control", "trees")

    def __init__(self, control: Control) -> None:
        self.control = control
        self.trees: Trees  # told by whoever puts both together

    def is_root(self, topic: int) -> bool:
        """See `trees.branches.Ways`."""
        return self.control.ring.owns(key_of(topic))

    def seek(self, topic: int, now: float) -> list[Effect]:
        """See `trees.branches.Ways`."""
        onward = self.control.ring.towards(key_of(topic))
        return self.trees.adopt(topic, onward.contact, now) if onward is not None else []

    def doubt(self, topic: int) -> None:
        """See `trees.branches.Ways`: there is one way only."""

    def moved(self, topic: int) -> None:
        """See `trees.branches.Ways`: ways are looked for anew whenever the ring changes."""

    def takes(self, topic: int) -> bool:
        """See `trees.branches.Ways`: whoever is on the way of another is on the tree."""
        return True


class Node:
    """One participant. It is handled by whoever drives it; see `protocols.contract`."""

    __slots__ = ("arrived", "beats", "control", "events", "links", "me", "seed", "topics", "trees", "untold")

    def __init__(
        self,
        me: Contact,
        settings: OfRuns,
        seed: int,
        *,
        of_rings: RingSettings | None = None,
        of_trees: TreeSettings | None = None,
    ) -> None:
        self.me, self.seed = me, seed
        rings = of_rings or RingSettings(period=settings.period)
        trees = of_trees or settings_for(settings.period)
        self.links = Links()
        self.control = Control(me, self.links, rings, seed)
        self.topics: dict[int, None] = {}  # what it follows; grows by Subscribe, shrinks by Unsubscribe
        self.events = Events(me, self.links, trees, self.control.ring, self.follows, self.control.is_alone)
        upward = Upward(self.control)
        self.trees = Trees(MEMBERSHIP, me, self.links, trees, rings, self.follows, self.events.recent, upward)
        upward.trees = self.events.trees = self.trees
        self.arrived = False  # on the control ring
        self.untold = False  # whether it waits to be told of another node
        self.beats = -1  # so far; -1: none is on its way

    def come_back(self, former: "Node") -> None:
        """Remember whom a former self knew, and go on counting where it left off, so that no draw is made twice."""
        self.control.lookups.remembered = dict(former.control.lookups.remembered)
        self.control.lookups.turn = former.control.lookups.turn

    def follows(self, topic: int) -> bool:
        """See `contract.Node`."""
        return topic in self.topics

    def held(self) -> dict[int, list[Contact]]:
        """See `contract.Node`: parent and children."""
        return {topic: self.trees.neighbours(topic) for topic in self.topics}

    def rings(self) -> tuple[Ring, ...]:
        """All that it sits on."""
        return (self.control.ring,)

    def kinds_of_trees(self) -> tuple[Trees, ...]:
        """All kinds that it is on; the last is the one that events come down."""
        return (self.trees,)

    def standing(self) -> Standing:
        """Where it stands."""
        grown = self.kinds_of_trees()[-1]
        parents = {
            topic: None if branch.parent is None else branch.parent.id for topic, branch in grown.by_topic.items()
        }
        return Standing(
            held=tuple(seat.contact.id for ring in self.rings() for seat in ring.held()),
            parents=parents,
            roots=frozenset(topic for topic in parents if grown.ways.is_root(topic)),
            follows=frozenset(self.topics),
        )

    def awaited(self) -> tuple[int, int]:
        """See `contract.Lasting`."""
        grown = self.kinds_of_trees()[-1]
        there = grown.by_topic.keys() - set(grown.orphans()) if self.rings()[-1].place is not None else set()
        return len(self.topics.keys() - there), 0

    def has_had(self, event: int) -> bool:
        """See `contract.Lasting`."""
        return event in self.events.seen

    def is_beside(self, node: int, topic: int) -> bool:
        """See `contract.Lasting`: on a tree nobody knows who of those around follows its topic."""
        return False

    def forgot_before(self) -> float:
        """See `contract.Lasting`."""
        return self.events.forgot_before

    def unheard(self) -> dict[int, float]:
        """See `contract.Lasting`."""
        return self.events.unheard()

    def left_out(self) -> dict[str, int]:
        """See `contract.Lasting`."""
        return self.links.reached.counts

    def handle(self, event: Input, now: float) -> list[Effect]:
        """Take one input in; what is to be done about it."""
        match event:
            case Received():
                return self._receive(event.sender, event.message, now)
            case TimerFired():
                return self._fire(event.timer, now)
            case LinkUp():
                return self._link_up(event.contact, now)
            case LinkDown():
                return self._link_down(event, now)
            case _:
                return self._told(event, now)

    def _told(self, command: Command, now: float) -> list[Effect]:
        match command:
            case Join():
                return self._join(tuple(each for each in command.seeds if each.id != self.me.id), now)
            case Subscribe():
                return self._introduced(command.contacts, now) + self._subscribe(command.topic, now)
            case Unsubscribe():
                return self._unsubscribe(command.topic, now)
            case Publish():
                return self.events.publish(command.event, now)
            case Leave():
                return self._leave(now)
            case Refuse():
                return self.events.refuse(command.event, now)

    def _join(self, seeds: tuple[Contact, ...], now: float) -> list[Effect]:
        effects = self.control.join(seeds, now) + self._wake()
        return effects + self._arrive(now) if self.control.ring.place is not None else effects

    def _introduced(self, contacts: tuple[Contact, ...], now: float) -> list[Effect]:
        """Whoever is named with a topic is a way into the network, for who has not been told of any; if nobody is, that may come."""
        others = tuple(each for each in contacts if each.id != self.me.id)
        if self.beats >= 0 or (self.untold and not others):
            return []
        self.untold = True
        return self._join(others, now) if others else [SetTimer(UNTOLD, Alone())]

    def _subscribe(self, topic: int, now: float) -> list[Effect]:
        if topic in self.topics:
            return []
        self.topics[topic] = None
        return self.trees.join(topic, now)

    def _unsubscribe(self, topic: int, now: float) -> list[Effect]:
        if topic not in self.topics:
            return []
        del self.topics[topic]
        return self.trees.leave(topic, now)

    def _leave(self, now: float) -> list[Effect]:
        return self.control.ring.stand_up(now) + self.links.close_all()

    def _link_up(self, contact: Contact, now: float) -> list[Effect]:
        if contact.id == self.me.id:
            return []
        self._believe_in(contact.id)
        self.control.lookups.remember(contact)
        return self.links.came_up(contact, now)

    def _link_down(self, down: LinkDown, now: float) -> list[Effect]:
        """One that was closed says nothing about its other end: it is opened again when something is to be said."""
        node = down.contact.id
        self.links.went_down(node)
        if down.cause == "closed":
            return []
        if down.cause == "left":
            self._forget(node)
        return self._gone(node, now)

    def _forget(self, node: int) -> None:
        """It has said good-bye: there is nobody to ask."""
        self.control.lookups.forget(node)

    def _gone(self, node: int, now: float) -> list[Effect]:
        self.events.gone(node)
        before = self.control.ring.predecessor
        effects = self.control.ring.gone(node, now) + self.trees.gone(node, now)
        return effects + self.events.take_over(now) if self.control.ring.predecessor != before else effects

    def _fire(self, timer: object, now: float) -> list[Effect]:
        match timer:
            case Beat():
                return self._beat()
            case Round():
                return self._look_around(now)
            case Alone():
                return self._join((), now) if self.beats < 0 else []
            case Overdue(_, turn):
                return self.control.overdue(turn, now) + self._arrive(now)
            case HandIn(topic, event):
                return self.events.hand_in_again(topic, event, now)
            case _:
                return []

    def _beat(self) -> list[Effect]:
        """Once per period: nothing that is done about it can keep the next from coming."""
        self.beats += 1
        return [SetTimer(self.control.settings.period, Beat()), SetTimer(0.0, Round())]

    def _look_around(self, now: float) -> list[Effect]:
        settings = self.control.settings
        return self._tend(now) + self.links.close_idle(now - settings.idle * settings.period)

    def _tend(self, now: float) -> list[Effect]:
        """Look after all that there is to look after."""
        effects = self.control.beat(self.beats, now) + self._arrive(now)
        self.events.beat(now)
        return effects + self.events.take_over(now) + self.events.hand_back(now) + self.trees.beat(now)

    def _wake(self) -> list[Effect]:
        """See to it that there is a next heartbeat. Nodes beat at different moments; when is drawn."""
        if self.beats >= 0:
            return []
        self.beats = 0
        share = unit(chance(self.seed, "heartbeat", self.me.id))
        return [SetTimer(share * self.control.settings.period, Beat())]

    def _arrive(self, now: float) -> list[Effect]:
        """Once it sits on the ring it can be on trees."""
        if self.control.ring.place is None:
            return []
        effects = self._rerouted(now)
        if not self.arrived:
            self.arrived = True
            effects += self.events.hand_in_all(now)
        return effects

    def _receive(self, sender: Contact, message: Any, now: float) -> list[Effect]:
        link = self.links.by_id.get(sender.id)
        if link is None or not link.up:
            return []  # not linked, or no longer
        link.heard_at = link.idle_since = now
        self._believe_in(sender.id)
        return self._take_in(sender, message, now)

    def _believe_in(self, node: int) -> None:
        """Somebody is there, whatever was thought of it before."""
        for ring in self.rings():
            ring.avoided.pop(node, None)

    def _take_in(self, sender: Contact, message: Any, now: float) -> list[Effect]:
        if isinstance(message, OfRing) and ring_messages.is_sound(message):
            return self._of_ring(sender, message, now)
        if isinstance(message, OfTree) and tree_messages.is_sound(message):
            return self._of_tree(sender, message, now)
        self.links.reached.note(UNSOUND)
        return []

    def _of_ring(self, sender: Contact, message: OfRing, now: float) -> list[Effect]:
        if message.ring != CONTROL:
            return []
        ring = self.control.ring
        seated, before = ring.place is not None, (ring.predecessor, ring.successors[:1])
        effects = self.control.receive(sender, message, now)
        if not seated:
            return effects + self._arrive(now)
        if (ring.predecessor, ring.successors[:1]) == before:
            return effects
        return effects + self._rerouted(now) + self.events.take_over(now)

    def _rerouted(self, now: float) -> list[Effect]:
        """Somebody else sits before or after this node: ways to homes may be others, and homes, too."""
        return self.trees.take_root(now) + self.trees.reroute(now)[0]

    def _of_tree(self, sender: Contact, message: OfTree, now: float) -> list[Effect]:
        match message:
            case Graft():
                return self.trees.grafted(sender, message, now) + self.events.compare(sender, message.branches)
            case Bear():
                return self.trees.borne(sender, message, now) + self.events.compare(sender, message.branches)
            case Prune():
                return self.trees.pruned(sender, message, now)
            case Shed():
                return self.events.shed(sender, message, now)
            case Lack():
                return self.events.lacked(sender, message)
            case Submit():
                return self.events.submit(message, now, place_of(sender.id))
            case Keep():
                return self.events.keep(sender, message, now)
            case Kept():
                return self.events.is_kept(message, now)
            case Accepted():
                return self.events.accepted(message)

"""The overlay by interests: a node links to who covers what it wants, whom it covers, and who shares some of it.

Paper: Kato, Elkhyaoui, Kunieda, Yamada, Michiardi, "A scalable interest-oriented peer-to-peer pub/sub network". A topic is a cell
here. How the parts go together: `neighbours` (links), `alike` (who wants the same), questions for what is not covered yet
(`finding`), and events (`dissemination`), for which all around that want a cell are neighbours on it.

What is not in the paper, each marked where it happens: links go to better ones as these are heard of; who is gone is not
believed in for a while; members of a cell are also found by discovery, which the paper's conclusion asks for; events that were
missed are asked for.
"""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from ropewalk.errors import UsageError
from ropewalk.protocols.content.filters import Filter, is_wanted
from ropewalk.protocols.content.spaces import MOST_CELLS
from ropewalk.protocols.contract import (
    Command,
    Contact,
    Deliver,
    Effect,
    Event,
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
from ropewalk.protocols.discovery.messages import Found, Seek, Serve, Served, Unserve
from ropewalk.protocols.discovery.settings import Settings as DiscoverySettings
from ropewalk.protocols.dissemination import node as dissemination
from ropewalk.protocols.dissemination.injection import Await, Injections
from ropewalk.protocols.dissemination.messages import Have, Inject, Push, Spare, Taken, Want
from ropewalk.protocols.dissemination.saying import Saying
from ropewalk.protocols.dissemination.settings import Settings as EventSettings
from ropewalk.protocols.kato.alike import Alike
from ropewalk.protocols.kato.departed import Departed
from ropewalk.protocols.kato.finding import Finding
from ropewalk.protocols.kato.groups import Groups
from ropewalk.protocols.kato.ids import covers, event_id
from ropewalk.protocols.kato.messages import Alive, Circle, Enrol, Fallen, Joining, Linking, Message, Told, is_sound
from ropewalk.protocols.kato.neighbours import SILENT, Neighbours
from ropewalk.protocols.kato.settings import Settings
from ropewalk.protocols.kato.standing import Standing
from ropewalk.protocols.links import Links
from ropewalk.protocols.reached import UNSOUND
from ropewalk.seeds import chance, unit

GATHER = 0.05  # ours, seconds: how long a node waits for more to be told before it says what it wants
PASSING = 2.0  # ours, seconds: links to who is no neighbour, and over which nothing was said for as long, are closed
# ours, seconds: from when a node says what it wants until it can be found by all of it, unless somebody stands for it by then
STAND = 1.0
DOUBTED = 1.5  # ours, periods: who was not heard of for as long is gone if somebody says so


@dataclass(frozen=True, slots=True)
class Beat:
    """The heartbeat, once per period."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """Time to close links to who is no neighbour."""


@dataclass(frozen=True, slots=True)
class Stand:
    """Time to be found by all that this node wants, unless somebody else is."""


@dataclass(frozen=True, slots=True)
class Settle:
    """Time to say what this node wants now."""


class Node:
    """One participant. It is handled by whoever drives it; see `protocols.contract`."""

    __slots__ = (
        "alike", "beating", "departed", "events", "finding", "groups", "injections", "links", "me", "neighbours", "received", "saying",
        "seed", "settings", "settling", "standing_up", "stands", "sweeping", "topics", "unwanted",
    )  # fmt: skip

    def __init__(
        self,
        me: Contact,
        settings: Settings,
        seed: int,
        *,
        of_events: EventSettings | None = None,
        of_discovery: DiscoverySettings | None = None,
    ) -> None:
        self.me, self.settings, self.seed = me, settings, seed
        self.links = Links()
        self.departed = Departed(settings.period)
        self.alike = Alike(me)
        self.neighbours = Neighbours(me, settings, self.links, self.departed, self.alike.has)
        self.groups = Groups(self.alike, self.neighbours, self.links, self.departed)
        self.finding = Finding(me, settings, seed, self.links, self.neighbours, self.alike, of_discovery)
        self.topics: dict[int, tuple[Filter, ...]] = {}  # cells, and what of them; grows and shrinks by subscriptions
        self.events = dissemination.Node(of_events or EventSettings(), self.near, chance(seed, "advertise", me.id))
        self.injections = Injections(me.id, self.events.settings, self.links, self._seek)
        self.saying = Saying(me.id, self.topics, self.events, self.injections, self.links, self.near)
        self.standing_up = False  # whether a Stand is on its way
        self.stands = True  # whether it was primary when it was last handled
        self.received = 0  # messages that brought events
        self.unwanted: Counter[str] = Counter()  # events that came and were not wanted, by why
        self.beating = self.settling = self.sweeping = False  # whether a Beat, a Settle, or a Sweep is on its way

    def come_back(self, former: "Node") -> None:
        """Go on counting where a former self left off."""
        self.finding.turn = former.finding.turn
        self.neighbours.number = former.neighbours.number + 1

    def follows(self, topic: int) -> bool:
        """See `contract.Node`."""
        return topic in self.topics

    def held(self) -> dict[int, list[Contact]]:
        """See `contract.Node`."""
        return {topic: list((self.near(topic) or {}).values()) for topic in self.topics}

    def awaited(self) -> tuple[int, int]:
        """See `contract.Lasting`: links that are coming up, and cells of which nobody else is known."""
        needed = self.neighbours.around.keys() | self.alike.ring().keys()
        alone = self.neighbours.lacking() if self.alike.is_alone else ()
        return sum(not self.links.is_up(node) for node in needed) + self.settling, len(alone)

    def has_had(self, event: int) -> bool:
        """See `contract.Lasting`."""
        return self.events.knows(event)

    def is_beside(self, node: int, topic: int) -> bool:
        """See `contract.Lasting`."""
        return node in (self.near(topic) or ())

    def forgot_before(self) -> float:
        """See `contract.Lasting`."""
        return self.events.forgot_before

    def unheard(self) -> dict[int, float]:
        """See `contract.Lasting`."""
        return self.saying.unheard()

    def left_out(self) -> dict[str, int]:
        """See `contract.Lasting`."""
        return self.links.reached.counts | self.events.reached.counts

    def standing(self) -> Standing:
        """How things are now."""
        table, held = self.neighbours.table, self.neighbours.table.all()
        ring = self.alike.ring()
        return Standing(
            held=(*held, *ring),
            covering=len(table.covering),
            covered=len(table.covered),
            neighbours=len(table.neighbours),
            holders=len(self.neighbours.incoming),
            incoming=sum(node not in held for node in self.neighbours.incoming),
            ring=len(ring),
            alike=len(self.alike.orders),
            primary=self.alike.is_primary,
            cells=len(self.neighbours.profile.cells),
            bits=self.neighbours.looker.id.bit_count(),
            received=self.received,
            by_cell=self.unwanted["cell"],
            by_bits=self.unwanted["bits"],
        )

    def near(self, cell: int) -> dict[int, Contact] | None:
        """With whom events of a cell are exchanged; None if they do not come here."""
        if not self._matches(cell):
            return None
        ring = {node: contact for node, contact in self.alike.ring().items() if self.links.is_up(node)}
        return ring | self.neighbours.near(cell)

    def _matches(self, cell: int) -> bool:
        """Whether events of a cell come here: what its bits stand for besides is passed on, and not delivered."""
        if cell in self.topics or self.settings.cover == "cells":
            return cell in self.topics
        return covers(self.neighbours.looker.id, event_id(cell, self.settings.bits, self.settings.hashes))

    def handle(self, event: Input, now: float) -> list[Effect]:
        """Take one input in; what is to be done about it."""
        effects = self._take_in(event, now)
        effects += self.groups.make(now)
        if self.alike.is_primary and not self.stands:
            effects += self.finding.serve(now)
        self.stands = self.alike.is_primary
        effects += self._enter(now)
        if self.neighbours.met:
            effects += self.events.met(self.neighbours.met)
            self.neighbours.met.clear()
        return [each for each in effects if not isinstance(each, Deliver) or self._wants(each.event)]

    def _wants(self, event: Event) -> bool:
        """Whether what has come is what somebody here has asked for, exactly."""
        mine = [self.topics[topic] for topic in event.topics if topic in self.topics]
        content = dict(event.content)
        wanted = any(is_wanted(content, filters) for filters in mine)
        if not wanted:
            self.unwanted["cell" if mine else "bits"] += 1
        return wanted

    def _take_in(self, event: Input, now: float) -> list[Effect]:
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
                return self._obey(event, now)

    def _obey(self, command: Command, now: float) -> list[Effect]:
        match command:
            case Join():
                return self.finding.join(command, now) + self._begin()
            case Subscribe():
                return self._subscribe(command)
            case Unsubscribe():
                return self._unsubscribe(command.topic, now)
            case Publish():
                return self.saying.publish(command.event, now)
            case Refuse():
                return self.events.refuse(command.event, command.sender, now)
            case Leave():
                return self._leave(now)

    # Coming and going

    def _subscribe(self, command: Subscribe) -> list[Effect]:
        known = command.topic in self.topics
        if not known and len(self.topics) >= MOST_CELLS:
            raise UsageError(f"a node can want {MOST_CELLS} cells or topics at the most: use larger cells.")
        self.finding.know(command.contacts)
        self.topics[command.topic] = command.filters
        return [] if known else self._begin()

    def _unsubscribe(self, topic: int, now: float) -> list[Effect]:
        if topic not in self.topics:
            return []
        effects = self.saying.hand_on(topic, now)
        del self.topics[topic]
        return effects + self._begin()

    def _begin(self) -> list[Effect]:
        """What is wanted has changed: say so when all is told."""
        effects: list[Effect] = []
        if not self.settling:
            self.settling = True
            effects.append(SetTimer(GATHER, Settle()))
        if not self.beating:
            self.beating = True
            share = unit(chance(self.seed, "heartbeat", self.me.id))
            effects.append(SetTimer((0.5 + share) * self.settings.period, Beat()))
        return effects

    def _settle(self, now: float) -> list[Effect]:
        """Say what this node wants, leave those who want what it wanted before, and ask for links."""
        self.settling = False
        cells = tuple(sorted(self.topics))
        if cells == self.neighbours.profile.cells:
            return []
        effects = self.groups.part(now)
        effects += self.neighbours.become(cells, now)
        effects += self.finding.look(now, first=True) + self.finding.serve(now, first=True)
        if self.standing_up:
            return effects
        self.standing_up = True
        return [*effects, SetTimer(min(STAND, self.settings.period), Stand())]

    def _leave(self, now: float) -> list[Effect]:
        effects = self.events.leave(now) + self.injections.leave() + self.groups.part(now) + self.finding.leave(now)
        return [each for each in effects if not isinstance(each, SetTimer)] + self.links.close_all()

    def _gone(self, node: int, now: float) -> list[Effect]:
        """Somebody is gone (Kato III-C): who pointed to it is told, and links are mended with those around it."""
        member, near = self.alike.has(node), node in self.neighbours.around
        if not member and not near:
            return []
        self.departed.add(node, now)
        effects = self.groups.lost(node, now)
        around = self.neighbours.let_go(node)
        for profile in around:
            if profile.contact.id in self.neighbours.around:
                effects += self.links.post(profile.contact, Fallen(node), now)
        effects += self.neighbours.mend(now) + self.neighbours.hear_of(around, now)
        effects += self.events.unlinked([(topic, node) for topic in self.topics], now)
        return effects + self.finding.look(now)

    def _fallen(self, message: Fallen, now: float) -> list[Effect]:
        """Somebody says that a node is gone: believed of who has not been heard of lately."""
        there = self.neighbours.around.get(message.node)
        late = there is not None and there.heard < now - DOUBTED * self.settings.period
        return self._gone(message.node, now) if late else []

    # Heartbeats

    def _beat(self, now: float) -> list[Effect]:
        effects: list[Effect] = [SetTimer(self.settings.period, Beat())]
        since = now - SILENT * self.settings.period
        for node in [*self.neighbours.silent(now), *self.groups.silent(since, now)]:
            effects += self._gone(node, now)
        self.departed.tidy(now)
        effects += self.neighbours.beat(now) + self.groups.beat(now)
        effects += self.finding.look(now) + self.finding.serve(now)
        return effects + self.events.tidy(now) + self._begin_to_sweep()

    def _begin_to_sweep(self) -> list[Effect]:
        """As long as there are links to others than neighbours: a node asks many more than it has of these."""
        needed = self.neighbours.around.keys() | self.alike.watched().keys()
        if self.sweeping or all(node in needed for node in self.links.by_id):
            return []
        self.sweeping = True
        return [SetTimer(min(PASSING, self.settings.period), Sweep())]

    def _sweep(self, now: float) -> list[Effect]:
        self.sweeping = False
        needed = self.neighbours.around.keys() | self.alike.watched().keys()
        effects = self.links.close_others(needed, now - min(PASSING, self.settings.period))
        return effects + self._begin_to_sweep()

    # Links and messages

    def _link_up(self, contact: Contact, now: float) -> list[Effect]:
        effects = self.links.came_up(contact, now)
        if contact.id in self.neighbours.around or contact.id in self.alike.ring():
            self.neighbours.met.append(contact)
        return effects + self._begin_to_sweep()

    def _link_down(self, down: LinkDown, now: float) -> list[Effect]:
        down = self.links.judged(down, now, min(PASSING, self.settings.period))
        node = down.contact.id
        self.links.went_down(node)
        effects: list[Effect] = []
        if down.cause != "closed":
            self.events.lost(node)
            effects += self._gone(node, now) + self.injections.lost(node, now)
        elif node in self.neighbours.around or node in self.alike.watched():
            effects += self.links.seek(down.contact, now)
        effects += self.events.unlinked([(topic, node) for topic in self.topics], now)
        return effects + self.finding.link_down(down, now)

    def _receive(self, sender: Contact, message: Any, now: float) -> list[Effect]:
        link = self.links.by_id.get(sender.id)
        if link is None or not link.up:
            return []
        link.heard_at = link.idle_since = now
        self.received += isinstance(message, Push | Inject)
        match message:
            case Push() | Have() | Want() | Spare():
                return self.events.receive(sender, message, now)
            case Inject():
                return self.saying.let_in(sender, message, now)
            case Taken():
                return self.injections.taken(sender, message)
            case Seek() | Found() | Serve() | Served() | Unserve():
                return self.finding.receive(sender, message, now)
            case _:
                if is_sound(message):
                    return self._of_nodes(sender, message, now)
                self.links.reached.note(UNSOUND)
                return []

    def _of_nodes(self, sender: Contact, message: Message, now: float) -> list[Effect]:
        match message:
            case Linking() | Alive():
                return self._of_links(sender, message, now)
            case Joining():
                return self.finding.asked(sender, message, now)
            case Told():
                return self.finding.told(message, now)
            case Fallen():
                return self._fallen(message, now)
            case Enrol():
                return self.groups.enrol(sender, message, now)
            case Circle():
                return self.groups.circle(sender, message, now)

    def _of_links(self, sender: Contact, message: Linking | Alive, now: float) -> list[Effect]:
        if isinstance(message, Linking) and message.profiles[0].contact.id != sender.id:
            return []  # nobody speaks for others
        if self.alike.has(sender.id):
            return self.groups.heard(sender, message, now)
        if isinstance(message, Linking):
            own = replace(message.profiles[0], contact=sender)  # where it is, is for the transport to say
            message = replace(message, profiles=(own, *message.profiles[1:]))
            return self.neighbours.linked(message, now) + self.finding.go_on(now)
        if message.digest:  # it takes this node for one of its group, which has given it up
            return self.links.post(sender, self.neighbours.state(held=False, answer=True), now)
        return self.neighbours.alive(sender, message, now)

    def _fire(self, timer: object, now: float) -> list[Effect]:
        match timer:
            case Beat():
                return self._beat(now)
            case Settle():
                return self._settle(now)
            case Stand():
                self.standing_up = False
                return self.finding.look(now) + self.finding.serve(now)
            case Sweep():
                return self._sweep(now)
            case Await():
                return self.injections.fire(timer, now)
            case _:
                return self.finding.fire(timer, now) + self.events.fire(timer, now)

    def _enter(self, now: float) -> list[Effect]:
        """Members of cells were found."""
        effects: list[Effect] = []
        for topic, contacts in self.finding.found():
            effects += self.injections.found(topic, contacts, now)
            effects += self.finding.meet(topic, contacts, now)
        return effects

    # Events

    def _seek(self, topic: int, now: float) -> list[Effect]:
        return self.finding.seek(topic, now) if self.finding.discovery else self.injections.found(topic, (), now)

"""StaN: every node ranks others by a hash, the same on all its topics, so overlays drift onto the same physical links.

Papers: Matos, Felber, Oliveira, Pereira, Riviere, "Scaling up publish/subscribe overlays using interest correlation for link
sharing" (here StaN, whose Algorithms 1 and 2 these are); Matos, Nunes, Oliveira, Pereira, "StAN: exploiting shared interests
without disclosing them in gossip-based publish/subscribe" (here StAN, the workshop paper). Each topic has one view: its
overlay manager (`sampling`) decides the size, walks decide who is in it. Here is how the parts of a node go together, and coming
and going: `finding` (who is in a topic), `neighbours` (whom it holds, over which links), `walks`, and events
(`dissemination`).

What is not in the paper, each marked where it happens: links are announced, replies go back along the walk's path, links
are made before others are broken, who is gone is not believed in for a while, and everything is bounded.
"""

from dataclasses import dataclass, replace
from typing import Any

from ropewalk.ids import mix_long
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
    Send,
    SetTimer,
    Subscribe,
    TimerFired,
    Unsubscribe,
)
from ropewalk.protocols.discovery.messages import Found, Prove, Proven, Seek, Serve, Served, Unserve
from ropewalk.protocols.discovery.messages import Message as OfDiscovery
from ropewalk.protocols.discovery.settings import Settings as DiscoverySettings
from ropewalk.protocols.dissemination import node as dissemination
from ropewalk.protocols.dissemination.contract import MakeEvents
from ropewalk.protocols.dissemination.greetings import NEVER
from ropewalk.protocols.dissemination.injection import Await, Injections
from ropewalk.protocols.dissemination.messages import Have, Inject, Push, Spare, Taken, Want
from ropewalk.protocols.dissemination.saying import Saying
from ropewalk.protocols.dissemination.settings import Settings as EventSettings
from ropewalk.protocols.sampling import catalogue as sampling
from ropewalk.protocols.sampling.contract import Check, Left, Overlay
from ropewalk.protocols.stan.finding import Finding
from ropewalk.protocols.stan.following import Following
from ropewalk.protocols.stan.messages import Announce, KeepAlive, Reply, Walk, Withdraw
from ropewalk.protocols.stan.neighbours import Neighbours
from ropewalk.protocols.stan.settings import Settings
from ropewalk.protocols.stan.shared import Shared
from ropewalk.protocols.stan.walks import Close, Open, Walks
from ropewalk.protocols.stan.weights import weigher
from ropewalk.protocols.view import View, Weigh
from ropewalk.seeds import chance, stream, unit

MOST_TURNS = 4096  # ours: topics followed before, whose count of walks is remembered


@dataclass(frozen=True, slots=True)
class Tidy:
    """Once per period: close what idles, forget what is old, say that we live."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """Time to close links that somebody was only asked something over."""


class Node:
    """One participant. It is handled by whoever drives it; see `protocols.contract`."""

    __slots__ = (
        "eras", "events", "finding", "injections", "key", "me", "neighbours", "of_discovery", "saying", "seed", "settings", "sweeping",
        "tidying", "topics", "turns", "walk_stream", "walking", "walks", "weigh",
    )  # fmt: skip

    def __init__(
        self,
        me: Contact,
        settings: Settings,
        seed: int,
        key: int,
        *,
        events: MakeEvents = dissemination.Node,
        of_events: EventSettings | None = None,
        of_discovery: DiscoverySettings | None = None,
        walking: bool = True,  # or views stay as their managers make them, and every topic ranks others in its own way
    ) -> None:
        self.me, self.settings, self.seed, self.key, self.walking = me, settings, seed, key, walking
        shared = Shared(settings.shared, weigher(settings.weight, me.id, key))
        self.weigh = shared.weigh if settings.shared else shared.alike
        self.walk_stream = stream(seed, "walk")
        self.neighbours = Neighbours(settings, shared)
        self.topics = self.neighbours.topics
        self.walks = Walks(me, settings, self.neighbours)
        self.events = events(of_events or EventSettings(), self.neighbours.around, chance(seed, "advertise", me.id))
        self.of_discovery = of_discovery or DiscoverySettings()
        self.finding: Finding | None = None  # once it has joined
        self.injections = Injections(me.id, self.events.settings, self.neighbours.links, self._seek)
        self.saying = Saying(
            me.id, self.topics, self.events, self.injections, self.neighbours.links, self.neighbours.around
        )
        self.turns: dict[int, int] = {}  # walks started on topics followed before: they go on from there
        self.eras = 0  # subscriptions so far
        self.tidying = False  # whether a Tidy is on its way
        self.sweeping = False  # whether a Sweep is

    def come_back(self, former: "Node") -> None:
        """Go on counting walks where a former self left off: a walk's number is its chance."""
        self.turns = former.turns | {topic: following.turn for topic, following in former.topics.items()}

    def follows(self, topic: int) -> bool:
        """See `contract.Node`."""
        return topic in self.topics

    def held(self) -> dict[int, list[Contact]]:
        """See `contract.Node`."""
        return {topic: following.overlay.view.contacts for topic, following in self.topics.items()}

    def awaited(self) -> tuple[int, int]:
        """See `contract.Lasting`: places in views that wait for a link."""
        overlays = [following.overlay for following in self.topics.values()]
        alone = sum(not (overlay.view.contacts or overlay.held_by) for overlay in overlays)
        return sum(len(overlay.coming) for overlay in overlays), alone

    def has_had(self, event: int) -> bool:
        """See `contract.Lasting`."""
        return self.events.knows(event)

    def is_beside(self, node: int, topic: int) -> bool:
        """See `contract.Lasting`."""
        return node in (self.neighbours.around(topic) or ())

    def forgot_before(self) -> float:
        """See `contract.Lasting`."""
        return self.events.forgot_before if isinstance(self.events, dissemination.Node) else NEVER

    def unheard(self) -> dict[int, float]:
        """See `contract.Lasting`."""
        return self.saying.unheard()

    def left_out(self) -> dict[str, int]:
        """See `contract.Lasting`."""
        of_events = self.events.reached.counts if isinstance(self.events, dissemination.Node) else {}
        return self.neighbours.links.reached.counts | of_events

    def handle(self, event: Input, now: float) -> list[Effect]:
        """Take one input in; what is to be done about it."""
        effects = self._take_in(event, now)
        if self.neighbours.met:
            effects += self.events.met(self.neighbours.met)
            self.neighbours.met.clear()
        if self.neighbours.unlinked:
            effects += self.events.unlinked(self.neighbours.unlinked, now)
            self.neighbours.unlinked.clear()
        finding = self.finding
        if finding is None or not (finding.discovery.found or finding.proofs.checked):
            return effects
        return effects + self._enter(finding, now)

    def _enter(self, finding: Finding, now: float) -> list[Effect]:
        """Members of topics were found, and have shown that they are."""
        effects = finding.check(self.injections.seeks, now)
        while finding.proofs.checked:
            topic, contacts = finding.proofs.checked.pop(0)
            effects += finding.enter(topic, contacts, now) + self.injections.found(topic, contacts, now)
            effects += finding.check(self.injections.seeks, now)
        return effects

    def _take_in(self, event: Input, now: float) -> list[Effect]:
        match event:
            case Received():
                return self._receive(event.sender, event.message, now)
            case TimerFired():
                return self._fire(event.timer, now)
            case LinkUp():
                return self.neighbours.link_up(event.contact, now) + self._begin_to_tidy() + self._begin_to_sweep()
            case LinkDown():
                return self._link_down(event, now)
            case _:
                return self._obey(event, now)

    def _obey(self, command: Command, now: float) -> list[Effect]:
        match command:
            case Publish():
                return self.saying.publish(command.event, now)
            case Join():
                return self._join(command, now)
            case Subscribe():
                return self._subscribe(command, now)
            case Unsubscribe():
                return self.saying.hand_on(command.topic, now) + self._unsubscribe(command.topic, now)
            case Refuse():
                return self.events.refuse(command.event, command.sender, now)
            case Leave():
                return self._leave(now)

    def _link_down(self, down: LinkDown, now: float) -> list[Effect]:
        if self.settings.schedule == "timed":  # where rounds are conducted no time passes
            down = self.neighbours.links.judged(down, now, self.settings.passing)
        effects = self.neighbours.link_down(down, now)
        if down.cause != "closed":
            self.events.lost(down.contact.id)
            effects += self.injections.lost(down.contact.id, now)
        return effects + self.finding.link_down(down, now) if self.finding is not None else effects

    def _receive(self, sender: Contact, message: Any, now: float) -> list[Effect]:
        match message:
            case Push() | Have() | Want() | Spare():
                self.neighbours.links.heard(sender.id, now)
                return self.events.receive(sender, message, now)
            case Walk():
                return self.walks.walk_on(sender, message, now)
            case Reply():
                return self.walks.take_back(message, now)
            case Announce():
                return self.neighbours.held_by(sender, message.topic, True, now)
            case Withdraw():
                return self.neighbours.held_by(sender, message.topic, False, now)
            case KeepAlive():
                return self.neighbours.alive(sender, message, now)
            case Inject() | Taken() | Seek() | Found() | Serve() | Served() | Unserve() | Prove() | Proven():
                return self._receive_of_strangers(sender, message, now)
            case _:
                return self._receive_of_managers(sender, message, now)

    def _receive_of_managers(self, sender: Contact, message: sampling.Message | Left, now: float) -> list[Effect]:
        if message.topic in self.topics:
            if isinstance(message, Left):
                self.neighbours.unlearn(message.topic, sender.id)
            return self.neighbours.ask_manager(message.topic, Received(sender, message), now)
        # it has not heard that we are gone
        return [] if isinstance(message, Left) else [Send(sender, Left(message.topic))]

    def _receive_of_strangers(self, sender: Contact, message: Inject | Taken | OfDiscovery, now: float) -> list[Effect]:
        match message:
            case Inject():
                return self.saying.let_in(sender, message, now)
            case Taken():
                return self.injections.taken(sender, message)
            case _:
                return self.finding.receive(sender, message, now) if self.finding is not None else []

    def _fire(self, timer: object, now: float) -> list[Effect]:
        match timer:
            case Open():
                return self.walks.open(timer, now)
            case Close(topic):
                return self.walks.close(topic, now)
            case Check():
                return self._check(timer, now)
            case Tidy():
                return self._tidy(now)
            case Sweep():
                return self._sweep(now)
            case Await():
                return self.injections.fire(timer, now)
            case _:
                found = self.finding.fire(timer, now) if self.finding is not None else []
                return found + self.events.fire(timer, now)

    # Coming and going

    def _subscribe(self, command: Subscribe, now: float) -> list[Effect]:
        topic = command.topic
        if topic in self.topics:
            return []
        others = tuple(dict.fromkeys(contact for contact in command.contacts if contact.id != self.me.id))
        command = replace(command, contacts=others)
        overlay = Overlay(topic, View(self.me.id, self._ranking_on(topic)), reached=self.neighbours.links.reached)
        connectivity = command.level.connectivity or self.settings.connectivity
        two_way = self.settings.fanout == "two-way"
        manager = sampling.manager_of(self.settings.manager, self.me, overlay, self.seed, connectivity, two_way=two_way)
        following = Following(overlay, manager, command.level, mix_long(topic, self.walk_stream))
        following.turn = self.turns.pop(topic, 0)
        following.era, self.eras = self.eras, self.eras + 1
        self.topics[topic] = following
        effects = self.neighbours.ask_manager(topic, command, now)
        if self.settings.schedule == "timed":
            # StaN 3.2 starts nodes at different moments; when is drawn, so that no two runs differ
            share = unit(chance(self.seed, "offset", topic, self.me.id))
            if self.walking:
                effects.append(SetTimer(share * self.neighbours.period(following), Open(topic, following.era)))
            effects.append(SetTimer((1 + share) * self.settings.period, Check(topic, following.era)))
            effects += self._begin_to_tidy()
        if self.finding is not None:
            effects += self.finding.follow(topic, now)
        return effects

    def _ranking_on(self, topic: int) -> Weigh:
        """Ours: the same on all topics is what aligns them, even where only managers ask who is better."""
        return self.weigh if self.walking else weigher("keyed", self.me.id, chance(self.key, "apart", topic))

    def _unsubscribe(self, topic: int, now: float) -> list[Effect]:
        following = self.topics.get(topic)
        if following is None:
            return []
        effects = self.neighbours.ask_manager(topic, Unsubscribe(topic), now)
        effects += self.neighbours.let_all_go(following, now)
        if self.finding is not None:
            effects += self.finding.follow_no_more(topic, now)
        self.turns[topic] = following.turn
        if len(self.turns) > MOST_TURNS:
            self.neighbours.links.reached.note("topics followed before")
            del self.turns[next(iter(self.turns))]
        del self.topics[topic]
        self.neighbours.unlearn(topic)
        return effects

    def _leave(self, now: float) -> list[Effect]:
        effects = self.events.leave(now) + self.injections.leave()
        for topic in list(self.topics):
            effects += self._unsubscribe(topic, now)
        return effects + self.neighbours.links.close_all()

    # Where nobody is known

    def _join(self, command: Join, now: float) -> list[Effect]:
        if self.finding is not None:
            return self.finding.discovery.know(command.seeds, now)
        self.finding = Finding(self.me, self.seed, self.neighbours, command, self.of_discovery)
        effects = self.finding.start(now)
        for topic in self.topics:
            effects += self.finding.follow(topic, now)
        return effects + self._begin_to_tidy()

    def _seek(self, topic: int, now: float) -> list[Effect]:
        return self.finding.seek(topic, now) if self.finding is not None else self.injections.found(topic, (), now)

    # Once per period

    def _begin_to_tidy(self) -> list[Effect]:
        """With timers, and as long as there is something to see to: topics, links, or a network that was joined."""
        if self.tidying or self.settings.schedule != "timed":
            return []
        self.tidying = True
        return [SetTimer(unit(chance(self.seed, "tidy", self.me.id)) * self.settings.period, Tidy())]

    def _tidy(self, now: float) -> list[Effect]:
        effects: list[Effect] = []
        timed = self.settings.schedule == "timed"
        self.tidying = timed and bool(self.topics or self.neighbours.links.by_id or self.finding)
        if self.tidying:
            effects.append(SetTimer(self.settings.period, Tidy()))
        self.walks.tidy()
        for following in self.topics.values():
            following.tidy(now)
        effects += self.events.tidy(now)
        effects += self.neighbours.links.close_idle(now - self.settings.period if timed else now)
        return effects + self.neighbours.keep_alive(now) if timed else effects

    def _begin_to_sweep(self) -> list[Effect]:
        """With timers, and as long as there are links that no topic uses."""
        if self.sweeping or self.settings.schedule != "timed" or not self.neighbours.links.has_passing():
            return []
        self.sweeping = True
        return [SetTimer(self.settings.passing, Sweep())]

    def _sweep(self, now: float) -> list[Effect]:
        self.sweeping = False
        effects = self.neighbours.links.close_idle(now - self.settings.passing, passing=True)
        return effects + self._begin_to_sweep()

    def _check(self, timer: Check, now: float) -> list[Effect]:
        """Let a topic's manager see to its overlay."""
        following = self.topics.get(timer.topic)
        if following is None or timer.era != following.era:
            return []  # unsubscribed since; the timer ends here
        effects: list[Effect] = [SetTimer(self.settings.period, timer)]
        effects += self.neighbours.ask_manager(timer.topic, TimerFired(timer), now)
        return effects + self.finding.look(timer.topic, now) if self.finding is not None else effects

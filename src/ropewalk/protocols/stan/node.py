"""StaN: every node ranks others by a hash, the same on all its topics, so overlays drift onto the same physical links.

Papers: Matos, Felber, Oliveira, Pereira, Riviere, "Scaling up publish/subscribe overlays using interest correlation for link
sharing" (here StaN, whose Algorithms 1 and 2 these are); Matos, Nunes, Oliveira, Pereira, "StAN: exploiting shared interests
without disclosing them in gossip-based publish/subscribe" (here StAN, the workshop paper). Each topic has one view: its
overlay manager (`sampling`) decides the size, walks decide who is in it. Here are the walks, and coming and going; what
becomes of whom they find is in `neighbours`.

What is not in the paper, each marked where it happens: links are announced, replies go back along the walk's path, links
are made before others are broken, who is gone is not believed in for a while, and everything is bounded.
"""

from dataclasses import dataclass, replace

from ropewalk.ids import mix_long
from ropewalk.protocols.contract import (
    Contact,
    Effect,
    Input,
    Leave,
    LinkDown,
    LinkUp,
    Publish,
    Received,
    Send,
    SetTimer,
    Subscribe,
    TimerFired,
    Unsubscribe,
)
from ropewalk.protocols.dissemination import node as dissemination
from ropewalk.protocols.dissemination.contract import MakeEvents
from ropewalk.protocols.dissemination.messages import Have, Push, Spare, Want
from ropewalk.protocols.dissemination.messages import Message as EventMessage
from ropewalk.protocols.dissemination.settings import Settings as EventSettings
from ropewalk.protocols.sampling import catalogue as sampling
from ropewalk.protocols.sampling.contract import Check, Left, Overlay
from ropewalk.protocols.stan.following import Following
from ropewalk.protocols.stan.messages import Announce, KeepAlive, Message, Relay, Reply, Walk, Withdraw
from ropewalk.protocols.stan.neighbours import Neighbours
from ropewalk.protocols.stan.settings import Settings
from ropewalk.protocols.stan.weights import weigher
from ropewalk.protocols.view import View, Weigh
from ropewalk.seeds import chance, pick, stream, unit

MOST_PER_HOP = 64  # ours: neighbours that one node may add to a walk; far more than ln n + c for any number of nodes
MOST_WAYS = 4096  # ours: walks whose way back is remembered, some hundred for every topic
MOST_TURNS = 4096  # ours: topics followed before, whose count of walks is remembered

Way = tuple[int, int, int, int]  # topic, source, turn, hop


@dataclass(frozen=True, slots=True)
class Open:
    """A round begins on a topic: walk, if it is time."""

    topic: int
    era: int | None = None  # which subscription it is for; None where rounds are conducted


@dataclass(frozen=True, slots=True)
class Close:
    """It ends: take in what it brought. Only in lock step."""

    topic: int


@dataclass(frozen=True, slots=True)
class Tidy:
    """Once per period: close what idles, forget what is old, say that we live."""


class Node:
    """One participant. It is handled by whoever drives it; see `protocols.contract`."""

    __slots__ = (
        "eras", "events", "key", "lock_step", "me", "neighbours", "old_ways", "seed", "settings", "tidying", "topics", "turns",
        "walk_stream", "walking", "ways", "weigh",
    )  # fmt: skip

    def __init__(
        self,
        me: Contact,
        settings: Settings,
        seed: int,
        key: int,
        *,
        events: MakeEvents = dissemination.Node,
        walking: bool = True,  # or views stay as their managers make them, and every topic ranks others in its own way
    ) -> None:
        self.me, self.settings, self.seed, self.key, self.walking = me, settings, seed, key, walking
        self.weigh = weigher(settings.weight, me.id, key)
        self.walk_stream = stream(seed, "walk")
        self.lock_step = settings.schedule == "sync"
        self.neighbours = Neighbours(settings)
        self.topics = self.neighbours.topics
        self.events = events(EventSettings(), self.neighbours.around)
        self.turns: dict[int, int] = {}  # walks started on topics followed before: they go on from there
        self.ways: dict[Way, Contact] = {}  # from whom a walk came since the last Tidy, at most MOST_WAYS
        self.old_ways: dict[Way, Contact] = {}  # and in the period before; then it is forgotten
        self.eras = 0  # subscriptions so far
        self.tidying = False  # whether a Tidy is on its way

    def come_back(self, former: "Node") -> None:
        """Go on counting walks where a former self left off: a walk's number is its chance."""
        self.turns = former.turns | {topic: following.turn for topic, following in former.topics.items()}

    def follows(self, topic: int) -> bool:
        """See `contract.Node`."""
        return topic in self.topics

    def held(self) -> dict[int, list[Contact]]:
        """See `contract.Node`."""
        return {topic: following.overlay.view.contacts for topic, following in self.topics.items()}

    def handle(self, event: Input, now: float) -> list[Effect]:
        """Take one input in; what is to be done about it."""
        effects = self._take_in(event, now)
        while self.neighbours.met:
            effects += self.events.met(*self.neighbours.met.pop(), now)
        return effects

    def _take_in(self, event: Input, now: float) -> list[Effect]:
        match event:
            case Received():
                return self._receive(event.sender, event.message, now)
            case TimerFired():
                return self._fire(event.timer, now)
            case LinkUp():
                return self.neighbours.link_up(event.contact, now)
            case LinkDown():
                return self.neighbours.link_down(event, now)
            case Subscribe():
                return self._subscribe(event, now)
            case Unsubscribe():
                return self._unsubscribe(event.topic, now)
            case Publish():
                return self.events.publish(event.event, now)
            case Leave():
                return self._leave(now)

    def _receive(self, sender: Contact, message: Message | sampling.Message | EventMessage, now: float) -> list[Effect]:
        match message:
            case Walk():
                return self._walk_on(sender, message, now)
            case Reply():
                return self._take_back(message, now)
            case Announce():
                return self.neighbours.held_by(sender, message.topic, True, now)
            case Push() | Have() | Want() | Spare():
                return self.events.receive(sender, message, now)
            case Withdraw():
                return self.neighbours.held_by(sender, message.topic, False, now)
            case KeepAlive():
                return self.neighbours.alive(sender, message, now)
            case Left() if message.topic not in self.topics:
                return []
            case _ if message.topic not in self.topics:  # it has not heard that we are gone
                return [Send(sender, Left(message.topic))]
            case _:
                return self.neighbours.ask_manager(message.topic, Received(sender, message), now)

    def _fire(self, timer: object, now: float) -> list[Effect]:
        match timer:
            case Open():
                return self._open(timer, now)
            case Close(topic):
                return self._close(topic, now)
            case Check():
                return self._check(timer, now)
            case Tidy():
                return self._tidy(now)
            case _:
                return self.events.fire(timer, now)

    # Walks (StaN, Algorithm 2)

    def _open(self, timer: Open, now: float) -> list[Effect]:
        topic, following = timer.topic, self.topics.get(timer.topic)
        if following is None or timer.era not in (following.era, None):
            return []  # unsubscribed since; the timer ends here
        effects: list[Effect] = []
        if timer.era is not None:
            effects.append(SetTimer(self.neighbours.period(following), timer))
        now_round, following.round = following.round, following.round + 1
        view, explore = following.overlay.view.contacts, following.explore
        if explore is None and (following.due > now_round or not view):
            return effects
        following.due = now_round + following.wait
        turn, following.turn = following.turn, following.turn + 1
        walk = Walk(topic, self.me, turn, 0, frozenset())
        if explore is not None:
            following.explore = None
            return effects + self.neighbours.links.post(explore, walk, now)
        effects.append(Send(view[self._picked(following, self.me.id, turn, 0, len(view))], walk))
        return effects

    def _walk_on(self, sender: Contact, walk: Walk, now: float) -> list[Effect]:
        settings, me, hop, seen = self.settings, self.me, walk.hop, walk.seen
        if not 0 <= hop <= settings.ttl or len(seen) > hop * (MOST_PER_HOP + 1):
            return []  # nobody who keeps the rules sends this
        following = self.topics.get(walk.topic)
        if following is None:  # unsubscribed: it has nothing to add, and the walk ends
            return [
                Send(sender, Reply(walk.topic, walk.source, walk.turn, hop, seen)),
                *self.neighbours.held_by(sender, walk.topic, True, now),
            ]
        view = following.overlay.view.contacts
        if settings.collect == "views":
            collected = seen.union(view if len(view) <= MOST_PER_HOP else view[:MOST_PER_HOP], (me,))
        else:
            collected = seen.union((me,))
        effects: list[Effect]
        if hop < settings.ttl and view:
            target = view[self._picked(following, walk.source.id, walk.turn, hop + 1, len(view))]
            self._remember((walk.topic, walk.source.id, walk.turn, hop), sender)
            effects = [Send(target, Walk(walk.topic, walk.source, walk.turn, hop + 1, collected))]
        else:
            effects = [Send(sender, Reply(walk.topic, walk.source, walk.turn, hop, collected))]
        if (settings.learn or settings.snoop) and walk.source.id != me.id:
            overheard = seen if settings.snoop else frozenset()
            if settings.learn:  # ours: so that a node that nobody holds is found again
                overheard = overheard.union((walk.source,))
            effects += self._hear(following, overheard, now)
        return effects

    def _take_back(self, reply: Reply, now: float) -> list[Effect]:
        """The paper sends replies straight to the source, which need not be linked; ours go back as the walk came."""
        if not 0 <= reply.hop <= self.settings.ttl or len(reply.seen) > (self.settings.ttl + 1) * (MOST_PER_HOP + 1):
            return []  # nobody who keeps the rules sends this
        if reply.hop > 0:
            way = (reply.topic, reply.source.id, reply.turn, reply.hop - 1)
            previous = self.ways.pop(way, None) or self.old_ways.pop(way, None)
            if previous is None:
                return []  # too late, or never asked for
            return [Send(previous, Relay(reply.topic, reply.source, reply.turn, reply.hop - 1, reply.seen))]
        following = self.topics.get(reply.topic)
        if following is None or reply.source.id != self.me.id or reply.turn != following.turn - 1:
            return []  # the next period's walk overtakes it
        if self.lock_step:
            following.replied = True
            following.heard.append(reply.seen)
            return []
        effects, changed = self.neighbours.consider(following, reply.seen, now)
        self._pace(following, changed)
        return effects

    def _close(self, topic: int, now: float) -> list[Effect]:
        """Lock step: nobody's view changes before everybody's walk is over (StaN 3.4)."""
        following = self.topics.get(topic)
        if following is None:
            return []
        heard: frozenset[Contact] = frozenset().union(*following.heard)
        following.heard.clear()
        effects, changed = self.neighbours.consider(following, heard, now)
        if following.replied:
            self._pace(following, changed)
        following.replied = False
        return effects

    def _hear(self, following: Following, contacts: frozenset[Contact], now: float) -> list[Effect]:
        if self.lock_step:
            following.heard.append(contacts)
            return []
        return self.neighbours.consider(following, contacts, now)[0]

    def _pace(self, following: Following, changed: bool) -> None:
        """StaN 2.4: "progressively reduce the frequency as improvements become marginal"."""
        if self.settings.adaptive:
            following.wait = 1 if changed else min(2 * following.wait, self.settings.slowest)
            following.due = following.round - 1 + following.wait

    def _picked(self, following: Following, source: int, turn: int, hop: int, count: int) -> int:
        return pick(mix_long(hop, mix_long(turn, mix_long(source, following.walk_state))) >> 1, count)

    def _remember(self, way: Way, sender: Contact) -> None:
        self.ways[way] = sender
        if len(self.ways) > MOST_WAYS:
            del self.ways[next(iter(self.ways))]

    # Coming and going

    def _subscribe(self, command: Subscribe, now: float) -> list[Effect]:
        topic = command.topic
        if topic in self.topics:
            return []
        others = tuple(dict.fromkeys(contact for contact in command.contacts if contact.id != self.me.id))
        command = replace(command, contacts=others)
        overlay = Overlay(topic, View(self.me.id, self._ranking_on(topic)))
        connectivity = command.level.connectivity or self.settings.connectivity
        manager = sampling.manager_of(self.settings.manager, self.me, overlay, self.seed, connectivity)
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
            if not self.tidying:
                share = unit(chance(self.seed, "tidy", self.me.id))
                effects.append(SetTimer(share * self.settings.period, Tidy()))
                self.tidying = True
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
        self.turns[topic] = following.turn
        if len(self.turns) > MOST_TURNS:
            del self.turns[next(iter(self.turns))]
        del self.topics[topic]
        return effects

    def _leave(self, now: float) -> list[Effect]:
        effects: list[Effect] = []
        for topic in list(self.topics):
            effects += self._unsubscribe(topic, now)
        return effects + self.neighbours.links.close_all()

    # Once per period

    def _tidy(self, now: float) -> list[Effect]:
        effects: list[Effect] = []
        timed = self.settings.schedule == "timed"
        self.tidying = timed and bool(self.topics or self.neighbours.links.by_id)
        if self.tidying:
            effects.append(SetTimer(self.settings.period, Tidy()))
        self.ways, self.old_ways = {}, self.ways
        for following in self.topics.values():
            following.tidy(now)
        effects += self.events.tidy(now)
        effects += self.neighbours.links.close_idle(now - self.settings.period if timed else now)
        return effects + self.neighbours.keep_alive(now) if timed else effects

    def _check(self, timer: Check, now: float) -> list[Effect]:
        """Let a topic's manager see to its overlay."""
        following = self.topics.get(timer.topic)
        if following is None or timer.era != following.era:
            return []  # unsubscribed since; the timer ends here
        again = SetTimer(self.settings.period, timer)
        return [again, *self.neighbours.ask_manager(timer.topic, TimerFired(timer), now)]

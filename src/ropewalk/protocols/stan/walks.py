"""The walks of one node: StaN, Algorithm 2. What they find is for `neighbours` to take in.

The paper sends a reply straight to where its walk began, which need not be linked; ours go back along the walk's path, so
every node on it remembers for a while from whom a walk came.
"""

from dataclasses import dataclass

from ropewalk.ids import mix_long
from ropewalk.protocols.contract import Contact, Effect, Send, SetTimer
from ropewalk.protocols.reached import UNSOUND
from ropewalk.protocols.stan.following import Following
from ropewalk.protocols.stan.messages import Relay, Reply, Walk
from ropewalk.protocols.stan.neighbours import Neighbours
from ropewalk.protocols.stan.settings import Settings
from ropewalk.seeds import pick

MOST_PER_HOP = 64  # ours: neighbours that one node may add to a walk; far more than ln n + c for any number of nodes
MOST_WAYS = 4096  # ours: walks whose way back is remembered, some hundred for every topic

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


class Walks:
    """Those that begin here, and those that pass."""

    __slots__ = ("lock_step", "me", "neighbours", "old_ways", "settings", "topics", "ways")

    def __init__(self, me: Contact, settings: Settings, neighbours: Neighbours) -> None:
        self.me, self.settings, self.neighbours, self.topics = me, settings, neighbours, neighbours.topics
        self.lock_step = settings.schedule == "sync"
        self.ways: dict[Way, Contact] = {}  # from whom a walk came since the last Tidy, at most MOST_WAYS
        self.old_ways: dict[Way, Contact] = {}  # and in the period before; then it is forgotten

    def tidy(self) -> None:
        """Once per period."""
        self.ways, self.old_ways = {}, self.ways

    def open(self, timer: Open, now: float) -> list[Effect]:
        """Begin a walk, if it is time for one."""
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

    def walk_on(self, sender: Contact, walk: Walk, now: float) -> list[Effect]:
        """Add who is here to a walk that passes, and let it go on or back."""
        settings, me, hop, seen = self.settings, self.me, walk.hop, walk.seen
        if not 0 <= hop <= settings.ttl or len(seen) > hop * (MOST_PER_HOP + 1):
            self.neighbours.links.reached.note(UNSOUND)
            return []
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
        goes_on = hop < settings.ttl and bool(view)
        target = view[self._picked(following, walk.source.id, walk.turn, hop + 1, len(view))] if goes_on else None
        if target is not None and self.neighbours.may_pass_on(target.id, Walk.kind, now):
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

    def take_back(self, reply: Reply, now: float) -> list[Effect]:
        """Hand a reply back to where its walk came from; where it began, take in what it brought."""
        if not 0 <= reply.hop <= self.settings.ttl or len(reply.seen) > (self.settings.ttl + 1) * (MOST_PER_HOP + 1):
            self.neighbours.links.reached.note(UNSOUND)
            return []
        if reply.hop > 0:
            way = (reply.topic, reply.source.id, reply.turn, reply.hop - 1)
            previous = self.ways.pop(way, None) or self.old_ways.pop(way, None)
            if previous is None or not self.neighbours.may_pass_on(previous.id, Relay.kind, now):
                return []  # too late, or never asked for; or too many
            return [Send(previous, Relay(reply.topic, reply.source, reply.turn, reply.hop - 1, reply.seen))]
        following = self.topics.get(reply.topic)
        if following is None or reply.source.id != self.me.id or reply.turn != following.turn - 1:
            return []  # the next period's walk overtakes it
        if self.lock_step:
            following.replied = True
            following.heard.append(reply.seen)
            return []
        effects, changed = self.neighbours.consider(following, reply.seen, now, named=True)
        self._pace(following, changed)
        return effects

    def close(self, topic: int, now: float) -> list[Effect]:
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
        return self.neighbours.consider(following, contacts, now, named=True)[0]

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
            self.neighbours.links.reached.note("ways back of walks")
            del self.ways[next(iter(self.ways))]

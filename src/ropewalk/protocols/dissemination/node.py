"""Events spread along the links that topics share: trees where all is well, advertisements where it is not.

After Leitao, Pereira, Rodrigues, "Epidemic broadcast trees" (Plumtree), and gossipsub, on the overlays of several topics at
once. An event crosses a link at most once, whatever the number of its topics (StaN 2.2). Whether a link brings events by
itself (it is *eager*) is decided for each topic apart, since a link that is one too many for one topic may be the only way
for another; frames, digests and timers are shared.

Ours: links start lazy. The first event of a topic is advertised from node to node, and each that asks for it makes the
link eager, so the first event leaves a tree behind instead of a flood. An event that was only late or lost is asked for and
changes no tree; a tree is mended when `misses` in a row had to be asked for.
"""

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from heapq import nsmallest

from ropewalk.ids import weight
from ropewalk.protocols.content.filters import MOST_ATTRIBUTES
from ropewalk.protocols.contract import Contact, Deliver, Effect, Event, Send, SetTimer, bytes_of
from ropewalk.protocols.dissemination.asking import Ask, Asking, asked_together
from ropewalk.protocols.dissemination.contract import Around, NeighboursOn
from ropewalk.protocols.dissemination.greetings import NEVER, Greet, Greetings
from ropewalk.protocols.dissemination.kept import Kept, is_left_out, leading, passed_on, showed
from ropewalk.protocols.dissemination.mending import Mending
from ropewalk.protocols.dissemination.messages import Have, Inject, Push, Spare, Want
from ropewalk.protocols.dissemination.offers import Offers, offer, told
from ropewalk.protocols.dissemination.settings import (
    MOST_CAUGHT_UP,
    MOST_CROSSED,
    MOST_IDS,
    MOST_KEPT,
    MOST_KEPT_BYTES,
    MOST_PAYLOAD,
    MOST_SEEN,
    MOST_TOPICS,
    Settings,
)
from ropewalk.protocols.dissemination.trees import Trees
from ropewalk.protocols.reached import UNSOUND, Reached
from ropewalk.protocols.remembered import Remembered


@dataclass(frozen=True, slots=True)
class Advertise:
    """Time to say what came."""


@dataclass(frozen=True, slots=True)
class Remind:
    """Time for those who were told once per period to have answered."""

    turn: int  # which telling it belongs to
    times: int  # reminders of it so far


class Node:
    """The events of one node. It is part of a node that knows who its neighbours are."""

    __slots__ = (
        "asking",
        "caught_up",
        "draws_by",
        "forgot_before",
        "greetings",
        "kept",
        "kept_bytes",
        "mending",
        "neighbours",
        "pending",
        "reached",
        "seen",
        "settings",
        "trees",
        "turn",
        "unanswered",
        "urged_at",
    )

    def __init__(self, settings: Settings, neighbours: NeighboursOn, draws_by: int) -> None:
        self.settings, self.neighbours, self.draws_by = settings, neighbours, draws_by
        # oldest first; MOST_KEPT, and MOST_KEPT_BYTES. The oldest of a plain dict is found behind the places of all that went before
        self.kept: OrderedDict[int, Kept] = OrderedDict()
        self.kept_bytes = 0  # of these
        self.seen = Remembered(MOST_SEEN)  # ids of events that came
        self.forgot_before = NEVER  # when the latest of these came that had to go for want of room
        self.trees = Trees(settings.misses, neighbours)
        self.mending = Mending(neighbours, self.trees, settings.retry)
        self.reached = Reached()
        self.asking = Asking(settings, neighbours, self.trees, self.reached)
        self.turn = 0  # how often neighbours were told, once per period
        self.unanswered: Offers = {}  # what they were told then and have not answered
        self.greetings = Greetings(settings, neighbours)
        self.caught_up: dict[int, float] = {}  # who was last offered what it had missed, and when; those of a period
        self.pending: dict[int, None] = {}  # events yet to be advertised; while there are any, Advertise is on its way
        self.urged_at = NEVER  # when one was advertised at once, since there is no tree

    # What the node says

    def publish(self, event: Event, now: float) -> list[Effect]:
        """An event of this node's own."""
        if self.knows(event.id):
            return []
        self._remember(event.id, now)
        return self._accept(event, None, Push(event, event.topics, 0, False), now)

    def inject(self, inject: Inject, now: float) -> list[Effect]:
        """An event of somebody else's, which came on no link of a topic."""
        push = Push(inject.event, (), 1, not inject.lead, inject.age)
        if self.knows(inject.event.id) or not self._is_sound(push):
            if not self.knows(inject.event.id):
                self.reached.note(UNSOUND)
            return []
        return self._accept(inject.event, None, push, now)

    def met(self, contacts: Iterable[Contact]) -> list[Effect]:
        """These are neighbours on one topic more than before: they may be new, or have lost all others."""
        return self.greetings.add(contacts) if self.kept else []

    def unlinked(self, gone: Iterable[tuple[int, int]], now: float) -> list[Effect]:
        """On these topics these are no longer neighbours, or on one side only."""
        return asked_together(
            [each for topic, node in gone for each in self.mending.unlinked(topic, node, self.kept, now)]
        )

    def refuse(self, event: int, sender: Contact, now: float) -> list[Effect]:
        """It has come, and is not wanted here: nobody is asked for it any more."""
        if self.knows(event):
            return []
        self._remember(event, now)
        self.asking.no_more(event)
        return [Send(sender, Spare((event,), ()))]

    def lost(self, node: int) -> None:
        """Somebody is gone: if it comes back, it has nothing."""
        for kept in self.kept.values():
            for known in (kept.shown, kept.sent, kept.answers or {}):
                known.pop(node, None)
        self.caught_up.pop(node, None)

    def has(self, event: int) -> bool:
        """Whether it can be had here."""
        return event in self.kept

    def knows(self, event: int) -> bool:
        """Whether it has come, or was refused."""
        return event in self.seen or event in self.kept

    def receive(self, sender: Contact, message: Push | Have | Want | Spare, now: float) -> list[Effect]:
        """Take a message in."""
        match message:
            case Push():
                return self._pushed(sender, message, now)
            case Have():
                return self._offered(sender, message, now)
            case Want():
                return self._asked(sender, message, now)
            case Spare():
                return self._spared(sender, message)

    def fire(self, timer: object, now: float) -> list[Effect]:
        """A timer of this node's is due."""
        match timer:
            case Advertise():
                pending, self.pending = self.pending, {}
                return self._advertise(pending)
            case Greet():
                return self.greetings.fire(self.kept, self.pending, now)
            case Remind():
                return self._remind(timer)
            case Ask():
                return self.asking.fire(timer, now)
            case _:
                return []

    def tidy(self, now: float) -> list[Effect]:
        """Once per period: forget what is old, and tell those of the rest who have not shown that they have it.

        So whoever is new hears what is young, and what was lost on every way, or published across a partition, gets through.
        """
        for event in [event for event, kept in self.kept.items() if kept.at <= now - self.settings.keep]:
            self._drop(event)
        self.seen.forget(now - self.settings.seen)
        self.trees.tidy(now - self.settings.retry)
        self.mending.tidy(self.kept, now)
        self.greetings.tidy(now)
        self.caught_up = {node: at for node, at in self.caught_up.items() if at > now - self.settings.retry}
        offers: Offers = {}
        around = _ByTopics(self._around)
        for event, kept in self.kept.items():
            near, shown = around[kept.event.topics], kept.shown
            if not shown.keys() <= near.keys():
                shown = kept.shown = {node: None for node in shown if node in near}
            kept.answers = None  # whoever asked too often for a while may ask again
            if len(shown) < len(near) and event not in self.pending:  # else all have it, as mostly
                offer(offers, event, {node: each for node, each in near.items() if node not in shown})
        self.turn, self.unanswered = self.turn + 1, offers
        return [*told(offers, answer=True), SetTimer(self.settings.retry, Remind(self.turn, 0))] if offers else []

    def _remind(self, timer: Remind) -> list[Effect]:
        """Tell those again who have not answered: a node with one neighbour hears of an event once per period, or not at all."""
        if timer.turn != self.turn:
            return []  # the next period's telling is under way
        offers: Offers = {}
        around = _ByTopics(self._around)
        for node, (contact, offered) in self.unanswered.items():
            for event, _ in offered:
                kept = self.kept.get(event)
                near = around[kept.event.topics].get(node) if kept is not None and node not in kept.shown else None
                if near is not None:
                    offers.setdefault(node, (contact, []))[1].append((event, tuple(near[1])))
        self.unanswered = offers
        if not offers or timer.times >= self.settings.reminders:
            return []
        again = SetTimer(self.settings.retry, Remind(timer.turn, timer.times + 1))
        return [*told(offers, answer=True), again]

    def unspread(self, topic: int) -> list[tuple[Event, float]]:
        """Events that nobody on a topic has shown to have. Those of others came from somebody, or were let in here."""
        near = (self.neighbours(topic) or {}).keys()
        concerned = [kept for kept in self.kept.values() if topic in kept.event.topics]
        return [
            (kept.event, kept.at) for kept in concerned if not (kept.shown if kept.hops else kept.shown.keys() & near)
        ]

    def leave(self, now: float) -> list[Effect]:
        """Before this node goes: hand on what nobody has shown to have, to some each."""
        effects: list[Effect] = []
        for kept in self.kept.values():
            around = self._around(kept.event.topics) if not kept.shown else {}
            for contact, topics in list(around.values())[: self.settings.lazy]:
                effects.append(Send(contact, passed_on(kept, topics, now, asked=True)))
        return effects

    # The event itself

    def _pushed(self, sender: Contact, push: Push, now: float) -> list[Effect]:
        event = push.event
        if push.hops < 1 or not self._is_sound(push):
            self.reached.note(UNSOUND)
            return []
        if not self.knows(event.id):
            return self._accept(event, sender, push, now)
        kept = self.kept.get(event.id)
        if kept is None:
            return []
        recalled = showed(kept, sender)
        if not push.asked and kept.wanted_at is not None:  # it was asked for too soon
            self.asking.patience.came(now - kept.wanted_at)
            kept.wanted_at = None
        if push.asked or not kept.pushed:
            return recalled
        # One too many for those topics on which the first copy came as well; another topic's tree may need this link. So does this
        # one's, if the first link is lazy by now: of events that follow each other closely each can be brought first by another.
        pruned = [
            topic
            for topic in push.topics
            if topic in kept.topics
            and sender.id in (self.neighbours(topic) or ())
            and (kept.via is None or self.trees.brings(topic, kept.via))
        ]
        self.trees.spare(sender.id, pruned, now)
        return [*recalled, Send(sender, Spare((event.id,), tuple(pruned)))] if pruned else recalled

    def _accept(self, event: Event, sender: Contact | None, push: Push, now: float) -> list[Effect]:
        """The first copy: deliver it, and see that it goes on, on all topics of the event that are followed here."""
        followed = {topic: neighbours for topic in event.topics if (neighbours := self.neighbours(topic)) is not None}
        if not followed:
            return []  # unsubscribed while it was on its way
        self._remember(event.id, now)
        wanted = self.asking.came(event.id, now, asked=push.asked or sender is None)
        effects: list[Effect] = [Deliver(event, push.hops)] if push.hops else []  # not to its publisher
        shown: dict[int, None] = dict.fromkeys(wanted.advertisers) if wanted is not None else {}
        if sender is not None:
            shown[sender.id] = None
            if not push.asked:
                self.mending.came(event.id, (topic for topic in push.topics if topic in followed))
                self.trees.welcome(sender.id, push.topics, now - self.settings.retry)
        targets = self.trees.targets(followed, shown)
        sent = dict.fromkeys(targets)
        kept = self.kept[event.id] = Kept(
            event=event,
            hops=push.hops,
            at=now - push.age,
            pushed=not push.asked,
            on_tree=not push.asked or (wanted is not None and wanted.alone and self.trees.stand(push.topics)),
            via=None if sender is None else sender.id,
            topics=push.topics,
            shown=shown,
            sent=sent,
            wanted_at=wanted.since if wanted is not None and push.asked else None,
        )
        self.kept_bytes += bytes_of(event)
        self._make_room()
        if wanted is not None and len(event.payload) >= self.settings.large:  # who has it, too, may be about to send it
            others = (each for each in wanted.advertisers.values() if each != sender)
            effects += [Send(each, Spare((event.id,), ())) for each in others]
        if targets:
            effects += self._spread(kept, targets, asked=push.asked, now=now)
        if not is_left_out(followed, kept):
            return effects
        treeless = (wanted is not None and wanted.treeless) or any(
            followed.get(topic) for topic in self.trees.lacking(event.topics)
        )
        if treeless and now - self.urged_at >= self.settings.gather:  # it gets no further but by being offered
            self.urged_at = now
            return effects + self._advertise((event.id,))
        if not self.pending:
            effects.append(SetTimer(self.settings.gather, Advertise()))
        self.pending[event.id] = None
        return effects

    def _spread(self, kept: Kept, targets: Around, *, asked: bool, now: float) -> list[Effect]:
        """Over links that are eager: as it is, or offered where others may have been faster."""
        event, effects = kept.event, list[Effect]()
        large, first = len(event.payload) >= self.settings.large, leading(event)
        for contact, topics in targets.values():
            if asked or first not in topics:  # some of them may have it by now, from others
                effects.append(Send(contact, Have(((event.id, tuple(topics)),), alone=True)))
                continue
            if large:  # time to say that it has it
                effects.append(Send(contact, Have(((event.id, tuple(topics)),))))
            effects.append(Send(contact, passed_on(kept, topics, now, asked=False)))
        return effects

    # What can be had, and from whom

    def _advertise(self, events: Collection[int]) -> list[Effect]:
        """Tell neighbours that these came. All, if no tree brought it, or none goes on there: others may miss it, too. Else some, by chance."""
        offers: Offers = {}
        only_here: Offers = {}  # nobody else has it: it comes from here, or not at all
        around = _ByTopics(self._around)
        # Which neighbours is drawn: the same for all that comes together, which takes fewer messages, and by each node in its own way, so that
        # nobody is drawn last by all
        drawn = weight(self.draws_by, next(iter(events), 0))
        for event in events:
            kept = self.kept[event]
            near = around[kept.event.topics]
            others = [node for node in near if node not in kept.shown and node not in kept.sent]
            if not others:
                continue
            if kept.on_tree and (kept.shown or kept.sent):
                lacking = self.trees.lacking(kept.event.topics)
                told_all = [node for node in others if not lacking.isdisjoint(near[node][1])] if lacking else []
                others = [node for node in others if node not in told_all] if told_all else others
                others = told_all + nsmallest(self.settings.lazy, others, key=lambda node: weight(drawn, node))
            somewhere = kept.shown or kept.sent
            offer(offers if somewhere else only_here, event, {node: near[node] for node in others})
        return told(offers) + told(only_here, alone=True)

    def _offered(self, sender: Contact, have: Have, now: float) -> list[Effect]:
        effects: list[Effect] = []
        known: list[int] = []
        near: dict[tuple[int, ...], bool] = {}  # found once for all events on the same topics
        for event, topics in have.offers[:MOST_IDS]:
            kept = self.kept.get(event)
            if kept is None and event not in self.seen:
                effects += self.asking.advertised(sender, event, topics, now, alone=have.alone)
            elif kept is None:  # it was here, or is not wanted
                known += [event] if self._is_near(sender, topics) else []
            else:
                on = kept.event.topics
                if on not in near:
                    near[on] = self._is_near(sender, on)
                if near[on]:
                    known.append(event)  # strangers are not told what is here: it tells what is followed
                    effects += showed(kept, sender)
        if known and have.answer:
            effects.append(Send(sender, Spare(tuple(known), ())))
        return asked_together(effects)

    def _asked(self, sender: Contact, want: Want, now: float) -> list[Effect]:
        ids = dict.fromkeys(want.ids[:MOST_IDS])
        grafted = [
            topic
            for topic in dict.fromkeys(want.topics[:MOST_TOPICS])
            if sender.id in (self.neighbours(topic) or ()) and not self.trees.is_eager(topic, sender.id)
        ]
        self.trees.grow(sender.id, grafted)
        effects = self._catch_up(sender, grafted, ids, now) if grafted else []
        shared: dict[tuple[int, ...], list[int]] = {}  # found once for all events on the same topics
        for event in ids:
            kept = self.kept.get(event)
            answers = kept.answers or {} if kept is not None else {}
            if kept is None or answers.get(sender.id, 0) >= self.settings.tries:
                continue  # it is not here, or the sender has had its share: looked at first, as that costs least
            topics = kept.event.topics
            if topics not in shared:
                shared[topics] = [topic for topic in topics if sender.id in (self.neighbours(topic) or ())]
            if shared[topics]:
                kept.answers = answers | {sender.id: answers.get(sender.id, 0) + 1}
                effects.append(Send(sender, passed_on(kept, shared[topics], now, asked=True)))
        return effects

    def _catch_up(self, sender: Contact, topics: list[int], asked: dict[int, None], now: float) -> list[Effect]:
        """Ours: who has lost its way into a tree lacks not one event, but all since then: they are offered at once.

        The latest MOST_CAUGHT_UP, and once per `retry`, however often it makes a link eager.
        """
        if now - self.caught_up.get(sender.id, NEVER) < self.settings.retry:
            return []
        self.caught_up[sender.id] = now
        since = now - (self.settings.misses + 1) * self.settings.patience
        offers: Offers = {}
        offered = 0
        for event, kept in reversed(self.kept.items()):
            shared = [topic for topic in topics if topic in kept.event.topics] if kept.at >= since else []
            if shared and event not in asked and sender.id not in kept.shown and sender.id not in kept.sent:
                offer(offers, event, {sender.id: (sender, shared)})
                offered += 1
                if offered == MOST_CAUGHT_UP:
                    self.reached.note("events offered to who lost its way into a tree")
                    break
        return told(offers, alone=True)

    def _spared(self, sender: Contact, spare: Spare) -> list[Effect]:
        self.trees.prune(sender.id, spare.topics[:MOST_TOPICS])
        known = [kept for event in spare.ids[:MOST_IDS] if (kept := self.kept.get(event)) is not None]
        return [effect for kept in known for effect in showed(kept, sender)]

    # Memory

    def _around(self, topics: tuple[int, ...]) -> Around:
        """All with whom an event on these could be exchanged, and on which of them."""
        found: Around = {}
        for topic in topics:
            for node, contact in (self.neighbours(topic) or {}).items():
                found.setdefault(node, (contact, []))[1].append(topic)
        return found

    def _is_near(self, node: Contact, topics: Iterable[int]) -> bool:
        return any(node.id in (self.neighbours(topic) or ()) for topic in topics)

    def _is_sound(self, push: Push) -> bool:
        """Whether a node that keeps the rules could have sent it."""
        event, topics = push.event, push.event.topics
        return (
            len(event.payload) <= MOST_PAYLOAD
            and 1 <= len(topics) <= MOST_TOPICS
            and len(event.content) <= MOST_ATTRIBUTES
            and (push.topics == topics or (len(push.topics) <= MOST_TOPICS and all(t in topics for t in push.topics)))
            and 0 <= push.hops <= MOST_CROSSED  # else what is passed on is more than may be said
            and 0 <= push.age < self.settings.keep
        )

    def _remember(self, event: int, now: float) -> None:
        gone_at = self.seen.add(event, now)
        if gone_at is not None:
            self.reached.note("ids of events")
            self.forgot_before = max(self.forgot_before, gone_at)

    def _make_room(self) -> None:
        while len(self.kept) > MOST_KEPT or self.kept_bytes > MOST_KEPT_BYTES:
            self.reached.note("events kept")
            event, kept = self.kept.popitem(last=False)
            self.kept_bytes -= bytes_of(kept.event)
            self.pending.pop(event, None)

    def _drop(self, event: int) -> None:
        self.kept_bytes -= bytes_of(self.kept.pop(event).event)
        self.pending.pop(event, None)


class _ByTopics(dict[tuple[int, ...], Around]):
    """Who is around, found once for all events on the same topics, as those are that come together. To be read only."""

    def __init__(self, find: Callable[[tuple[int, ...]], Around]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, topics: tuple[int, ...]) -> Around:
        found = self[topics] = self._find(topics)
        return found

"""Events that are advertised and have not come: when they are asked for, and whom.

Where a tree stands, an event is given some time to come by itself; less, if it may have come apart. Then its advertisers are asked
one after the other, the latest first: those before it may have been asked in vain.
"""

from dataclasses import dataclass, field

from ropewalk.protocols.contract import Contact, Effect, Send, SetTimer
from ropewalk.protocols.dissemination.contract import NeighboursOn
from ropewalk.protocols.dissemination.messages import Want
from ropewalk.protocols.dissemination.patience import Lateness, Patience
from ropewalk.protocols.dissemination.settings import (
    MOST_ADVERTISERS,
    MOST_FROM_ONE,
    MOST_IDS,
    MOST_TOPICS,
    MOST_WANTED,
    Settings,
)
from ropewalk.protocols.dissemination.trees import Trees
from ropewalk.protocols.reached import Reached


@dataclass(frozen=True, slots=True)
class Ask:
    """Time to ask for an event, if it has not come by itself."""

    event: int
    asked: int  # how often it had been asked for when this was set


@dataclass(slots=True)
class Wanted:
    """An event that is advertised, and not here yet."""

    first: int  # who advertised it first
    since: float  # when
    topics: dict[int, None]
    advertisers: dict[int, Contact] = field(default_factory=dict)  # at most MOST_ADVERTISERS; who was asked goes last
    alone: bool = False  # it does not come by itself: the tree is not to blame
    treeless: bool = False  # nor could it: there was no tree when it was advertised
    asked: int = 0
    more: int = 0  # how often it may be asked for beyond what is usual, since others have it, too
    due: float = 0.0  # when it is to be asked for next
    put_off: bool = False  # whether that was put off already, since this node was late itself


class Asking:
    """All that one node has yet to get."""

    __slots__ = ("first_from", "lateness", "neighbours", "patience", "reached", "settings", "trees", "wanted")

    def __init__(self, settings: Settings, neighbours: NeighboursOn, trees: Trees, reached: Reached) -> None:
        self.settings, self.neighbours, self.trees, self.reached = settings, neighbours, trees, reached
        self.patience, self.lateness = Patience(settings.doubt, settings.patience), Lateness()
        self.wanted: dict[int, Wanted] = {}  # at most MOST_WANTED
        self.first_from: dict[int, int] = {}  # of these, how many who advertised first; at most MOST_FROM_ONE each

    def advertised(
        self, sender: Contact, event: int, topics: tuple[int, ...], now: float, *, alone: bool
    ) -> list[Effect]:
        """Somebody has an event that is not here."""
        shared = [topic for topic in topics[:MOST_TOPICS] if sender.id in (self.neighbours(topic) or ())]
        if not shared:
            return []
        wanted = self.wanted.get(event)
        if wanted is None:
            return self._want(sender, event, shared, now, alone=alone)
        wanted.topics.update(dict.fromkeys(shared))
        if sender.id not in wanted.advertisers:
            self._add(wanted, sender)
        if alone and not wanted.asked and not wanted.alone:
            wanted.alone = True
            return self._ask(event, now)
        return []

    def fire(self, timer: Ask, now: float) -> list[Effect]:
        """It should have come by now; if this node is late itself, it may have, and be unread."""
        wanted = self.wanted.get(timer.event)
        if wanted is None or wanted.asked != timer.asked:
            return []
        late = now - wanted.due
        self.lateness.fired(late, now)
        if late > self.settings.doubt and not wanted.put_off:
            wanted.put_off = True
            return [self._wait(timer.event, wanted, 0.0, now)]
        return self._ask(timer.event, now)

    def came(self, event: int, now: float, *, asked: bool) -> Wanted | None:
        """It has come."""
        wanted = self.no_more(event)
        if not asked:
            self.patience.came(0.0 if wanted is None else now - wanted.since)
        return wanted

    def no_more(self, event: int) -> Wanted | None:
        """It is here, or cannot be had."""
        wanted = self.wanted.pop(event, None) if self.wanted else None
        if wanted is not None:
            self.first_from[wanted.first] -= 1
            if not self.first_from[wanted.first]:
                del self.first_from[wanted.first]
        return wanted

    def _want(self, sender: Contact, event: int, shared: list[int], now: float, *, alone: bool) -> list[Effect]:
        count = self.first_from.get(sender.id, 0)
        if len(self.wanted) >= MOST_WANTED or count >= MOST_FROM_ONE:
            self.reached.note("events advertised")
            return []  # it will be advertised again
        self.first_from[sender.id] = count + 1
        wanted = self.wanted[event] = Wanted(sender.id, now, dict.fromkeys(shared), {sender.id: sender}, alone)
        wanted.treeless = not self.trees.stand(shared)
        if alone or wanted.treeless:
            return self._ask(event, now)
        patience = self.settings.doubt if self.trees.may_be_apart(shared) else self.patience.seconds()
        return [self._wait(event, wanted, patience, now)]

    def _wait(self, event: int, wanted: Wanted, seconds: float, now: float) -> Effect:
        """Ask for it when so many seconds have passed, and more where this node is late."""
        seconds += self.lateness.seconds(now)
        wanted.due = now + seconds
        return SetTimer(seconds, Ask(event, wanted.asked))

    def _add(self, wanted: Wanted, sender: Contact) -> None:
        """One advertiser more; it is the next to be asked."""
        if len(wanted.advertisers) >= MOST_ADVERTISERS and wanted.asked:
            wanted.advertisers.popitem()  # who was asked last
        if len(wanted.advertisers) < MOST_ADVERTISERS:
            wanted.advertisers = {sender.id: sender} | wanted.advertisers
            wanted.more = min(max(wanted.more, wanted.asked + 1 - self.settings.tries), self.settings.tries)

    def _ask(self, event: int, now: float) -> list[Effect]:
        """Ask the next advertiser that is still a neighbour."""
        wanted = self.wanted[event]
        there = [
            (contact, shared)
            for contact in wanted.advertisers.values()
            if (shared := [topic for topic in wanted.topics if contact.id in (self.neighbours(topic) or ())])
        ]
        if not there or wanted.asked >= self.settings.tries + wanted.more:
            self.no_more(event)  # until it is advertised again
            return []
        contact, shared = there[0]
        wanted.advertisers[contact.id] = wanted.advertisers.pop(contact.id)
        grafted = self.trees.graft(contact.id, shared, missed=not wanted.asked and not wanted.alone)
        wanted.asked += 1
        wanted.put_off = False
        return [Send(contact, Want((event,), tuple(grafted))), self._wait(event, wanted, self.settings.retry, now)]


def asked_together(effects: list[Effect]) -> list[Effect]:
    """The same, but with one question to each for all that it is asked for, or as few as may be."""
    wants: dict[Contact, list[Want]] = {}
    others: list[Effect] = []
    for effect in effects:
        if isinstance(effect, Send) and isinstance(effect.message, Want):
            wants.setdefault(effect.to, []).append(effect.message)
        else:
            others.append(effect)
    for contact, each in wants.items():
        ids = tuple(event for want in each for event in want.ids)
        topics = tuple(dict.fromkeys(topic for want in each for topic in want.topics))
        for part in range(max(-(-len(ids) // MOST_IDS), -(-len(topics) // MOST_TOPICS))):  # no more than is taken
            some = ids[part * MOST_IDS : (part + 1) * MOST_IDS]
            others.append(Send(contact, Want(some, topics[part * MOST_TOPICS : (part + 1) * MOST_TOPICS])))
    return others

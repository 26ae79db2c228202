"""Who has become a neighbour, and is told what can be had: at once, but nobody again and again, and not of everything in one go.

Somebody may hold a node on a topic, and no longer, and hold it again, as often as it likes. So nobody is told more often than once per
`retry`, nor of more than MOST_CAUGHT_UP events then. Nothing is lost by that: who came in between is told when that is over, and so is who
was told of some from where it stopped.
"""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass

from ropewalk.protocols.contract import Contact, Effect, SetTimer
from ropewalk.protocols.dissemination.contract import NeighboursOn
from ropewalk.protocols.dissemination.kept import Kept
from ropewalk.protocols.dissemination.offers import Offers, told
from ropewalk.protocols.dissemination.settings import MOST_CAUGHT_UP, Settings

NEVER = float("-inf")


@dataclass(frozen=True, slots=True)
class Greet:
    """Time to tell new neighbours what can be had."""


class Greetings:
    """Those of one node. While anybody waits for one, Greet is on its way."""

    __slots__ = ("neighbours", "settings", "stopped", "told_at", "waiting")

    def __init__(self, settings: Settings, neighbours: NeighboursOn) -> None:
        self.settings, self.neighbours = settings, neighbours
        self.waiting: dict[int, Contact] = {}  # no more than there are neighbours
        self.stopped: dict[int, int] = {}  # of these, who was told of some: the last of them
        self.told_at: dict[int, float] = {}  # who was told of late, and when; those of a period

    def add(self, contacts: Iterable[Contact]) -> list[Effect]:
        """These are neighbours on one topic more than before, on which they may lack what is older than where they stopped."""
        was_waiting = bool(self.waiting)
        for contact in contacts:
            self.waiting[contact.id] = contact
            self.stopped.pop(contact.id, None)
        return [] if was_waiting or not self.waiting else [SetTimer(self.settings.gather, Greet())]

    def fire(self, kept: Mapping[int, Kept], besides: Container[int], now: float) -> list[Effect]:
        """Tell those who may be told again, oldest events first, but for some that all are told of anyway."""
        due = [node for node in self.waiting if self._due_at(node) <= now]
        greeted = {node: self.waiting.pop(node) for node in due}
        self.told_at.update(dict.fromkeys(greeted, now))
        effects = told(self._offered(greeted, kept, besides), answer=True)
        if self.waiting:
            soonest = min(map(self._due_at, self.waiting)) - now
            effects.append(SetTimer(max(self.settings.gather, soonest), Greet()))
        return effects

    def tidy(self, now: float) -> None:
        """Forget who was told long ago."""
        self.told_at = {node: at for node, at in self.told_at.items() if at > now - self.settings.retry}

    def _due_at(self, node: int) -> float:
        return self.told_at.get(node, NEVER) + self.settings.retry

    def _offered(self, greeted: dict[int, Contact], kept: Mapping[int, Kept], besides: Container[int]) -> Offers:
        """What each is told of; who has been told of enough waits again."""
        stopped = {node: self.stopped.pop(node) for node in greeted if node in self.stopped}
        passed = {node: event for node, event in stopped.items() if event in kept}  # else all up to there is gone
        shared: dict[
            tuple[int, ...], dict[int, tuple[int, ...]]
        ] = {}  # with whom, found once for all events on the same topics
        offers: Offers = {node: (contact, []) for node, contact in greeted.items()}
        for event, each in kept.items():
            topics, shown = each.event.topics, each.shown
            if topics not in shared:
                shared[topics] = self._shared(topics, offers)
            for node, on in shared[topics].items() if event not in besides else ():
                if node in shown or node in passed or node in self.stopped:
                    continue
                offered = offers[node][1]
                offered.append((event, on))
                if len(offered) == MOST_CAUGHT_UP:
                    self.waiting[node], self.stopped[node] = greeted[node], event
            if passed:
                passed = {node: last for node, last in passed.items() if last != event}
        return offers

    def _shared(self, topics: tuple[int, ...], nodes: Iterable[int]) -> dict[int, tuple[int, ...]]:
        """Who of some is a neighbour on any of these, and on which."""
        near = [(topic, self.neighbours(topic) or {}) for topic in topics]
        found = {node: tuple([topic for topic, around in near if node in around]) for node in nodes}
        return {node: on for node, on in found.items() if on}

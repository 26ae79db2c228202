"""Getting events into topics that their publisher does not follow: through members found by discovery.

Ours (the papers let only followers publish): an event is handed to three members at once, each of which spreads it as if it
had come from a neighbour. One that says so suffices; if none does, others are tried, and if that fails whoever published
it is told; where topics are cells, as soon as nobody is found to want it, while it is tried on. Members that were found are
remembered for a while. Whoever follows a topic no longer hands on in the same way what it published there, and nobody is
known to have.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from ropewalk.protocols.contract import Contact, Effect, Entered, Event, Report, SetTimer, bytes_of
from ropewalk.protocols.dissemination.messages import Inject, Taken
from ropewalk.protocols.dissemination.settings import MOST_ENTRANCES, MOST_INJECTED, MOST_KEPT_BYTES, Settings
from ropewalk.protocols.links import Links

Seek = Callable[[int, float], list[Effect]]
"""Look for members of a topic; `Injections.found` is told of whoever is found, once."""
Key = tuple[int, int]  # event, topic


NOBODY = "no member of the topic could be reached, or none had room"
UNWANTED = "nobody is known to want what it says"


@dataclass(frozen=True, slots=True)
class Await:
    """Time for an entrance to have answered."""

    event: int
    topic: int
    attempt: int


@dataclass(slots=True)
class Injected:
    """An event that is not known to be in yet."""

    event: Event
    at: float  # when it was published
    attempt: int = 0  # how often entrances were tried
    asked: dict[int, None] = field(default_factory=dict)  # who has been tried, of those who are remembered
    handed: dict[int, None] = field(default_factory=dict)  # everybody who has been: any of them may answer late
    unreached: dict[int, None] = field(default_factory=dict)  # of these, who could not be reached, since the last wait
    unwanted: bool = False  # whether its publisher was told that nobody is known to want it
    seeking: bool = False  # until members are found, or are not


class Injections:
    """The events of one node that have yet to get into a topic."""

    __slots__ = ("entrances", "links", "me", "open", "seek", "settings")

    def __init__(self, me: int, settings: Settings, links: Links, seek: Seek) -> None:
        self.me, self.settings, self.links, self.seek = me, settings, links, seek
        self.open: dict[Key, Injected] = {}  # at most MOST_INJECTED, and MOST_KEPT_BYTES
        self.entrances: dict[
            int, tuple[tuple[Contact, ...], float]
        ] = {}  # topic -> members, until when; MOST_ENTRANCES

    def publish(self, event: Event, topic: int, now: float, at: float | None = None) -> list[Effect]:
        """Get an event into a topic, published now if it does not say when."""
        if (event.id, topic) in self.open:
            return []
        waiting = sum(bytes_of(injected.event) for injected in self.open.values())
        if len(self.open) >= MOST_INJECTED or waiting + bytes_of(event) > MOST_KEPT_BYTES:
            return self._report(event, topic, "too many others are waiting to get into their topics")
        self.open[event.id, topic] = Injected(event, now if at is None else at)
        return self._try((event.id, topic), now)

    def seeks(self, topic: int) -> bool:
        """Whether members of a topic are awaited."""
        return any(key[1] == topic and injected.seeking for key, injected in self.open.items())

    def hand_on(
        self, events: list[tuple[Event, float]], topic: int, contacts: tuple[Contact, ...], now: float
    ) -> list[Effect]:
        """Get events, published when it says, into a topic that is followed no longer, through who were neighbours on it."""
        if events and contacts:
            self._remember(topic, contacts, now)
        effects: list[Effect] = []
        for event, at in events:
            effects += self.publish(event, topic, now, at)
        return effects

    def leave(self) -> list[Effect]:
        """Before this node goes: nothing is tried any more."""
        effects: list[Effect] = []
        for (_, topic), injected in self.open.items():
            effects += self._report(injected.event, topic, "its publisher left before it was known to be in")
        self.open.clear()
        return effects

    def found(self, topic: int, contacts: tuple[Contact, ...], now: float) -> list[Effect]:
        """Members of a topic, as far as they could be found."""
        waiting = [key for key, injected in self.open.items() if key[1] == topic and injected.seeking]
        if contacts and waiting:
            self._remember(topic, contacts, now)
        effects: list[Effect] = []
        for key in waiting:
            injected = self.open[key]
            injected.seeking = False
            if not contacts:
                effects += self._say_unwanted(injected, topic)
            there = any(contact.id not in injected.unreached for contact in contacts)
            effects += self._try(key, now) if there else self._wait(key)
        return effects

    def taken(self, sender: Contact, taken: Taken) -> list[Effect]:
        """An entrance has let it in."""
        injected = self.open.get((taken.event, taken.topic))
        if injected is None or sender.id not in injected.handed:
            return []
        del self.open[taken.event, taken.topic]
        return [Entered(taken.event, taken.topic)] if injected.event.publisher == self.me else []

    def lost(self, node: int, now: float) -> list[Effect]:
        """Somebody cannot be reached: what was handed to nobody else is handed to others at once."""
        for topic, (contacts, until) in list(self.entrances.items()):
            if any(contact.id == node for contact in contacts):
                self.entrances[topic] = (tuple(each for each in contacts if each.id != node), until)
        effects: list[Effect] = []
        for key in [key for key, injected in self.open.items() if node in injected.asked]:
            injected = self.open[key]
            injected.unreached[node] = None
            if not injected.seeking and injected.asked.keys() <= injected.unreached.keys():
                effects += self._try(key, now)
        return effects

    def fire(self, timer: Await, now: float) -> list[Effect]:
        """Nobody has answered, or nobody was found: try others, or give up."""
        key = (timer.event, timer.topic)
        injected = self.open.get(key)
        if injected is None or injected.seeking or injected.attempt != timer.attempt:
            return []
        if injected.attempt >= self.settings.entries:
            del self.open[key]
            return self._report(injected.event, timer.topic, NOBODY)
        injected.unreached.clear()  # they may be there by now
        return self._say_unwanted(injected, timer.topic) + self._try(key, now)

    def _try(self, key: Key, now: float) -> list[Effect]:
        injected, topic = self.open[key], key[1]
        contacts, until = self.entrances.get(topic, ((), now))
        tried = injected.asked.keys() | injected.unreached.keys()
        fresh = [contact for contact in contacts if contact.id not in tried] if until > now else []
        if not fresh:
            self.entrances.pop(topic, None)
            injected.seeking = True
            injected.asked.clear()  # a second time round they may be there
            return self.seek(topic, now)
        effects = self._wait(key)
        for place, contact in enumerate(fresh[: self.settings.entrances]):
            injected.asked[contact.id] = injected.handed[contact.id] = None
            inject = Inject(injected.event, topic, place == 0, now - injected.at)
            effects += self.links.post(contact, inject, now)
        return effects

    def _wait(self, key: Key) -> list[Effect]:
        injected = self.open[key]
        injected.attempt += 1
        return [SetTimer(self.settings.entry, Await(*key, injected.attempt))]

    def _say_unwanted(self, injected: Injected, topic: int) -> list[Effect]:
        """Where topics are cells: nobody is found, or who was found does not answer. No fault: nobody need wait for the end."""
        if injected.unwanted or not injected.event.content:
            return []
        injected.unwanted = True
        return self._report(injected.event, topic, UNWANTED)

    def _report(self, event: Event, topic: int, why: str) -> list[Effect]:
        """Tell whoever published it, if that is this node."""
        return [Report(event, topic, why)] if event.publisher == self.me else []

    def _remember(self, topic: int, contacts: tuple[Contact, ...], now: float) -> None:
        self.entrances.pop(topic, None)
        self.entrances[topic] = (contacts, now + self.settings.remembered)
        if len(self.entrances) > MOST_ENTRANCES:
            self.links.reached.note("topics whose members are remembered")
            del self.entrances[next(iter(self.entrances))]

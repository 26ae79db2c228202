"""Events on trees: to their home first, then down, and again for whom something was lost.

A publisher hands an event to the node on the way to the home of its topic, which hands it on. The home sends it to its
neighbours on the tree, and they to theirs. **Until somebody else keeps it, too, it has not arrived**: the home asks its successor, which
is the next home should it go, and only then answers; a publisher that is not answered hands its event in again.

Ours: an event of several topics goes along the branches of all of them at once, and once to each neighbour. And once per period both ends of a branch tell each other what came lately, and each asks for what it lacks. So whatever
anybody on a tree has comes to everybody on it, whoever was lost or changed parents meanwhile.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ropewalk.protocols.contract import Contact, Deliver, Effect, Entered, Event, Report, Send, SetTimer, bytes_of
from ropewalk.protocols.dht.places import key_of
from ropewalk.protocols.dht.ring import Ring
from ropewalk.protocols.dht.settings import MOST_HOPS
from ropewalk.protocols.dissemination.settings import MOST_PAYLOAD, MOST_TOPICS
from ropewalk.protocols.links import Links
from ropewalk.protocols.reached import Reached
from ropewalk.protocols.remembered import Remembered
from ropewalk.protocols.trees.branches import Trees
from ropewalk.protocols.trees.messages import Accepted, Branch, Keep, Kept, Lack, Shed, Submit
from ropewalk.protocols.trees.settings import (
    MOST_CROSSED,
    MOST_IDS,
    MOST_KEPT,
    MOST_KEPT_BYTES,
    MOST_SEEN,
    MOST_SUBMITTED,
    Settings,
)
from ropewalk.protocols.trees.shelf import Held, Shelf

HANDED_BACK = 3  # ours: how often, since it may be lost, or the home not be on its tree yet
NOT_THERE = "the topic's home could not be reached"
Key = tuple[int, int]  # topic, event: one of the ways that an event goes


@dataclass(frozen=True, slots=True)
class HandIn:
    """Time to hand an event in again, if nobody has answered."""

    topic: int
    event: int


@dataclass(slots=True)
class Submission:
    """An event of this node's own, on its way to the home of one of its topics."""

    event: Event
    tries: int  # left
    at: float  # when it was published


@dataclass(slots=True)
class AtHome:
    """An event that has come to the home of one of its topics, which is here."""

    publisher: Contact  # who wants to know when it is safe
    at: float
    safe: bool = False  # whether somebody else keeps it, too


class Events:
    """What one node knows of events."""

    __slots__ = (
        "at_home", "by_topic", "came", "delivered", "follows", "forgot_before", "is_alone", "kept", "kept_for", "links", "me", "replicas", "returned", "ring", "seen", "settings", "submitted",
        "submitted_bytes", "trees",
    )  # fmt: skip

    def __init__(
        self,
        me: Contact,
        links: Links,
        settings: Settings,
        ring: Ring,
        follows: Callable[[int], bool],
        is_alone: Callable[[], bool],
    ) -> None:
        self.me, self.links, self.settings, self.ring, self.follows = me, links, settings, ring, follows
        self.is_alone = is_alone  # whether there is nobody else who could keep an event
        self.trees: Trees  # along which events go: told by whoever puts both together
        self.came: Callable[[int], None] = lambda _: None  # told of every event that comes to its home, which is here
        self.kept: Shelf[int] = Shelf()  # what can be had
        self.by_topic: dict[int, dict[int, None]] = {}  # the same: topic -> ids, oldest first
        self.seen = Remembered(MOST_SEEN)  # what came
        self.forgot_before = float("-inf")  # when the latest of these came that had to go for want of room
        self.delivered = Remembered(MOST_SEEN)  # what was delivered or is of this node's own
        self.replicas: Shelf[Key] = Shelf()  # what a home has asked this node to keep
        self.kept_for: dict[Key, int] = {}  # the homes that have asked for these
        self.returned: dict[
            Key, int
        ] = {}  # those whose home was gone: how often they were handed back to who is the home since
        self.at_home: dict[Key, AtHome] = {}  # oldest first, at most MOST_KEPT
        self.submitted: dict[Key, Submission] = {}  # at most MOST_SUBMITTED, and MOST_KEPT_BYTES
        self.submitted_bytes = 0

    # Publishing

    def publish(self, event: Event, now: float) -> list[Effect]:
        """Get an event to all its topics' homes."""
        if event.id in self.delivered:
            return []
        if len(event.payload) > MOST_PAYLOAD or len(event.topics) > MOST_TOPICS:
            why = f"at most {MOST_PAYLOAD} bytes and {MOST_TOPICS} topics are carried"
            return [Report(event, topic, why) for topic in event.topics]
        _note(self.delivered, event.id, now, self.links.reached)
        effects: list[Effect] = []
        for topic in dict.fromkeys(event.topics):
            full = self.submitted_bytes + bytes_of(event) > MOST_KEPT_BYTES
            if full or len(self.submitted) >= MOST_SUBMITTED:
                effects.append(Report(event, topic, "too many events are on their way already"))
                continue
            self.submitted[topic, event.id] = Submission(event, self.settings.tries, now)
            self.submitted_bytes += bytes_of(event)
            effects += self._hand_in(topic, event, now)
        return effects

    def hand_in_again(self, topic: int, event: int, now: float) -> list[Effect]:
        """Nobody has answered so far, or somebody has."""
        submission = self.submitted.get((topic, event))
        if submission is None:
            return []
        submission.tries -= 1
        if submission.tries <= 0:
            self._handed_in(topic, event)
            return [Report(submission.event, topic, NOT_THERE)]
        return self._hand_in(topic, submission.event, now)

    def hand_in_all(self, now: float) -> list[Effect]:
        """There is a way to homes now: whatever has been published before need not wait for its turn."""
        effects: list[Effect] = []
        for (topic, _), submission in list(self.submitted.items()):
            effects += self.submit(Submit(topic, submission.event, self.me, 0), now)
        return effects

    def _handed_in(self, topic: int, event: int) -> Submission | None:
        """It need not be handed in any more."""
        submission = self.submitted.pop((topic, event), None)
        if submission is not None:
            self.submitted_bytes -= bytes_of(submission.event)
        return submission

    def _hand_in(self, topic: int, event: Event, now: float) -> list[Effect]:
        again = SetTimer(self.settings.patience, HandIn(topic, event.id))
        return [again, *self.submit(Submit(topic, event, self.me, 0), now)]

    def submit(self, message: Submit, now: float, whence: bytes | None = None) -> list[Effect]:
        """Hand an event on to its home, or take it in if that is here."""
        key = key_of(message.topic)
        if self.ring.owns(key, whence):
            return self._take_home(message, now)
        onward = self.ring.towards(key, whence)
        if onward is None or message.hops >= MOST_HOPS:
            self.links.reached.note("ways that lead nowhere")
            return []
        further = Submit(message.topic, message.event, message.publisher, message.hops + 1)
        return self.links.post(onward.contact, further, now)

    def _take_home(self, message: Submit, now: float) -> list[Effect]:
        """It is here: whoever handed it in is told when somebody else keeps it, too, and at once when it comes again after that."""
        topic, event = message.topic, message.event
        known = self.at_home.pop((topic, event.id), None)
        if known is None:
            self.came(topic)
        safe = (known is not None and known.safe) or self.is_alone()
        self.at_home[topic, event.id] = AtHome(message.publisher, now, safe)
        if len(self.at_home) > MOST_KEPT:
            self.links.reached.note("events at home")
            del self.at_home[next(iter(self.at_home))]
        effects = self._arrived(event, message.hops, None, now)
        if safe:
            return effects + self._tell(message.publisher, Accepted(topic, event.id), now)
        if not self.ring.successors:
            return effects  # there must be others, who are not found
        return effects + self.links.post(self.ring.successors[0].contact, Keep(topic, event), now)

    def keep(self, sender: Contact, message: Keep, now: float) -> list[Effect]:
        """A home asks this node to keep an event."""
        key = (message.topic, message.event.id)
        gone = self.replicas.put(key, Held(message.event, 0, now))
        if any(each.id != message.event.id for each in gone):
            self.links.reached.note("events kept for others")
        self.kept_for[key] = sender.id
        if len(self.kept_for) > MOST_KEPT:
            del self.kept_for[next(iter(self.kept_for))]
        return self.links.post(sender, Kept(*key), now)

    def is_kept(self, message: Kept, now: float) -> list[Effect]:
        """Somebody else keeps it: it is safe."""
        known = self.at_home.get((message.topic, message.id))
        if known is None or known.safe:
            return []
        known.safe = True
        return self._tell(known.publisher, Accepted(message.topic, message.id), now)

    def accepted(self, message: Accepted) -> list[Effect]:
        """An event of this node's own has come to its home."""
        submission = self._handed_in(message.topic, message.id)
        if submission is None or self.follows(message.topic):
            return []
        return [Entered(message.id, message.topic)]

    def unheard(self) -> dict[int, float]:
        """Topics whose homes have not got all events of this node's own yet, and when the last was published."""
        found: dict[int, float] = {}
        for (topic, _), submission in self.submitted.items():
            found[topic] = max(submission.at, found.get(topic, submission.at))
        return found

    def _tell(self, publisher: Contact, message: Accepted, now: float) -> list[Effect]:
        if publisher.id == self.me.id:
            return self.accepted(message)
        # as many as there are events, which have no rate
        return self.links.post(publisher, message, now) if self.links.may_seek(publisher.id, now) else []

    def refuse(self, event: int, now: float) -> list[Effect]:
        """It has come, and is not wanted here: nobody is asked for it any more, and it goes no further."""
        self._remember(event, now)
        return []

    # Along the tree

    def shed(self, sender: Contact, message: Shed, now: float) -> list[Effect]:
        """An event has come along a tree."""
        if not any(topic in self.trees.by_topic for topic in message.event.topics):
            return []
        return self._arrived(message.event, message.hops, sender, now)

    def compare(self, sender: Contact, branches: Iterable[Branch]) -> list[Effect]:
        """A neighbour tells what came to it lately: ask for what did not come here."""
        effects: list[Effect] = []
        for topic, _, _, ids in branches:
            lacking = tuple(id_ for id_ in ids if id_ not in self.seen)
            if lacking and self.trees.is_on(topic, sender.id):
                effects.append(Send(sender, Lack(topic, lacking)))
        return effects

    def lacked(self, sender: Contact, message: Lack) -> list[Effect]:
        """A neighbour asks for events."""
        if not self.trees.is_on(message.topic, sender.id):
            return []
        known = self.by_topic.get(message.topic, {})
        found = [self.kept[id_] for id_ in dict.fromkeys(message.ids) if id_ in known]
        return [Send(sender, Shed(message.topic, held.event, _further(held.hops))) for held in found]

    def recent(self, topic: int, now: float) -> tuple[int, ...]:
        """What came lately on a topic."""
        known = self.by_topic.get(topic, {})
        young = [id_ for id_ in known if self.kept[id_].at > now - self.settings.told]
        return tuple(young[-MOST_IDS:])

    def beat(self, now: float) -> None:
        """Forget what is old."""
        old = now - self.settings.keep
        self._unlist(self.kept.forget(old))
        self.replicas.forget(old)
        for known in (self.kept_for, self.returned):
            for key in [key for key in known if key not in self.replicas]:
                del known[key]
        for key in [key for key, known in self.at_home.items() if known.at <= old]:
            del self.at_home[key]
        self.seen.forget(now - self.settings.seen)
        self.delivered.forget(now - self.settings.seen)

    def take_over(self, now: float) -> list[Effect]:
        """What was kept for a home that is gone, if this node is the home now."""
        mine = [key for key in self.replicas if key[1] not in self.seen and self.ring.owns(key_of(key[0]))]
        effects: list[Effect] = []
        for key in mine:
            effects += self._arrived(self.replicas[key].event, 0, None, now)
        return effects

    def gone(self, node: int) -> None:
        """A home is gone, and may come back without what it had."""
        self.returned |= {key: 0 for key, home in self.kept_for.items() if home == node}

    def hand_back(self, now: float) -> list[Effect]:
        """What was kept for a home that was gone goes to who is the home now, if that sits right before this node."""
        effects: list[Effect] = []
        for key, times in list(self.returned.items()):
            before = self.ring.predecessor
            if key not in self.replicas or before is None or times >= HANDED_BACK:
                continue
            self.returned[key] = times + 1
            effects += self.links.post(before.contact, Shed(key[0], self.replicas[key].event, 1), now)
        return effects

    def _arrived(self, event: Event, hops: int, sender: Contact | None, now: float) -> list[Effect]:
        if event.id in self.seen:
            return []
        self._remember(event.id, now)
        self._put(Held(event, hops, now))
        effects: list[Effect] = []
        if event.id not in self.delivered and any(map(self.follows, event.topics)) and event.publisher != self.me.id:
            _note(self.delivered, event.id, now, self.links.reached)
            effects.append(Deliver(event, hops))
        along = {contact: topic for topic in reversed(event.topics) for contact in self.trees.neighbours(topic)}
        for contact, topic in along.items():
            if sender is None or contact.id != sender.id:
                effects += self.links.post(contact, Shed(topic, event, _further(hops)), now)
        return effects

    def _remember(self, event: int, now: float) -> None:
        gone_at = _note(self.seen, event, now, self.links.reached)
        if gone_at is not None:
            self.forgot_before = max(self.forgot_before, gone_at)

    def _put(self, held: Held) -> None:
        gone = self.kept.put(held.event.id, held)
        if any(each.id != held.event.id for each in gone):
            self.links.reached.note("events kept")
        self._unlist(gone)
        for topic in held.event.topics:
            self.by_topic.setdefault(topic, {})[held.event.id] = None

    def _unlist(self, events: list[Event]) -> None:
        for event in events:
            for topic in event.topics:
                known = self.by_topic.get(topic, {})
                known.pop(event.id, None)
                if not known:
                    self.by_topic.pop(topic, None)


def _further(hops: int) -> int:
    return min(hops + 1, MOST_CROSSED)


def _note(ids: Remembered, id_: int, now: float, reached: Reached) -> float | None:
    """Remember when it came; when that came which has to go for it, if anything has."""
    gone_at = ids.add(id_, now)
    if gone_at is not None:
        reached.note("ids of events")
    return gone_at

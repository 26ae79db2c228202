"""Whoever is said to serve a tag must show that it knows the topic before it is told anything about it.

Ours: anybody who sees a tag can say that it serves it, and would be sent the topic's id, and events, by those who believe it.
"""

from dataclasses import dataclass, field

from ropewalk.protocols.contract import Cause, Contact, Effect, SetTimer
from ropewalk.protocols.discovery.messages import OfProofs, Prove, Proven, is_sound
from ropewalk.protocols.discovery.settings import MOST_PROVEN, Settings
from ropewalk.protocols.discovery.tags import proof, tag
from ropewalk.protocols.links import Links


@dataclass(frozen=True, slots=True)
class Unproven:
    """Time for somebody to have shown that it knows a topic."""

    turn: int


@dataclass(frozen=True, slots=True)
class Question:
    """Somebody was asked to show it."""

    contact: Contact
    topic: int
    again: bool  # for the second time


@dataclass(slots=True)
class Check:
    """Those who are said to serve a topic."""

    contacts: dict[int, Contact] = field(default_factory=dict)
    sound: dict[int, None] = field(default_factory=dict)  # who of them knows it
    open: dict[int, None] = field(default_factory=dict)  # who of them has yet to answer


class Proofs:
    """What one node has others show, and shows them."""

    __slots__ = ("checked", "checks", "known", "links", "me", "questions", "secret", "served", "settings", "turn")

    def __init__(self, me: Contact, settings: Settings, links: Links, secret: bytes) -> None:
        self.me, self.settings, self.links, self.secret = me, settings, links, secret
        self.served: dict[int, int] = {}  # tag -> topic, of those that are followed here
        self.known: dict[
            tuple[int, int], None
        ] = {}  # (topic, node): it has shown it, and knows it for good; MOST_PROVEN
        self.checks: dict[int, Check] = {}  # by topic; one for each that is sought or served
        self.questions: dict[int, Question] = {}  # by turn; one for everybody that is open in a check
        self.checked: list[tuple[int, tuple[Contact, ...]]] = []  # for the owner, who empties it
        self.turn = 0  # questions so far

    def serve(self, topic: int) -> None:
        """Answer for a topic from now on."""
        self.served[tag(topic, self.secret)] = topic

    def serve_no_more(self, topic: int) -> None:
        """It is followed no longer."""
        self.served.pop(tag(topic, self.secret), None)

    def check(self, topic: int, contacts: tuple[Contact, ...], now: float) -> list[Effect]:
        """Have them show that they know a topic. Those who do will be in `checked`, once: some, if not all are needed."""
        check = self.checks.setdefault(topic, Check())
        effects: list[Effect] = []
        for contact in contacts:
            if contact.id in check.contacts:
                continue
            check.contacts[contact.id] = contact
            if (topic, contact.id) in self.known:
                check.sound[contact.id] = None
            else:
                check.open[contact.id] = None
                effects += self._ask(contact, topic, now, again=False)
        self._close(topic)
        return effects

    def receive(self, sender: Contact, message: OfProofs, now: float) -> list[Effect]:
        """Somebody asks, or answers."""
        if not is_sound(message):
            return []
        if isinstance(message, Prove):
            topic = self.served.get(message.tag)
            shown = 0 if topic is None else proof(topic, sender.id, self.me.id, self.secret)
            return self.links.post(sender, Proven(message.tag, message.turn, shown), now)
        question = self.questions.get(message.turn)
        if question is None or question.contact.id != sender.id:
            return []
        del self.questions[message.turn]
        sound = message.proof == proof(question.topic, self.me.id, sender.id, self.secret)
        if sound:
            self.known[question.topic, sender.id] = None
            if len(self.known) > MOST_PROVEN:
                del self.known[next(iter(self.known))]
        self._answered(question, sound=sound)
        return []

    def fire(self, timer: Unproven, now: float) -> list[Effect]:
        """No answer: ask once more, since a message may have been lost."""
        question = self.questions.pop(timer.turn, None)
        if question is None:
            return []
        if question.contact.id in self.checks.get(question.topic, Check()).open and not question.again:
            return self._ask(question.contact, question.topic, now, again=True)
        self._answered(question, sound=False)
        return []

    def link_down(self, node: int, cause: Cause) -> None:
        """A link is gone, or there never was one. One that was closed says nothing about its other end."""
        turns = [turn for turn, question in self.questions.items() if question.contact.id == node]
        for turn in turns if cause != "closed" else ():
            self._answered(self.questions.pop(turn), sound=False)

    def _ask(self, contact: Contact, topic: int, now: float, *, again: bool) -> list[Effect]:
        self.turn += 1
        self.questions[self.turn] = Question(contact, topic, again)
        overdue = SetTimer(self.settings.patience, Unproven(self.turn))
        return [overdue, *self.links.post(contact, Prove(tag(topic, self.secret), self.turn), now)]

    def _answered(self, question: Question, *, sound: bool) -> None:
        check, node = self.checks.get(question.topic), question.contact.id
        if check is None or node not in check.open:
            return  # enough were known without it
        del check.open[node]
        if sound:
            check.sound[node] = None
        self._close(question.topic)

    def _close(self, topic: int) -> None:
        """If enough are known to be sound, or nobody is left to answer."""
        check = self.checks[topic]
        if check.open and len(check.sound) < self.settings.enough:
            return
        del self.checks[topic]
        self.checked.append((topic, tuple(contact for node, contact in check.contacts.items() if node in check.sound)))

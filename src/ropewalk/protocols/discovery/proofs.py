"""Whoever is said to serve a tag must show that it knows the topic before it is told more than the tag.

Ours: anybody who sees a tag can say that it serves it, and would be sent the topic's id, and events, by those who believe
it. Who asks shows the same first: else whoever sees a tag could find out who follows it by asking everybody. To anybody who
does not show it, who follows a topic and who does not answer alike.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from ropewalk.protocols.contract import Cause, Contact, Effect, SetTimer
from ropewalk.protocols.discovery.messages import OfProofs, Prove, Proven, is_sound
from ropewalk.protocols.discovery.settings import MOST_REFUSED, MOST_TRIED, TRIES, Settings
from ropewalk.protocols.discovery.tags import proof, tag
from ropewalk.protocols.links import Links

NOTHING = 0  # what is shown by who cannot, or will not


@dataclass(frozen=True, slots=True)
class Unproven:
    """Time for everybody to have shown it."""

    tag: int
    turn: int  # of the trial
    last: bool  # or those who have not are asked once more: a message may have been lost


@dataclass(slots=True)
class Trial:
    """Some who are said to serve a topic, until it is known who of them knows it."""

    topic: int
    turn: int
    open: dict[int, Contact] = field(default_factory=dict)  # who has yet to answer; at most MOST_TRIED
    tries: dict[int, int] = field(default_factory=dict)  # how often each was asked; at most TRIES
    sound: dict[int, Contact] = field(default_factory=dict)  # who has shown it, and where it did


class Proofs:
    """What one node has others show, and shows them."""

    __slots__ = ("checked", "links", "me", "refused", "secret", "served", "settings", "trials", "turn")

    def __init__(self, me: Contact, settings: Settings, links: Links, secret: bytes) -> None:
        self.me, self.settings, self.links, self.secret = me, settings, links, secret
        self.served: dict[int, int] = {}  # tag -> topic, of those that are followed here
        self.trials: dict[int, Trial] = {}  # by tag, until their second timer at the latest
        self.refused: dict[tuple[int, int], float] = {}  # (topic, node): it cannot; until when that holds; MOST_REFUSED
        self.checked: list[tuple[int, tuple[Contact, ...]]] = []  # for the owner, who empties it
        self.turn = 0  # trials so far

    def serve(self, topic: int) -> None:
        """Answer for a topic from now on."""
        self.served[tag(topic, self.secret)] = topic

    def serve_no_more(self, topic: int) -> None:
        """It is followed no longer."""
        self.served.pop(tag(topic, self.secret), None)

    def check(self, topic: int, contacts: Iterable[Contact], now: float) -> list[Effect]:
        """Have them show that they know a topic.

        Those who do will be in `checked`, once, as soon as `enough` have or nobody is left to wait for. While some are at
        it, nobody more is asked: what comes of it is for whoever wants to know.
        """
        label = tag(topic, self.secret)
        if label in self.trials:
            return []
        self.turn += 1
        trial = self.trials[label] = Trial(topic, self.turn)
        believed = [contact for contact in contacts if self.refused.get((topic, contact.id), now) <= now]
        effects: list[Effect] = [SetTimer(self.settings.patience, Unproven(label, self.turn, last=False))]
        for contact in believed[:MOST_TRIED]:
            trial.open[contact.id] = contact
            effects += self._ask(trial, contact, now)
        return effects if not self._ended(label, trial) else []

    def receive(self, sender: Contact, message: OfProofs, now: float) -> list[Effect]:
        """Somebody asks, or answers."""
        if not is_sound(message):
            return []
        if isinstance(message, Proven):
            self._answered(sender, message, now)
            return []
        topic = self.served.get(message.tag)
        knows = topic is not None and message.proof == proof(topic, sender.id, self.me.id, self.secret)
        shown = proof(topic, self.me.id, sender.id, self.secret) if topic is not None and knows else NOTHING
        return self.links.post(sender, Proven(message.tag, message.turn, shown), now)

    def fire(self, timer: Unproven, now: float) -> list[Effect]:
        """Not all have answered: ask them once more, or do without."""
        trial = self.trials.get(timer.tag)
        if trial is None or trial.turn != timer.turn:
            return []
        if timer.last:
            trial.open.clear()
            self._ended(timer.tag, trial)
            return []
        effects: list[Effect] = [SetTimer(self.settings.patience, Unproven(timer.tag, timer.turn, last=True))]
        for contact in trial.open.values():
            effects += self._ask(trial, contact, now)
        return effects

    def link_down(self, contact: Contact, cause: Cause, now: float) -> list[Effect]:
        """A link is gone, or there never was one. One that was closed says nothing about its other end."""
        effects: list[Effect] = []
        for label, trial in list(self.trials.items()) if cause != "closed" else ():
            asked = trial.open.get(contact.id)
            if asked is None:
                continue
            if cause == "failed" and trial.tries[contact.id] < TRIES:
                effects += self._ask(trial, asked, now)
            else:
                del trial.open[contact.id]
                self._ended(label, trial)
        return effects

    def _ask(self, trial: Trial, contact: Contact, now: float) -> list[Effect]:
        trial.tries[contact.id] = trial.tries.get(contact.id, 0) + 1
        shown = proof(trial.topic, self.me.id, contact.id, self.secret)
        return self.links.post(contact, Prove(tag(trial.topic, self.secret), trial.turn, shown), now)

    def _answered(self, sender: Contact, answer: Proven, now: float) -> None:
        trial = self.trials.get(answer.tag)
        if trial is None or trial.turn != answer.turn or trial.open.pop(sender.id, None) is None:
            return
        if answer.proof == proof(trial.topic, sender.id, self.me.id, self.secret):
            trial.sound[sender.id] = sender
        else:
            self.refused[trial.topic, sender.id] = now + self.settings.refresh
            if len(self.refused) > MOST_REFUSED:
                del self.refused[next(iter(self.refused))]
        self._ended(answer.tag, trial)

    def _ended(self, label: int, trial: Trial) -> bool:
        """If enough are sound, or nobody is left to wait for."""
        if trial.open and len(trial.sound) < self.settings.enough:
            return False
        del self.trials[label]
        self.checked.append((trial.topic, tuple(trial.sound.values())))
        return True

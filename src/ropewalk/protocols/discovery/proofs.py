"""Whoever is said to serve a tag must show that it knows the topic before it is told more than the tag.

Ours: anybody who sees a tag can say that it serves it, and would be sent the topic's id, and events, by those who believe
it. Who asks shows the same first: else whoever sees a tag could find out who follows it by asking everybody. To anybody who
does not show it, who follows a topic and who does not answer alike.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from ropewalk.protocols.contract import Cause, Contact, Effect, SetTimer
from ropewalk.protocols.discovery.messages import OfProofs, Prove, Proven, is_sound
from ropewalk.protocols.discovery.settings import MOST_DOUBTED, MOST_TRIED, TRIES, Settings
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
    begun: float
    named: dict[int, list[Contact]] = field(default_factory=dict)  # where each is said to be; at most MOST_TRIED nodes
    open: dict[int, int] = field(
        default_factory=dict
    )  # who has yet to answer, and how often it was asked: at most TRIES
    sound: dict[int, Contact] = field(default_factory=dict)  # who has shown it, and where it did


class Proofs:
    """What one node has others show, and shows them."""

    __slots__ = ("checked", "doubted", "links", "me", "secret", "served", "settings", "trials", "turn")

    def __init__(self, me: Contact, settings: Settings, links: Links, secret: bytes) -> None:
        self.me, self.settings, self.links, self.secret = me, settings, links, secret
        self.served: dict[int, int] = {}  # tag -> topic, of those that are followed here
        self.trials: dict[int, Trial] = {}  # by tag, until their second timer at the latest
        self.doubted: dict[tuple[int, int], None] = {}  # (topic, node): it was asked in vain; at most MOST_DOUBTED
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

        Those who do will be in `checked`, once, as soon as `enough` have or nobody is left to wait for, in the order in which
        they are asked: whoever is linked first, whoever was asked in vain before last. While some are at it, nobody more is
        asked: what comes of it is for whoever wants to know.
        """
        label = tag(topic, self.secret)
        if label in self.trials:
            return []
        self.turn += 1
        trial = self.trials[label] = Trial(topic, self.turn, now)
        for contact in sorted(
            contacts, key=lambda contact: (self.is_doubted(topic, contact), not self.links.is_up(contact.id))
        ):
            if contact.id in trial.named or len(trial.named) < MOST_TRIED:
                trial.named.setdefault(contact.id, []).append(contact)
        trial.open = dict.fromkeys(trial.named, 0)
        asked = self._go_on(label, trial, now)
        if label not in self.trials:
            return asked
        return [SetTimer(self.settings.patience, Unproven(label, self.turn, last=False)), *asked]

    def is_doubted(self, topic: int, contact: Contact) -> bool:
        """Whether it was asked in vain before."""
        return (topic, contact.id) in self.doubted

    def receive(self, sender: Contact, message: OfProofs, now: float) -> list[Effect]:
        """Somebody asks, or answers."""
        if not is_sound(message):
            return []
        if isinstance(message, Proven):
            return self._answered(sender, message, now)
        topic = self.served.get(message.tag)
        knows = topic is not None and message.proof == proof(topic, sender.id, self.me.id, self.secret)
        if topic is not None and knows:
            self.doubted.pop((topic, sender.id), None)
        shown = proof(topic, self.me.id, sender.id, self.secret) if topic is not None and knows else NOTHING
        return self.links.post(sender, Proven(message.tag, message.turn, shown), now)

    def fire(self, timer: Unproven, now: float) -> list[Effect]:
        """Not all have answered: ask them once more, or do without."""
        trial = self.trials.get(timer.tag)
        if trial is None or trial.turn != timer.turn:
            return []
        if timer.last or trial.sound:
            for node in [node for node, tries in trial.open.items() if tries]:
                self._doubt(trial, node)
            trial.open.clear()  # the others had no turn, which is not their fault
            return self._go_on(timer.tag, trial, now)
        effects: list[Effect] = [SetTimer(self.settings.patience, Unproven(timer.tag, timer.turn, last=True))]
        return effects + self._ask_all(trial, now)

    def link_down(self, contact: Contact, cause: Cause, now: float) -> list[Effect]:
        """A link is gone, or there never was one. One that was closed says nothing about its other end."""
        effects: list[Effect] = []
        for label, trial in list(self.trials.items()) if cause != "closed" else ():
            tries = trial.open.get(contact.id)
            if tries is None or (not tries and cause == "failed"):
                continue
            if cause == "failed" and tries < TRIES:
                effects += self._ask(trial, contact.id, now)
            else:
                self._doubt(trial, contact.id)
                effects += self._go_on(label, trial, now)
        return effects

    def _ask_all(self, trial: Trial, now: float) -> list[Effect]:
        """Those who have yet to answer, and were not asked often enough."""
        nodes = [node for node, tries in trial.open.items() if tries < TRIES]
        return [effect for node in nodes for effect in self._ask(trial, node, now)]

    def _ask_some(self, trial: Trial, now: float) -> list[Effect]:
        """As many at a time as would be enough, and one that may fail: each is a link to open."""
        asked = sum(tries > 0 for tries in trial.open.values())
        count = self.settings.enough + 1 - len(trial.sound) - asked
        nodes = [node for node, tries in trial.open.items() if not tries][: max(0, count)]
        return [effect for node in nodes for effect in self._ask(trial, node, now)]

    def _ask(self, trial: Trial, node: int, now: float) -> list[Effect]:
        """Where it is said to be; if several places are named, one after the other."""
        contact = trial.named[node][trial.open[node] % len(trial.named[node])]
        trial.open[node] += 1
        shown = proof(trial.topic, self.me.id, node, self.secret)
        return self.links.post(contact, Prove(tag(trial.topic, self.secret), trial.turn, shown), now)

    def _answered(self, sender: Contact, answer: Proven, now: float) -> list[Effect]:
        trial = self.trials.get(answer.tag)
        if trial is None or trial.turn != answer.turn or sender.id not in trial.open:
            return []
        if answer.proof == proof(trial.topic, sender.id, self.me.id, self.secret):
            del trial.open[sender.id]
            trial.sound[sender.id] = sender
            self.doubted.pop((trial.topic, sender.id), None)
        else:
            self._doubt(trial, sender.id)
        return self._go_on(answer.tag, trial, now)

    def _doubt(self, trial: Trial, node: int) -> None:
        """It has not shown it."""
        del trial.open[node]
        self.doubted[trial.topic, node] = None
        if len(self.doubted) > MOST_DOUBTED:
            self.links.reached.note("members in doubt")
            del self.doubted[next(iter(self.doubted))]

    def _go_on(self, label: int, trial: Trial, now: float) -> list[Effect]:
        """It ends if enough are sound, or nobody is left to wait for; else some more are asked, if some have failed."""
        if trial.open and len(trial.sound) < self.settings.enough:
            return self._ask_some(trial, now)
        del self.trials[label]
        self.checked.append((trial.topic, tuple(trial.sound[node] for node in trial.named if node in trial.sound)))
        return []

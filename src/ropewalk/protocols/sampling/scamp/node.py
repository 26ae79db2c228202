"""SCAMP: a newcomer is passed about until enough nodes have taken it in, and views size themselves to about (c + 1) ln n.

Paper: Ganesh, Kermarrec, Massoulie, "Peer-to-peer membership management for gossip-based protocols", IEEE TC 2003; steps
as numbered there under subscription, unsubscription, indirection and recovery from isolation. Ours, marked where it
happens: the in-view is kept by announced links and the lease by their liveness; what a crash does to sizes; and that a
replacement names more than one.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from ropewalk.protocols.contract import (
    Contact,
    Effect,
    Input,
    LinkDown,
    OfTopic,
    Received,
    Subscribe,
    TimerFired,
    Unsubscribe,
)
from ropewalk.protocols.sampling.contract import Explore, Forget, Grow, Left, Offer, Overlay, Post, Request, Shrink
from ropewalk.seeds import chance, pick, unit

MOST_SEEN = 64  # section 3.1 drops a request that passes a node more than 10 times: in young overlays, from which the rest grow, that is many
ENOUGH = (
    8  # ours: likewise for each copy, where the newcomer is held already; with half as many views are a sixth smaller
)
AGAIN = 2  # ours: places for a member whom nobody holds, one of which may be lost; with 3 views grow by two fifths
MOST_REQUESTS = 1024  # ours: requests whose passing is counted
MOST_HOPS = 255  # ours: fits a byte on the wire; far beyond what a request needs
KNOWN = 16  # ours: nodes remembered, in case that all neighbours are gone or the overlay has come apart
NEARER = 4  # ours: by what the way of a request is shorter when it has to be made again
MOST_IN_VAIN = 8  # ours: then it is one step
FAILURES = 4  # ours: how often in a row one of them may fail to answer before it is forgotten


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a topic's overlay is to withstand."""

    copies: int = 1  # the paper's c: failures tolerated; section 3.1
    budget: float = 2.0  # ours: of the walk to a random contact, some 50 steps in an overlay of 1000; 0: no such walk
    patience: int = 2  # ours: periods without being held by anybody before a node subscribes anew
    least: int = 0  # ours: neighbours, in either direction, below which a node holds more, some each period
    explore: int = 4  # ours: every so many periods a walk begins at a remembered node; what came apart grows together

    @classmethod
    def for_connectivity(cls, probability: float, *, two_way: bool = False) -> "Settings":
        """As many copies as give (c + 1) ln n >= ln n + margin in every topic of a hundred or more.

        Above one copy it is one more: the first nodes of a topic cannot hold so many, and it never makes up for that.

        Ours: where links are used both ways, as many neighbours in either direction, but each member at least: some of SCAMP's have
        far fewer than the mean, and it is they who are cut off. So it takes none of the copies.
        """
        margin = -math.log(-math.log(probability))
        if two_way:
            return cls(copies=0, least=math.ceil(math.log(100) + margin))
        copies = max(0, math.ceil(margin / math.log(100) - 1e-9))
        return cls(copies=copies if copies <= 1 else copies + 1)


@dataclass(frozen=True, slots=True)
class Ask(OfTopic):
    """SUBSCRIBE: take me in. With a budget left it is first passed on, so that whom one happens to know does not matter."""

    kind: ClassVar[str] = "ask"
    newcomer: Contact
    number: int  # drawn, so that a node that comes back is not taken for its former self
    budget: float
    again: bool  # it is a member already, whom nobody holds any more

    def contacts(self) -> int:
        """The newcomer."""
        return 1

    def labels(self) -> tuple[int, ...]:
        """One step of one request."""
        return (self.topic, self.newcomer.id, self.number, int(self.budget * 1e6))


@dataclass(frozen=True, slots=True)
class Pass(OfTopic):
    """Forwarded subscription: keep the newcomer or pass it on."""

    kind: ClassVar[str] = "pass"
    newcomer: Contact
    number: int
    copy: int  # which of the request's copies
    hop: int

    def contacts(self) -> int:
        """The newcomer."""
        return 1

    def labels(self) -> tuple[int, ...]:
        """One step of one copy."""
        return (self.topic, self.newcomer.id, self.number, self.copy, self.hop)


@dataclass(frozen=True, slots=True)
class Replace(OfTopic):
    """Unsubscription: the sender goes; hold the first of these that you do not hold, or one neighbour fewer if none is named."""

    kind: ClassVar[str] = "replace"
    by: tuple[Contact, ...]

    def contacts(self) -> int:
        """Who may follow."""
        return len(self.by)

    def labels(self) -> tuple[int, ...]:
        """One a topic."""
        return (self.topic,)


Message = Ask | Pass | Replace
AT_A_TIME = 3  # ours: neighbours that a node takes in each period because it has few; others may be about to take it in
ALTERNATIVES = 3  # ours: the paper names one, and the link is lost whenever that one is held already


class Node:
    """SCAMP for one topic at one node, on the view that link management fills."""

    __slots__ = (
        "asked", "checks", "found", "in_vain", "known", "lonely", "me", "overlay", "seed", "seen", "settings", "sought",
    )  # fmt: skip

    def __init__(self, me: Contact, overlay: Overlay, settings: Settings, seed: int) -> None:
        self.me, self.overlay, self.settings, self.seed = me, overlay, settings, seed
        self.asked = 0  # how often this node has asked to be taken in
        self.lonely = 0  # periods for which nobody has held it
        self.in_vain = 0  # how often in a row it has asked anew, at most MOST_IN_VAIN
        self.checks = 0  # periods so far
        self.found = self.sought = (
            0  # neighbours when it last knew nobody else, and for how many periods they have been as many
        )
        self.known: dict[Contact, int] = {}  # a sample of all that were ever held, at most KNOWN; how often each failed
        self.seen: dict[tuple[int, int], int] = {}  # (newcomer, number) -> how often it passed; at most MOST_REQUESTS

    def handle(self, event: Input, now: float) -> list[Effect | Request]:
        """See `sampling.contract.Manager`."""
        match event:
            case Received():
                return self._receive(event.sender, event.message, now)
            case TimerFired():
                return self._check(now)
            case Subscribe():
                return self._subscribe(event.contacts, now)
            case Unsubscribe():
                return self._unsubscribe()
            case LinkDown():
                return self._lost(event.contact, now)
            case _:
                return []

    def _receive(self, sender: Contact, message: object, now: float) -> list[Effect | Request]:
        match message:
            case Ask():
                return self._asked(message)
            case Pass():
                return self._passed(message)
            case Replace():
                return self._replaced(sender, message, now)
            case Left():
                self.known.pop(sender, None)
                return [Forget(sender.id), *self._lost(sender, now)]
            case _:
                return []

    def _subscribe(self, contacts: tuple[Contact, ...], now: float) -> list[Effect | Request]:
        self._recall(contacts)
        if not contacts:
            return []  # the first of its topic
        return [Grow(contacts[0]), *self._ask(contacts[0], now, again=False)]

    def _ask(self, contact: Contact, now: float, *, again: bool) -> list[Effect | Request]:
        """Ours: whoever asks in vain asks nearer by every time. On a long way a request is likely to be lost where messages are."""
        topic, me = self.overlay.topic, self.me
        number = chance(self.seed, "request", topic, me.id, self.asked, int(now * 1e6))
        self.asked += 1
        budget = self.settings.budget / NEARER**self.in_vain
        return [Post(contact, Ask(topic, me, number, budget, again))]

    def _asked(self, ask: Ask) -> list[Effect | Request]:
        """Indirection: pass the request on until its budget is used up; whoever has it then is its contact."""
        around = [*self.overlay.view.contacts, *self.overlay.held_by.values()]
        around = [contact for contact in around if contact.id != ask.newcomer.id]
        # By all links that it may take from here: by those in the view alone, as printed, it would end where views are short.
        left = min(ask.budget, self.settings.budget) - 1 / max(1, len(around))
        if left > 0 and around:
            step = int(left * 1e6)
            drawn = chance(self.seed, "indirect", ask.topic, self.me.id, ask.newcomer.id, ask.number, step)
            return [Post(around[pick(drawn, len(around))], Ask(ask.topic, ask.newcomer, ask.number, left, ask.again))]
        return self._spread(ask)

    def _spread(self, ask: Ask) -> list[Effect | Request]:
        """The contact: a copy to every neighbour, and c more to random ones.

        Ours: for a member whom nobody holds any more only AGAIN. Its places have not gone: link management gave them to others.
        """
        view = [contact for contact in self.overlay.view.contacts if contact.id != ask.newcomer.id]
        if not view:
            held = ask.newcomer.id == self.me.id or self.overlay.has(ask.newcomer.id)
            return [] if held else [Grow(ask.newcomer)]
        targets = [] if ask.again else list(view)
        for copy in range(AGAIN if ask.again else self.settings.copies):
            drawn = chance(self.seed, "copy", ask.topic, self.me.id, ask.newcomer.id, ask.number, copy)
            targets.append(view[pick(drawn, len(view))])
        return [Post(target, Pass(ask.topic, ask.newcomer, ask.number, copy, 0)) for copy, target in enumerate(targets)]

    def _passed(self, message: Pass) -> list[Effect | Request]:
        """Keep it with probability 1 / (1 + view size), else pass it on.

        Ours: not for long where the newcomer is held already. Where everybody holds it nobody will keep it, and it would go about
        until all have had enough of it; where nobody counts any more, as far as it may go at all.
        """
        newcomer, view = message.newcomer, self.overlay.view
        times = self.seen[newcomer.id, message.number] = self.seen.get((newcomer.id, message.number), 0) + 1
        if len(self.seen) > MOST_REQUESTS:
            self.overlay.reached.note("requests to be taken in")
            del self.seen[next(iter(self.seen))]
        if times > MOST_SEEN or message.hop >= MOST_HOPS:
            self.overlay.reached.note("steps of a request to be taken in")
            return []
        held = newcomer.id == self.me.id or self.overlay.has(newcomer.id)
        if held and (times > ENOUGH * max(1, self.settings.copies) or message.hop >= MOST_SEEN):
            return []
        labels = (message.topic, self.me.id, newcomer.id, message.number, message.copy, message.hop)
        keep = unit(chance(self.seed, "keep", *labels)) < 1 / (1 + len(view.contacts) + len(self.overlay.coming))
        if keep and not held:
            return [Grow(newcomer)]
        around = [contact for contact in view.contacts if contact.id != newcomer.id]
        if not around:
            return []
        target = around[pick(chance(self.seed, "pass", *labels), len(around))]
        return [Post(target, Pass(message.topic, newcomer, message.number, message.copy, message.hop + 1))]

    def _unsubscribe(self) -> list[Effect | Request]:
        """All holders but c + 1 are given somebody of this node's view instead of it."""
        topic, view = self.overlay.topic, self.overlay.view.contacts
        holders = list(self.overlay.held_by.values())
        kept = max(0, len(holders) - self.settings.copies - 1) if view else 0
        answers: list[Effect | Request] = []
        for place, holder in enumerate(holders):
            turned = view[place % len(view) :] + view[: place % len(view)] if place < kept else []
            answers.append(Post(holder, Replace(topic, tuple(turned[:ALTERNATIVES]))))
        return answers

    def _replaced(self, sender: Contact, message: Replace, now: float) -> list[Effect | Request]:
        view = self.overlay.view
        self.known.pop(sender, None)
        if not view.holds(sender.id):
            return [Forget(sender.id)]  # link management has let it go already: nothing to replace
        fresh = [contact for contact in message.by if contact.id != self.me.id and not self.overlay.has(contact.id)]
        if not fresh and self._is_last(sender):
            return [Forget(sender.id), *self._turn_to_another(sender, now)]
        if not message.by:
            return [Forget(sender.id), Shrink()]
        return [Forget(sender.id), Offer(tuple(fresh[:1]))]

    def _lost(self, contact: Contact, now: float) -> list[Effect | Request]:
        """Ours: a crash tells nobody whom to hold instead, so each holder shrinks as often as c + 1 of them would."""
        if contact in self.known:
            self.known[contact] += 1
            if self.known[contact] >= FAILURES:
                del self.known[contact]
        if self._is_last(contact):
            return self._turn_to_another(contact, now)
        if not self.overlay.view.holds(contact.id):
            return []  # no place of ours was its
        size, least = self.overlay.view.size, self.settings.copies + 1
        drawn = chance(self.seed, "shrink", self.overlay.topic, self.me.id, contact.id, int(now * 1e6))
        return [Shrink()] if size > least and unit(drawn) < least / size else []

    def _is_last(self, contact: Contact) -> bool:
        """Whether this node holds nobody else on the topic, and is not about to."""
        return all(node == contact.id for node in [*self.overlay.view.ids, *self.overlay.coming])

    def _turn_to_another(self, contact: Contact, now: float) -> list[Effect | Request]:
        """Ours: whoever held one node, and lost it, holds another that it was told of, and does not wait to be missed."""
        holders = [holder for holder in self.overlay.held_by.values() if holder.id != contact.id]
        known = [other for other in dict.fromkeys([*self.known, *holders]) if other.id != contact.id]
        if not known:
            return []
        other = known[pick(chance(self.seed, "another", self.overlay.topic, self.me.id, int(now * 1e6)), len(known))]
        taken_in: Request = Offer((other,)) if self.overlay.view.size else Grow(other)
        return [taken_in, *([] if holders else self._ask(other, now, again=False))]

    def _check(self, now: float) -> list[Effect | Request]:
        self.checks += 1
        self._recall(self.overlay.view.contacts)
        return [*self._explore(), *self._recover(now), *self._fill(now)]

    def _fill(self, now: float) -> list[Effect | Request]:
        """Ours: who has few neighbours, in either direction, holds some more: it is the first to be cut off when others crash.

        Who knows nobody else asks to be taken in by some.
        """
        around = self.overlay.around()
        lacking = self.settings.least - len(around) - len(self.overlay.coming)
        if lacking <= 0:
            return []
        others = [contact for contact in self.known if contact.id not in around and not self.overlay.has(contact.id)]
        topic, me = self.overlay.topic, self.me.id
        drawn = sorted(
            others or around.values(), key=lambda each: chance(self.seed, "fill", topic, me, self.checks, each.id)
        )
        if others:
            view = self.overlay.view
            places = view.size - len(view.contacts) - len(self.overlay.coming)
            chosen = drawn[: min(lacking, AT_A_TIME)]
            return [Offer((each,)) if place < places else Grow(each) for place, each in enumerate(chosen)]
        # all that it knows are around it, and there may be no others: the more often that was so, the more seldom it asks
        if len(around) != self.found:
            self.found, self.sought = len(around), 0
        self.sought += 1
        return self._ask(drawn[0], now, again=True) if drawn and self.sought & (self.sought - 1) == 0 else []

    def _explore(self) -> list[Effect | Request]:
        """Ours: what came apart cannot know it, and grows together when a walk begins on the other side."""
        known = list(self.known)
        if not known or (self.overlay.view.contacts and self.checks % self.settings.explore):
            return []
        drawn = chance(self.seed, "explore", self.overlay.topic, self.me.id, self.checks)
        return [Explore(known[pick(drawn, len(known))])]

    def _recover(self, now: float) -> list[Effect | Request]:
        """Recovery from isolation: who is held by nobody for too long asks a neighbour to be taken in anew."""
        self.lonely = 0 if self.overlay.held_by else self.lonely + 1
        if self.overlay.held_by:
            self.in_vain = 0
        around = self.overlay.view.contacts or list(self.known)
        if self.lonely < self.settings.patience or not around:
            return []
        self.lonely = 0
        self.in_vain = min(self.in_vain + 1, MOST_IN_VAIN)
        drawn = chance(self.seed, "recover", self.overlay.topic, self.me.id, self.asked)
        contact = around[pick(drawn, len(around))]
        grown: list[Effect | Request] = [] if self.overlay.view.size else [Grow(contact)]
        return [*grown, *self._ask(contact, now, again=True)]

    def _recall(self, contacts: Iterable[Contact]) -> None:
        """Keep those with the lowest chances: a sample of all that were ever seen, however often each was."""
        topic, me = self.overlay.topic, self.me.id
        for contact in contacts:
            self.known[contact] = 0
        if len(self.known) > KNOWN:
            drawn = {contact: chance(self.seed, "recall", topic, me, contact.id) for contact in self.known}
            kept = sorted(self.known, key=lambda contact: (drawn[contact], contact.id))[:KNOWN]
            self.known = {contact: self.known[contact] for contact in kept}

"""Whom a node holds and who holds it, topic by topic, and the links between them.

Here candidates become neighbours and neighbours are let go, whoever asks for it: walks, overlay managers, or links that go
down. An old link goes when the new one is up. Links are announced, and a keep-alive once per period says the same again, so
that both ends come to agree whatever was lost.
"""

from ropewalk.protocols.contract import MOST_NEIGHBOURS, Contact, Disconnect, Effect, Input, LinkDown, Received, Send
from ropewalk.protocols.links import Links
from ropewalk.protocols.reached import UNSOUND
from ropewalk.protocols.sampling.contract import Explore, Forget, Grow, Left, Offer, Post, Request, Shrink
from ropewalk.protocols.stan.following import Following
from ropewalk.protocols.stan.messages import Announce, KeepAlive, Withdraw
from ropewalk.protocols.stan.settings import Settings
from ropewalk.protocols.stan.shared import Shared

MOST_HOLDERS = 4096  # ours: by whom a node believes to be held on one topic
MOST_LINKED_ON = 4096  # ours: topics in one keep-alive
MOST_DOUBTED = 1024  # ours: nodes that did not answer once
BELIEVED_AGAIN = 4  # ours, periods: longer than a walk can carry an old view about
OVERTAKEN = 1.0  # ours, seconds: by how much an announcement may overtake a keep-alive that was sent before it
SILENT = 3.5  # ours, periods: three keep-alives may be lost before a link counts as broken


class Neighbours:
    """The neighbours of one node on all its topics."""

    __slots__ = ("awaited", "beats", "doubted", "links", "met", "settings", "shared", "topics", "unlinked")

    def __init__(self, settings: Settings, shared: Shared) -> None:
        self.settings, self.shared = settings, shared
        self.topics: dict[int, Following] = {}  # grows by Subscribe, shrinks by Unsubscribe
        self.links = Links()
        self.met: list[Contact] = []  # who has begun to hold this node on a topic; for the owner, who empties it
        # topics and who was a neighbour on them, in one direction at least, and is none in that one any more; likewise
        self.unlinked: list[tuple[int, int]] = []
        self.awaited: dict[int, dict[int, None]] = {}  # who is coming: node -> topics; finds `Overlay.coming` by node
        self.doubted: dict[int, None] = {}  # who did not answer when last a link was sought; at most MOST_DOUBTED
        self.beats = 0  # keep-alives sent on every link

    # Better ones come, worse ones go

    def consider(
        self, following: Following, candidates: frozenset[Contact], now: float, *, named: bool = False
    ) -> tuple[list[Effect], bool]:
        """StaN, Algorithm 2, line 16: the best of view and candidates; whether there is anybody new among them.

        Who is `named` by others is not called at any price.
        """
        effects: list[Effect] = []
        newcomers = following.overlay.view.newcomers(following.believed(candidates, now))
        for contact in newcomers:
            if not named or self._may_seek(contact, now):
                effects += self._take_in(following, contact, now)
        return effects, bool(newcomers)

    def _may_seek(self, contact: Contact, now: float) -> bool:
        """Whether somebody whom others have named may be called. Where rounds are conducted everybody is there."""
        return self.settings.schedule != "timed" or self.links.may_seek(contact.id, now)

    def may_pass_on(self, node: int, kind: str, now: float) -> bool:
        """Whether what others have begun may go on to somebody. Where rounds are conducted everybody keeps the rules."""
        return self.settings.schedule != "timed" or self.links.may_pass_on(node, kind, now)

    def let_all_go(self, following: Following, now: float) -> list[Effect]:
        """Hold nobody on a topic any more, and be held by nobody."""
        overlay = following.overlay
        effects: list[Effect] = []
        for contact in overlay.view.contacts:
            effects += self._let_go(overlay.topic, contact, now)
        for holder in overlay.held_by:
            self.links.let_go(holder, now)
        for node in list(overlay.coming):
            self._await_no_more(following, node)
        return effects

    def _take_in(self, following: Following, contact: Contact, now: float) -> list[Effect]:
        """Make somebody a neighbour: now if there is a link, else when there is."""
        overlay = following.overlay
        if not self.links.is_up(contact.id):
            if len(overlay.coming) >= MOST_NEIGHBOURS:
                self.links.reached.note("neighbours on their way")
                return []
            overlay.coming[contact.id] = None
            self.awaited.setdefault(contact.id, {})[overlay.topic] = None
            return self.links.seek(contact, now)
        left_out = overlay.view.adopt(contact)
        if left_out == contact:
            return []  # better ones came in the meantime
        self.links.use(contact.id)
        effects: list[Effect] = [Send(contact, Announce(overlay.topic))]
        if left_out is not None:
            effects += self._let_go(overlay.topic, left_out, now)
        return effects

    def _let_go(self, topic: int, contact: Contact, now: float) -> list[Effect]:
        self.links.release(contact.id, now)
        self.unlinked.append((topic, contact.id))
        return [Send(contact, Withdraw(topic))]

    def _await_no_more(self, following: Following, node: int) -> None:
        if node in following.overlay.coming:
            del following.overlay.coming[node]
            topics = self.awaited[node]
            del topics[following.overlay.topic]
            if not topics:
                del self.awaited[node]

    def _bury(self, following: Following, node: int, now: float) -> None:
        """Ours: walks go on naming who is gone for a while. Where rounds are conducted nobody is named after that."""
        if self.settings.schedule == "timed":
            following.bury(node, now + BELIEVED_AGAIN * self.period(following))

    def around(self, topic: int) -> dict[int, Contact] | None:
        """All that are linked with this node on a topic, in either direction; None if it is not followed."""
        following = self.topics.get(topic)
        if following is None:
            return None
        return following.overlay.around()

    # Who shares more topics

    def learn(self, topic: int, node: int) -> None:
        """Somebody has shown that it follows a topic that is followed here."""
        self._rank_anew(self.shared.learn(topic, node))

    def _learn_again(self, topics: tuple[int, ...], node: int) -> None:
        """If it was forgotten, to make room for others."""
        for topic in topics if node not in self.shared.topics_of else ():
            self.learn(topic, node)

    def unlearn(self, topic: int, node: int | None = None) -> None:
        """Somebody follows a topic no longer; None: this node does not."""
        self._rank_anew(self.shared.forget_topic(topic) if node is None else self.shared.forget(topic, node))

    def _rank_anew(self, changed: list[int]) -> None:
        linked = {node for node in changed if self.links.is_up(node)}  # others are in no view
        for following in self.topics.values() if linked else ():
            if not linked.isdisjoint(following.overlay.view.ids):
                following.overlay.view.rank_anew()

    # Links, and what is said about them

    def link_up(self, contact: Contact, now: float) -> list[Effect]:
        """Who was waited for is taken in."""
        self.doubted.pop(contact.id, None)
        effects = self.links.came_up(contact, now)
        for topic in self.awaited.pop(contact.id, ()):
            following = self.topics[topic]
            del following.overlay.coming[contact.id]
            effects += self._take_in(following, contact, now)
        return effects

    def link_down(self, down: LinkDown, now: float) -> list[Effect]:
        """Its places stay, and the next replies fill them; whoever only closed it while we need it is asked again."""
        node = down.contact.id
        gone = down.cause != "closed" and self._is_gone(node)
        self.links.went_down(node)
        effects: list[Effect] = []
        for topic, following in self.topics.items():
            overlay = following.overlay
            wanted, held = overlay.has(node), overlay.let_go(node)
            if wanted or held:
                self.unlinked.append((topic, node))
            # The manager judges by the view that had it; what it asks for is granted to the view that has it no more.
            asked = following.manager.handle(down, now) if down.cause != "closed" else []
            overlay.view.drop(node)
            self._await_no_more(following, node)
            if gone and (wanted or held):
                self._bury(following, node, now)
            elif down.cause == "closed" and wanted:
                effects += self._take_in(following, down.contact, now)
            for answer in asked:
                effects += self._grant(topic, answer, now)
        if gone:
            self._rank_anew(self.shared.forget_node(node))
        return effects

    def _is_gone(self, node: int) -> bool:
        """Whoever was linked is; of whoever was not, a message may have been lost, so it must fail twice."""
        if self.links.is_up(node) or node in self.doubted:
            self.doubted.pop(node, None)
            return True
        self.doubted[node] = None
        if len(self.doubted) > MOST_DOUBTED:
            self.links.reached.note("nodes in doubt")
            del self.doubted[next(iter(self.doubted))]
        return False

    def held_by(self, sender: Contact, topic: int, held: bool, now: float) -> list[Effect]:
        """Ours: a link is announced, so that its other end knows who holds it, and does not close it."""
        if not self.links.is_up(sender.id):
            return []
        self.links.by_id[sender.id].announced_at = now
        following = self.topics.get(topic)
        if following is None:  # it has not heard that we are gone
            return [Send(sender, Left(topic))] if held else []
        if held:
            self.learn(topic, sender.id)
        holders = following.overlay.held_by
        if held and sender.id not in holders and len(holders) < MOST_HOLDERS:
            following.overlay.hold(sender)
            self.met.append(sender)
            following.gone.pop(sender.id, None)  # it is here to say so
            self.links.held(sender.id)
        elif held and sender.id not in holders:
            self.links.reached.note("holders on a topic")
        elif not held and sender.id in holders:
            following.overlay.let_go(sender.id)
            self.unlinked.append((topic, sender.id))
            self.links.let_go(sender.id, now)
        return []

    def keep_alive(self, now: float) -> list[Effect]:
        """Ours: take down the links that have been silent for too long, and tell the others what they are held for."""
        self.beats += 1
        effects: list[Effect] = []
        silent_since = now - SILENT * self.settings.period
        for link in [link for link in self.links.by_id.values() if link.up and link.heard_at < silent_since]:
            effects.append(Disconnect(link.contact))
            effects += self.link_down(LinkDown(link.contact, "failed"), now)
        held_for: dict[int, list[int]] = {}
        for topic, following in self.topics.items():
            for contact in following.overlay.view.contacts:
                held_for.setdefault(contact.id, []).append(topic)
        for node, link in self.links.by_id.items():
            if link.up:
                effects.append(Send(link.contact, KeepAlive(self.beats, tuple(held_for.get(node, ())))))
        return effects

    def alive(self, sender: Contact, message: KeepAlive, now: float) -> list[Effect]:
        """Believe a keep-alive, where it differs from what was announced."""
        link = self.links.by_id.get(sender.id)
        if len(message.topics) > MOST_LINKED_ON:
            self.links.reached.note(UNSOUND)
            return []
        if link is None or message.number <= link.last_beat:
            return []  # late: what it says may be out of date
        link.last_beat, link.heard_at = message.number, now
        if now - link.announced_at < OVERTAKEN:
            return []  # it may have been said before that, and the next says it again
        topics = self.topics
        known = [topic in topics and sender.id in topics[topic].overlay.held_by for topic in message.topics]
        if all(known) and len(known) == link.held_on:
            self._learn_again(message.topics, sender.id)
            return []  # as announced, which it usually is: the same in a few steps, however many topics there are
        effects: list[Effect] = []
        held_for = dict.fromkeys(message.topics)
        for topic in held_for:
            if topic not in self.topics:
                effects += self.held_by(sender, topic, True, now)
        for topic, following in self.topics.items():
            if (topic in held_for) != (sender.id in following.overlay.held_by):
                effects += self.held_by(sender, topic, topic in held_for, now)
        return effects

    # What overlay managers ask for

    def ask_manager(self, topic: int, event: Input, now: float) -> list[Effect]:
        """Have a topic's manager take an input in, and grant what it asks for."""
        following = self.topics.get(topic)
        effects: list[Effect] = []
        named = isinstance(event, Received)
        for answer in following.manager.handle(event, now) if following is not None else ():
            effects += self._grant(topic, answer, now, named=named)
        return effects

    def _grant(self, topic: int, answer: Effect | Request, now: float, *, named: bool = False) -> list[Effect]:
        following = self.topics[topic]
        match answer:
            case Grow(contact):
                return self._grow(following, contact, now, named=named)
            case Shrink():
                return self._shrink(following, now)
            case Forget(node):
                return self._forget(following, node, now)
            case Offer(contacts):
                return self.consider(following, frozenset(contacts), now, named=named)[0]
            case Explore(contact):
                following.explore = contact
                return []
            case Post(to, message):
                may = not named or self.may_pass_on(to.id, message.kind, now)
                return self.links.post(to, message, now) if may else []
            case _:
                return [answer]

    def grow(self, topic: int, contact: Contact, now: float) -> list[Effect]:
        """Hold one more on a topic that is followed."""
        return self._grow(self.topics[topic], contact, now)

    def _grow(self, following: Following, contact: Contact, now: float, *, named: bool = False) -> list[Effect]:
        if named and not self._may_seek(contact, now):
            return []
        view = following.overlay.view
        if view.size < (MOST_NEIGHBOURS if following.level.most is None else following.level.most):
            view.size += 1
        following.gone.pop(contact.id, None)
        return [] if following.overlay.has(contact.id) else self._take_in(following, contact, now)

    def _shrink(self, following: Following, now: float) -> list[Effect]:
        view = following.overlay.view
        view.size = max(0, view.size - 1)
        worst = view.worst() if len(view.contacts) > view.size else None
        if worst is None:
            return []
        view.drop(worst.id)
        return self._let_go(following.overlay.topic, worst, now)

    def _forget(self, following: Following, node: int, now: float) -> list[Effect]:
        self._bury(following, node, now)
        self._await_no_more(following, node)
        self.unlearn(following.overlay.topic, node)
        dropped = following.overlay.view.drop(node)
        return [] if dropped is None else self._let_go(following.overlay.topic, dropped, now)

    def period(self, following: Following) -> float:
        """Seconds from one round to the next on a topic."""
        return following.level.period or self.settings.period

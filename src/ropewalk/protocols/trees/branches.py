"""Who is whose child on the tree of each topic, at one node (after Scribe: Castro et al., 2002).

A child says so to its parent once per period, and is answered; a parent forgets a child that does not, a child gives up a
parent that does not answer. A node is on a tree while it follows the topic or has children; otherwise it leaves it.

Ours: the root counts its periods, and the count comes down with the answers. Where it does not grow there is no root above:
parents in a circle, or a part that has been cut off, notice by that, and look for another way. A count that is higher
than the root's goes up to it, and is passed. Counts go up and down at once, from node to node, so that nobody waits longer for
the next because it is far below, or because its tree has got another root. Besides, all topics that two nodes share a branch on go into
one message a period, which makes up for what is lost.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from ropewalk.protocols.contract import Contact, Effect
from ropewalk.protocols.dht.settings import Settings as RingSettings
from ropewalk.protocols.links import Links
from ropewalk.protocols.trees import messages
from ropewalk.protocols.trees.messages import Bear, Graft, Prune
from ropewalk.protocols.trees.settings import (
    MOST_AHEAD,
    MOST_BEGUN_BY_ONE,
    MOST_BRANCHES,
    MOST_CHILDREN,
    MOST_REFUSALS,
    MOST_SAID,
    Settings,
)


class Branch:
    """What a node knows of the tree of one topic."""

    __slots__ = (
        "beat",
        "beat_at",
        "began_at",
        "begun_by",
        "children",
        "highest",
        "parent",
        "parent_at",
        "refusals",
        "root",
    )

    def __init__(self, now: float) -> None:
        self.parent: Contact | None = None
        self.parent_at = self.beat_at = self.began_at = now  # when it was last heard; when `beat` last grew
        self.beat = 0  # the root's last that has come here
        self.refusals = 0  # by parents, since the last heartbeat
        self.begun_by = -1  # the child for which this node is on the tree, if it was not before
        self.highest = 0  # the highest that any below has heard of
        self.root = 0  # whose beat it is
        self.children: dict[int, tuple[Contact, float]] = {}  # by id, and when they last said so; at most MOST_CHILDREN


class Ways(Protocol):
    """How nodes come to be on one kind of tree."""

    def is_root(self, topic: int) -> bool:
        """Whether this node is where the tree of a topic begins."""

    def seek(self, topic: int, now: float) -> list[Effect]:
        """See to it that this node gets a parent, now or soon."""

    def doubt(self, topic: int) -> None:
        """The way that was found last has led nowhere, or does so no longer."""

    def moved(self, topic: int) -> None:
        """Another node is the root now."""

    def takes(self, topic: int) -> bool:
        """Whether somebody who says that it is a child is taken as one."""


class Trees:
    """All trees of one kind that a node is on."""

    __slots__ = (
        "begun_by",
        "by_topic",
        "follows",
        "links",
        "me",
        "number",
        "recent",
        "ring_settings",
        "settings",
        "ways",
    )

    def __init__(
        self,
        number: int,
        me: Contact,
        links: Links,
        settings: Settings,
        ring_settings: RingSettings,
        follows: Callable[[int], bool],
        recent: Callable[[int, float], tuple[int, ...]],
        ways: Ways,
    ) -> None:
        self.number, self.me, self.links, self.settings, self.ring_settings = number, me, links, settings, ring_settings
        self.follows, self.recent, self.ways = follows, recent, ways
        self.by_topic: dict[int, Branch] = {}
        self.begun_by: dict[int, int] = {}  # node -> how many trees this one is on for its sake

    def neighbours(self, topic: int) -> list[Contact]:
        """Parent and children."""
        branch = self.by_topic.get(topic)
        if branch is None:
            return []
        above = [] if branch.parent is None else [branch.parent]
        return above + [contact for contact, _ in branch.children.values()]

    def join(self, topic: int, now: float) -> list[Effect]:
        """Be on a tree from now on."""
        branch = self.by_topic.get(topic)
        if branch is None:
            branch = self.by_topic[topic] = Branch(now)
        return self.ways.seek(topic, now) if branch.parent is None else []

    def leave(self, topic: int, now: float) -> list[Effect]:
        """Be on it no longer than others need it."""
        branch = self.by_topic.get(topic)
        return self._drop(topic, branch, now) if branch is not None and not branch.children else []

    def adopt(self, topic: int, parent: Contact, now: float) -> list[Effect]:
        """Be the child of this node from now on."""
        branch = self.by_topic.get(topic)
        if branch is None:
            if len(self.by_topic) >= MOST_BRANCHES and not self.follows(topic):
                self.links.reached.note("trees")
                return []
            branch = self.by_topic[topic] = Branch(now)
        if parent.id == self.me.id or (branch.parent is not None and branch.parent.id == parent.id):
            return []
        effects = self._part(topic, branch, now)
        branch.children.pop(parent.id, None)
        branch.parent = parent
        branch.parent_at = branch.beat_at = now
        return effects + self.links.post(parent, Graft(self.number, (self._said(topic, branch, now),)), now)

    def gone(self, node: int, now: float) -> list[Effect]:
        """Somebody is not there any more."""
        effects: list[Effect] = []
        for topic, branch in list(self.by_topic.items()):
            if branch.parent is not None and branch.parent.id == node:
                branch.parent = None
                if topic in self.by_topic and self._is_needed(topic, branch, now):
                    effects += self.ways.seek(topic, now)
            branch.children.pop(node, None)
        return effects

    def orphans(self) -> list[int]:
        """Topics on whose trees this node is, with nobody above it, and not as their home."""
        return [
            topic for topic, branch in self.by_topic.items() if branch.parent is None and not self.ways.is_root(topic)
        ]

    def take_root(self, now: float) -> list[Effect]:
        """Be nobody's child where this node is the home, which it may just have become."""
        effects: list[Effect] = []
        for topic, branch in self.by_topic.items():
            if branch.parent is not None and self.ways.is_root(topic):
                effects += self._part(topic, branch, now)
        return effects

    def reroute(self, now: float) -> tuple[list[Effect], list[int]]:
        """Look for all ways anew; on which topics somebody else is above this node now."""
        effects: list[Effect] = []
        changed: list[int] = []
        for topic, branch in list(self.by_topic.items()):
            before = branch.parent
            effects += self.ways.seek(topic, now)
            if branch.parent != before:
                changed.append(topic)
        return effects, changed

    def fell(self, now: float) -> list[Effect]:
        """Leave all of them at once, and tell everybody; those that this node follows it will seek anew."""
        told: dict[Contact, list[int]] = {}
        for topic, branch in self.by_topic.items():
            for contact in self.neighbours(topic):
                told.setdefault(contact, []).append(topic)
            branch.parent, branch.children = None, {}
        self.by_topic = {topic: branch for topic, branch in self.by_topic.items() if self.follows(topic)}
        self.begun_by.clear()
        for branch in self.by_topic.values():
            branch.begun_by = -1
        effects: list[Effect] = []
        for contact, topics in told.items():
            for first in range(0, len(topics), MOST_SAID):
                effects += self.links.post(contact, Prune(self.number, tuple(topics[first : first + MOST_SAID])), now)
        return effects

    def beat(self, now: float) -> list[Effect]:
        """A period is over: count it where this node is a root, say whose child it is, give up who is silent."""
        silent = now - self.ring_settings.missed * self.ring_settings.period
        stale = now - self.settings.stale * self.ring_settings.period
        effects: list[Effect] = []
        for topic, branch in list(self.by_topic.items()):
            branch.children = {node: child for node, child in branch.children.items() if child[1] > silent}
            branch.refusals = 0
            if not self._is_needed(topic, branch, now):
                effects += self._drop(topic, branch, now)
            elif self.ways.is_root(topic):
                effects += self._part(topic, branch, now)
                branch.beat, branch.beat_at = max(branch.beat, branch.highest) + 1, now
                effects += self._pass_down(topic, branch, now)
            else:
                if branch.parent is not None and (branch.parent_at <= silent or branch.beat_at <= stale):
                    self.ways.doubt(topic)
                    effects += self._part(topic, branch, now)
                effects += self.ways.seek(topic, now)
        return effects + self._tell_parents(now)

    # What others say

    def grafted(self, sender: Contact, message: Graft, now: float) -> list[Effect]:
        """Somebody is a child of this node's."""
        effects: list[Effect] = []
        taken, refused = [], []
        for topic, _, beat, _ in message.branches:
            branch = self._taking(topic, sender, now)
            if branch is None:
                refused.append(topic)
                continue
            so_far = max(branch.beat, branch.highest)
            risen = beat > so_far
            branch.highest = max(branch.highest, min(beat, so_far + MOST_AHEAD))
            branch.children[sender.id] = (sender, now)
            if branch.parent is not None and branch.parent.id == sender.id:
                branch.parent = None  # a circle of two: one of us is wrong, and knows better by the next heartbeat
            elif branch.parent is None and not self.ways.is_root(topic):
                effects += self.ways.seek(topic, now)
            if risen:
                effects += self._overtake(topic, branch, sender, now)
            taken.append(self._said(topic, branch, now))
        if refused:
            effects += self.links.post(sender, Prune(self.number, tuple(refused)), now)
        for part in _parts(taken):
            effects += self.links.post(sender, Bear(self.number, part), now)
        return effects

    def borne(self, sender: Contact, message: Bear, now: float) -> list[Effect]:
        """A parent answers."""
        strange = []
        effects: list[Effect] = []
        for topic, root, beat, _ in message.branches:
            branch = self.by_topic.get(topic)
            if branch is None or branch.parent is None or branch.parent.id != sender.id:
                strange.append(topic)
                continue
            branch.parent_at = now
            if beat > branch.beat:
                branch.beat, branch.beat_at = min(beat, branch.beat + MOST_AHEAD), now
                if root != branch.root:
                    branch.root = root
                    self.ways.moved(topic)
                effects += self._pass_down(topic, branch, now)
        return effects + (self.links.post(sender, Prune(self.number, tuple(strange)), now) if strange else [])

    def pruned(self, sender: Contact, message: Prune, now: float) -> list[Effect]:
        """Somebody is no longer a child, or will not be a parent."""
        effects: list[Effect] = []
        for topic in message.topics:
            branch = self.by_topic.get(topic)
            if branch is None:
                continue
            branch.children.pop(sender.id, None)
            if branch.parent is not None and branch.parent.id == sender.id:
                branch.parent = None
            # who is refused again and again waits for its heartbeat: it might be for ever
            if branch.parent is None and branch.refusals < MOST_REFUSALS and self._is_needed(topic, branch, now):
                branch.refusals += 1
                effects += self.ways.seek(topic, now)
            if topic in self.by_topic and not self._is_needed(topic, branch, now):
                effects += self._drop(topic, branch, now)
        return effects

    def is_on(self, topic: int, node: int) -> bool:
        """Whether somebody is a neighbour on a topic's tree."""
        branch = self.by_topic.get(topic)
        if branch is None:
            return False
        return node in branch.children or (branch.parent is not None and branch.parent.id == node)

    def _taking(self, topic: int, child: Contact, now: float) -> Branch | None:
        branch = self.by_topic.get(topic)
        if branch is None:
            if not self.ways.takes(topic):
                return None
            if len(self.by_topic) >= MOST_BRANCHES or self.begun_by.get(child.id, 0) >= MOST_BEGUN_BY_ONE:
                self.links.reached.note("trees")
                return None
            branch = self.by_topic[topic] = Branch(now)
            branch.begun_by = child.id
            self.begun_by[child.id] = self.begun_by.get(child.id, 0) + 1
        if child.id not in branch.children and len(branch.children) >= MOST_CHILDREN:
            self.links.reached.note("children on a tree")
            return None
        return branch

    def _is_needed(self, topic: int, branch: Branch, now: float) -> bool:
        """A branch that has just begun may get a child any moment."""
        return bool(branch.children) or self.follows(topic) or now < branch.began_at + self.ring_settings.period

    def _drop(self, topic: int, branch: Branch, now: float) -> list[Effect]:
        effects = self._part(topic, branch, now)
        del self.by_topic[topic]
        if branch.begun_by in self.begun_by:
            self.begun_by[branch.begun_by] -= 1
            if not self.begun_by[branch.begun_by]:
                del self.begun_by[branch.begun_by]
        return effects

    def _part(self, topic: int, branch: Branch, now: float) -> list[Effect]:
        """Be nobody's child."""
        parent, branch.parent = branch.parent, None
        if parent is None or not self.links.is_up(parent.id):
            return []
        return self.links.post(parent, Prune(self.number, (topic,)), now)

    def _overtake(self, topic: int, branch: Branch, child: Contact, now: float) -> list[Effect]:
        """A child has heard of a count that is higher than this node's."""
        if self.ways.is_root(topic):
            branch.beat, branch.beat_at = branch.highest + 1, now
            return self._pass_down(topic, branch, now, child)
        if branch.parent is None:
            return []
        return self.links.post(branch.parent, Graft(self.number, (self._counted(topic, branch),)), now)

    def _pass_down(self, topic: int, branch: Branch, now: float, but: Contact | None = None) -> list[Effect]:
        """Tell all children of the count, but one that is told anyway."""
        bear = Bear(self.number, (self._counted(topic, branch),))
        effects: list[Effect] = []
        for contact, _ in branch.children.values():
            if but is None or contact.id != but.id:
                effects += self.links.post(contact, bear, now)
        return effects

    def _tell_parents(self, now: float) -> list[Effect]:
        by_parent: dict[Contact, list[messages.Branch]] = {}
        for topic, branch in self.by_topic.items():
            if branch.parent is not None:
                by_parent.setdefault(branch.parent, []).append(self._said(topic, branch, now))
        effects: list[Effect] = []
        for parent, said in by_parent.items():
            for part in _parts(said):
                effects += self.links.post(parent, Graft(self.number, part), now)
        return effects

    def _said(self, topic: int, branch: Branch, now: float) -> messages.Branch:
        """The count, and what came lately."""
        return (*self._counted(topic, branch)[:3], self.recent(topic, now))

    def _counted(self, topic: int, branch: Branch) -> messages.Branch:
        """The count alone, which is passed on at once."""
        root = self.me.id if self.ways.is_root(topic) else branch.root
        return (topic, root, max(branch.beat, branch.highest), ())


def _parts(branches: Iterable[messages.Branch]) -> Iterator[tuple[messages.Branch, ...]]:
    """As few as bounds allow."""
    part: list[messages.Branch] = []
    size = 0
    for branch in branches:
        if part and size + 3 + len(branch[3]) > MOST_SAID:
            yield tuple(part)
            part, size = [], 0
        part.append(branch)
        size += 3 + len(branch[3])
    if part:
        yield tuple(part)

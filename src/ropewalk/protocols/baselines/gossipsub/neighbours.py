"""Who is linked with a node, and what each of them has said it follows.

There is one link to a node, whatever the topics. It is in use while its ends have a topic in common, and until its other end
has said what it follows.
"""

from ropewalk.protocols.baselines.gossipsub.messages import Interests
from ropewalk.protocols.baselines.gossipsub.settings import MOST_FOLLOWED, MOST_SAID
from ropewalk.protocols.contract import Contact, Effect, Send
from ropewalk.protocols.links import Links

NOBODY: dict[int, Contact] = {}


class Neighbours:
    """The neighbours of one node, on all topics."""

    __slots__ = ("followers", "links", "mine", "told")

    def __init__(self) -> None:
        self.links = Links()
        self.mine: dict[int, None] = {}  # what this node follows; grows by Subscribe, shrinks by Unsubscribe
        self.told: dict[int, dict[int, None]] = {}  # what each neighbour has said it follows, at most MOST_FOLLOWED
        self.followers: dict[int, dict[int, Contact]] = {}  # the same by topic; nobody is here whose link is not up

    def on(self, topic: int) -> dict[int, Contact]:
        """The neighbours that follow a topic, as far as is known."""
        return self.followers.get(topic, NOBODY)

    def follow(self, topic: int) -> list[Effect]:
        """Follow a topic from now on, and tell everybody."""
        self.mine[topic] = None
        for node in self.on(topic):
            self.links.use(node)
        return self._tell_all(Interests((topic,)))

    def follow_no_longer(self, topic: int, now: float) -> list[Effect]:
        """The reverse."""
        del self.mine[topic]
        for node in self.on(topic):
            self.links.release(node, now)
        return self._tell_all(Interests((), (topic,)))

    def link_up(self, contact: Contact, now: float) -> list[Effect]:
        """Say what this node follows: all of it, to whoever is there."""
        fresh = not self.links.is_up(contact.id)
        effects = self.links.came_up(contact, now)
        if fresh:
            self.links.use(contact.id)  # until it has said what it follows
        mine = tuple(self.mine)
        parts = [mine[first : first + MOST_SAID] for first in range(0, len(mine), MOST_SAID)] or [()]
        return effects + [Send(contact, Interests(part)) for part in parts]

    def link_down(self, node: int) -> bool:
        """Forget all about a neighbour; whether it had a topic in common with this node."""
        self.links.went_down(node)
        topics = self.told.pop(node, {})
        for topic in topics:
            self._strike(node, topic)
        return any(topic in self.mine for topic in topics)

    def idle(self, before: float) -> list[Contact]:
        """Whose links have not been of use since then."""
        links = self.links.by_id.values()
        return [link.contact for link in links if link.up and not link.uses and link.idle_since <= before]

    def used(self, node: int, now: float) -> None:
        """An event crossed a link, be there a topic in common or not."""
        self.links.by_id[node].idle_since = now

    def note(self, contact: Contact, topic: int, now: float) -> bool:
        """A neighbour follows a topic; whether that could be noted."""
        topics = self._told_by(contact.id, now)
        if topic not in topics:
            if len(topics) >= MOST_FOLLOWED:
                return False
            topics[topic] = None
            self.followers.setdefault(topic, {})[contact.id] = contact
            if topic in self.mine:
                self.links.use(contact.id)
        return True

    def note_not(self, node: int, topic: int, now: float) -> None:
        """It does so no longer."""
        topics = self._told_by(node, now)
        if topic in topics:
            del topics[topic]
            self._strike(node, topic)
            if topic in self.mine:
                self.links.release(node, now)

    def heard(self, interests: Interests, sender: Contact, now: float) -> None:
        """A neighbour says what it follows, and what no longer."""
        self._told_by(sender.id, now)
        for topic in interests.follows:
            self.note(sender, topic, now)
        for topic in interests.no_longer:
            self.note_not(sender.id, topic, now)

    def _told_by(self, node: int, now: float) -> dict[int, None]:
        if node not in self.told:
            self.told[node] = {}
            self.links.release(node, now)  # of what it was in use for until now
        return self.told[node]

    def _strike(self, node: int, topic: int) -> None:
        followers = self.followers[topic]
        del followers[node]
        if not followers:
            del self.followers[topic]

    def _tell_all(self, interests: Interests) -> list[Effect]:
        return [Send(link.contact, interests) for link in self.links.by_id.values() if link.up]

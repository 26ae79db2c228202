"""How a node gets into topics whose members it does not know, and finds those again that it has lost.

It is found as a member of every topic that it follows. While it is alone on one it looks for others; once it is not, whoever
it hears of besides is where a walk may begin, so that what came apart grows together.
"""

from ropewalk.protocols.contract import Contact, Effect, Join, LinkDown, Subscribe
from ropewalk.protocols.discovery import node as discovery
from ropewalk.protocols.discovery.messages import Message
from ropewalk.protocols.discovery.settings import Settings
from ropewalk.protocols.stan.following import Following
from ropewalk.protocols.stan.neighbours import Neighbours


class Finding:
    """Discovery, as a node with neighbours uses it."""

    __slots__ = ("discovery", "neighbours")

    def __init__(self, me: Contact, seed: int, neighbours: Neighbours, join: Join) -> None:
        self.neighbours = neighbours
        self.discovery = discovery.Node(me, Settings(), seed, neighbours.links, join.seeds, join.secret)

    def start(self, now: float) -> list[Effect]:
        """Find the network."""
        return self.discovery.start(now)

    def follow(self, topic: int, now: float) -> list[Effect]:
        """A topic is followed from now on: be found, and find others if none is known."""
        return self.discovery.serve(topic, now) + self.look(topic, now)

    def look(self, topic: int, now: float) -> list[Effect]:
        """Look for others, if this node is alone on a topic."""
        following = self.neighbours.topics.get(topic)
        return self.discovery.seek(topic, now) if following is not None and _is_alone(following) else []

    def follow_no_more(self, topic: int, now: float) -> list[Effect]:
        """A topic is followed no longer."""
        return self.discovery.serve_no_more(topic, now)

    def seek(self, topic: int, now: float) -> list[Effect]:
        """Look for members of a topic that need not be followed."""
        return self.discovery.seek(topic, now)

    def receive(self, sender: Contact, message: Message, now: float) -> list[Effect]:
        """Take in what another node's discovery says."""
        return self.discovery.receive(sender, message, now)

    def fire(self, timer: object, now: float) -> list[Effect]:
        """A timer is due that may be discovery's."""
        return self.discovery.fire(timer, now)

    def link_down(self, down: LinkDown, now: float) -> list[Effect]:
        """A link is gone."""
        return self.discovery.link_down(down.contact, down.cause, now)

    def enter(self, topic: int, contacts: tuple[Contact, ...], now: float) -> list[Effect]:
        """Members were found: of a topic on which this node is alone they are whom its manager begins with."""
        following = self.neighbours.topics.get(topic)
        if following is None or not contacts:
            return []
        if _is_alone(following):
            return self.neighbours.ask_manager(topic, Subscribe(topic, contacts, following.level), now)
        overlay = following.overlay
        others = [each for each in contacts if not overlay.has(each.id) and each.id not in overlay.held_by]
        if others and following.explore is None:
            following.explore = others[0]
        return []


def _is_alone(following: Following) -> bool:
    overlay = following.overlay
    return not (overlay.view.contacts or overlay.held_by or overlay.coming)

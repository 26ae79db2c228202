"""How a node gets into topics whose members it does not know, and finds those again that it has lost.

It is found as a member of every topic that it follows. Whoever it finds must show that it knows the topic. While it is alone
on one it looks for others; once it is not, whoever it hears of besides is where a walk may begin, so that what came apart
grows together.
"""

from collections.abc import Callable

from ropewalk.protocols.contract import Contact, Effect, Join, LinkDown, Subscribe
from ropewalk.protocols.discovery import node as discovery
from ropewalk.protocols.discovery.messages import Message, OfProofs, is_sound
from ropewalk.protocols.discovery.proofs import Proofs, Unproven
from ropewalk.protocols.discovery.settings import Settings
from ropewalk.protocols.stan.following import Following
from ropewalk.protocols.stan.neighbours import Neighbours
from ropewalk.seeds import chance, pick

# ours: who holds so few takes in a member that it hears of. Two that hold nobody but each other, and rank each other first, would
# never let a third in by walks
SHORT = 2


class Finding:
    """Discovery, as a node with neighbours uses it."""

    __slots__ = ("discovery", "neighbours", "proofs", "seed")

    def __init__(self, me: Contact, seed: int, neighbours: Neighbours, join: Join, settings: Settings) -> None:
        self.neighbours, self.seed = neighbours, seed
        self.discovery = discovery.Node(me, settings, seed, neighbours.links, join.seeds, join.secret)
        self.proofs = Proofs(me, settings, neighbours.links, join.secret)

    def start(self, now: float) -> list[Effect]:
        """Find the network."""
        return self.discovery.start(now)

    def follow(self, topic: int, now: float) -> list[Effect]:
        """A topic is followed from now on: be found, and find others if none is known."""
        self.proofs.serve(topic)
        return self.discovery.serve(topic, now) + self.look(topic, now)

    def look(self, topic: int, now: float) -> list[Effect]:
        """Look for others, if this node is alone on a topic."""
        following = self.neighbours.topics.get(topic)
        return self.discovery.seek(topic, now) if following is not None and _is_alone(following) else []

    def follow_no_more(self, topic: int, now: float) -> list[Effect]:
        """A topic is followed no longer."""
        self.proofs.serve_no_more(topic)
        return self.discovery.serve_no_more(topic, now)

    def seek(self, topic: int, now: float) -> list[Effect]:
        """Look for members of a topic that need not be followed."""
        return self.discovery.seek(topic, now)

    def check(self, seeks: Callable[[int], bool], now: float) -> list[Effect]:
        """Have those who were found show that they know the topic: they will be in `proofs.checked`.

        More of them, where somebody else at this node seeks members of a topic.
        """
        effects: list[Effect] = []
        while self.discovery.found:
            topic, contacts = self.discovery.found.pop(0)
            effects += self.proofs.check(topic, contacts if seeks(topic) else self._of_use(topic, contacts), now)
        return effects

    def receive(self, sender: Contact, message: Message, now: float) -> list[Effect]:
        """Take in what another node's discovery says."""
        if isinstance(message, OfProofs):
            if is_sound(message):
                self.discovery.routes.heard(sender, now)
            return self.proofs.receive(sender, message, now)
        return self.discovery.receive(sender, message, now)

    def fire(self, timer: object, now: float) -> list[Effect]:
        """A timer is due that may be discovery's."""
        return self.proofs.fire(timer, now) if isinstance(timer, Unproven) else self.discovery.fire(timer, now)

    def link_down(self, down: LinkDown, now: float) -> list[Effect]:
        """A link is gone."""
        effects = self.proofs.link_down(down.contact, down.cause, now)
        return effects + self.discovery.link_down(down.contact, down.cause, now)

    def enter(self, topic: int, contacts: tuple[Contact, ...], now: float) -> list[Effect]:
        """Members were found: of a topic on which this node is alone they are whom its manager begins with."""
        self.discovery.proven(topic, len(contacts))
        following = self.neighbours.topics.get(topic)
        if following is None or not contacts:
            return []
        for contact in contacts:
            self.neighbours.learn(topic, contact.id)
        if _is_alone(following):
            return self.neighbours.ask_manager(topic, Subscribe(topic, contacts, following.level), now)
        others = _strangers(following, contacts)
        if others and following.overlay.view.size <= SHORT:
            return self.neighbours.grow(topic, others[0], now)
        if others and following.explore is None:
            following.explore = others[0]
        return []

    def _of_use(self, topic: int, contacts: tuple[Contact, ...]) -> tuple[Contact, ...]:
        """All, if this node is alone on a topic or only publishes on it; else one, by chance: a walk begins with one."""
        following = self.neighbours.topics.get(topic)
        if following is None or _is_alone(following):
            return contacts
        strangers = _strangers(following, contacts)
        strangers = tuple(each for each in strangers if not self.proofs.is_doubted(topic, each)) or strangers
        drawn = chance(self.seed, "stranger", self.proofs.me.id, self.proofs.turn)
        return (strangers[pick(drawn, len(strangers))],) if strangers else ()


def _strangers(following: Following, contacts: tuple[Contact, ...]) -> tuple[Contact, ...]:
    overlay = following.overlay
    return tuple(each for each in contacts if not overlay.has(each.id) and each.id not in overlay.held_by)


def _is_alone(following: Following) -> bool:
    overlay = following.overlay
    return not (overlay.view.contacts or overlay.held_by or overlay.coming)

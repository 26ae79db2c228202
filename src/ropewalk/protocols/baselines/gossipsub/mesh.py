"""To whom events go without being asked for: the mesh of every topic that is followed, the fan-out of every other one.

Whoever is in a mesh or fan-out is a neighbour that follows the topic. Who that is, is left to chance; every draw has a number
of its own.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil

from ropewalk.protocols.baselines.gossipsub.messages import Drafts
from ropewalk.protocols.baselines.gossipsub.neighbours import Neighbours
from ropewalk.protocols.baselines.gossipsub.settings import LONGEST_BACKOFF, MOST_BACKOFFS, MOST_FANOUTS, Settings
from ropewalk.protocols.contract import MOST_NEIGHBOURS, Contact
from ropewalk.seeds import chance


@dataclass(slots=True)
class FanOut:
    """To whom events of a topic go that is not followed here."""

    members: dict[int, Contact]
    published: float  # when last


class Meshes:
    """The meshes and fan-outs of one node."""

    __slots__ = ("backoffs", "by_topic", "draws", "fanouts", "me", "neighbours", "seed", "settings")

    def __init__(self, me: Contact, neighbours: Neighbours, settings: Settings, seed: int) -> None:
        self.me, self.neighbours, self.settings, self.seed = me, neighbours, settings, seed
        self.by_topic: dict[int, dict[int, Contact]] = {}  # for every topic that is followed
        self.fanouts: dict[int, FanOut] = {}  # for others, at most MOST_FANOUTS
        self.backoffs: dict[tuple[int, int], float] = {}  # (topic, node) -> until when it is not to be grafted
        self.draws = 0  # so far; labels the next

    # Coming and going

    def join(self, topic: int, drafts: Drafts, now: float) -> None:
        """JOIN: the fan-out first, then others that follow the topic, up to D."""
        fanout = self.fanouts.pop(topic, None)
        mesh = self.by_topic[topic] = {}
        known = fanout.members.values() if fanout is not None else ()
        self._graft(topic, mesh, [each for each in known if self._may_graft(topic, each.id, now)], drafts)
        self._fill(topic, mesh, drafts, now)

    def leave(self, topic: int, drafts: Drafts, now: float) -> None:
        """LEAVE: everybody in the mesh is told."""
        mesh = self.by_topic.pop(topic)
        self._prune(topic, mesh, list(mesh.values()), self.settings.left, drafts, now)

    def forget(self, node: int, topics: Iterable[int]) -> None:
        """A neighbour is gone, or follows these topics no longer."""
        for topic in topics:
            self.by_topic.get(topic, {}).pop(node, None)
            if topic in self.fanouts:
                self.fanouts[topic].members.pop(node, None)

    # What neighbours say

    def grafted(self, sender: Contact, topic: int, drafts: Drafts, now: float) -> None:
        """GRAFT: it is in the mesh now, unless the topic is not followed or one of both has pruned the other lately."""
        mesh, left = self.by_topic.get(topic), self._left(topic, sender.id, now)
        if mesh is None:
            drafts.to(sender).prunes.append((topic, self.settings.left))
        elif left or len(mesh) >= MOST_NEIGHBOURS or not self.neighbours.note(sender, topic, now):
            drafts.to(sender).prunes.append((topic, ceil(left) or self.settings.backoff))
            mesh.pop(sender.id, None)
        else:
            mesh[sender.id] = sender

    def pruned(self, node: int, topic: int, seconds: int, now: float) -> None:
        """PRUNE: it is not."""
        mesh = self.by_topic.get(topic)
        if mesh is not None:
            mesh.pop(node, None)
            self._back_off(topic, node, max(0, min(seconds, LONGEST_BACKOFF)), now)

    # Heartbeat

    def tend(self, drafts: Drafts, now: float) -> None:
        """Mesh and fan-out maintenance."""
        settings = self.settings
        for topic, mesh in self.by_topic.items():
            if len(mesh) < settings.fewest:
                self._fill(topic, mesh, drafts, now)
            elif len(mesh) > settings.most:
                spare = self._drawn("prune", topic, list(mesh.values()), len(mesh) - settings.degree)
                self._prune(topic, mesh, spare, settings.backoff, drafts, now)
        for topic, fanout in list(self.fanouts.items()):
            if fanout.published <= now - settings.fanout_ttl:
                del self.fanouts[topic]
            else:
                self._fill_fanout(topic, fanout)

    def beside(self, topic: int) -> list[Contact]:
        """Some that follow a topic, but get its events only if they ask."""
        found = self.by_topic.get(topic)
        if found is None:
            found = self.fanouts[topic].members if topic in self.fanouts else {}
        others = [contact for node, contact in self.neighbours.on(topic).items() if node not in found]
        return self._drawn("gossip", topic, others, self.settings.lazy)

    def tidy(self, now: float) -> None:
        """Forget what is over."""
        self.backoffs = {pair: until for pair, until in self.backoffs.items() if until > now}

    # Publishing

    def fanout(self, topic: int, now: float) -> dict[int, Contact]:
        """To whom an event goes whose topic is not followed here."""
        fanout = self.fanouts.pop(topic, None) or FanOut({}, now)
        fanout.published = now
        if not fanout.members:
            self._fill_fanout(topic, fanout)
        self.fanouts[topic] = fanout
        if len(self.fanouts) > MOST_FANOUTS:
            del self.fanouts[next(iter(self.fanouts))]
        for node in fanout.members:
            self.neighbours.used(node, now)
        return fanout.members

    def _fill_fanout(self, topic: int, fanout: FanOut) -> None:
        wanted = self.settings.degree - len(fanout.members)
        if wanted > 0:
            others = [each for node, each in self.neighbours.on(topic).items() if node not in fanout.members]
            fanout.members |= {contact.id: contact for contact in self._drawn("fanout", topic, others, wanted)}

    # Grafting and pruning

    def _fill(self, topic: int, mesh: dict[int, Contact], drafts: Drafts, now: float) -> None:
        """Graft others up to D."""
        others = [
            contact
            for node, contact in self.neighbours.on(topic).items()
            if node not in mesh and self._may_graft(topic, node, now)
        ]
        self._graft(topic, mesh, self._drawn("graft", topic, others, self.settings.degree - len(mesh)), drafts)

    def _graft(self, topic: int, mesh: dict[int, Contact], chosen: list[Contact], drafts: Drafts) -> None:
        for contact in chosen:
            mesh[contact.id] = contact
            drafts.to(contact).grafts.append(topic)

    def _prune(
        self, topic: int, mesh: dict[int, Contact], chosen: list[Contact], seconds: int, drafts: Drafts, now: float
    ) -> None:
        for contact in chosen:
            del mesh[contact.id]
            self._back_off(topic, contact.id, seconds, now)
            drafts.to(contact).prunes.append((topic, seconds))

    def _back_off(self, topic: int, node: int, seconds: int, now: float) -> None:
        if self._left(topic, node, now) < seconds:
            self.backoffs.pop((topic, node), None)
            self.backoffs[topic, node] = now + seconds
            if len(self.backoffs) > MOST_BACKOFFS:
                del self.backoffs[next(iter(self.backoffs))]

    def _may_graft(self, topic: int, node: int, now: float) -> bool:
        return not self._left(topic, node, now)

    def _left(self, topic: int, node: int, now: float) -> float:
        """Seconds for which it is not to be grafted yet."""
        return max(0.0, self.backoffs.get((topic, node), now) - now)

    def _drawn(self, what: str, topic: int, contacts: list[Contact], count: int) -> list[Contact]:
        """So many of them, by chance."""
        if not contacts or count <= 0:
            return []
        self.draws += 1
        labels = (self.me.id, topic, self.draws)
        return sorted(contacts, key=lambda each: (chance(self.seed, what, *labels, each.id), each.id))[:count]

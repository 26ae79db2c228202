"""gossipsub: events go at once along a mesh of a few links per topic, and their ids to some other followers, who may ask.

After the specification of gossipsub v1.0 (libp2p, revision 2 of 2020), from its description; names in capitals are its own.
A topic's mesh has about D members at every node, grafted and pruned at heartbeats (`mesh`). What a node got in the last
heartbeats it tells to some that follow the topic beside the mesh, and they ask for what they lack (`cache`). There is one
link to a node whatever the topics, and control messages of all topics share a frame.

**Every neighbour is told everything that a node follows**, whether it follows it, too, or not: on a new link and at every
change. StaN tells nobody; this is what gossipsub pays for finding its mesh among the links that there are.

Where ours departs. A message of gossipsub's has one topic, so an event is published once for each of its topics, and is
delivered when it comes first. Pruned links back off as in v1.1, without which two nodes can graft and prune each other for
ever; nothing else of v1.1 is here (scores, peer exchange, flood publishing, quotas for links that a node opened itself).
Finding others is the environment's business: contacts come with a subscription and are connected to once. So is closing
connections; ours closes those whose ends have had no topic in common for `fanout_ttl`. Publishing on a topic that no
neighbour follows reaches nobody. A GRAFT says that its sender follows the topic, should the announcement be lost.
"""

from dataclasses import dataclass

from ropewalk.protocols.baselines.gossipsub.cache import Cache, Kept, Key, Seen
from ropewalk.protocols.baselines.gossipsub.mesh import Meshes
from ropewalk.protocols.baselines.gossipsub.messages import Control, Drafts, Ids, Interests, Message, Publication
from ropewalk.protocols.baselines.gossipsub.neighbours import Neighbours
from ropewalk.protocols.baselines.gossipsub.settings import MOST_IDS, MOST_SAID, Settings
from ropewalk.protocols.contract import (
    Contact,
    Deliver,
    Disconnect,
    Effect,
    Event,
    Input,
    Join,
    Leave,
    LinkDown,
    LinkUp,
    Publish,
    Received,
    Refuse,
    Send,
    SetTimer,
    Subscribe,
    TimerFired,
    Unsubscribe,
)
from ropewalk.protocols.dissemination.settings import MOST_CROSSED, MOST_PAYLOAD, MOST_TOPICS
from ropewalk.seeds import chance, unit

TIDIED = 15  # go: heartbeats from one look at what is out of date to the next


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """The only timer, once per `heartbeat`, as long as there is something to see to."""


class Node:
    """One participant. It is handled by whoever drives it; see `protocols.contract`."""

    __slots__ = ("beating", "beats", "cache", "delivered", "me", "meshes", "neighbours", "seed", "seen", "settings")

    def __init__(self, me: Contact, settings: Settings, seed: int) -> None:
        self.me, self.settings, self.seed = me, settings, seed
        self.neighbours = Neighbours()
        self.meshes = Meshes(me, self.neighbours, settings, seed)
        self.cache = Cache(settings)
        self.seen: Seen[Key] = Seen()  # what came on which topic, or was published
        self.delivered: Seen[int] = Seen()  # the same on any topic
        self.beating = False  # whether a Heartbeat is on its way
        self.beats = 0  # so far

    def come_back(self, former: "Node") -> None:
        """Go on counting where a former self left off, so that no draw is made twice."""
        self.meshes.draws = former.meshes.draws

    def follows(self, topic: int) -> bool:
        """See `contract.Node`."""
        return topic in self.neighbours.mine

    def held(self) -> dict[int, list[Contact]]:
        """See `contract.Node`: the meshes."""
        return {topic: list(mesh.values()) for topic, mesh in self.meshes.by_topic.items()}

    def handle(self, event: Input, now: float) -> list[Effect]:
        """Take one input in; what is to be done about it."""
        match event:
            case Received():
                return self._receive(event.sender, event.message, now)
            case TimerFired():
                return self._beat(now) if isinstance(event.timer, Heartbeat) else []
            case LinkUp():
                return self.neighbours.link_up(event.contact, now) if event.contact.id != self.me.id else []
            case LinkDown():
                return self._link_down(event, now)
            case Subscribe():
                return self._subscribe(event, now)
            case Unsubscribe():
                return self._unsubscribe(event.topic, now)
            case Publish():
                return self._publish(event.event, now)
            case Leave():
                return self._leave()
            case Join() | Refuse():
                return []  # it has no discovery of its own, nor anybody who judges events

    def _receive(self, sender: Contact, message: Message, now: float) -> list[Effect]:
        if not self.neighbours.links.is_up(sender.id):
            return []  # not linked, or no longer
        match message:
            case Interests():
                return self._heard(sender, message, now)
            case Publication():
                return self._published(sender, message, now)
            case Control():
                return self._controlled(sender, message, now)

    # Coming and going

    def _subscribe(self, command: Subscribe, now: float) -> list[Effect]:
        topic = command.topic
        if self.follows(topic):
            return []
        effects = self.neighbours.follow(topic)
        drafts = Drafts()
        self.meshes.join(topic, drafts, now)
        effects += _said(drafts)
        for contact in command.contacts:
            if contact.id != self.me.id:
                effects += self.neighbours.links.seek(contact, now)
        return effects + self._wake()

    def _unsubscribe(self, topic: int, now: float) -> list[Effect]:
        if not self.follows(topic):
            return []
        drafts = Drafts()
        self.meshes.leave(topic, drafts, now)
        return _said(drafts) + self.neighbours.follow_no_longer(topic, now)

    def _leave(self) -> list[Effect]:
        """Links that end say all: 1.0 has no other good-bye."""
        effects = self.neighbours.links.close_all()
        former, self.neighbours = self.meshes, Neighbours()
        self.meshes = Meshes(self.me, self.neighbours, self.settings, self.seed)
        self.meshes.draws = former.draws
        self.cache = Cache(self.settings)
        return effects

    def _link_down(self, down: LinkDown, now: float) -> list[Effect]:
        """Whoever only closed it while we need it is asked again: it may not have heard yet what we follow."""
        shared = self._forget(down.contact.id)
        return self.neighbours.links.seek(down.contact, now) if shared and down.cause == "closed" else []

    def _forget(self, node: int) -> bool:
        """A link has ended; whether it was still of use."""
        self.meshes.forget(node, list(self.neighbours.told.get(node, ())))
        return self.neighbours.link_down(node)

    def _heard(self, sender: Contact, interests: Interests, now: float) -> list[Effect]:
        if interests.contacts() <= MOST_SAID:  # nobody who keeps the rules sends more
            self.neighbours.heard(interests, sender, now)
            self.meshes.forget(sender.id, interests.no_longer)
        return []

    # Events

    def _publish(self, event: Event, now: float) -> list[Effect]:
        """Once for each topic; where none is followed, to some that do."""
        if event.id in self.delivered:
            return []
        self.delivered.add(event.id, now)
        effects: list[Effect] = []
        for topic in dict.fromkeys(event.topics):
            mesh = self.meshes.by_topic.get(topic)
            effects += self._spread(event, topic, 0, self.meshes.fanout(topic, now) if mesh is None else mesh, now)
        return effects + self._wake()

    def _published(self, sender: Contact, message: Publication, now: float) -> list[Effect]:
        event, topic = message.event, message.topic
        if len(event.payload) > MOST_PAYLOAD or len(event.topics) > MOST_TOPICS or topic not in event.topics:
            return []  # nobody who keeps the rules sends this
        self.neighbours.used(sender.id, now)
        mesh = self.meshes.by_topic.get(topic)
        if mesh is None or event.publisher == self.me.id or (topic, event.id) in self.seen:
            return []
        effects: list[Effect] = []
        if event.id not in self.delivered:
            self.delivered.add(event.id, now)
            effects.append(Deliver(event, message.hops))
        others = {node: each for node, each in mesh.items() if node not in (sender.id, event.publisher)}
        return effects + self._spread(event, topic, message.hops, others, now)

    def _spread(self, event: Event, topic: int, hops: int, to: dict[int, Contact], now: float) -> list[Effect]:
        self.seen.add((topic, event.id), now)
        self.cache.put(topic, event, hops)
        further = min(hops + 1, MOST_CROSSED)
        return [Send(contact, Publication(event, topic, further)) for contact in to.values()]

    # Control

    def _controlled(self, sender: Contact, control: Control, now: float) -> list[Effect]:
        if control.contacts() > MOST_SAID:
            return []  # nobody who keeps the rules sends this
        drafts = Drafts()
        for topic in control.grafts:
            self.meshes.grafted(sender, topic, drafts, now)
        for topic, seconds in control.prunes:
            self.meshes.pruned(sender.id, topic, seconds, now)
        effects = _said(drafts)
        wanted: list[Ids] = []
        for topic, events in control.haves:
            lacking = tuple(event for event in dict.fromkeys(events) if (topic, event) not in self.seen)
            if lacking and self.follows(topic):
                wanted.append((topic, lacking))
        if wanted:
            effects.append(Send(sender, Control(wants=tuple(wanted))))
        return effects + self._answers(sender, control.wants)

    def _answers(self, sender: Contact, wants: tuple[Ids, ...]) -> list[Effect]:
        asked = [(topic, event) for topic, events in wants for event in events][:MOST_IDS]
        found = [(topic, self.cache.asked_for(topic, event, sender.id)) for topic, event in asked]
        return [Send(sender, _on_demand(topic, kept)) for topic, kept in found if kept is not None]

    def _beat(self, now: float) -> list[Effect]:
        """Mesh and fan-out maintenance, then gossip: one frame for every link with something to say on it."""
        self.beating, self.beats = False, self.beats + 1
        drafts = Drafts()
        self.meshes.tend(drafts, now)
        for topic, events in self.cache.told().items():
            for contact in self.meshes.beside(topic):
                drafts.to(contact).haves.append((topic, events))
        self.cache.shift()
        effects = _said(drafts)
        if self.beats % TIDIED == 0:
            effects += self._tidy(now)
        if self.neighbours.mine or self.meshes.fanouts or self.cache.kept:
            self.beating = True
            effects.append(SetTimer(self.settings.heartbeat, Heartbeat()))
        return effects

    def _tidy(self, now: float) -> list[Effect]:
        self.meshes.tidy(now)
        self.seen.forget(now - self.settings.seen)
        self.delivered.forget(now - self.settings.seen)
        effects: list[Effect] = []
        for contact in self.neighbours.idle(now - self.settings.fanout_ttl):
            self._forget(contact.id)
            effects.append(Disconnect(contact))
        return effects

    def _wake(self) -> list[Effect]:
        """See to it that there is a next heartbeat. Nodes beat at different moments; when is drawn."""
        if self.beating:
            return []
        self.beating = True
        share = unit(chance(self.seed, "heartbeat", self.me.id))
        return [SetTimer(share * self.settings.heartbeat, Heartbeat())]


def _said(drafts: Drafts) -> list[Effect]:
    return [Send(draft.contact, frame) for draft in drafts.by_id.values() for frame in draft.frames()]


def _on_demand(topic: int, kept: Kept) -> Publication:
    return Publication(kept.event, topic, min(kept.hops + 1, MOST_CROSSED))

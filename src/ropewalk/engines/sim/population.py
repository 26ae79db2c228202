"""The nodes of a universe in the simulator: who follows what, who is there, and what happens to them."""

from bisect import insort
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from ropewalk.engines.contract import Views
from ropewalk.engines.sim.liars import Liar
from ropewalk.engines.sim.simulator import NOTICED, Simulator
from ropewalk.protocols.catalogue import PROTOCOLS, Make
from ropewalk.protocols.content.filters import Filter
from ropewalk.protocols.contract import Contact, Event, Join, Leave, Level, Node, Publish, Subscribe, Unsubscribe
from ropewalk.protocols.dht.runs import OfRuns
from ropewalk.protocols.stan.node import Node as StanNode
from ropewalk.protocols.stan.settings import NAME, Settings
from ropewalk.seeds import chance, pick

SEEDS = 3  # ours: nodes that a newcomer is told of, whatever they follow: they may all be gone one day
INTRODUCED = 3  # ours: whom a newcomer is told of, since the first may be gone before it answers

Filters = dict[tuple[int, int], tuple[Filter, ...]]
"""What a node wants of a topic, if not all: by both."""
What = Literal["join", "leave", "crash", "restart", "freeze", "subscribe", "unsubscribe", "publish"]


def stan_of(node: Node) -> StanNode:
    """A node as StaN's, be it a liar."""
    found = node.inner if isinstance(node, Liar) else node
    assert isinstance(found, StanNode)
    return found


@dataclass(frozen=True, slots=True)
class Act:
    """Something that happens to a node at some moment."""

    at: float
    node: int
    what: What
    topic: int = -1  # to subscribe to, or to unsubscribe from
    seconds: float = 0.0  # for which it is frozen
    event: Event | None = None  # to publish


class Population:
    """The nodes of one protocol in a simulator. Whoever comes is handed what it needs to begin with."""

    def __init__(
        self,
        simulator: Simulator,
        members: dict[int, list[int]],
        settings: Settings | OfRuns,
        seed: int,
        levels: dict[int, Level],
        make: Make = PROTOCOLS[NAME].make,
        filters: Filters | None = None,
    ) -> None:
        self.simulator, self.settings, self.seed, self.levels, self.make = simulator, settings, seed, levels, make
        self.members = {topic: sorted(members[topic]) for topic in sorted(members)}
        self.follows: dict[int, dict[int, None]] = {}  # node -> the topics that it follows whenever it is there
        for topic, nodes in self.members.items():
            for node in nodes:
                self.follows.setdefault(node, {})[topic] = None
        self.filters = filters or {}
        self.contacts = {node: Contact(node) for node in sorted(self.follows)}
        self.former: dict[int, Node] = {}  # those that are gone, as they were
        self.entries = 0  # who was told whom to ask; labels whom
        self.comings = 0  # who came or subscribed so far; labels what they are handed

    def node(self, node: int) -> Node:
        """The state machine of a node that is there."""
        return self.simulator.processes[node].node

    def stan(self, node: int) -> StanNode:
        """The same, where all nodes are StaN's."""
        return stan_of(self.node(node))

    @property
    def stan_settings(self) -> Settings:
        """What was chosen about the run, likewise."""
        assert isinstance(self.settings, Settings)
        return self.settings

    def is_there(self, node: int) -> bool:
        """Whether it runs."""
        return node in self.simulator.processes

    def there(self, topic: int) -> list[int]:
        """The members of a topic that run and follow it now."""
        return [node for node in self.members[topic] if self.is_there(node) and self.node(node).follows(topic)]

    def views(self) -> Views:
        """Who holds whom now, by topic."""
        found: Views = {topic: {} for topic in self.members}
        for node in self.contacts:
            if node in self.simulator.processes:
                for topic, contacts in self.node(node).held().items():
                    found[topic][node] = [contact.id for contact in contacts]
        return found

    def start(self, nodes: Iterable[int]) -> None:
        """Let nodes run; they follow nothing yet."""
        for node in nodes:
            former = self.former.pop(node, None)
            self.simulator.start(self.make(self.contacts[node], self.settings, self.seed, former))
            if self.settings.discover:
                self.simulator.tell(node, Join(self._seeds(node)))

    def _seeds(self, node: int) -> tuple[Contact, ...]:
        """Some that are there, by chance; the first of all is told nobody."""
        others = [other for other in self.simulator.processes if other != node]
        self.entries += 1
        drawn = [chance(self.seed, "seed", node, self.entries, draw) for draw in range(SEEDS)]
        return tuple(dict.fromkeys(self.contacts[others[pick(each, len(others))]] for each in drawn)) if others else ()

    def subscribe(self, node: int, topic: int, view: Iterable[int]) -> None:
        """Have a node follow a topic, with these to begin with; where it can find them itself, it is told nobody."""
        finds = isinstance(self.settings, OfRuns) or (self.settings.discover and self.settings.manager == "scamp")
        contacts = () if finds else tuple(self.contacts[other] for other in view)
        filters = self.filters.get((node, topic), ())
        self.simulator.tell(node, Subscribe(topic, contacts, self.levels.get(topic, Level()), filters))

    def take_away(self, node: int, *, crash: bool, noticed: float = NOTICED) -> None:
        """Let a node go, with a good-bye or without."""
        self.former[node] = self.node(node)
        if not crash:
            self.simulator.tell(node, Leave())
            self.settle()
        self.simulator.stop(node, noticed)

    def drawn_view(self, node: int, topic: int, *labels: int) -> list[int]:
        """As many as the topic's fan-out, or a few where the manager makes the view, drawn from those that are there."""
        if isinstance(self.settings, OfRuns):
            return []
        others = [other for other in self.there(topic) if other != node]
        connectivity = self.levels.get(topic, Level()).connectivity or self.settings.connectivity
        asked = replace(self.settings, connectivity=connectivity)
        wanted = INTRODUCED if asked.manager == "scamp" else asked.fan_out(len(others) + 1)
        size = min(wanted, len(others))
        found: dict[int, None] = {} if size < len(others) else dict.fromkeys(others)
        draw = 0
        while len(found) < size:
            found[others[pick(chance(self.seed, "join", topic, node, *labels, draw), len(others))]] = None
            draw += 1
        return list(found)

    def perform(self, act: Act) -> None:
        """Make happen to a node what is to happen, if it can."""
        self.comings += 1
        running = self.is_there(act.node)
        match act.what:
            case "join" | "restart" if not running:
                self.start([act.node])
                for topic in self.follows[act.node]:
                    self.subscribe(act.node, topic, self.drawn_view(act.node, topic, self.comings))
            case "leave" | "crash" if running:
                self.take_away(act.node, crash=act.what == "crash")
            case "freeze" if running:
                self.simulator.freeze(act.node, act.seconds)
            case "subscribe" if running and act.topic not in self.follows[act.node]:
                self.follows[act.node][act.topic] = None
                known = self.members.setdefault(act.topic, [])
                if act.node not in known:
                    insort(known, act.node)
                self.subscribe(act.node, act.topic, self.drawn_view(act.node, act.topic, self.comings))
            case "unsubscribe" if running and act.topic in self.follows[act.node]:
                del self.follows[act.node][act.topic]
                self.simulator.tell(act.node, Unsubscribe(act.topic))
            case "publish" if running and act.event is not None:
                self.simulator.tell(act.node, Publish(act.event))
            case _:
                pass

    def settle(self) -> None:
        """Let everything happen that is due by now."""
        self.simulator.run(until=self.simulator.now)

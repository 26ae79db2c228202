"""Nodes that do nothing but discover, in the simulator: each knows one seed, and some serve a topic."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ropewalk.engines.sim.network import Network, Rule, WideArea
from ropewalk.engines.sim.simulator import Observer, Process, Simulator
from ropewalk.protocols.contract import Contact, Effect, Input, LinkDown, LinkUp, Received, Send, SetTimer, TimerFired
from ropewalk.protocols.discovery import node as discovery
from ropewalk.protocols.discovery.messages import Seek
from ropewalk.protocols.discovery.settings import Settings
from ropewalk.protocols.links import Links
from ropewalk.seeds import chance

SETTINGS = Settings()
REFRESH = SETTINGS.refresh
IDLE = 30.0  # seconds before an unused link is closed


@dataclass(frozen=True)
class Start:
    """Begin."""


@dataclass(frozen=True)
class Order:
    """Do one of `seek`, `serve`, `serve_no_more`."""

    what: str
    topic: int


@dataclass(frozen=True)
class Tidy:
    """Close links that idle."""


class Seeker:
    """The least that can own a discovery."""

    def __init__(self, me: Contact, seeds: tuple[Contact, ...], settings: Settings, seed: int, secret: bytes) -> None:
        self.me, self.links = me, Links()
        self.discovery = discovery.Node(me, settings, seed, self.links, seeds, secret)
        self.found: list[tuple[float, int, tuple[Contact, ...]]] = []

    def follows(self, topic: int) -> bool:
        return topic in self.discovery.served

    def held(self) -> dict[int, list[Contact]]:
        return {}

    def handle(self, event: Input, now: float) -> list[Effect]:
        effects = self._take_in(event, now)
        self.found += [(now, topic, contacts) for topic, contacts in self.discovery.found]
        self.discovery.found.clear()
        return effects

    def _take_in(self, event: Input, now: float) -> list[Effect]:
        match event:
            case TimerFired(timer):
                return self._fire(timer, now)
            case Received(sender, message):
                return self.discovery.receive(sender, message, now)
            case LinkUp(contact):
                return self.links.came_up(contact, now)
            case LinkDown(contact, cause):
                self.links.went_down(contact.id)
                return self.discovery.link_down(contact, cause, now)
            case _:
                return []

    def _fire(self, timer: object, now: float) -> list[Effect]:
        match timer:
            case Start():
                return [SetTimer(IDLE, Tidy()), *self.discovery.start(now)]
            case Order(what, topic):
                effects: list[Effect] = getattr(self.discovery, what)(topic, now)
                return effects
            case Tidy():
                return [SetTimer(IDLE, Tidy()), *self.links.close_idle(now - IDLE)]
            case _:
                return self.discovery.fire(timer, now)

    def last(self, topic: int) -> list[int]:
        """Whom the last lookup found."""
        return next([contact.id for contact in contacts] for _, of, contacts in reversed(self.found) if of == topic)

    def heard_of(self, topic: int) -> set[int]:
        """Everybody that was ever found."""
        return {contact.id for _, of, contacts in self.found if of == topic for contact in contacts}


class Messages(Observer):
    """Everything that was sent: by whom, to whom, what."""

    def __init__(self) -> None:
        self.sent_so_far: list[tuple[int, int, object]] = []

    def sent(self, sender: Process, send: Send, now: float, copies: int) -> None:
        self.sent_so_far.append((sender.contact.id, send.to.id, send.message))

    def questions(self, target: int) -> dict[int, int]:
        """How many questions each sender asked about a tag."""
        found: dict[int, int] = {}
        for sender, _, message in self.sent_so_far:
            if isinstance(message, Seek) and message.tag == target:
                found[sender] = found.get(sender, 0) + 1
        return found


class Village:
    """A population that starts within a minute."""

    def __init__(
        self,
        nodes: int,
        seed: int = 1,
        rules: Sequence[Rule] = (),
        settings: Settings = SETTINGS,
        observers: Iterable[Observer] = (),
        secret: bytes = b"",
        within: float = 60.0,
    ) -> None:
        self.ids = [chance(seed, "id", number) for number in range(nodes)]
        self.settings, self.seed, self.secret = settings, seed, secret
        self.simulator = Simulator(Network([*rules, WideArea(seed)]), observers)
        for place, node in enumerate(self.ids):
            self.start(node, within * place / nodes)

    def start(self, node: int, after: float = 0.0) -> None:
        """Everybody knows the first, and nobody else."""
        seeds = (Contact(self.ids[0]),)
        self.simulator.start(Seeker(Contact(node), seeds, self.settings, self.seed, self.secret))
        self.simulator.tell(node, TimerFired(Start()), after)

    def node(self, node: int) -> Seeker:
        found = self.simulator.processes[node].node
        assert isinstance(found, Seeker)
        return found

    def tell(self, nodes: Iterable[int], what: str, topic: int) -> None:
        for node in nodes:
            self.simulator.tell(node, TimerFired(Order(what, topic)))

    def run(self, seconds: float) -> None:
        self.simulator.run(self.simulator.now + seconds)

    def sought(self, nodes: Sequence[int], topic: int, within: float = 60.0) -> dict[int, list[int]]:
        """Whom each of them finds by one lookup."""
        before = {node: len(self.node(node).found) for node in nodes}
        self.tell(nodes, "seek", topic)
        self.run(within)
        assert all(len(self.node(node).found) > before[node] for node in nodes)
        return {node: self.node(node).last(topic) for node in nodes}

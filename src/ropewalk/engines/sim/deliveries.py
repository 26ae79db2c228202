"""What becomes of events: who should get each, who did, when, over how many links, and how often it came again."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ropewalk.engines.publishing import SETTLED
from ropewalk.engines.sim.population import Population
from ropewalk.engines.sim.simulator import Observer, Process
from ropewalk.protocols.content.filters import Filter, is_wanted
from ropewalk.protocols.contract import (
    Deliver,
    Effect,
    Entered,
    Event,
    Input,
    Leave,
    Message,
    Node,
    Publish,
    Received,
    Report,
    Send,
    Subscribe,
    Unsubscribe,
)
from ropewalk.protocols.dissemination.injection import UNWANTED

NEVER = float("inf")


def carried_by(message: Message) -> Event | None:
    """The event that a message brings, in any protocol."""
    event = getattr(message, "event", None)
    return event if isinstance(event, Event) else None


@dataclass(slots=True)
class Delivery:
    """An event at one node."""

    at: float
    hops: int
    copies: int = 1


@dataclass(slots=True)
class Published:
    """An event, and what has become of it."""

    event: Event
    by: Node
    at: float
    followers: dict[Node, float]  # who followed one of its topics, and since when
    outside: dict[int, None] = field(default_factory=dict)  # topics that it did not get into, as its publisher was told
    inside: dict[int, None] = field(default_factory=dict)  # topics that somebody let it into, as its publisher was told
    delivered: dict[Node, Delivery] = field(default_factory=dict)

    def is_owed_to(self, node: Node, period: float) -> bool:
        """Whether a node had followed one of its topics for long enough when it was published."""
        return self.followers.get(node, NEVER) <= self.at - SETTLED * period


class Ledger:
    """Follows every event. Nodes are told apart as machines: one that crashed and came back is another."""

    def __init__(self) -> None:
        self.published: dict[int, Published] = {}
        self.unwanted = 0  # deliveries to nodes that followed none of an event's topics, or wanted others of them
        self._since: dict[int, dict[Node, float]] = {}  # topic -> who follows it since when
        self._filters: dict[tuple[int, Node], tuple[Filter, ...]] = {}  # what of it, if not all

    def before(self, node: Node, event: Input, now: float) -> None:
        """A node is about to take an input in."""
        match event:
            case Subscribe():
                if self._filters.get((event.topic, node), ()) != event.filters:
                    self._filters[event.topic, node] = event.filters
                    self._since.get(event.topic, {}).pop(node, None)  # it wants something else from now on
                self._since.setdefault(event.topic, {}).setdefault(node, now)
            case Unsubscribe():
                self._since.get(event.topic, {}).pop(node, None)
            case Leave():
                for since in self._since.values():
                    since.pop(node, None)
            case Publish():
                self.published[event.event.id] = Published(event.event, node, now, self._followers(node, event.event))
            case Received() if (carried := carried_by(event.message)) is not None:
                known = self.published.get(carried.id)
                if known is not None and node in known.delivered:
                    known.delivered[node].copies += 1
            case _:
                pass

    def after(self, node: Node, effects: Sequence[Effect], now: float) -> None:
        """It took it in, and this is what it answered."""
        for effect in effects:
            if isinstance(effect, Deliver):
                self.unwanted += not any(self._wants(node, topic, effect.event) for topic in effect.event.topics)
                self.published[effect.event.id].delivered[node] = Delivery(now, effect.hops)
            elif isinstance(effect, Report) and effect.why != UNWANTED:  # which is looked into further
                self.published[effect.event.id].outside[effect.topic] = None
            elif isinstance(effect, Entered):
                self.published[effect.event].inside[effect.topic] = None

    def due(self, population: Population) -> list[tuple[Published, Node]]:
        """Who must have got which event when all is quiet: it followed one of its topics all the time, and ran.

        The event must have been in that topic: one that nobody there had when its publisher went is gone with it, and one that
        only those had who let it in, and crashed, is gone with them.
        """
        running = {process.node for process in population.simulator.processes.values()}
        period = population.settings.period
        return [
            (published, node)
            for published in self.published.values()
            for topics in [self._where_it_is(published, running)]
            for node in published.followers
            if published.is_owed_to(node, period)
            and node in running
            and any(self._follows_since(published.at, node, topic) for topic in topics)
        ]

    def _where_it_is(self, published: Published, running: set[Node]) -> list[int]:
        """Its publisher is there to see to it, and was told nothing else; or somebody is who has it, whatever was told."""
        there, at = published.by in running, published.at
        had = [node for node in published.delivered if node in running]
        lost = published.inside if published.delivered and not had else {}
        return [
            topic
            for topic in published.event.topics
            if (there and topic not in published.outside and topic not in lost)
            or any(self._follows_since(at, node, topic) for node in had)
        ]

    def _follows_since(self, at: float, node: Node, topic: int) -> bool:
        return self._since.get(topic, {}).get(node, NEVER) <= at

    def _wants(self, node: Node, topic: int, event: Event) -> bool:
        filters = self._filters.get((topic, node), ())
        return node in self._since.get(topic, ()) and is_wanted(dict(event.content), filters)

    def _followers(self, publisher: Node, event: Event) -> dict[Node, float]:
        found: dict[Node, float] = {}
        for topic in event.topics:
            for node, since in self._since.get(topic, {}).items():
                if node is not publisher and self._wants(node, topic, event):
                    found[node] = min(since, found.get(node, since))
        return found


class Deliveries(Observer):
    """An observer of a simulation that keeps a ledger, and counts what events cost."""

    def __init__(self) -> None:
        self.ledger = Ledger()
        self.frames = 0  # messages sent that carry an event

    def sent(self, sender: Process, send: Send, now: float, copies: int) -> None:  # noqa: ARG002
        """See `Observer`."""
        self.frames += carried_by(send.message) is not None

    def handling(self, process: Process, event: Input, now: float) -> None:
        """See `Observer`."""
        self.ledger.before(process.node, event, now)

    def handled(self, process: Process, event: Input, effects: list[Effect], now: float) -> None:  # noqa: ARG002
        """See `Observer`."""
        self.ledger.after(process.node, effects, now)


def outcome(deliveries: Deliveries, population: Population) -> dict[str, Any]:
    """What became of all events that no table tells, in the keys of a run's document."""
    published = deliveries.ledger.published.values()
    due = deliveries.ledger.due(population)
    delivered = sum(len({node.me.id for node in each.delivered}) for each in published)
    return {
        "events": len(published),
        "expected": len(due),
        "delivered": delivered,
        "missed": sum(node not in each.delivered for each, node in due),
        "unwanted": deliveries.ledger.unwanted,
        "frames_per_delivery": deliveries.frames / delivered if delivered else None,
    }

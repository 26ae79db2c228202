"""The last events: who published them, and over whom they got to whom, when."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ropewalk.dashboard.ledger import Ledger, Versions
from ropewalk.protocols.dissemination.settings import MOST_TOPICS

MOST_EVENTS = 200  # ours: that can be followed; earlier ones are only counted
MOST_STEPS = 5000  # ours: deliveries of an event that are kept
MOST_FORGOTTEN = 10_000  # ours: earlier events whose late deliveries are known to be late
SHOWN_TOPICS = (
    4  # ours: of an event, by name in a list; of the others only the ids are told, so that it is found by them, too
)


class Step(NamedTuple):
    """An event gets to a node. Nodes are ids here: numbers are those of one picture, and a page may have seen another."""

    node: int
    source: int | None  # the neighbour that sent it
    hops: int
    at: float


@dataclass(slots=True)
class Travel:
    """One event."""

    event: int
    at: float | None = None  # when it was published; None while only deliveries are known
    publisher: int | None = None
    topics: tuple[int, ...] = ()
    size: int = 0
    expected: int = (
        0  # who followed one of its topics then, but the publisher; 0 also if one of them wants only some events
    )
    steps: dict[int, Step] = field(default_factory=dict)  # by node
    beyond: int = 0  # deliveries that are not kept
    first: float = 0.0  # the earliest and latest step, and the most hops: kept up, since each delivery asks for them
    last: float = 0.0
    hops: int = 0

    @property
    def begun(self) -> float:
        """When it began, as far as is known."""
        return self.at if self.at is not None else self.first

    def add(self, step: Step) -> None:
        """It gets to one more; only what is first counts."""
        if step.node in self.steps:
            return
        if len(self.steps) >= MOST_STEPS:
            self.beyond += 1
            return
        self.first = min(self.first, step.at) if self.steps else step.at
        self.last = max(self.last, step.at)
        self.hops = max(self.hops, step.hops)
        self.steps[step.node] = step


class Travels:
    """The last of them, and how many there were."""

    def __init__(self, versions: Versions, names: Mapping[int, str]) -> None:
        self._names = names  # of topics
        self.shown: Ledger[str, list[Any]] = Ledger(versions)
        self.published = 0
        self.delivered = 0
        self._travels: dict[int, Travel] = {}
        self._forgotten: dict[int, None] = {}

    def find(self, event: int) -> Travel | None:
        """One of the last."""
        return self._travels.get(event)

    def latest(self) -> list[Travel]:
        """All that are kept, the last first."""
        return sorted(self._travels.values(), key=lambda travel: (-travel.begun, travel.event))

    def publish(self, event: int, publisher: int, topics: tuple[int, ...], size: int, at: float, expected: int) -> None:
        """An event begins."""
        self.published += 1
        travel = self._get(event)
        if travel is not None:
            travel.at, travel.publisher, travel.topics, travel.size = at, publisher, topics, size
            travel.expected = expected
            self._show(travel)

    def deliver(self, event: int, step: Step) -> None:
        """It gets to one more."""
        self.delivered += 1
        travel = self._get(event)
        if travel is not None:
            travel.add(step)
            self._show(travel)

    def name(self, topic: int) -> None:
        """It is known by now what this topic is called."""
        for travel in self._travels.values():
            if topic in travel.topics:
                self._show(travel)

    def _get(self, event: int) -> Travel | None:
        if event in self._forgotten:
            return None
        travel = self._travels.get(event)
        if travel is None:
            travel = self._travels[event] = Travel(event)
            if len(self._travels) > MOST_EVENTS:
                oldest = next(iter(self._travels))
                del self._travels[oldest]
                self.shown.drop(f"{oldest:016x}")
                self._forgotten[oldest] = None
            if len(self._forgotten) > MOST_FORGOTTEN:
                del self._forgotten[next(iter(self._forgotten))]
        return travel

    def _show(self, travel: Travel) -> None:
        topics = [[f"{topic:016x}"] for topic in travel.topics[:MOST_TOPICS]]
        for topic, shown in zip(travel.topics, topics[:SHOWN_TOPICS], strict=False):
            shown.append(self._names.get(topic, ""))
        publisher = f"{travel.publisher:016x}" if travel.publisher is not None else None
        got = len(travel.steps) + travel.beyond
        took = round(1000 * max(0.0, travel.last - travel.begun), 1)
        self.shown.put(
            f"{travel.event:016x}", [travel.begun, publisher, topics, got, travel.expected, travel.hops, took]
        )

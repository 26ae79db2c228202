"""What became of events in a cluster, from the telemetry of its nodes."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from ropewalk.engines.contract import Views
from ropewalk.engines.live.cluster import Life
from ropewalk.engines.live.wants import filter_of
from ropewalk.engines.played import Sent
from ropewalk.engines.publishing import SETTLED
from ropewalk.errors import InputError
from ropewalk.protocols.content.filters import Content, Filter, is_wanted
from ropewalk.protocols.kato.standing import Standing as ByInterests
from ropewalk.protocols.trees.standing import Standing

FOREVER = float("inf")
CARRIERS = ("push", "inject", "shed", "submit", "keep")  # kinds of message that carry an event
FOR_WATCHERS = ("nodes", "endings", "held", "linked")  # tables for who looks on meanwhile
Key = tuple[int, int]  # node, life


@dataclass(slots=True)
class Stage:
    """What nodes held, and had sent since the stage before."""

    views: Views = field(default_factory=dict)
    open: dict[int, int] = field(default_factory=dict)  # node -> connections
    sent: dict[int, dict[str, list[int]]] = field(default_factory=dict)  # node -> kind -> [messages, bytes]
    standings: dict[int, Any] = field(default_factory=dict)  # of nodes on rings, or by interests
    at: float = 0.0


@dataclass(slots=True)
class Published:
    """An event."""

    event: int
    by: Key
    topics: tuple[int, ...]
    size: int
    at: float
    content: Content = ()


@dataclass(slots=True)
class Delivered:
    """An event at a node, in one of its lives."""

    at: float
    hops: int
    copies: int = 1


class Span(NamedTuple):
    """A time in which a node followed a topic."""

    begin: float
    end: float
    filters: tuple[Filter, ...]  # what of it, if not all


class Collected:
    """All rows of all nodes, with ids as the universe has them."""

    def __init__(self, lives: Iterable[Life]) -> None:
        self.ends = {(life.node, life.life): FOREVER if life.ended_at is None else life.ended_at for life in lives}
        self.politely = {(life.node, life.life) for life in lives if life.politely}
        self.stages: dict[str, Stage] = {}
        self.published: dict[int, Published] = {}
        self.delivered: dict[int, dict[Key, Delivered]] = {}  # by event
        self.unpublished = 0  # events whose publisher was told that they did not get into a topic
        self.doubled = 0  # deliveries of an event to a node that had it already, in the same life
        self.following: dict[Key, dict[int, list[Span]]] = {}  # by topic
        names = {life.contact.id: life.node for life in lives if life.contact is not None}
        files = dict.fromkeys((life.node, life.telemetry) for life in lives)
        for node, path in files:
            if path.exists():
                for number, row in _rows(path.read_text(), str(path)):
                    if row["table"] not in FOR_WATCHERS:
                        self._take(node, names, row, f"{path}, line {number}")

    def owed(self, period: float) -> Iterator[tuple[Published, Key]]:
        """Which event must have got to whom: it ran and followed one of its topics, from long before to the end."""
        lasting = [key for key, end in self.ends.items() if end == FOREVER]
        for event in self.published.values():
            got = self.delivered.get(event.event, {})
            for key in lasting:
                if key[0] == event.by[0]:
                    continue
                topics = [
                    topic
                    for topic in event.topics
                    if self._follows(key, topic, event.at - SETTLED * period, event.content)
                    and self._is_in(event, topic, got, lasting)
                ]
                if topics:
                    yield event, key

    def owed_to(self, period: float) -> set[tuple[int, int]]:
        """The same: events, and nodes in the universe."""
        return {(event.event, key[0]) for event, key in self.owed(period)}

    def sent(self, *stages: str) -> Sent:
        """What was sent up to some stages since those before, by all nodes; of all stages if none is named."""
        sent: Sent = {}
        for stage in [self.stages[name] for name in stages] or self.stages.values():
            for node, kinds in stage.sent.items():
                for kind, (messages, size) in kinds.items():
                    counts = sent.setdefault(node, {}).setdefault(kind, [0, 0])
                    counts[0] += messages
                    counts[1] += size
        return sent

    def outcome(self, period: float) -> dict[str, Any]:
        """What became of all events that no table tells, in the keys of a run's document."""
        owed = list(self.owed(period))
        delivered = sum(len({node for node, _ in got}) for got in self.delivered.values())
        frames = sum(
            sent.get(kind, [0])[0]
            for stage in self.stages.values()
            for sent in stage.sent.values()
            for kind in CARRIERS
        )
        return {
            "events": len(self.published),
            "expected": len(owed),
            "delivered": delivered,
            "missed": sum(key not in self.delivered.get(event.event, {}) for event, key in owed),
            "unwanted": sum(
                self._is_unwanted(event, key)
                for event in self.published.values()
                for key in self.delivered.get(event.event, {})
            ),
            "doubled": self.doubled,
            "unpublished": self.unpublished,
            "frames_per_delivery": frames / delivered if delivered else None,
        }

    def _is_in(
        self, event: Published, topic: int, got: dict[int, Any] | dict[Key, Delivered], lasting: list[Key]
    ) -> bool:
        """Its publisher is there to see to it, has handed it on before it left, or somebody on the topic has it."""
        return (
            event.by in lasting
            or event.by in self.politely
            or any(self._follows(key, topic, event.at, event.content) for key in lasting if key in got)
        )

    def _follows(self, key: Key, topic: int, since: float, content: Content) -> bool:
        """Whether it does so to the end, and wants such events."""
        spans = self.following.get(key, {}).get(topic, ())
        lasting = [span for span in spans if span.begin <= since and span.end == FOREVER]
        return any(is_wanted(dict(content), span.filters) for span in lasting)

    def _is_unwanted(self, event: Published, key: Key) -> bool:
        at = self.delivered[event.event][key].at
        known = self.following.get(key, {})
        spans = [span for topic in event.topics for span in known.get(topic, ()) if span.begin <= at <= span.end]
        return not any(is_wanted(dict(event.content), span.filters) for span in spans)

    def _take(self, node: int, names: dict[int, int], row: dict[str, Any], where: str) -> None:
        key = (node, row["life"])
        match row["table"]:
            case "links":
                held = self._stage(row).views.setdefault(row["topic"], {}).setdefault(node, [])
                held.append(names[row["neighbour"]])
            case "standings":
                self._stage(row).standings[node] = (
                    _standing(row, names) if "branches" in row else _by_interests(row, names)
                )
            case "connections":
                stage = self._stage(row)
                stage.open[node] = row["links"]
                for topic in row["topics"]:
                    stage.views.setdefault(topic, {}).setdefault(node, [])
            case "traffic":
                kinds = self._stage(row).sent.setdefault(node, {})
                kinds[row["kind"]] = [row["messages"], row["bytes"]]
            case "publications":
                topics = tuple(row["topics"])
                content = tuple((name, value) for name, value in row.get("content", ()))
                self.published[row["event"]] = Published(row["event"], key, topics, row["size"], row["at"], content)
            case "deliveries":
                got = self.delivered.setdefault(row["event"], {})
                self.doubled += key in got
                got.setdefault(key, Delivered(row["at"], row["hops"]))
            case "copies":
                self._came_again(key, row)
            case "subscriptions":
                self._subscribed(key, row)
            case other:
                raise InputError(f"{where} is of a table {other!r} that no node writes.")

    def _came_again(self, key: Key, row: dict[str, Any]) -> None:
        known = self.delivered.get(row["event"], {}).get(key)
        if known is not None:
            known.copies += row["copies"]

    def _subscribed(self, key: Key, row: dict[str, Any]) -> None:
        spans = self.following.setdefault(key, {}).setdefault(row["topic"], [])
        if spans and spans[-1].end == FOREVER:  # it follows it no longer, or wants something else of it
            spans[-1] = spans[-1]._replace(end=row["at"])
        if row["follows"]:
            spans.append(Span(row["at"], FOREVER, tuple(map(filter_of, row.get("filters", ())))))

    def _stage(self, row: dict[str, Any]) -> Stage:
        stage = self.stages.setdefault(row["stage"], Stage())
        stage.at = max(stage.at, row["at"])
        return stage


def _standing(row: dict[str, Any], names: dict[int, int]) -> Standing:
    return Standing(
        held=tuple(names[other] for other in row["held"]),
        parents={topic: None if parent is None else names[parent] for topic, parent, _ in row["branches"]},
        roots=frozenset(topic for topic, _, root in row["branches"] if root),
        follows=frozenset(row["follows"]),
    )


def _by_interests(row: dict[str, Any], names: dict[int, int]) -> ByInterests:
    known = {each.name: row[each.name] for each in fields(ByInterests)}
    return ByInterests(**known | {"held": tuple(names[other] for other in row["held"])})


def _rows(text: str, path: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows with their lines. The last line of who was killed may be cut off."""
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        try:
            yield number, json.loads(line)
        except ValueError:
            if number < len(lines):
                raise InputError(f"{path}, line {number} is no JSON.") from None

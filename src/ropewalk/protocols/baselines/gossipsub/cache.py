"""What a node remembers of events: some for a few heartbeats, to be asked for, and their ids for longer."""

from dataclasses import dataclass, field
from typing import Generic, TypeVar

from ropewalk.protocols.baselines.gossipsub.settings import MOST_IDS, MOST_KEPT, MOST_SEEN, Settings
from ropewalk.protocols.contract import Event

Key = tuple[int, int]
"""Topic and event: what gossipsub calls a message."""

What = TypeVar("What", Key, int)


@dataclass(slots=True)
class Kept:
    """An event that can be asked for."""

    event: Event
    hops: int  # links that it crossed to come here
    asked: dict[int, int] = field(default_factory=dict)  # who has been sent it on demand, how often


class Cache:
    """Events by (topic, id), in windows of one heartbeat each; the oldest window goes when a new one begins."""

    __slots__ = ("kept", "settings", "windows")

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.kept: dict[Key, Kept] = {}  # oldest first, at most MOST_KEPT
        self.windows: list[list[Key]] = [[] for _ in range(settings.windows)]  # newest first

    def put(self, topic: int, event: Event, hops: int) -> None:
        """Keep an event for some heartbeats."""
        if (topic, event.id) in self.kept:
            return
        self.kept[topic, event.id] = Kept(event, hops)
        self.windows[0].append((topic, event.id))
        if len(self.kept) > MOST_KEPT:
            oldest = next(iter(self.kept))
            del self.kept[oldest]
            next(window for window in reversed(self.windows) if window).remove(oldest)

    def asked_for(self, topic: int, event: int, by: int) -> Kept | None:
        """What is kept under this id, unless the same node has had it often enough."""
        kept = self.kept.get((topic, event))
        times = kept.asked.get(by, 0) if kept is not None else 0
        if kept is None or times >= self.settings.answers:
            return None
        kept.asked[by] = times + 1
        return kept

    def told(self) -> dict[int, tuple[int, ...]]:
        """What others are told of: the newest ids of every topic. Those that are too many were told before."""
        found: dict[int, list[int]] = {}
        for window in self.windows[: self.settings.gossiped]:
            for topic, event in reversed(window):
                found.setdefault(topic, []).append(event)
        return {topic: tuple(events[:MOST_IDS]) for topic, events in found.items()}

    def shift(self) -> None:
        """A heartbeat is over."""
        for key in self.windows.pop():
            del self.kept[key]
        self.windows.insert(0, [])


class Seen(Generic[What]):
    """What came, and when it came first; at most MOST_SEEN."""

    __slots__ = ("times",)

    def __init__(self) -> None:
        self.times: dict[What, float] = {}  # oldest first

    def __contains__(self, what: What) -> bool:
        return what in self.times

    def add(self, what: What, now: float) -> None:
        """It came."""
        self.times[what] = now
        if len(self.times) > MOST_SEEN:
            del self.times[next(iter(self.times))]

    def forget(self, before: float) -> None:
        """Forget what came before this moment."""
        for what in [what for what, at in self.times.items() if at <= before]:
            del self.times[what]

"""What is known of a node, when something was said, and who may be forgotten."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, NamedTuple

State = Literal["up", "left", "down", "elsewhere"]
MOST_HISTORY = 240  # ours: changes of a node that are kept
UNDER_WAY = 1.0  # ours, seconds: a row takes no longer from its node to who looks (`engines.live.changes.LOOKING`)


class Moment(NamedTuple):
    """When something was said, and when that was read; in a recording both are what the row says."""

    at: float  # by the clock of who says it
    read: float  # by the clock of who looks

    def after(self, other: "Moment") -> bool:
        """Whether this was said later: by what both say, or, since clocks differ, by when they were read."""
        return self.at > other.at or self.read > other.read + UNDER_WAY

    def no_later(self, now: float) -> "Moment":
        """The same, or now."""
        return Moment(min(self.at, now), min(self.read, now))


NEVER = Moment(0.0, 0.0)


class Nobody(NamedTuple):
    """Follows nothing, and is linked with nobody."""

    follows: Mapping[int, bool] = MappingProxyType({})
    held: Mapping[int, tuple[int, ...]] = MappingProxyType({})
    links: Mapping[int, None] = MappingProxyType({})


NOBODY = Nobody()


@dataclass(slots=True)
class Seen:
    """What is known of a node."""

    number: int  # by which it is called on the way to the browser
    id: int
    name: str = ""  # of the file that it writes
    address: str = ""
    protocol: str = ""
    state: State = "elsewhere"  # until a row of its own comes
    why: str = ""
    since: Moment = NEVER
    heard: Moment = NEVER  # the last row of its own
    named: int = 0  # the row, by number, in which it was last named
    signs: bool = False  # whether it says that it lives even if nothing happens
    doubted: tuple[Moment, str] | None = None  # when a link with it has ended, and why
    follows: dict[int, bool] = field(default_factory=dict)  # by topic, whether it wants all events
    held: dict[int, tuple[int, ...]] = field(default_factory=dict)  # by topic
    links: dict[int, None] = field(default_factory=dict)  # whom it says that it is connected with
    lvs: int = 0
    pvs: int = 0
    history: deque[tuple[float, int, int, int]] = field(default_factory=lambda: deque(maxlen=MOST_HISTORY))

    @property
    def counts(self) -> "Seen | Nobody":
        """Of whom to take what it follows, holds and is linked with: of nobody while it is not up.

        What it said is kept meanwhile: nodes say only what has changed, so one that was frozen and wakes up says none of it again.
        """
        return self if self.state == "up" else NOBODY

    def turn_back(self, now: float) -> None:
        """It is earlier than it seemed: nothing is known of later."""
        self.since, self.heard = self.since.no_later(now), self.heard.no_later(now)
        if self.doubted is not None:
            self.doubted = (self.doubted[0].no_later(now), self.doubted[1])
        for point in [point for point in self.history if point[0] > now]:
            self.history.remove(point)


def forgettable(nodes: Mapping[int, Seen], row: int) -> list[Seen]:
    """Who is not up, is linked with nobody, and is not named in this row: who was named longest ago first."""
    linked = {other for node in nodes.values() for other in node.counts.links}
    linked.update(other for node in nodes.values() for held in node.counts.held.values() for other in held)
    found = [node for node in nodes.values() if node.state != "up" and node.id not in linked and node.named < row]
    return sorted(found, key=lambda node: node.named)

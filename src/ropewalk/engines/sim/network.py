"""What becomes of a message between two nodes: a chain of rules, each of which may delay, double or drop it.

Every rule is asked in order with the delays so far, one for each copy that is to arrive, and answers with new ones; none:
the message is lost. What a rule leaves to chance is drawn by the message's own labels, so it depends neither on other
messages nor on the order in which they are sent.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from ropewalk.protocols.contract import Message
from ropewalk.seeds import chance, unit

Delays = list[float]  # in seconds, one for each copy


class Rule(Protocol):
    """One thing that networks do to messages."""

    def judge(self, sender: int, receiver: int, message: Message, now: float, delays: Delays) -> Delays:
        """The delays with which copies arrive."""


def drawn(seed: int, what: str, sender: int, receiver: int, message: Message, now: float) -> float:
    """A uniform number in [0, 1) for this message: the labels that it has tell it from all others of its kind."""
    return unit(chance(seed, what, message.kind, sender, receiver, *message.labels(), int(now * 1e6)))


@dataclass(frozen=True, slots=True)
class Latency:
    """Every message takes this long, and up to `jitter` seconds more."""

    seed: int
    seconds: float
    jitter: float = 0.0

    def judge(self, sender: int, receiver: int, message: Message, now: float, delays: Delays) -> Delays:
        """See `Rule`."""
        if not self.jitter:
            return [delay + self.seconds for delay in delays]
        share = drawn(self.seed, "jitter", sender, receiver, message, now)
        return [delay + self.seconds + share * self.jitter for delay in delays]


@dataclass(frozen=True, slots=True)
class WideArea:
    """Nodes lie on a plane, and a message takes as long as its way is: from `nearest` to about `farthest` seconds.

    Between two nodes it always takes the same time, but for a tenth by chance.
    """

    seed: int
    nearest: float = 0.010  # ours: a metropolitan area
    farthest: float = 0.200  # ours: half around the world
    places: dict[int, tuple[float, float]] = field(
        default_factory=dict, compare=False, repr=False
    )  # those drawn so far

    def judge(self, sender: int, receiver: int, message: Message, now: float, delays: Delays) -> Delays:
        """See `Rule`."""
        (x, y), (u, v) = self._place(sender), self._place(receiver)
        way = ((x - u) ** 2 + (y - v) ** 2) ** 0.5 / 2**0.5
        usual = self.nearest + way * (self.farthest - self.nearest)
        share = drawn(self.seed, "jitter", sender, receiver, message, now)
        return [delay + usual * (1 + 0.1 * share) for delay in delays]

    def _place(self, node: int) -> tuple[float, float]:
        place = self.places.get(node)
        if place is None:
            place = self.places[node] = unit(chance(self.seed, "x", node)), unit(chance(self.seed, "y", node))
        return place


@dataclass(frozen=True, slots=True)
class Loss:
    """Messages are lost with this probability."""

    seed: int
    probability: float

    def judge(self, sender: int, receiver: int, message: Message, now: float, delays: Delays) -> Delays:
        """See `Rule`."""
        return [] if drawn(self.seed, "loss", sender, receiver, message, now) < self.probability else delays


@dataclass(frozen=True, slots=True)
class Duplication:
    """Messages arrive twice with this probability, the second time up to `spread` seconds later."""

    seed: int
    probability: float
    spread: float = 1.0

    def judge(self, sender: int, receiver: int, message: Message, now: float, delays: Delays) -> Delays:
        """See `Rule`."""
        if drawn(self.seed, "double", sender, receiver, message, now) >= self.probability:
            return delays
        return [*delays, delays[-1] + self.spread * drawn(self.seed, "doubled", sender, receiver, message, now)]


@dataclass(frozen=True, slots=True)
class Reordering:
    """With this probability a message takes up to `spread` seconds longer, and others overtake it."""

    overtaking: ClassVar[bool] = True
    seed: int
    probability: float
    spread: float = 1.0

    def judge(self, sender: int, receiver: int, message: Message, now: float, delays: Delays) -> Delays:
        """See `Rule`."""
        if drawn(self.seed, "late", sender, receiver, message, now) >= self.probability:
            return delays
        longer = self.spread * drawn(self.seed, "later", sender, receiver, message, now)
        return [delay + longer for delay in delays]


@dataclass(frozen=True, slots=True)
class Window:
    """When a fault is there: from `begin` until `end`."""

    begin: float
    end: float

    def holds(self, now: float) -> bool:
        """Whether it is there now."""
        return self.begin <= now < self.end


@dataclass(frozen=True, slots=True)
class Partition:
    """For a while nothing passes between one group of nodes and all others."""

    window: Window
    group: frozenset[int]

    def judge(self, sender: int, receiver: int, message: Message, now: float, delays: Delays) -> Delays:  # noqa: ARG002
        """See `Rule`."""
        apart = (sender in self.group) != (receiver in self.group)
        return [] if apart and self.window.holds(now) else delays


@dataclass(frozen=True, slots=True)
class OneWayCut:
    """For a while nothing gets from one node to another, though it does the other way."""

    window: Window
    sender: int
    receiver: int

    def judge(self, sender: int, receiver: int, message: Message, now: float, delays: Delays) -> Delays:  # noqa: ARG002
        """See `Rule`."""
        cut = (sender, receiver) == (self.sender, self.receiver)
        return [] if cut and self.window.holds(now) else delays


@dataclass(frozen=True, slots=True)
class SlowLink:
    """For a while everything between two nodes takes longer, either way."""

    window: Window
    ends: frozenset[int]
    seconds: float

    def judge(self, sender: int, receiver: int, message: Message, now: float, delays: Delays) -> Delays:  # noqa: ARG002
        """See `Rule`."""
        slow = self.ends == {sender, receiver} and self.window.holds(now)
        return [delay + self.seconds for delay in delays] if slow else delays


@dataclass(frozen=True, slots=True)
class SlowNode:
    """For a while everything to and from a node takes longer."""

    window: Window
    node: int
    seconds: float

    def judge(self, sender: int, receiver: int, message: Message, now: float, delays: Delays) -> Delays:  # noqa: ARG002
        """See `Rule`."""
        if self.node not in (sender, receiver) or not self.window.holds(now):
            return delays
        return [delay + self.seconds for delay in delays]


class Network:
    """The rules that are installed, in order."""

    __slots__ = ("in_order", "rules")

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        self.rules: Sequence[Rule] = tuple(rules)
        self.in_order = not any(getattr(rule, "overtaking", False) for rule in self.rules)  # as on a connection

    def delays(self, sender: int, receiver: int, message: Message, now: float) -> Delays:
        """With which delays copies of a message arrive; none: it is lost."""
        delays = [0.0]
        for rule in self.rules:
            delays = rule.judge(sender, receiver, message, now, delays)
            if not delays:
                break
        return delays

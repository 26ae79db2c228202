"""A tree that loses a link is mended at once, where events follow each other closely: else the next ones are late for all behind it.

Ours. Of the two ends of a link one is nearer to who publishes: the other got the latest event over it. When the link goes, that one makes
another eager instead, to who had shown first that it has this event. Who lies behind this node has it later than this node, so that is
hardly one of them; and for each link that goes there is one that comes. What was missed meanwhile is offered to who makes a link eager
(`node`). Where a whole node goes, those behind it may choose each other: then the next event that has to be asked for mends the tree, as
it does wherever this guess was wrong.
"""

from collections.abc import Iterable, Mapping

from ropewalk.ids import weight
from ropewalk.protocols.contract import Effect, Send
from ropewalk.protocols.dissemination.contract import NeighboursOn
from ropewalk.protocols.dissemination.kept import Kept
from ropewalk.protocols.dissemination.messages import Want
from ropewalk.protocols.dissemination.settings import MOST_LIVELY
from ropewalk.protocols.dissemination.trees import Trees

# Ours, seconds: from the latest event of a topic on its tree is left to the next one to mend: nobody waits for that now, and a link that
# does not lead out of what was cut off costs a copy of the next event
LIVELY = 5.0


class Mending:
    """The trees that one node is in."""

    __slots__ = ("again", "latest", "mended", "neighbours", "trees")

    def __init__(self, neighbours: NeighboursOn, trees: Trees, again: float) -> None:
        self.neighbours, self.trees = neighbours, trees
        self.again = (
            again  # seconds after which a tree is mended once more: whoever comes and goes makes no flood of it
        )
        self.latest: dict[int, int] = {}  # topic -> the event that came on it last by itself; MOST_LIVELY
        self.mended: dict[int, float] = {}  # topic -> when its tree was mended; those of a period, of the above

    def came(self, event: int, topics: Iterable[int]) -> None:
        """An event has come by itself, on these topics."""
        for topic in topics:
            if topic in self.latest or len(self.latest) < MOST_LIVELY:
                self.latest[topic] = event

    def unlinked(self, topic: int, node: int, kept: Mapping[int, Kept], now: float) -> list[Effect]:
        """Somebody is no longer a neighbour on a topic, or on one side only."""
        event = self.latest.get(topic)
        latest = None if event is None else kept.get(event)
        if latest is None or latest.via != node or now - latest.at > LIVELY:
            return []
        near = self.neighbours(topic) or {}
        if node in near or now - self.mended.get(topic, -self.again) < self.again:
            return []
        lazy = {other: contact for other, contact in near.items() if not self.trees.is_eager(topic, other)}
        if not lazy:
            return []
        del self.latest[topic]
        self.trees.may_be_apart((topic,))  # it is from now on
        first = next((other for other in latest.shown if other in lazy), None)
        chosen = first if first is not None else min(lazy, key=lambda other: weight(latest.event.id, other))
        self.trees.grow(chosen, (topic,))
        self.mended[topic] = now
        return [Send(near[chosen], Want((), (topic,)))]

    def tidy(self, kept: Mapping[int, Kept], now: float) -> None:
        """Forget what nothing follows from any more."""
        self.latest = {topic: event for topic, event in self.latest.items() if event in kept}
        self.mended = {topic: at for topic, at in self.mended.items() if at > now - self.again}

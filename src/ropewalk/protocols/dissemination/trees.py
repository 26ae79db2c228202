"""Over which links events come by themselves: for each topic apart, a tree as long as all is well.

After Plumtree (Leitao, Pereira, Rodrigues, "Epidemic broadcast trees"): a link that brings what came already is lazy from then
on, one that had to be asked becomes eager. Ours: links start lazy, and one late event changes nothing. But where an eager link
has gone, the tree may have come apart there: the next event that does not come by itself mends it. See `node`.
"""

from collections.abc import Container, Iterable

from ropewalk.protocols.contract import Contact
from ropewalk.protocols.dissemination.contract import Around, NeighboursOn

DOUBTED = 2  # ours: how often old things are forgotten until a tree that lost a link is trusted again


class Trees:
    """The links of one node that are eager."""

    __slots__ = ("doubted", "eager", "missed", "misses", "neighbours", "spared")

    def __init__(self, misses: int, neighbours: NeighboursOn) -> None:
        self.misses, self.neighbours = misses, neighbours
        self.eager: dict[int, dict[int, None]] = {}  # topic -> to whom events go without being asked for
        self.missed: dict[int, int] = {}  # topic -> events in a row that had to be asked for
        self.spared: dict[tuple[int, int], float] = {}  # (topic, node) -> when it was told to be lazy, of late
        self.doubted: dict[int, int] = {}  # topic whose tree has lost a link here -> until then, see DOUBTED

    def stand(self, topics: Iterable[int]) -> bool:
        """Whether an event on these may come by itself."""
        return any(self.eager.get(topic) for topic in topics)

    def lacking(self, topics: Iterable[int]) -> set[int]:
        """On which of these there is nobody to whom events go by themselves, or from whom they come."""
        return {topic for topic in topics if not self.eager.get(topic)}

    def is_eager(self, topic: int, node: int) -> bool:
        """Whether a link brings a topic's events by itself."""
        return node in self.eager.get(topic, ())

    def brings(self, topic: int, node: int) -> bool:
        """Whether it will bring what comes next."""
        return self.is_eager(topic, node) and node in (self.neighbours(topic) or ())

    def may_be_apart(self, topics: Iterable[int]) -> bool:
        """Whether a link has gone over which an event on these might have come."""
        for topic in topics:
            near = self.neighbours(topic) or {}
            if any(node not in near for node in self.eager.get(topic, ())):
                self._keep(topic, near)
        return any(topic in self.doubted for topic in topics)

    def targets(self, followed: dict[int, dict[int, Contact]], shown: dict[int, None]) -> Around:
        """To whom an event goes without being asked for, and on which topics."""
        targets: Around = {}
        for topic, neighbours in followed.items():
            for node in self.eager.get(topic, ()):
                if node in neighbours and node not in shown:
                    targets.setdefault(node, (neighbours[node], []))[1].append(topic)
        return targets

    def welcome(self, sender: int, topics: Iterable[int], since: float) -> None:
        """A link has brought an event by itself: it is eager at the other end, so it is here.

        Unless that was told to be lazy since then: it had not heard of it yet.
        """
        for topic in topics:
            if sender in self.eager.get(topic, ()) and not self.missed.get(topic):
                continue  # as most do
            if self.spared.get((topic, sender), since) <= since and sender in (self.neighbours(topic) or ()):
                self._grow(topic, sender)
                self.missed[topic] = 0

    def grow(self, node: int, topics: Iterable[int]) -> None:
        """Its other end wants a link to be eager."""
        for topic in topics:
            if node in (self.neighbours(topic) or ()):
                self._grow(topic, node)

    def prune(self, node: int, topics: Iterable[int]) -> None:
        """Make a link lazy."""
        for topic in topics:
            self.eager.get(topic, {}).pop(node, None)

    def spare(self, node: int, topics: Iterable[int], now: float) -> None:
        """Likewise, and its other end is told."""
        topics = tuple(topics)
        self.prune(node, topics)
        self.spared.update(((topic, node), now) for topic in topics)

    def graft(self, node: int, topics: Iterable[int], *, missed: bool) -> list[int]:
        """An event has to be asked for: where no link is eager, or too much was missed, the one that has it will be."""
        grafted: list[int] = []
        for topic in topics:
            if missed:
                self.missed[topic] = self.missed.get(topic, 0) + 1
            if not self.eager.get(topic) or self.missed.get(topic, 0) >= self.misses or topic in self.doubted:
                self._grow(topic, node)
                self.missed[topic] = 0
                self.doubted.pop(topic, None)
                grafted.append(topic)
        return grafted

    def tidy(self, since: float) -> None:
        """Forget topics and neighbours of the past, and who was told to be lazy before some moment."""
        self.spared = {each: at for each, at in self.spared.items() if at > since}
        self.doubted = {topic: left - 1 for topic, left in self.doubted.items() if left > 1}
        for topic in [*self.eager]:
            near = self.neighbours(topic)
            if near is None:
                del self.eager[topic]
            elif any(node not in near for node in self.eager[topic]):
                self._keep(topic, near)
        self.missed = {topic: times for topic, times in self.missed.items() if self.neighbours(topic) is not None}
        self.doubted = {topic: left for topic, left in self.doubted.items() if self.neighbours(topic) is not None}

    def _keep(self, topic: int, near: Container[int]) -> None:
        """Some that were eager are neighbours no more."""
        self.eager[topic] = {node: None for node in self.eager[topic] if node in near}
        self.doubted[topic] = DOUBTED

    def _grow(self, topic: int, node: int) -> None:
        self.spared.pop((topic, node), None)
        self.eager.setdefault(topic, {})[node] = None

"""Over which links events come by themselves: for each topic apart, a tree as long as all is well.

After Plumtree (Leitao, Pereira, Rodrigues, "Epidemic broadcast trees"): a link that brings what came already is lazy from then
on, one that had to be asked becomes eager. Ours: links start lazy, and one late event changes nothing. See `node`.
"""

from collections.abc import Iterable

from ropewalk.protocols.contract import Contact
from ropewalk.protocols.dissemination.contract import Around, NeighboursOn


class Trees:
    """The links of one node that are eager."""

    __slots__ = ("eager", "missed", "misses", "neighbours")

    def __init__(self, misses: int, neighbours: NeighboursOn) -> None:
        self.misses, self.neighbours = misses, neighbours
        self.eager: dict[int, dict[int, None]] = {}  # topic -> to whom events go without being asked for
        self.missed: dict[int, int] = {}  # topic -> events in a row that had to be asked for

    def stand(self, topics: Iterable[int]) -> bool:
        """Whether an event on these may come by itself."""
        return any(self.eager.get(topic) for topic in topics)

    def targets(self, followed: dict[int, dict[int, Contact]], shown: dict[int, None]) -> Around:
        """To whom an event goes without being asked for, and on which topics."""
        targets: Around = {}
        for topic, neighbours in followed.items():
            for node in self.eager.get(topic, ()):
                if node in neighbours and node not in shown:
                    targets.setdefault(node, (neighbours[node], []))[1].append(topic)
        return targets

    def welcome(self, sender: int, topics: Iterable[int]) -> None:
        """A link has brought an event by itself: it is eager at the other end, so it is here."""
        for topic in topics:
            if sender in self.eager.get(topic, ()) and not self.missed.get(topic):
                continue  # as most do
            if sender in (self.neighbours(topic) or ()):
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

    def graft(self, node: int, topics: Iterable[int], *, missed: bool) -> list[int]:
        """An event has to be asked for: where no link is eager, or too much was missed, the one that has it will be."""
        grafted: list[int] = []
        for topic in topics:
            if missed:
                self.missed[topic] = self.missed.get(topic, 0) + 1
            if not self.eager.get(topic) or self.missed.get(topic, 0) >= self.misses:
                self._grow(topic, node)
                self.missed[topic] = 0
                grafted.append(topic)
        return grafted

    def tidy(self) -> None:
        """Forget topics and neighbours of the past."""
        followed = {
            topic: there for topic in (*self.eager, *self.missed) if (there := self.neighbours(topic)) is not None
        }
        self.missed = {topic: times for topic, times in self.missed.items() if topic in followed}
        self.eager = {
            topic: {node: None for node in nodes if node in followed[topic]}
            for topic, nodes in self.eager.items()
            if topic in followed
        }

    def _grow(self, topic: int, node: int) -> None:
        self.eager.setdefault(topic, {})[node] = None

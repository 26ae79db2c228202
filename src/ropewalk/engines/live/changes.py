"""What has changed about a node since somebody last looked: its neighbours on each topic, and whom it is connected with."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ropewalk.protocols.contract import Contact

LOOKING = 1.0  # ours, seconds from one look to the next: soon enough for who watches, and no load
LIVES = 10.0  # ours, seconds: after which it is said that nothing has changed, so that silence means something


class Linked(NamedTuple):
    """Connections that have come, and that are no more."""

    up: list[int]
    down: list[int]


class Changes:
    """Remembers what was said last."""

    def __init__(self) -> None:
        self._held: dict[int, list[int]] = {}
        self._linked: dict[int, None] = {}
        self._said_at = float("-inf")

    def held(self, now: Mapping[int, Iterable[Contact]]) -> Iterator[tuple[int, list[int]]]:
        """Topics with other neighbours than before, and who they are; none, where one is followed no longer."""
        for topic, contacts in now.items():
            neighbours = [contact.id for contact in contacts]
            if self._held.get(topic) != neighbours:
                self._held[topic] = neighbours
                yield topic, neighbours
        for topic in [topic for topic in self._held if topic not in now]:
            del self._held[topic]
            yield topic, []

    def linked(self, now: Mapping[int, object], at: float) -> Linked | None:
        """Connections that have come or gone; None if there is nothing to say."""
        up = [node for node in now if node not in self._linked]
        down = [node for node in self._linked if node not in now]
        if not up and not down and at - self._said_at < LIVES:
            return None
        self._linked, self._said_at = dict.fromkeys(now), at
        return Linked(up, down)

    def unlink(self, node: int) -> None:
        """It has been said that this one is gone: if it is back at the next look, that is news."""
        self._linked.pop(node, None)

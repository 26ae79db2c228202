"""Events that a node keeps, oldest first: so many at the most, and so many bytes."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from ropewalk.protocols.contract import Event, bytes_of
from ropewalk.protocols.trees.settings import MOST_KEPT, MOST_KEPT_BYTES

Key = TypeVar("Key")


@dataclass(slots=True)
class Held:
    """An event that can be had."""

    event: Event
    hops: int  # links that it crossed to come here
    at: float


class Shelf(Generic[Key]):
    """By a key each; at most MOST_KEPT of them, and MOST_KEPT_BYTES."""

    __slots__ = ("by_key", "bytes")

    def __init__(self) -> None:
        self.by_key: dict[Key, Held] = {}
        self.bytes = 0  # of all payloads

    def __contains__(self, key: Key) -> bool:
        """Whether it is there."""
        return key in self.by_key

    def __iter__(self) -> Iterator[Key]:
        """Oldest first."""
        return iter(self.by_key)

    def __getitem__(self, key: Key) -> Held:
        """One that is there."""
        return self.by_key[key]

    def put(self, key: Key, held: Held) -> list[Event]:
        """Keep one more, as the youngest; what has to go for it, also what was there under the same key."""
        gone = [self._pop(key)]
        self.by_key[key] = held
        self.bytes += bytes_of(held.event)
        while self.bytes > MOST_KEPT_BYTES or len(self.by_key) > MOST_KEPT:
            gone.append(self._pop(next(iter(self.by_key))))
        return [event for event in gone if event is not None]

    def forget(self, before: float) -> list[Event]:
        """Keep no longer what was there by then; what that is."""
        gone = [self._pop(key) for key in [key for key, held in self.by_key.items() if held.at <= before]]
        return [event for event in gone if event is not None]

    def _pop(self, key: Key) -> Event | None:
        held = self.by_key.pop(key, None)
        if held is None:
            return None
        self.bytes -= bytes_of(held.event)
        return held.event

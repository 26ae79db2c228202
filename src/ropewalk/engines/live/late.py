"""Events that came down a tree for a reader that is too slow: they have been passed on, and wait here for room.

A node that waited with passing on would hold up all who are below it. Of what is beyond a bound the gate lets nothing in any
more: who is below waits then, too, and gets it from its neighbours later.
"""

from collections import deque
from collections.abc import Callable

from ropewalk.engines.live.gate import EVENT_BYTES, MOST_HELD_BYTES
from ropewalk.protocols.contract import Event


class Late:
    """At one node, in the order in which they came."""

    def __init__(self, is_full: Callable[[tuple[int, ...]], bool], hand_out: Callable[[Event, int], None]) -> None:
        self._is_full, self._hand_out = is_full, hand_out
        self._waiting: deque[tuple[Event, int]] = deque()  # with how many links it crossed; about MOST_HELD_BYTES
        self._bytes = 0

    def is_full(self, topics: tuple[int, ...]) -> bool:
        """Whether there is no room for one more on these topics, neither at who reads them nor here."""
        return self._bytes >= MOST_HELD_BYTES and self._is_full(topics)

    def put(self, event: Event, hops: int) -> None:
        """Hand one out, at once or after those that wait."""
        if not self._waiting and not self._is_full(event.topics):
            self._hand_out(event, hops)
            return
        self._waiting.append((event, hops))
        self._bytes += _size(event)

    def has_room(self) -> None:
        """Somebody has read something, or reads no more."""
        while self._waiting and not self._is_full(self._waiting[0][0].topics):
            event, hops = self._waiting.popleft()
            self._bytes -= _size(event)
            self._hand_out(event, hops)


def _size(event: Event) -> int:
    return len(event.payload) + EVENT_BYTES

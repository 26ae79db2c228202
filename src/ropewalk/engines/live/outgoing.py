"""Events on their way out of a node: each gets an id, a seal, and for topics that are not followed here a word of what became of it."""

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from secrets import token_bytes
from struct import unpack

from ropewalk.engines.live.envelope import sealed, signed
from ropewalk.engines.live.identity import Identity
from ropewalk.errors import RunError
from ropewalk.protocols.content.filters import Content
from ropewalk.protocols.contract import Event
from ropewalk.protocols.dissemination.settings import MOST_TOGETHER, TOGETHER_BYTES

DRAWN = 512  # ours: ids of events that are drawn at a time, since to draw one takes longer than all else about it


class UndeliverableError(RunError):
    """An event did not get into some of its topics."""

    def __init__(self, failed: dict[str, str]) -> None:
        self.failed = failed  # topic -> why
        said = "; ".join(f"{topic!r}: {why}" for topic, why in failed.items())
        super().__init__(f"the event did not get into {said}.")


class Outgoing:
    """What one node has published, as far as it is not yet known to be in."""

    def __init__(self, identity: Identity, publish: Callable[[list[Event]], None], *, sign: bool) -> None:
        self.identity, self.sign, self._publish = identity, sign, publish
        self._together: list[Event] = []  # published in this turn of the loop, on the same topics
        self._bytes = 0  # of their payloads
        self._signed_at = 0  # when it last signed an event, in microseconds since 1970
        self._ids: list[int] = []  # of its next events: nobody can tell them before
        self._confirming: dict[tuple[int, int], asyncio.Future[str]] = {}  # (event, topic) -> "" or why not

    def event(self, topics: tuple[int, ...], payload: bytes, content: Content = ()) -> Event:
        """Something to say, as an event that nobody has seen before."""
        if self.sign:
            self._signed_at = max(self._signed_at + 1, time.time_ns() // 1000)
            return signed(self.identity, topics, payload, self._signed_at, content)
        if not self._ids:
            self._ids.extend(unpack(f"{DRAWN}Q", token_bytes(8 * DRAWN)))
        return sealed(self.identity, topics, payload, self._ids.pop(), content)

    def put(self, event: Event) -> bool:
        """Publish an event on topics that are followed here, at the end of this turn of the loop, with others; whether these are many."""
        together, size = self._together, len(event.payload)
        if together and (together[0].topics != event.topics or self._bytes + size > TOGETHER_BYTES):
            self.flush()
        if not together:
            asyncio.get_running_loop().call_soon(self.flush)
        together.append(event)
        self._bytes += size
        if len(together) < MOST_TOGETHER:
            return False
        self.flush()
        return True

    def flush(self) -> None:
        """Publish what has come together."""
        if self._together:
            events = self._together.copy()
            self._together.clear()
            self._bytes = 0
            self._publish(events)

    @contextmanager
    def confirming(self, event: Event, topics: Iterable[int]) -> Iterator["dict[int, asyncio.Future[str]]"]:
        """By topic, what becomes of an event: nothing, if it is in, or why it is not."""
        loop = asyncio.get_running_loop()
        futures = {topic: loop.create_future() for topic in topics}
        self._confirming.update(((event.id, topic), future) for topic, future in futures.items())
        try:
            yield futures
        finally:
            for topic in futures:
                self._confirming.pop((event.id, topic), None)

    def confirm(self, event: int, topic: int, why: str) -> None:
        """An event is in a topic, or why not."""
        future = self._confirming.get((event, topic))
        if future is not None and not future.done():
            future.set_result(why)

    def give_up(self) -> None:
        """Nobody will hear of any more."""
        for event, topic in list(self._confirming):
            self.confirm(event, topic, "its publisher left before it was known to be in")

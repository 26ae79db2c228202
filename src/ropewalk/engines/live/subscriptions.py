"""What comes out of a node: events that wait for whoever reads them, and what happens when it is too slow."""

import asyncio
from collections.abc import AsyncIterator, Callable
from types import TracebackType
from typing import Literal, Self, get_args

from ropewalk.engines.live.arrived import EVENT_BYTES, Arrived, Event, numbered, size_of
from ropewalk.engines.live.envelope import Said
from ropewalk.errors import RunError, UsageError
from ropewalk.protocols import contract
from ropewalk.protocols.content.filters import Filter

WhenFull = Literal["wait", "drop-oldest", "raise", "discard"]
"""What to do when nobody reads: let events wait where they are, lose the oldest and count them, or give up. Or nobody means to: none is kept."""

BUFFER = 1024  # ours: events that wait for whoever reads them
MOST_NAMED = 1024  # ours: lists of topics whose names are remembered
MOST_WAITING_BYTES = 8 * 1_048_576  # ours: of all events that wait
PRESSED_BYTES = MOST_WAITING_BYTES // 2  # ours: from here on those from whom they come have to wait
RELIEF = 65_536  # ours, bytes: that must be read of it before they go on; it has caught up when half of it is read


class SlowConsumerError(RunError):
    """Whoever subscribed did not keep up, and had asked to be told."""


class Subscription:
    """Events of some topics, one after the other: `async for event in subscription`. It ends when it is closed."""

    def __init__(
        self,
        topics: dict[int, str],
        buffer: int,
        when_full: WhenFull,
        end: "Callable[[Subscription], None]",
        *,
        signed: bool = False,
        filters: tuple[Filter, ...] = (),
    ) -> None:
        if buffer < 1:
            raise UsageError(f"a subscription's buffer is {buffer}, but must have room for 1 event at least.")
        if when_full not in get_args(WhenFull):
            raise UsageError(f"when_full is {when_full!r}, but must be one of: {', '.join(get_args(WhenFull))}.")
        self.topics = topics  # names by id
        self.buffer, self.when_full, self.signed = buffer, when_full, signed
        self.filters = filters  # of the events on its topics those that match one; all, if there are none
        self._named: dict[
            tuple[int, ...], tuple[str, ...]
        ] = {}  # topics of events, as they are called here; MOST_NAMED
        self.dropped = 0  # events that were lost because nobody read them in time
        self._end = end
        self.arrived = Arrived()  # and was not read
        self.is_pressed = False  # whether those from whom events come have to wait
        self.progress = 0  # events read, see `pressure.Slow`
        self.least, self.node = 0.0, None  # see `pressure.Slow`
        self._news = asyncio.Event()
        self._failed = False
        self._closed = False
        self.emptied: Callable[[], None] = lambda: None  # told when there is room again
        self.closing: Callable[[], None] = lambda: None  # told before it closes: what was published before still comes

    def is_full(self, coming: int = 0, coming_bytes: int = 0) -> bool:
        """Whether who publishes at this very node has to wait, where so many events of so many bytes are on their way already."""
        taken = self.arrived.bytes + coming_bytes + EVENT_BYTES * coming
        full = self.arrived.count + coming >= self.buffer or taken >= MOST_WAITING_BYTES
        return full and self.when_full == "wait" and not self._closed

    @property
    def is_behind(self) -> bool:
        """Whether so much waits that it has yet to catch up."""
        return self.when_full == "wait" and not self._closed and self.arrived.bytes >= PRESSED_BYTES // 2

    def names(self, topics: tuple[int, ...]) -> tuple[str, ...]:
        """Those of an event's topics that are read here, by name."""
        named = self._named.get(topics)
        if named is None:
            if len(self._named) >= MOST_NAMED:
                self._named.clear()
            named = self._named[topics] = tuple(self.topics[topic] for topic in topics if self.topics.get(topic))
        return named

    def put(self, event: contract.Event, said: Said, hops: int) -> None:
        """All that an event says, as far as it is of use here."""
        if self._closed or self._failed or self.when_full == "discard":
            return
        names, arrived, size = self.names(event.topics), self.arrived, size_of(event, said)
        if arrived.bytes + size < PRESSED_BYTES and (
            self.when_full == "wait" or arrived.count + len(said) - said.count(None) <= self.buffer
        ):
            arrived.put(event, said, hops, names, size)
            self._news.set()
        else:
            for place, each in numbered(said):
                self._put_if_room(event, each, hops, names, place)

    def _put_if_room(
        self, event: contract.Event, payload: bytes, hops: int, names: tuple[str, ...], place: int
    ) -> None:
        arrived = self.arrived
        if self.when_full == "raise" and self._has_no_room():
            self._failed = True
        elif self.when_full == "wait" and arrived.bytes >= MOST_WAITING_BYTES:
            self.dropped += 1
        else:
            while self.when_full == "drop-oldest" and arrived.count and self._has_no_room():
                arrived.drop()
                self.dropped += 1
            arrived.put_one(event, payload, hops, names, place)
        self.is_pressed = self.when_full == "wait" and arrived.bytes >= PRESSED_BYTES
        self._news.set()

    def _has_no_room(self) -> bool:
        return self.arrived.count >= self.buffer or self.arrived.bytes >= MOST_WAITING_BYTES

    async def close(self) -> None:
        """Follow these topics no longer, unless another subscription does. What has come can still be read."""
        if not self._closed:
            self.closing()
            self._closed, self.is_pressed = True, False
            self._news.set()
            self._end(self)

    def left_over(self) -> Event | None:
        """The next of those that have come, if there is one."""
        return self._next() if self.arrived.count else None

    def _next(self) -> Event:
        self.progress += 1
        return self.arrived.next()

    def __aiter__(self) -> AsyncIterator[Event]:
        """Every event, as it comes."""
        return self

    async def __anext__(self) -> Event:
        """The next."""
        while not self.arrived.count:
            if self._failed:
                raise SlowConsumerError(
                    f"more than {self.buffer} events were waiting to be read, or {MOST_WAITING_BYTES >> 20} MiB; read faster, or choose a larger buffer or another mode."
                )
            if self._closed:
                raise StopAsyncIteration
            self._news.clear()
            await self._news.wait()
        event = self._next()
        if self.is_pressed or self.arrived.count == self.buffer - 1:
            self._ease()
        return event

    def _ease(self) -> None:
        """There is room again, or may be."""
        if self.arrived.bytes <= max(PRESSED_BYTES // 2, PRESSED_BYTES - RELIEF):
            self.is_pressed = False
        if not (self.is_pressed and self.is_full()):
            self.emptied()

    async def __aenter__(self) -> Self:
        """Begin; topics are followed already."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Follow them no longer."""
        await self.close()

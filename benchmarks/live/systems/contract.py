"""What a system is, to be measured: how it is served, how one reads it, how one publishes."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, contextmanager
from dataclasses import dataclass

TOPIC = "bench"

Hear = Callable[[bytes], None]
"""Told of every event that has come to one subscriber."""
Publish = Callable[[Sequence[bytes]], Awaitable[None]]
"""Publishes these one after the other as fast as the system takes them, and returns when all are on their way."""


@dataclass(frozen=True, slots=True)
class Reader:
    """A subscriber that is there: where others find it, and how many connections it holds by now, if that is counted."""

    place: str = ""
    connections: Callable[[], int] = lambda: 0


def in_thread(publish_all: Callable[[Sequence[bytes]], None]) -> Publish:
    """For clients that block; a single event goes at once, since the way to a thread and back would be most of its latency."""

    async def publish(events: Sequence[bytes]) -> None:
        if len(events) == 1:
            publish_all(events)
        else:
            await asyncio.to_thread(publish_all, events)

    return publish


@contextmanager
def unserved() -> Iterator[str]:
    """Nothing is between publisher and subscribers."""
    yield ""


def here() -> str:
    """It is part of what everybody has."""
    return ""


@dataclass(frozen=True, slots=True)
class System:
    """Something that gets events from one process to another."""

    name: str
    # where it is served, where the first subscriber is, if this is another, and who hears
    subscribing: Callable[[str, str, Hear], AbstractAsyncContextManager[Reader]]
    publishing: Callable[
        [str, list[str]], AbstractAsyncContextManager[Publish]
    ]  # where it is served, and subscribers are
    missing: Callable[[], str] = here  # why it cannot be measured; nothing if it can
    serving: Callable[[], AbstractContextManager[str]] = unserved  # a place, while it is served
    tls: bool = False


Subscribing = AsyncIterator[Reader]
Publishing = AsyncIterator[Publish]

"""What a system is, to be measured: how it is served, how many read it, how one publishes."""

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
class Readers:
    """Subscribers that are there: where a publisher finds them, and how many connections they hold by now, if that is counted."""

    place: str
    connections: Callable[[], list[int]] = list


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
    subscribing: Callable[[str, Sequence[Hear]], AbstractAsyncContextManager[Readers]]  # a place, and who hears
    publishing: Callable[
        [str, str, int], AbstractAsyncContextManager[Publish]
    ]  # where it is served, the readers' place, how many
    missing: Callable[[], str] = here  # why it cannot be measured; nothing if it can
    serving: Callable[[], AbstractContextManager[str]] = unserved  # a place, while it is served
    tls: bool = False


Subscribing = AsyncIterator[Readers]
Publishing = AsyncIterator[Publish]

"""The event loop that live nodes run on: uvloop where it is installed, since connections take a fifth of the memory there."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def new_loop() -> asyncio.AbstractEventLoop:
    """A loop, the best that is here."""
    return _factory()()


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run this to its end, as asyncio.run does."""
    with asyncio.Runner(loop_factory=_factory()) as runner:
        return runner.run(work)


def _factory() -> Callable[[], asyncio.AbstractEventLoop]:
    try:
        import uvloop  # noqa: PLC0415  it is an extra
    except ImportError:
        return asyncio.new_event_loop
    found: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return found

"""The event loop that live nodes run on: uvloop where it is installed, since connections take a fifth of the memory there."""

import asyncio
import logging
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

T = TypeVar("T")

log = logging.getLogger(__name__)


def new_loop() -> asyncio.AbstractEventLoop:
    """A loop, the best that is here."""
    return _factory()()


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run this to its end, as asyncio.run does.

    A signal that the process handles ends it by cancelling it, and is handled afterwards: raised in the middle of anything, as a
    lock that is held, it would leave that as it is.
    """
    with asyncio.Runner(loop_factory=_factory()) as runner:
        interrupted: list[int] = []
        try:
            return runner.run(_interruptible(work, interrupted))
        except asyncio.CancelledError:
            if not interrupted:
                raise
    signal.raise_signal(interrupted[0])
    raise KeyboardInterrupt


@contextmanager
def on_signal(tell: Callable[[int], None]) -> Iterator[None]:
    """Be told of the next signal that ends a process, by its number, instead of being cancelled; the one after that goes as usual."""
    _told.append(tell)
    try:
        yield
    finally:
        _told.remove(tell)


_told: list[Callable[[int], None]] = []  # who wants to be told of a signal; the last is


async def _interruptible(work: Coroutine[Any, Any, T], interrupted: list[int]) -> T:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    in_main = threading.current_thread() is threading.main_thread()
    caught = [number for number in (signal.SIGINT, signal.SIGTERM) if in_main and callable(signal.getsignal(number))]
    former = {number: signal.getsignal(number) for number in caught}

    def receive(number: int) -> None:
        give_back()
        if _told:
            _told[-1](number)
        else:
            interrupted.append(number)
            task.cancel()

    def give_back() -> None:
        for each, handler in former.items():
            loop.remove_signal_handler(each)
            signal.signal(each, handler)
        former.clear()

    for number in caught:
        loop.add_signal_handler(number, receive, number)
    try:
        return await work
    finally:
        give_back()


def _factory() -> Callable[[], asyncio.AbstractEventLoop]:
    make = asyncio.new_event_loop
    with suppress(ImportError):
        import uvloop  # noqa: PLC0415  it is an extra

        make = uvloop.new_event_loop

    def made() -> asyncio.AbstractEventLoop:
        loop = make()
        loop.set_exception_handler(_take_note)
        return loop

    return made


def _take_note(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """A call that was given up in the middle of its handshake may still fail, and there is nobody left to be told."""
    future = context.get("future")
    if isinstance(context.get("exception"), ConnectionError) and not isinstance(future, asyncio.Task | None):
        log.debug("a call that was given up: %s", context["exception"])
    else:
        loop.default_exception_handler(context)

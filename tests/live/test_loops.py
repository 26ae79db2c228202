"""Signals and event loops: the first is told to who asked, the second goes as it usually does."""

import asyncio
import signal
from collections.abc import Iterator

import pytest

from ropewalk.engines.live.loops import run
from ropewalk.engines.live.pipes import stoppable


@pytest.fixture
def usual() -> Iterator[list[int]]:
    """What the process does about signals, besides."""
    received: list[int] = []
    former = {
        number: signal.signal(number, lambda got, _: received.append(got)) for number in (signal.SIGINT, signal.SIGTERM)
    }
    yield received
    for number, handler in former.items():
        signal.signal(number, handler)


def test_who_can_be_stopped_is_told_and_a_second_signal_goes_as_usual(usual: list[int]) -> None:
    async def work() -> int:
        async with stoppable() as stopped:
            signal.raise_signal(signal.SIGTERM)
            await stopped.wait()
            assert usual == []
            signal.raise_signal(signal.SIGINT)
            return stopped.number

    assert run(work()) == signal.SIGTERM
    assert usual == [signal.SIGINT]


def test_whatever_else_runs_is_cancelled_and_tidied_before_the_signal_is_handled(usual: list[int]) -> None:
    tidied: list[list[int]] = []

    async def work() -> None:
        try:
            signal.raise_signal(signal.SIGINT)
            await asyncio.Event().wait()
        finally:
            tidied.append(list(usual))

    with pytest.raises(KeyboardInterrupt):
        run(work())
    assert (tidied, usual) == ([[]], [signal.SIGINT])


def test_signals_are_as_they_were_afterwards(usual: list[int]) -> None:
    run(asyncio.sleep(0))
    signal.raise_signal(signal.SIGINT)
    assert usual == [signal.SIGINT]


def test_a_call_that_was_given_up_fails_in_silence_and_anything_else_does_not(caplog: pytest.LogCaptureFixture) -> None:
    async def work() -> None:
        loop = asyncio.get_running_loop()
        for error in (ConnectionResetError("reset"), ZeroDivisionError("wrong")):
            given_up = loop.create_future()
            given_up.set_exception(error)
            del given_up
        await asyncio.sleep(0)

    run(work())
    assert "wrong" in caplog.text
    assert "reset" not in caplog.text

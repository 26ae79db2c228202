"""A publisher and subscribers, each in a process of its own as nodes usually are, and what is asked of them."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from typing import Any

from systems.contract import System

END = Path(__file__).with_name("end.py")
MOST_LINE = 64 * 1_048_576  # bytes: all latencies of a run are one line
ANSWER = 180.0  # seconds: who has not answered by then never will
TRIED = 2_000  # deliveries of the run by which it is known how many events take as long as they should
LONGER = 3  # times at the most that a run that was too short is made again
SLOWER = 6  # times at the most that a publisher that loses events is told to be slower
LESS = 0.5  # by which then
MILLI = 1e3


@dataclass(frozen=True, slots=True)
class Wanted:
    """A run."""

    size: int  # bytes of an event
    most: int  # events
    seconds: float  # about
    turns: bool  # whether each is published in a turn of the loop of its own


class FailedError(Exception):
    """An end has failed, or has not answered."""


class End:
    """One process."""

    def __init__(self, process: asyncio.subprocess.Process, role: str) -> None:
        self.process, self.role = process, role

    async def ask(self, what: str, **told: Any) -> dict[str, Any]:
        """Ask for something, and wait for the answer."""
        self.tell(what, **told)
        return await self.answer()

    def tell(self, what: str, **told: Any) -> None:
        """Ask for something."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"do": what, **told}).encode() + b"\n")

    async def answer(self) -> dict[str, Any]:
        """The next line."""
        assert self.process.stdout is not None
        try:
            async with asyncio.timeout(ANSWER):
                line = await self.process.stdout.readline()
        except TimeoutError:
            raise FailedError(f"the end that is to {self.role} has not answered for {ANSWER:g} s") from None
        if not line:
            raise FailedError(f"the end that is to {self.role} has failed")
        found: dict[str, Any] = json.loads(line)
        return found


@asynccontextmanager
async def started(system: System, role: str) -> AsyncIterator[End]:
    """A process, which is ended at the end."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(END), system.name, role,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=MOST_LINE,
    )  # fmt: skip
    end = End(process, role)
    try:
        yield end
        end.tell("end")
        with suppress(TimeoutError):
            async with asyncio.timeout(10):
                await process.wait()
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


class Fan:
    """A publisher and subscribers that hear it."""

    def __init__(self, publisher: End, subscribers: list[End]) -> None:
        self.publisher, self.subscribers = publisher, subscribers
        self.run = 0

    async def _ask_all(self, what: str, **told: Any) -> list[dict[str, Any]]:
        return await asyncio.gather(*(each.ask(what, **told) for each in self.subscribers))

    async def _outcome(self, asked: Coroutine[Any, Any, Any], *, timed: bool) -> dict[str, Any]:
        """What becomes of what the publisher is asked for, at all subscribers together."""
        for each in self.subscribers:
            each.tell("outcome", timed=timed)
        said = await asked
        found = await asyncio.gather(*(each.answer() for each in self.subscribers))
        return {
            "said": said,
            "owed": sum(each["owed"] for each in found),
            "lost": sum(each["lost"] for each in found),
            "first": min(each["first"] for each in found),
            "last": max(each["last"] for each in found),
            "latencies": [late for each in found for late in each["latencies"]],
            "connections": [each["connections"] for each in found],
        }

    async def settle(self, seconds: float) -> None:
        """Until events come through to all, and connections of each have stayed as they were for so long, which for some may be a little earlier."""
        self.run += 1
        await self._ask_all("begin", run=self.run, events=1, timed=False)
        self.publisher.tell("probe", run=self.run)
        await self._ask_all("settle", seconds=0.0)
        await self.publisher.ask("enough")
        await self._ask_all("settle", seconds=seconds)

    async def rate(self, wanted: Wanted) -> dict[str, Any]:
        """Deliveries a second, at about the highest rate at which nothing is lost.

        As fast as the publisher is let. Where that loses some, half as fast until it does not, and then once three quarters of what was
        too fast. What was lost on the way is told as well.
        """
        found, paced, tried = await self._long_enough(wanted, 0.0), 0.0, list[dict[str, Any]]()
        while found["lost"] and len(tried) < SLOWER:
            tried.append(_lossy(found))
            paced = LESS * found["published_per_s"]
            found = await self._long_enough(wanted, paced)
        if tried and not found["lost"]:
            faster = (1 + LESS) / 2 / LESS * paced
            again = await self._long_enough(wanted, faster)
            if again["lost"]:
                tried.append(_lossy(again))
            else:
                found, paced = again, faster
        return {**found, "paced_at": paced or None, "lost_before": tried}

    async def _long_enough(self, wanted: Wanted, a_second: float) -> dict[str, Any]:
        """A run of about so many seconds, or one that was shorter and lost some.

        A short one says how many events take so long. It does not count: it may have waited for what is only there from then on.
        """
        least = min(max(1, TRIED // len(self.subscribers)), wanted.most)
        found = await self._stream(wanted, least, a_second)
        for _ in range(LONGER):
            if found["lost"]:
                break
            events = max(
                least, min(int(found["deliveries_per_s"] / len(self.subscribers) * wanted.seconds), wanted.most)
            )
            found = await self._stream(wanted, events, a_second)
            if found["events"] >= wanted.most or found["seconds"] >= wanted.seconds / 2:
                break
        return found

    async def _stream(self, wanted: Wanted, events: int, a_second: float) -> dict[str, Any]:
        """So many a second; 0: as fast as the publisher is let."""
        self.run += 1
        await self._ask_all("begin", run=self.run, events=events, timed=False)
        told = {"events": events, "size": wanted.size, "a_second": a_second, "turns": wanted.turns}
        found = await self._outcome(self.publisher.ask("stream", run=self.run, **told), timed=False)
        said = found["said"]
        # from when publishing began: from first to last at the subscriber, what comes in one lot would take no time at all
        seconds = found["last"] - said["begun"]
        rate = None if found["lost"] else found["owed"] / seconds
        return {
            "events": events, "lost": found["lost"], "deliveries_per_s": rate, "connections": found["connections"],
            "seconds": seconds,
            "first_to_last_s": found["last"] - found["first"], "published_per_s": events / said["seconds"],
        }  # fmt: skip

    async def latency(self, size: int, a_second: float, seconds: float) -> dict[str, Any]:
        """Milliseconds from publishing to hearing, at a rate that nobody finds hard."""
        self.run += 1
        events = max(2, int(a_second * seconds))
        await self._ask_all("begin", run=self.run, events=events, timed=True)
        pacing = self.publisher.ask("pace", run=self.run, events=events, size=size, a_second=a_second)
        found = await self._outcome(pacing, timed=True)
        taken = found["latencies"]
        cuts = quantiles(taken, n=100, method="inclusive") if len(taken) > 1 else [0.0] * 99
        return {
            "events": events, "lost": found["lost"], "p50_ms": MILLI * cuts[49], "p99_ms": MILLI * cuts[98],
        }  # fmt: skip


def _lossy(found: dict[str, Any]) -> dict[str, Any]:
    return {name: found[name] for name in ("events", "lost", "published_per_s")}


@asynccontextmanager
async def fanned(system: System, readers: int) -> AsyncIterator[Fan]:
    """All of them, and what serves them."""
    with system.serving() as place:
        async with AsyncExitStack() as stack:
            begun = [await stack.enter_async_context(started(system, "subscribe")) for _ in range(readers)]
            publisher = await stack.enter_async_context(started(system, "publish"))
            first = await begun[0].ask("be", place=place, first="")
            others = [each.ask("be", place=place, first=first["place"]) for each in begun[1:]]
            at = [each["place"] for each in (first, *await asyncio.gather(*others))]
            await publisher.ask("be", place=place, at=at)
            yield Fan(publisher, begun)

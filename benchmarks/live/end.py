"""One end of a measurement, in a process of its own: `end.py SYSTEM publish|subscribe`, told what to do in lines of JSON, answering in such.

`ends.py` is the other side of the talk. Every line is `{"do": ..., ...}`, every answer an object.
"""

import asyncio
import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from systems.catalogue import SYSTEMS
from systems.contract import Publish, Reader, System
from tally import Tally, payloads, stamped

from ropewalk.engines.live.loops import run as run_on_loop

QUIET = 5.0  # seconds without another event, after which those that are missing count as lost
LOOK = 0.002  # seconds from one look at what has come to the next: readers may be threads, which wake nobody
TURN = 0.001  # seconds from one lot of events to the next, where a publisher must not be as fast as it can
PROBES = 0.02  # seconds from one event that only asks for a way to the next
GRAIN = 0.002  # seconds: how late the loop's own clock may be


async def subscribe(system: System, told: dict[str, Any], talk: "Talk") -> None:
    """Read until there is nothing more to do."""
    tally = Tally()
    async with system.subscribing(told["place"], told["first"], tally.hear) as reader:
        talk.say({"place": reader.place})
        while (asked := await talk.hear())["do"] != "end":
            if asked["do"] == "begin":
                tally.begin(asked["run"], asked["events"], timed=asked["timed"])
                talk.say({})
            elif asked["do"] == "settle":
                await _settle(tally, reader, asked["seconds"])
                talk.say({"heard": bool(tally.heads)})
            else:
                talk.say(await _outcome(tally, reader, asked["timed"]))


async def _settle(tally: Tally, reader: Reader, seconds: float) -> None:
    """Until it has heard something, nothing more comes, and its connections are as they were so long ago."""
    while not tally.heads:  # noqa: ASYNC110
        await asyncio.sleep(LOOK)
    await _unchanged(lambda: (reader.connections(), len(tally.heads)), seconds)


async def _unchanged(look: Callable[[], Any], seconds: float) -> None:
    seen, since = look(), time.monotonic()
    while time.monotonic() - since < seconds:
        await asyncio.sleep(LOOK)
        if (now := look()) != seen:
            seen, since = now, time.monotonic()


async def _outcome(tally: Tally, reader: Reader, timed: bool) -> dict[str, Any]:
    """When all is there, or nothing more comes."""
    seen, since = -1, time.monotonic()
    while not tally.is_done and time.monotonic() - since < QUIET:
        await asyncio.sleep(LOOK)
        if (now := len(tally.heads)) != seen:
            seen, since = now, time.monotonic()
    return {
        "owed": tally.wanted,
        "lost": tally.lost(),
        "first": tally.first / 1e9,
        "last": tally.last / 1e9,
        "latencies": tally.latencies() if timed else [],
        "connections": reader.connections(),
    }


async def publish(system: System, told: dict[str, Any], talk: "Talk") -> None:
    """Publish until there is nothing more to do."""
    async with system.publishing(told["place"], told["at"]) as say:
        talk.say({})
        while (asked := await talk.hear())["do"] != "end":
            if asked["do"] == "probe":
                probing = asyncio.create_task(_probe(say, asked["run"]))
                await talk.hear()
                probing.cancel()
                await asyncio.wait([probing])
            elif asked["do"] == "stream":
                made = payloads(asked["run"], asked["events"], asked["size"])
                begun = time.monotonic()
                await _stream(say, made, asked["a_second"], turns=asked["turns"])
                talk.say({"begun": begun, "seconds": time.monotonic() - begun})
                continue
            else:
                await _pace(say, asked["run"], asked["events"], asked["size"], asked["a_second"])
            talk.say({})


async def _probe(say: Publish, run: int) -> None:
    while True:
        await say(payloads(run, 1, 100))
        await asyncio.sleep(PROBES)


async def _stream(say: Publish, events: list[bytes], a_second: float, *, turns: bool) -> None:
    """As fast as may be, or about so many a second; `turns`: each in a turn of the loop of its own, as by a program that does something between."""

    async def singly(some: Sequence[bytes]) -> None:
        for event in some:
            await say([event])
            await asyncio.sleep(0)

    handed = singly if turns else say
    await (_trickle(handed, events, a_second) if a_second else handed(events))


async def _trickle(say: Publish, events: list[bytes], a_second: float) -> None:
    """About so many a second, a lot in each turn."""
    begun, done = time.monotonic(), 0
    while done < len(events):
        due = min(len(events), 1 + int((time.monotonic() - begun) * a_second))
        await say(events[done:due])
        done = due
        await asyncio.sleep(TURN)


async def _pace(say: Publish, run: int, count: int, size: int, a_second: float) -> None:
    """So many a second. Each counts from when it was due, if that is longer ago than the loop's clock can be late."""
    due = time.monotonic()
    for number in range(count):
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        now = time.monotonic()
        await say([stamped(run, number, size, now if now - due < GRAIN else due)])
        due += 1 / a_second


class Talk:
    """Lines with whoever has started this process."""

    def __init__(self) -> None:
        self.reader = asyncio.StreamReader()

    async def open(self) -> None:
        """Listen to standard input."""
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(self.reader), sys.stdin)

    async def hear(self) -> dict[str, Any]:
        """The next line; the end, if nobody is there any more."""
        line = await self.reader.readline()
        found: dict[str, Any] = json.loads(line) if line else {"do": "end"}
        return found

    def say(self, answer: dict[str, Any]) -> None:
        """A line."""
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


async def main(system: str, role: str) -> None:
    """Be told where, then be an end."""
    talk = Talk()
    await talk.open()
    await {"publish": publish, "subscribe": subscribe}[role](SYSTEMS[system], await talk.hear(), talk)


if __name__ == "__main__":
    run_on_loop(main(*sys.argv[1:]))

"""Where do the microseconds of an event go, from one live node to another?

    .venv/bin/python benchmarks/where.py [--events 100000] [--bytes 100]

Both nodes are on one loop in this process, so the sum is what an event costs at both ends together, in processor time. A timer of the
system interrupts every millisecond of it and looks which room of the package is at work; what C code does on its behalf (TLS, hashes,
MessagePack) counts as the room that called it. Once with events that are published in one breath and travel as parcels, and once with each
in a turn of its own. Last line of standard output: one JSON document, microseconds by room, and what an empty publisher and reader take.
"""

import argparse
import asyncio
import json
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from rich.console import Console
from rich.table import Table

from ropewalk import Node, Subscription
from ropewalk.engines.live.identity import topic_of
from ropewalk.engines.live.loops import run

TOPIC = "bench"
EVERY = 0.001  # seconds of processor time
ROOMS = {  # which modules are one room to a reader; the first that fits
    "ropewalk.engines.live.connection": "connection: TLS, reads and writes",
    "ropewalk.engines.live.frames": "frames: cut, and put together",
    "ropewalk.engines.live.wire": "wire: MessagePack and checks",
    "ropewalk.engines.live.transport": "transport",
    "ropewalk.engines.live.lookout": "transport",
    "ropewalk.engines.live.gate": "gate and envelope: what may come in",
    "ropewalk.engines.live.envelope": "gate and envelope: what may come in",
    "ropewalk.engines.live.driver": "driver",
    "ropewalk.engines.live.outgoing": "publish: api and outgoing",
    "ropewalk.engines.live.publishing": "publish: api and outgoing",
    "ropewalk.engines.live.api": "publish: api and outgoing",
    "ropewalk.engines.live.identity": "publish: api and outgoing",
    "ropewalk.engines.live.readers": "subscriptions and readers",
    "ropewalk.engines.live.subscriptions": "subscriptions and readers",
    "ropewalk.protocols.dissemination": "machine: events",
    "ropewalk.protocols": "machine: all else",
    "__main__": "who publishes, and who reads",
}


@contextmanager
def sampled() -> Iterator[Counter[str]]:
    """How often each room was at work."""
    found: Counter[str] = Counter()

    def look(_: int, frame: FrameType | None) -> None:
        found[_room(frame)] += 1

    signal.signal(signal.SIGPROF, look)
    signal.setitimer(signal.ITIMER_PROF, EVERY, EVERY)
    try:
        yield found
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _room(frame: FrameType | None) -> str:
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        for prefix, room in ROOMS.items():
            if module.startswith(prefix):
                return room
        frame = frame.f_back
    return "loop"


async def measured(events: int, size: int, *, alone: bool) -> dict[str, Any]:
    """Microseconds an event, by room."""
    async with Node() as a, Node(bootstrap=[a.address]) as b:
        a.subscribe(TOPIC, buffer=1, when_full="drop-oldest")
        reader = b.subscribe(TOPIC)
        while not all(node.driver.machine.held().get(topic_of(TOPIC)) for node in (a, b)):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        await a.publish(bytes(size), [TOPIC])  # leaves a tree behind
        await anext(reader)
        with sampled() as found:
            begun = time.process_time()
            reading = asyncio.create_task(_read(reader, events))
            for _ in range(events):
                await a.publish(bytes(size), [TOPIC])
                if alone:
                    await asyncio.sleep(0)
            await reading
            taken = time.process_time() - begun
    share = taken / events * 1e6 / max(1, sum(found.values()))
    rooms = {room: round(count * share, 3) for room, count in found.most_common()}
    return {"microseconds": round(taken / events * 1e6, 2), "events_per_second": round(events / taken), "rooms": rooms}


async def _read(reader: Subscription, count: int) -> None:
    for _ in range(count):
        await anext(reader)


def _show(found: dict[str, dict[str, Any]]) -> None:
    table = Table(title="Microseconds of processor time an event takes, both ends together", title_justify="left")
    table.add_column("room")
    for name in found:
        table.add_column(name, justify="right")
    for room in dict.fromkeys(room for each in found.values() for room in each["rooms"]):
        table.add_row(room, *(f"{each['rooms'].get(room, 0.0):.2f}" for each in found.values()))
    table.add_row("all", *(f"{each['microseconds']:.2f}" for each in found.values()))
    Console(file=sys.stderr).print(table)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--bytes", type=int, default=100)
    told = parser.parse_args()
    found = {
        name: run(measured(told.events // (5 if alone else 1), told.bytes, alone=alone))
        for name, alone in (("in one breath", False), ("each alone", True))
    }
    _show(found)
    print(json.dumps(found))

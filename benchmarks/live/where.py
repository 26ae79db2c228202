"""Where do the microseconds of an event go, from one live node to another?

    .venv/bin/python benchmarks/live/where.py [--events 100000]

Both nodes are on one loop in this process, so the sum is what an event costs at both ends together, in processor time (`rooms`: how it is
seen who takes it). Of 100 bytes and of a kilobyte; once with events that are published in one breath and travel as parcels, and once with
each in a turn of the loop of its own, of which those that follow each other closely do so, too. Last line of standard output: one JSON document, microseconds by room.
"""

import argparse
import asyncio
import json
import sys
import time
from typing import Any

from rich.console import Console
from rich.table import Table
from rooms import sampled, shares

from ropewalk import Node, Subscription
from ropewalk.engines.live.identity import topic_of
from ropewalk.engines.live.loops import run

TOPIC = "bench"
EVERY = 0.001  # seconds of processor time
FEWEST = 100
SIZES = (100, 1000)  # bytes of an event
ENDS = frozenset({"measured", "_read"})


async def measured(events: int, size: int, *, turns: bool) -> dict[str, Any]:
    """Microseconds an event, by room."""
    async with Node() as a, Node(bootstrap=[a.address]) as b:
        a.subscribe(TOPIC, when_full="discard")
        reader = b.subscribe(TOPIC)
        while not all(node.driver.machine.held().get(topic_of(TOPIC)) for node in (a, b)):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        await a.publish(bytes(size), [TOPIC])  # leaves a tree behind
        await anext(reader)
        with sampled(EVERY, ENDS) as found:
            begun = time.process_time()
            reading = asyncio.create_task(_read(reader, events))
            for _ in range(events):
                await a.publish(bytes(size), [TOPIC])
                if turns:
                    await asyncio.sleep(0)
            await reading
            taken = time.process_time() - begun
    each = taken / events * 1e6
    return {"microseconds": round(each, 2), "events_per_second": round(events / taken), "rooms": shares(found, each)}


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
    Console(file=sys.stderr, width=140).print(table)


def main() -> None:
    """All kinds of events, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=100_000)
    told = parser.parse_args()
    if told.events < FEWEST:
        parser.error(f"--events must be {FEWEST} or more")
    found = {
        f"{size} B, {name}": run(measured(told.events, size, turns=turns))
        for size in SIZES
        for name, turns in (("in one breath", False), ("a turn each", True))
    }
    _show(found)
    print(json.dumps(found))


if __name__ == "__main__":
    main()

"""How many events a second go from one live node to another, beside bare frames over the same TLS on the same loop?

    .venv/bin/python benchmarks/live.py [--events 20000] [--bytes 100]

Both ends are in one process, so this is what all that is done about an event costs, at both ends together. The baseline writes
and splits frames of the same size over TLS between two asyncio protocols, and does nothing else.
"""

import argparse
import asyncio
import json
import time

from ropewalk.engines.live.api import Node
from ropewalk.engines.live.frames import Splitter, frame
from ropewalk.engines.live.identity import Identity, contexts, topic_of
from ropewalk.engines.live.loops import run
from ropewalk.engines.live.options import Options
from ropewalk.engines.live.subscriptions import Subscription

TOPIC = "bench"


async def nodes(events: int, size: int, *, sign: bool) -> float:
    """Events a second, from publish to the other end's reader."""
    options = Options(sign=sign)
    async with Node(options=options) as a, Node(bootstrap=[a.address], options=options) as b:
        a.subscribe(TOPIC, when_full="drop-oldest")
        reader = b.subscribe(TOPIC, buffer=events)
        await linked(a, b)
        payload = bytes(size)
        await a.publish(payload, [TOPIC])  # leaves a tree behind
        await anext(reader)
        begun = time.perf_counter()
        reading = asyncio.create_task(read(reader, events))
        for _ in range(events):
            await a.publish(payload, [TOPIC])
        await reading
        return events / (time.perf_counter() - begun)


async def read(reader: Subscription, count: int) -> None:
    """So many events."""
    for _ in range(count):
        await anext(reader)


async def linked(a: Node, b: Node) -> None:
    """Until both are neighbours."""
    while not all(node.driver.machine.held().get(topic_of(TOPIC)) for node in (a, b)):  # noqa: ASYNC110
        await asyncio.sleep(0.01)


class Bare(asyncio.Protocol):
    """Splits frames, and counts them."""

    def __init__(self, wanted: int, done: "asyncio.Future[None]") -> None:
        self.splitter, self.wanted, self.done, self.count = Splitter(), wanted, done, 0

    def data_received(self, data: bytes) -> None:
        """Some more."""
        self.count += sum(1 for _ in self.splitter.feed(data))
        if self.count >= self.wanted and not self.done.done():
            self.done.set_result(None)


async def bare(events: int, size: int) -> float:
    """Frames a second over TLS, written as they come, in lots of one turn of the loop."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()
    served, calling, _ = contexts(Identity.fresh(), None)
    server = await loop.create_server(lambda: Bare(events, done), "127.0.0.1", 0, ssl=served)
    port = server.sockets[0].getsockname()[1]
    transport, _ = await loop.create_connection(
        asyncio.Protocol, "127.0.0.1", port, ssl=calling, server_hostname="node"
    )
    begun = time.perf_counter()
    for first in range(0, events, 100):
        transport.write(b"".join(frame(48, bytes(size)) for _ in range(min(100, events - first))))
        await asyncio.sleep(0)
    await done
    taken = time.perf_counter() - begun
    transport.close()
    server.close()
    return events / taken


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--bytes", type=int, default=100)
    told = parser.parse_args()
    found = {
        "bare frames/s": run(bare(told.events, told.bytes)),
        "events/s": run(nodes(told.events, told.bytes, sign=False)),
        "signed events/s": run(nodes(told.events // 10, told.bytes, sign=True)),
    }
    for name, rate in found.items():
        print(f"{name}: {rate:,.0f} ({rate / found['bare frames/s']:.3f} of bare)")
    print(json.dumps(found))

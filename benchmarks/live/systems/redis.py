"""Redis pub/sub by redis-py, which reads in C (hiredis): one PUBLISH for each event, in pipelines of 200, two of them under way.

Where events have a turn each, each goes by itself and is answered. Redis would hang up on subscribers that are slow; their buffers have no
bound here.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from systems.contract import TOPIC, Hear, Publishing, Reader, Subscribing, System
from systems.servers import missing, serving

PIPELINE, UNDER_WAY = 200, 2


def _command(program: str, port: int, folder: Path) -> list[str]:
    return [
        program, "--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder), "--save", "", "--appendonly", "no",
        "--client-output-buffer-limit", "pubsub 0 0 0",
    ]  # fmt: skip


@asynccontextmanager
async def subscribing(place: str, _: str, hear: Hear) -> Subscribing:
    """Whatever comes, one after the other."""
    from redis.asyncio import Redis  # noqa: PLC0415  it may be missing
    from redis.asyncio.client import PubSub  # noqa: PLC0415

    async def read(of: PubSub) -> None:
        async for message in of.listen():
            if message["type"] == "message":
                hear(message["data"])

    async with Redis(host="127.0.0.1", port=int(place)) as client, client.pubsub() as reader:
        await reader.subscribe(TOPIC)
        reading = asyncio.create_task(read(reader))
        yield Reader()
        reading.cancel()
        await asyncio.wait([reading])


@asynccontextmanager
async def publishing(place: str, _: list[str]) -> Publishing:
    """Pipelines, one after the other on each of two connections, so that one is made while the other is awaited."""
    from redis.asyncio import Redis  # noqa: PLC0415

    async with Redis(host="127.0.0.1", port=int(place)) as client:

        async def publish_some(lots: Iterator[Sequence[bytes]]) -> None:
            for lot in lots:
                pipeline = client.pipeline(transaction=False)
                for payload in lot:
                    pipeline.publish(TOPIC, payload)
                await pipeline.execute()

        async def publish(events: Sequence[bytes]) -> None:
            lots = (events[first : first + PIPELINE] for first in range(0, len(events), PIPELINE))
            if len(events) <= PIPELINE:
                await publish_some(lots)
            else:
                await asyncio.gather(*(publish_some(lots) for _ in range(UNDER_WAY)))

        yield publish


REDIS = System(
    "redis", subscribing, publishing, missing("redis-server", "redis", "hiredis"), serving("redis-server", _command)
)

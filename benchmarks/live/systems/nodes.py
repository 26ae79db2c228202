"""Real nodes with the usual options: the publisher follows the topic, as a node that has something to say on it usually does.

Its own events come back to it as to any subscriber; it follows the topic only to pass it on (`discard`).
"""

import asyncio
from collections.abc import Sequence
from contextlib import asynccontextmanager

from ropewalk import Node, Options, Subscription
from systems.contract import TOPIC, Hear, Publish, Publishing, Reader, Subscribing, System


async def _read(subscription: Subscription, hear: Hear) -> None:
    async for event in subscription:
        hear(event.payload)


def system(name: str, options: Options) -> System:
    """Nodes with these options."""

    @asynccontextmanager
    async def subscribing(_: str, first: str, hear: Hear) -> Subscribing:
        async with Node(bootstrap=[first] if first else [], options=options) as node:
            reading = asyncio.create_task(_read(node.subscribe(TOPIC), hear))
            yield Reader(node.address, lambda: len(node.transport.links))
        await reading

    @asynccontextmanager
    async def publishing(_: str, readers: list[str]) -> Publishing:
        async with Node(bootstrap=readers[:1], options=options) as node:
            node.subscribe(TOPIC, when_full="discard")
            await node.joined.wait()
            yield _publish_on(node)

    return System(name, subscribing, publishing, tls=True)


def _publish_on(node: Node) -> Publish:
    topics = [TOPIC]

    async def publish(events: Sequence[bytes]) -> None:
        for payload in events:
            await node.publish(payload, topics)

    return publish


ROPEWALK = system("ropewalk", Options())
SIGNED = system("ropewalk-signed", Options(sign=True))

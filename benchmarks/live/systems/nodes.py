"""Real nodes with the usual options: the publisher follows the topic, as a node that has something to say on it usually does.

Its own events come back to it as to any subscriber; it follows the topic only to pass it on (`discard`).
"""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from ropewalk import Node, Options, Subscription
from systems.contract import TOPIC, Hear, Publish, Publishing, Readers, Subscribing, System


async def _read(subscription: Subscription, hear: Hear) -> None:
    async for event in subscription:
        hear(event.payload)


def system(name: str, options: Options) -> System:
    """Nodes with these options."""

    @asynccontextmanager
    async def subscribing(_: str, hears: Sequence[Hear]) -> Subscribing:
        async with AsyncExitStack() as stack:
            nodes: list[Node] = []
            for _hear in hears:
                bootstrap = [nodes[0].address] if nodes else []
                nodes.append(await stack.enter_async_context(Node(bootstrap=bootstrap, options=options)))
            reading = [
                asyncio.create_task(_read(node.subscribe(TOPIC), hear)) for node, hear in zip(nodes, hears, strict=True)
            ]
            yield Readers(nodes[0].address, lambda: [len(node.transport.links) for node in nodes])
        await asyncio.gather(*reading)

    @asynccontextmanager
    async def publishing(_: str, readers: str, __: int) -> Publishing:
        async with Node(bootstrap=[readers], options=options) as node:
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

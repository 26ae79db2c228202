"""Real nodes that find each other through the first, in this process."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from networks.world import Links, World
from ropewalk import Node, Options, Subscription
from ropewalk.engines.live.identity import topic_of

VARIANTS: dict[str, dict[str, Any]] = {  # besides the usual settings
    "ropewalk": {},
    "ropewalk-sparse": {"connectivity": 0.9, "shared": 4},  # for who wants few connections, and can do with less reach
}


def called(topic: int) -> str:
    """A topic's name."""
    return f"topic {topic}"


class Ours:
    """All of them in this process."""

    def __init__(self, world: World, hear: Callable[[int, bytes], None], variant: str) -> None:
        self.world, self.hear = world, hear
        usual = Options()
        self.options = replace(usual, settings=replace(usual.settings, **VARIANTS[variant]))
        self.period: float = self.options.settings.period
        self.nodes: list[Node] = []
        self._reading: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """One after the other, each knows the first."""
        for number, topics in enumerate(self.world.followed):
            bootstrap = [self.nodes[0].address] if self.nodes else []
            node = await Node(bootstrap=bootstrap, options=self.options).start()
            self.nodes.append(node)
            reader = node.subscribe(*map(called, topics))
            self._reading.append(asyncio.create_task(self._read(number, reader)))
        await asyncio.gather(*(node.joined.wait() for node in self.nodes[1:]))
        self._numbers = {node.identity.id: number for number, node in enumerate(self.nodes)}

    async def _read(self, number: int, reader: Subscription) -> None:
        async for event in reader:
            if event.publisher != self.nodes[number].id:
                self.hear(number, event.payload)

    def links(self) -> Links:
        """Pairs of which one holds the other: events go both ways."""
        topics = {topic_of(called(topic)): topic for topic in range(len(self.world.members))}
        links: Links = {topic: set() for topic in topics.values()}
        for number, node in enumerate(self.nodes):
            for topic, contacts in node.driver.machine.held().items():
                for contact in contacts:
                    other = self._numbers[contact.id]
                    links[topics[topic]].add((min(number, other), max(number, other)))
        return links

    def connections(self) -> list[int]:
        """By node."""
        return [len(node.transport.links) for node in self.nodes]

    def frames(self) -> int:
        """With an event, that were sent to somebody: pushed along links, or handed in on topics that the publisher does not follow."""
        kinds = [kind.kind for kind in self.nodes[0].transport.codec.carrying]
        sent = [node.transport.counts.sent for node in self.nodes]
        return sum(each.get(kind, (0, 0))[0] for each in sent for kind in kinds)

    def lost(self) -> dict[str, int]:
        """By why, at both ends."""
        endings = [each for node in self.nodes for each in node.transport.endings.items()]
        return {why: sum(count for other, count in endings if other == why) for why in sorted(dict(endings))}

    async def publish(self, node: int, payload: bytes, topics: tuple[int, ...]) -> None:
        """As any program would."""
        await self.nodes[node].publish(payload, [called(topic) for topic in topics])

    async def close(self) -> None:
        """Leave."""
        await asyncio.gather(*(node.leave() for node in self.nodes))
        await asyncio.gather(*self._reading)

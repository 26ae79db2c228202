"""The network to beat: one random overlay per topic, links of a pair on one connection, events flooded, copies left out.

Frames and TLS are those of `bare`. Every node follows the rule alone: what comes for the first time goes on to all neighbours on those of
its topics that the node follows, but for whom it came from.
"""

import asyncio
import ssl
from collections.abc import Callable
from contextlib import ExitStack
from itertools import count

import msgspec
from systems.bare import HEADER, PUSH, Event, Push, Writer, secured, serving

from networks.world import Links, World, random_links

ENCODE = msgspec.msgpack.Encoder().encode
HELLO = 1  # the kind of frame in which a caller says who it is


class Wire(Writer):
    """One end of a connection."""

    def __init__(self, node: "Node", other: int = -1) -> None:
        super().__init__()
        self.node, self.other = node, other
        self.buffer, self.waiting = bytearray(), list[bytes]()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Whoever calls says who it is."""
        super().connection_made(transport)
        if self.other >= 0:
            self.node.wires[self.other] = self
            self.write(framed(HELLO, ENCODE(self.node.number)))

    def write(self, frame: bytes) -> None:
        """With all else of this turn."""
        if not self.waiting:
            asyncio.get_running_loop().call_soon(self._flush)
        self.waiting.append(frame)

    def _flush(self) -> None:
        self.transport.write(b"".join(self.waiting))
        self.waiting.clear()

    def data_received(self, data: bytes) -> None:
        """Some more."""
        self.buffer += data
        start = 0
        while len(self.buffer) - start >= HEADER:
            header = int.from_bytes(self.buffer[start : start + HEADER], "big")
            stop = start + HEADER + (header >> 8)
            if stop > len(self.buffer):
                break
            self._take(header & 0xFF, bytes(self.buffer[start:stop]))
            start = stop
        del self.buffer[:start]

    def _take(self, kind: int, frame: bytes) -> None:
        if kind == PUSH:
            self.node.take(self.other, frame, DECODE(frame[HEADER:]).event)
        else:
            self.other = msgspec.msgpack.decode(frame[HEADER:], type=int)
            self.node.wires[self.other] = self


DECODE = msgspec.msgpack.Decoder(Push).decode


def framed(kind: int, body: bytes) -> bytes:
    """A frame as it is sent."""
    return (len(body) << 8 | kind).to_bytes(HEADER, "big") + body


class Node:
    """One of them."""

    def __init__(self, number: int, topics: tuple[int, ...], hear: Callable[[int, bytes], None]) -> None:
        self.number, self.topics, self.hear = number, topics, hear
        self.neighbours: dict[int, list[int]] = {topic: [] for topic in topics}
        self.wires: dict[int, Wire] = {}
        self.seen: set[int] = set()
        self.frames = 0  # that came in with an event
        self.port = 0

    def take(self, sender: int, frame: bytes, event: Event) -> None:
        """A frame with an event has come, or is published here."""
        self.frames += sender >= 0
        if event.id in self.seen:
            return
        self.seen.add(event.id)
        if sender >= 0:
            self.hear(self.number, event.payload)
        for other in {each for topic in event.topics for each in self.neighbours.get(topic, ())}:
            if other != sender:
                self.wires[other].write(frame)


class Naive:
    """All of them in this process."""

    period = 0.0  # nothing changes after the start

    def __init__(self, world: World, hear: Callable[[int, bytes], None], degree: int, seed: int) -> None:
        self._links = random_links(world, degree, seed)
        self.nodes = [Node(number, topics, hear) for number, topics in enumerate(world.followed)]
        self._ids = count(2**62)
        self._stack = ExitStack()
        self._servers: list[asyncio.Server] = []

    async def start(self) -> None:
        """Everybody listens, then the smaller of each pair calls, a few at a time."""
        folder = self._stack.enter_context(serving())
        served, calling = secured(folder, ssl.PROTOCOL_TLS_SERVER), secured(folder, ssl.PROTOCOL_TLS_CLIENT)
        loop = asyncio.get_running_loop()
        for node in self.nodes:
            server = await loop.create_server(lambda node=node: Wire(node), "127.0.0.1", 0, ssl=served)  # type: ignore[misc]
            self._servers.append(server)
            node.port = server.sockets[0].getsockname()[1]
        for topic, pairs in self._links.items():
            for a, b in pairs:
                self.nodes[a].neighbours[topic].append(b)
                self.nodes[b].neighbours[topic].append(a)
        few = asyncio.Semaphore(16)

        async def call(a: int, b: int) -> None:
            async with few:
                place = ("127.0.0.1", self.nodes[b].port)
                await loop.create_connection(lambda: Wire(self.nodes[a], b), *place, ssl=calling, server_hostname="end")

        called = sorted({pair for each in self._links.values() for pair in each})
        await asyncio.gather(*(call(a, b) for a, b in called))
        while sum(len(node.wires) for node in self.nodes) < 2 * len(called):  # noqa: ASYNC110
            await asyncio.sleep(0.001)

    def links(self) -> Links:
        """As they were made."""
        return self._links

    def connections(self) -> list[int]:
        """By node."""
        return [len(node.wires) for node in self.nodes]

    def frames(self) -> int:
        """That came in with an event, anywhere."""
        return sum(node.frames for node in self.nodes)

    def lost(self) -> dict[str, int]:
        """Nobody hangs up."""
        return {}

    async def publish(self, node: int, payload: bytes, topics: tuple[int, ...]) -> None:
        """Begin with the publisher itself."""
        event = Event(next(self._ids), node, topics, payload)
        self.nodes[node].take(-1, framed(PUSH, ENCODE(Push(event, topics, 1, False))), event)

    async def close(self) -> None:
        """End everything."""
        for node in self.nodes:
            for wire in node.wires.values():
                wire.transport.abort()
        for server in self._servers:
            server.close()
        self._stack.close()

"""Live nodes in one process, joined by memory instead of sockets, under a clock that jumps: what happens is decided by a seed alone.

All is as on sockets from the first byte after the welcome: connections, frames, codec, gate, driver and machine are the real ones.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ropewalk.engines.live.calls import Call
from ropewalk.engines.live.connection import Connection
from ropewalk.engines.live.driver import Driver
from ropewalk.engines.live.envelope import sealed
from ropewalk.engines.live.gate import Gate
from ropewalk.engines.live.handshake import Other, Terms
from ropewalk.engines.live.identity import Identity
from ropewalk.engines.live.options import LIVE, LIVE_BY_CONTENT, LIVE_ON_RINGS
from ropewalk.engines.live.transport import Transport
from ropewalk.engines.live.wire import Codec
from ropewalk.protocols.catalogue import PROTOCOLS
from ropewalk.protocols.contract import Contact, Deliver, Event, Join, Publish, Refuse, Subscribe
from ropewalk.seeds import chance

SETTINGS: dict[str, Any] = {"stan": LIVE, "kato": LIVE_BY_CONTENT, **LIVE_ON_RINGS}
HEARTBEAT = 30.0  # seconds: nobody is frozen here
T = TypeVar("T")


class Jumping(asyncio.SelectorEventLoop):
    """A loop that waits for nothing: where there is nothing to do, it is the next timer's time."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1000.0

    def time(self) -> float:
        """What it pretends to be."""
        return self.now

    def _run_once(self) -> None:
        if not self._ready and self._scheduled:  # type: ignore[attr-defined]
            self.now = max(self.now, self._scheduled[0].when())  # type: ignore[attr-defined]
        super()._run_once()  # type: ignore[misc]


def play(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run something on such a loop. Signatures are checked on the spot: a thread takes what time it likes."""

    async def at_once(check: Callable[..., Any], *arguments: Any) -> Any:
        return check(*arguments)

    loop, to_thread = Jumping(), asyncio.to_thread
    asyncio.to_thread = at_once  # type: ignore[assignment]
    try:
        return loop.run_until_complete(work())
    finally:
        asyncio.to_thread = to_thread
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()


class Pipe(asyncio.Transport):
    """One end of a connection; what is written comes out at the other in the next turn of the loop."""

    def __init__(self, protocol: asyncio.Protocol) -> None:
        super().__init__()
        self.protocol = protocol
        self.other: Pipe | None = None
        self.hear: Callable[[bytes], None] = lambda _: None  # told of what is written, where there is no other end
        self.closed = False
        self._loop = asyncio.get_running_loop()

    def write(self, data: Any) -> None:
        """Send."""
        if self.closed:
            return
        if self.other is None:
            self.hear(bytes(data))
        else:
            self._loop.call_soon(self.other.receive, bytes(data))

    def receive(self, data: bytes) -> None:
        """It has come."""
        if not self.closed:
            self.protocol.data_received(data)

    def abort(self) -> None:
        """End it at both ends."""
        for each in (self, self.other):
            if each is not None and not each.closed:
                each.closed = True
                self._loop.call_soon(each.protocol.connection_lost, None)

    def close(self) -> None:
        """The same, after what was written."""
        self._loop.call_soon(self.abort)

    def is_closing(self) -> bool:
        """Whether it is over."""
        return self.closed

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """There are none."""


class Wired(Transport):
    """A transport that calls through memory."""

    def __init__(self, net: "Net", terms: Terms, codec: Codec) -> None:
        super().__init__(terms, codec)
        self.net = net

    def connect(self, contact: Contact) -> None:
        """As usual; nobody is to call itself."""
        if contact.id == self.terms.identity.id:
            self.net.wrong.append(f"{self.terms.address} calls itself")
        super().connect(contact)

    async def _dial(self, expected: int | None, address: str, call: Call) -> Connection:
        other = self.net.nodes.get(-1 if expected is None else expected)
        if other is None or other.transport is self:
            raise ConnectionRefusedError(f"nobody is at {address}")
        there, here = Connection(other.transport), Connection(self, expected, address)
        call.connection = here
        a, b = Pipe(here), Pipe(there)
        a.other, b.other = b, a
        welcomed(there, b, self.terms.identity, self.terms.address)
        welcomed(here, a, other.identity, address)
        other.transport.limits.connections += 1
        other.transport._install(there)  # noqa: SLF001  as after the welcome
        self._install(here)
        return here


def welcomed(connection: Connection, pipe: Pipe, who: Identity, address: str) -> None:
    """As it is after the handshake."""
    connection.transport = pipe
    connection.other = Other(Contact(who.id, address), who.public, who.public, HEARTBEAT)
    connection.up = connection.splitter.pieces = True
    connection.settled.set()


def identity(seed: int, name: str) -> Identity:
    """A key that the seed decides."""
    drawn = b"".join(chance(seed, "identity", name, part).to_bytes(8, "big") for part in range(4))
    return Identity(Ed25519PrivateKey.from_private_bytes(drawn))


class Live:
    """One node, as `api.Node` puts it together."""

    def __init__(self, net: "Net", protocol: str, name: str, seed: int) -> None:
        self.identity = identity(seed, name)
        self.me = Contact(self.identity.id, f"{name}:1")
        codec = Codec(PROTOCOLS[protocol].messages)
        self.transport = Wired(net, Terms(self.identity, self.me.address, protocol, heartbeat=HEARTBEAT), codec)
        machine = PROTOCOLS[protocol].make(self.me, SETTINGS[protocol], chance(seed, "machine", name), None)
        self.driver = Driver(machine, self.transport)
        self.gate = Gate(
            self.driver.receive,
            lambda sender, event: self.driver.tell(Refuse(sender, event)),
            lambda contact: self.transport.cut_off(contact.id, "rejected"),
            clock=self.driver.loop.time,
            carriers=codec.carrying,
        )
        self.transport.heard = self.gate.receive
        self.got: dict[int, None] = {}
        self.driver.deliver = self._deliver
        self.transport.begin()

    def _deliver(self, deliver: Deliver) -> None:
        self.got[deliver.event.id] = None

    def publish(self, topics: tuple[int, ...], number: int) -> Event:
        """Something of its own."""
        event = sealed(self.identity, topics, b"said", number)
        self.driver.tell(Publish(event))
        return event


class Net:
    """Some nodes that know each other."""

    def __init__(self, protocol: str, seed: int, names: tuple[str, ...], topics: tuple[int, ...]) -> None:
        self.nodes: dict[int, Live] = {}
        self.wrong: list[str] = []  # what nodes did that none should, the first few
        found = [Live(self, protocol, name, seed) for name in names]
        self.nodes.update((each.me.id, each) for each in found)
        self.by_name = dict(zip(names, found, strict=True))
        for place, each in enumerate(found):
            for topic in topics:
                each.driver.tell(Subscribe(topic, ()))
            each.driver.tell(Join(tuple(other.me for other in found[:place])))

    async def close(self) -> None:
        """End all of them."""
        for each in self.nodes.values():
            each.driver.stop()
            await each.gate.close()
        await asyncio.gather(*(each.transport.close() for each in self.nodes.values()))

"""Strangers that mean harm, over real sockets: `python attackers.py HOST:PORT COUNT SEED [KIND ...]`. The last line is JSON: connections by kind.

Only addresses of this machine are attacked.
"""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from random import Random

from ropewalk.engines.live.envelope import sealed
from ropewalk.engines.live.frames import HEADER, MOST_FRAME, PROOF, TOPICS, frame
from ropewalk.engines.live.handshake import Caller, Other, Terms
from ropewalk.engines.live.identity import Identity, contexts, topic_of
from ropewalk.engines.live.loops import run
from ropewalk.engines.live.wire import Codec, Numbers, fresh_topics
from ropewalk.errors import RopewalkError
from ropewalk.protocols.catalogue import PROTOCOLS
from ropewalk.protocols.contract import Message
from ropewalk.protocols.dissemination.messages import Push
from ropewalk.protocols.stan.messages import Announce, KeepAlive

AT_A_TIME = 24  # of each kind
PATIENCE = 20.0  # seconds: by then whoever does harm is hung up on
CODEC = Codec(PROTOCOLS["stan"].messages)
MANY = 100_000  # topics, events, messages of one attacker
RECORDED: list[bytes] = []  # proofs that were good once


@dataclass
class Line:
    """A connection to who is attacked, with TLS."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    identity: Identity
    certificate: bytes  # that it showed
    numbers: Numbers  # of topics

    @classmethod
    async def to(cls, place: tuple[str, int]) -> "Line":
        identity = Identity.fresh()
        calling = contexts(identity, None)[1]
        reader, writer = await asyncio.open_connection(*place, ssl=calling, server_hostname="node")
        shown = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        return cls(reader, writer, identity, shown, Numbers())

    async def frame(self) -> tuple[int, bytes]:
        header = int.from_bytes(await self.reader.readexactly(HEADER), "big")
        return header & 0xFF, await self.reader.readexactly(header >> 8)

    async def proof(self, certificate: bytes | None = None) -> tuple[Caller, bytes]:
        """What would let it in; bound to another certificate, if that is given."""
        caller = Caller(Terms(self.identity, "", "stan"), certificate or self.certificate, None, "")
        answer = caller.receive(*await self.frame())
        assert isinstance(answer, tuple)
        return caller, answer[1]

    async def enter(self) -> None:
        """Become a neighbour, as anybody can in an open network."""
        caller, proof = await self.proof()
        RECORDED[:] = [proof]
        self.writer.write(frame(PROOF, proof))
        assert isinstance(caller.receive(*await self.frame()), Other)

    async def until_hung_up(self) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            while await self.reader.read(65_536):
                pass


async def half_open(place: tuple[str, int], _: Random) -> None:
    reader, _writer = await asyncio.open_connection(*place)
    await reader.read()


async def come_and_go(place: tuple[str, int], _: Random) -> None:
    _reader, writer = await asyncio.open_connection(*place)
    writer.transport.abort()


async def rubbish(place: tuple[str, int], random: Random) -> None:
    reader, writer = await asyncio.open_connection(*place)
    writer.write(random.randbytes(300))
    await reader.read()


async def slow_tls(place: tuple[str, int], _: Random) -> None:
    """A byte at a time, of what would be the beginning of TLS."""
    reader, writer = await asyncio.open_connection(*place)
    for byte in b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200):
        writer.write(bytes((byte,)))
        with suppress(TimeoutError):
            if not await asyncio.wait_for(reader.read(1), 0.3):
                return


async def slow_proof(place: tuple[str, int], _: Random) -> None:
    """The same, of a proof that would be good."""
    line = await Line.to(place)
    _caller, proof = await line.proof()
    for byte in frame(PROOF, proof):
        line.writer.write(bytes((byte,)))
        with suppress(TimeoutError):
            if not await asyncio.wait_for(line.reader.read(1), 0.3):
                return


async def oversized(place: tuple[str, int], random: Random) -> None:
    line = await Line.to(place)
    if random.random() < 0.5:
        await line.enter()
    line.writer.write((MOST_FRAME + 1 + random.randrange(2**23) << 8 | random.randrange(256)).to_bytes(HEADER, "big"))
    await line.until_hung_up()


async def wrong_certificate(place: tuple[str, int], _: Random) -> None:
    """As somebody in between would: a proof that was made for another node."""
    line = await Line.to(place)
    _caller, proof = await line.proof(contexts(Identity.fresh(), None)[2])
    line.writer.write(frame(PROOF, proof))
    await line.until_hung_up()


async def wrong_key(place: tuple[str, int], random: Random) -> None:
    line = await Line.to(place)
    _caller, proof = await line.proof()
    place_of_key = proof.find(line.identity.public)
    other = Identity.fresh().public
    changed = proof[:place_of_key] + other + proof[place_of_key + len(other) :]
    line.writer.write(frame(PROOF, changed if random.random() < 0.5 else proof[:-70] + bytes(70)))
    await line.until_hung_up()


async def replayed(place: tuple[str, int], _: Random) -> None:
    """What let somebody in before."""
    if not RECORDED:
        await (await Line.to(place)).enter()
    line = await Line.to(place)
    line.writer.write(frame(PROOF, RECORDED[0]))
    await line.until_hung_up()


async def garbage_inside(place: tuple[str, int], random: Random) -> None:
    line = await Line.to(place)
    await line.enter()
    line.writer.write(frame(random.choice((32, 48, 99, 6, 7)), random.randbytes(random.choice((1, 50, 3000)))))
    line.writer.write(random.randbytes(500))
    await line.until_hung_up()


async def _send(line: Line, messages: "list[Message]") -> None:
    for message in messages:
        kind, body = CODEC.encode(message, line.numbers)
        fresh = fresh_topics(line.numbers)
        line.writer.write((frame(TOPICS, fresh) if fresh is not None else b"") + frame(kind, body))
        if line.writer.transport.get_write_buffer_size() > 1 << 20:
            await line.writer.drain()


async def many_topics(place: tuple[str, int], random: Random) -> None:
    """Says that it holds the other on more topics than there are."""
    line = await Line.to(place)
    await line.enter()
    reading = asyncio.create_task(line.until_hung_up())
    first = random.getrandbits(60)
    with suppress(OSError):
        for start in range(0, MANY, 500):
            await _send(line, [Announce(first + start + each) for each in range(500)])
            if reading.done():
                break
    await reading


async def flood_of_control(place: tuple[str, int], random: Random) -> None:
    line = await Line.to(place)
    await line.enter()
    reading = asyncio.create_task(line.until_hung_up())
    with suppress(OSError):
        for start in range(0, MANY, 500):
            await _send(line, [KeepAlive(start + each, (random.getrandbits(60),)) for each in range(500)])
            if reading.done():
                break
    await reading


async def flood_of_events(place: tuple[str, int], random: Random) -> None:
    """On a topic that the other follows, as a member that has too much to say: it is not cut off, it is slowed down."""
    line = await Line.to(place)
    await line.enter()
    reading = asyncio.create_task(line.until_hung_up())
    topic = topic_of("attacked")
    await _send(line, [Announce(topic)])
    loop = asyncio.get_running_loop()
    until = loop.time() + 3.0
    with suppress(OSError, TimeoutError):
        while loop.time() < until and not reading.done():
            events = [sealed(line.identity, (topic,), bytes(1000), random.getrandbits(62)) for _ in range(20)]
            await asyncio.wait_for(_send(line, [Push(event, (topic,), 1, False) for event in events]), 3.0)
    line.writer.transport.abort()
    await reading


Kind = Callable[[tuple[str, int], Random], Awaitable[None]]
KINDS: dict[str, tuple[Kind, float]] = {  # and what share of all connections is of it
    each.__name__: (each, share)
    for each, share in (
        (half_open, 0.15), (come_and_go, 0.2), (rubbish, 0.1), (slow_tls, 0.05), (slow_proof, 0.05), (oversized, 0.1),
        (wrong_certificate, 0.1), (wrong_key, 0.1), (replayed, 0.05), (garbage_inside, 0.08), (many_topics, 0.01), (flood_of_control, 0.005),
        (flood_of_events, 0.005),
    )
}  # fmt: skip


async def attack(place: tuple[str, int], count: int, seed: int, names: list[str]) -> dict[str, int]:
    """All kinds at once; how many connections of each."""
    done = dict.fromkeys(names, 0)

    async def one(name: str, number: int, room: asyncio.Semaphore) -> None:
        async with room:
            done[name] += 1
            with suppress(OSError, AssertionError, RopewalkError, EOFError, ValueError, RuntimeError):
                async with asyncio.timeout(PATIENCE):
                    await KINDS[name][0](place, Random(f"{seed} {name} {number}"))

    room = {name: asyncio.Semaphore(AT_A_TIME) for name in names}
    whole = sum(KINDS[name][1] for name in names)
    shares = {name: max(1, round(count * KINDS[name][1] / whole)) for name in names}
    await asyncio.gather(*(one(name, number, room[name]) for name in names for number in range(shares[name])))
    return done


def main() -> int:
    where, count, seed, *names = sys.argv[1:]
    host, _, port = where.rpartition(":")
    if not ip_address(host).is_loopback:
        print(f"{host} is not of this machine", file=sys.stderr)
        return 2
    print(json.dumps(run(attack((host, int(port)), int(count), int(seed), names or list(KINDS)))))
    return 0


if __name__ == "__main__":
    sys.exit(main())

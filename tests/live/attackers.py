"""Strangers that mean harm, over real sockets: `python attackers.py HOST:PORT COUNT SEED [KIND ...]`. The last line is JSON: how far each kind got.

Only addresses of this machine are attacked.
"""

import asyncio
import json
import re
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from random import Random
from typing import Any

import msgspec

from ropewalk.engines.live.envelope import sealed
from ropewalk.engines.live.frames import (
    HEADER,
    MORE,
    MOST_FRAME,
    MOST_STREAMS,
    MOST_UNFINISHED,
    PIECE,
    PIECE_BYTES,
    PING,
    PROOF,
    REFUSED,
    TOPICS,
    WELCOME,
    frame,
)
from ropewalk.engines.live.handshake import Caller, Other, Proof, RefusedError, Terms
from ropewalk.engines.live.identity import Identity, contexts, topic_of
from ropewalk.engines.live.limits import MESSAGES
from ropewalk.engines.live.loops import run
from ropewalk.engines.live.wire import KINDS as NUMBERS
from ropewalk.engines.live.wire import Codec, Numbers, fresh_topics
from ropewalk.protocols.catalogue import PROTOCOLS
from ropewalk.protocols.contract import Message
from ropewalk.protocols.dissemination.messages import Push, Want
from ropewalk.protocols.stan.messages import Announce, KeepAlive

AT_A_TIME = 24  # of each kind
# But of these, which do harm only together; and of those whose messages this process can make only so fast: of more none would be a flood
CROWDS = {"unfinished_pieces": 64, "many_topics": 8, "flood_of_control": 8}
PATIENCE = 20.0  # seconds: by then whoever does harm is hung up on; and for each step that leads there, which may take long on a busy machine
ENOUGH = 3_000_000  # bytes of a flood at the least
FLOODING, STAYING = 3.0, 8.0  # seconds: a flood, and who is let in and only pings, longer than anybody is waited for
SILENT = (
    15.0  # seconds: who never reads; enough has to be said first, and then it is waited for, on however busy a machine
)
CODEC = Codec(PROTOCOLS["stan"].messages)
MANY = 100_000  # topics, messages of one attacker
RECORDED: list[bytes] = []  # proofs that were good once
NOBODY, AWAY, NO, CUT, LEFT = "never connected", "turned away", "refused", "hung up on", "left"
LATE, IDLE = "timed out", "never began"
# Nobody answered; hung up on before TLS was up; told why; hung up on later; not, whatever it did; not, and it had not come to do what it came for
ENDS = (NOBODY, AWAY, NO, CUT, LATE, IDLE, LEFT)


@dataclass
class Attempt:
    """One attacker, and how far it gets."""

    place: tuple[str, int]
    random: Random
    end: str = LEFT
    why: str = ""  # it was refused
    connected: bool = False  # and the other end has said hello, if it comes with TLS: else that may not be up there, and come to nothing
    let_in: bool = False
    begun: bool = False  # to do what nobody who keeps the rules does
    sent: int = 0  # bytes, that are no longer here
    waited: float = 0.0  # seconds, until it could send more
    writers: list[asyncio.StreamWriter] = field(default_factory=list)
    timeout: asyncio.Timeout | None = None

    def got_on(self) -> None:
        """Who is slow here is not to count as somebody who is not hung up on there: what comes next has all the time again."""
        if self.timeout is not None:
            self.timeout.reschedule(asyncio.get_running_loop().time() + PATIENCE)

    def begins(self) -> None:
        """From now on nobody needs to put up with it."""
        if not self.begun:
            self.begun = True
            self.got_on()

    async def connect(self, **more: Any) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection(*self.place, **more)
        self.connected = "ssl" not in more
        self.got_on()
        self.writers.append(writer)
        return reader, writer

    async def hung_up(self, reader: asyncio.StreamReader) -> None:
        """Until the other end has."""
        with suppress(OSError, asyncio.IncompleteReadError):
            while await reader.read(65_536):
                pass
        self.end = self.end if self.end == NO else CUT

    def failed(self, error: Exception) -> None:
        """The other end, or nobody, is there no more."""
        if self.end == NO:
            return
        if self.connected:
            self.end = CUT
        else:
            self.end = NOBODY if isinstance(error, ConnectionRefusedError) else AWAY

    def over(self) -> None:
        for writer in self.writers:
            writer.transport.abort()


@dataclass
class Line:
    """A connection to who is attacked, with TLS."""

    attempt: Attempt
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    identity: Identity
    certificate: bytes  # that it showed
    numbers: Numbers  # of topics
    hello: tuple[int, bytes] = (0, b"")
    written: int = 0

    @classmethod
    async def to(cls, attempt: Attempt) -> "Line":
        identity = Identity.fresh()
        reader, writer = await attempt.connect(ssl=contexts(identity, None)[1], server_hostname="node")
        shown = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        line = cls(attempt, reader, writer, identity, shown, Numbers())
        line.hello = await line.frame()
        attempt.connected = True
        attempt.got_on()
        return line

    async def frame(self) -> tuple[int, bytes]:
        header = int.from_bytes(await self.reader.readexactly(HEADER), "big")
        kind, body = header & 0xFF, await self.reader.readexactly(header >> 8)
        if kind == REFUSED:
            self.attempt.end, (self.attempt.why,) = NO, msgspec.msgpack.decode(body)
            raise RefusedError(self.attempt.why)
        return kind, body

    async def send(self, data: bytes) -> None:
        if self.writer.transport.is_closing():
            raise ConnectionResetError
        self.writer.write(data)
        self.written += len(data)
        if self.writer.transport.get_write_buffer_size() > 1 << 18:
            begun = asyncio.get_running_loop().time()
            try:
                await self.writer.drain()
            finally:
                self.attempt.waited += asyncio.get_running_loop().time() - begun
        self.attempt.sent = self.written - self.writer.transport.get_write_buffer_size()

    async def proof(self, certificate: bytes | None = None) -> tuple[Caller, bytes]:
        """What would let it in; bound to another certificate, if that is given."""
        caller = Caller(Terms(self.identity, "", "stan"), certificate or self.certificate, None, "")
        answer = caller.receive(*self.hello)
        assert isinstance(answer, tuple)
        return caller, answer[1]

    async def enter(self) -> None:
        """Become a neighbour, as anybody can in an open network."""
        caller, proof = await self.proof()
        await self.send(frame(PROOF, proof))
        assert isinstance(caller.receive(*await self.frame()), Other)
        RECORDED[:] = [proof]
        self.attempt.let_in = True
        self.attempt.got_on()

    async def until_hung_up(self) -> None:
        """And take note whether it is let in before."""
        with suppress(OSError, asyncio.IncompleteReadError, RefusedError):
            while not self.attempt.let_in:
                kind, _ = await self.frame()
                self.attempt.let_in = kind == WELCOME
        await self.attempt.hung_up(self.reader)

    async def ping(self, listening: "asyncio.Task[None] | None" = None, staying: float = STAYING) -> None:
        """For a while, or until it is hung up on."""
        for _ in range(int(2 * staying)):
            if self.writer.transport.is_closing() or (listening is not None and listening.done()):
                self.attempt.end = CUT
                return
            await self.send(frame(PING, b""))
            await asyncio.sleep(0.5)


async def half_open(attempt: Attempt) -> None:
    reader, _writer = await attempt.connect()
    attempt.begins()
    await attempt.hung_up(reader)


async def come_and_go(attempt: Attempt) -> None:
    await attempt.connect()
    attempt.begins()


async def rubbish(attempt: Attempt) -> None:
    reader, writer = await attempt.connect()
    writer.write(attempt.random.randbytes(300))
    attempt.begins()
    await attempt.hung_up(reader)


async def slow_tls(attempt: Attempt) -> None:
    """A byte at a time, of what would be the beginning of TLS."""
    reader, writer = await attempt.connect()
    attempt.begins()
    await _bytewise(
        writer, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200), _soon(attempt.hung_up(reader))
    )


async def slow_proof(attempt: Attempt) -> None:
    """The same, of a proof that would be good."""
    line = await Line.to(attempt)
    _caller, proof = await line.proof()
    attempt.begins()
    await _bytewise(line.writer, frame(PROOF, proof), _soon(line.until_hung_up()))


async def _bytewise(writer: asyncio.StreamWriter, data: bytes, listening: "asyncio.Task[None]") -> None:
    for byte in data:
        if writer.transport.is_closing():
            await listening
            return
        writer.write(bytes((byte,)))
        await asyncio.wait({listening}, timeout=0.3)
        if listening.done():
            return


def _soon(listening: Any) -> "asyncio.Task[None]":
    return asyncio.create_task(listening)


async def oversized(attempt: Attempt) -> None:
    line = await Line.to(attempt)
    if attempt.random.random() < 0.5:
        await line.enter()
    length = MOST_FRAME + 1 + attempt.random.randrange(2**23)
    await line.send((length << 8 | attempt.random.randrange(256)).to_bytes(HEADER, "big"))
    attempt.begins()
    await line.until_hung_up()


async def wrong_certificate(attempt: Attempt) -> None:
    """As somebody in between would: a proof that was made for another node."""
    line = await Line.to(attempt)
    _caller, proof = await line.proof(contexts(Identity.fresh(), None)[2])
    await line.send(frame(PROOF, proof))
    attempt.begins()
    await line.until_hung_up()


async def wrong_key(attempt: Attempt) -> None:
    """Another key than signed it, or a signature that is none."""
    line = await Line.to(attempt)
    _caller, proof = await line.proof()
    said = msgspec.msgpack.decode(proof, type=Proof)
    if attempt.random.random() < 0.5:
        said.public = Identity.fresh().public
    else:
        said.signature = bytes(len(said.signature))
    await line.send(frame(PROOF, msgspec.msgpack.encode(said)))
    attempt.begins()
    await line.until_hung_up()


async def replayed(attempt: Attempt) -> None:
    """What let somebody in before."""
    if not RECORDED:
        before = Attempt(attempt.place, attempt.random)
        await (await Line.to(before)).enter()
        before.over()
    line = await Line.to(attempt)
    await line.send(frame(PROOF, RECORDED[0]))
    attempt.begins()
    await line.until_hung_up()


async def garbage_inside(attempt: Attempt) -> None:
    line, random = await Line.to(attempt), attempt.random
    await line.enter()
    await line.send(frame(random.choice((32, 48, 99, 6, 7)), random.randbytes(random.choice((1, 50, 3000)))))
    await line.send(random.randbytes(500))
    attempt.begins()
    await line.until_hung_up()


async def _say(line: Line, messages: Sequence[Message]) -> None:
    for message in messages:
        kind, body = CODEC.encode(message, line.numbers)
        fresh = fresh_topics(line.numbers)
        await line.send((frame(TOPICS, fresh) if fresh is not None else b"") + frame(kind, body))


async def _flood(attempt: Attempt, some: Callable[[int], Sequence[Message]]) -> None:
    """MANY messages, so many at a time."""
    line = await Line.to(attempt)
    await line.enter()
    listening, entered = _soon(line.until_hung_up()), asyncio.get_running_loop().time()
    for start in range(0, MANY, 500):
        await _say(line, some(start))
        if start + 500 > MESSAGES.at_once + MESSAGES.a_second * (asyncio.get_running_loop().time() - entered):
            attempt.begins()
        await asyncio.sleep(0)  # the others have a turn, and it hears that it is hung up on
        if listening.done():
            break
    await listening


async def many_topics(attempt: Attempt) -> None:
    """Says that it holds the other on more topics than there are."""
    first = attempt.random.getrandbits(60)
    await _flood(attempt, lambda start: [Announce(first + start + each) for each in range(500)])


async def flood_of_control(attempt: Attempt) -> None:
    random = attempt.random
    await _flood(attempt, lambda start: [KeepAlive(start + each, (random.getrandbits(60),)) for each in range(500)])


async def flood_of_events(attempt: Attempt) -> None:
    """On a topic that the other follows, as a member that has too much to say: it is not cut off, it is slowed down."""
    line, topic = await Line.to(attempt), topic_of("attacked")
    await line.enter()
    listening = _soon(line.until_hung_up())
    await _say(line, [Announce(topic)])
    attempt.begins()
    loop = asyncio.get_running_loop()
    until = loop.time() + FLOODING
    while (loop.time() < until or attempt.sent < ENOUGH) and not listening.done():
        events = [sealed(line.identity, (topic,), bytes(1000), attempt.random.getrandbits(62)) for _ in range(20)]
        with suppress(TimeoutError):
            async with asyncio.timeout(FLOODING):
                await _say(line, [Push(event, (topic,), 1, False) for event in events])
        await asyncio.sleep(0)
    listening.cancel()


async def unfinished_pieces(attempt: Attempt) -> None:
    """As much as may be under way on a link, of messages that never end; and then nothing but that it is there."""
    line = await Line.to(attempt)
    await line.enter()
    attempt.begins()
    listening = _soon(line.until_hung_up())
    for number in range(MOST_UNFINISHED // PIECE_BYTES):
        header = (number % MOST_STREAMS).to_bytes(2, "big") + bytes((NUMBERS["push"], MORE))
        await line.send(frame(PIECE, header + bytes(PIECE_BYTES)))
    await line.ping(listening)
    listening.cancel()


async def never_reads(attempt: Attempt) -> None:
    """Follows the topic, wants all that is said there without being asked, and then takes nothing of it."""
    line, topic = await Line.to(attempt), topic_of("attacked")
    await line.enter()
    line.writer.transport.pause_reading()  # type: ignore[attr-defined]
    await _say(line, [Announce(topic), Want((1,), (topic,))])
    attempt.begins()
    await line.ping(staying=SILENT)


Kind = Callable[[Attempt], Awaitable[None]]
KINDS: dict[str, tuple[Kind, float]] = {  # and what share of all connections is of it
    each.__name__: (each, share)
    for each, share in (
        (half_open, 0.15), (come_and_go, 0.2), (rubbish, 0.1), (slow_tls, 0.05), (slow_proof, 0.05), (oversized, 0.09),
        (wrong_certificate, 0.1), (wrong_key, 0.1), (replayed, 0.05), (garbage_inside, 0.08), (many_topics, 0.01), (flood_of_control, 0.005),
        (flood_of_events, 0.005), (unfinished_pieces, 0.007), (never_reads, 0.003),
    )
}  # fmt: skip


async def attack(place: tuple[str, int], count: int, seed: int, names: list[str]) -> dict[str, dict[str, object]]:
    """All kinds at once; how far those of each got."""

    async def one(name: str, number: int, room: asyncio.Semaphore) -> Attempt:
        attempt = Attempt(place, Random(f"{seed} {name} {number}"))
        async with room:
            await _tried(KINDS[name][0], attempt)
        return attempt

    async def all_of(name: str, count: int) -> dict[str, object]:
        room = asyncio.Semaphore(CROWDS.get(name, AT_A_TIME))
        return _together(await asyncio.gather(*(one(name, number, room) for number in range(count))))

    whole = sum(KINDS[name][1] for name in names)
    shares = {name: max(1, round(count * KINDS[name][1] / whole)) for name in names}
    return dict(zip(names, await asyncio.gather(*(all_of(name, shares[name]) for name in names)), strict=True))


async def _tried(kind: Kind, attempt: Attempt) -> None:
    """What goes wrong here and is no doing of the other end ends everything."""
    try:
        async with asyncio.timeout(PATIENCE) as attempt.timeout:
            await kind(attempt)
    except TimeoutError:  # an OSError, too
        attempt.end = LATE if attempt.begun else IDLE
    except (OSError, asyncio.IncompleteReadError, RefusedError) as error:
        attempt.failed(error)
    finally:
        attempt.over()


def _together(attempts: list[Attempt]) -> dict[str, object]:
    ends = Counter(each.end for each in attempts)
    return {
        "tried": len(attempts),
        "connected": sum(each.connected for each in attempts),
        "let in": sum(each.let_in for each in attempts),
        "begun": sum(each.begun for each in attempts),
        **{end: ends[end] for end in ENDS},
        "whys": Counter(re.sub(r"\d+", "N", each.why) for each in attempts if each.why),
        "sent": sum(each.sent for each in attempts),
        "waited": round(sum(each.waited for each in attempts), 3),
    }


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

"""Frames that nobody who keeps the rules sends, into the decoder, the handshake and a node: what must hold whatever comes.

- Nothing but a WireError leaves decoder and handshake.
- No machine raises, and none is brought to send what cannot be sent.
- What a node keeps stays below its stated bounds, and memory with it.
- Afterwards it does its work for neighbours that keep the rules.
"""

import asyncio
import gc
import logging
import resource
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from memory_net import Live, Net, Pipe, identity, play, welcomed
from mutations import Mutator
from ropewalk.engines.live import gate
from ropewalk.engines.live.connection import Connection
from ropewalk.engines.live.frames import TOPICS as NUMBERED
from ropewalk.engines.live.frames import Splitter
from ropewalk.engines.live.handshake import Called, Caller, Terms
from ropewalk.engines.live.identity import contexts
from ropewalk.engines.live.transport import MOST_COUNTED
from ropewalk.engines.live.wire import MOST_NUMBERED, Codec, Topics, WireError
from ropewalk.engines.sim.invariants.bounded import Bounded
from ropewalk.engines.sim.invariants.caches_bounded import CachesBounded
from ropewalk.engines.sim.invariants.contract import Moment
from ropewalk.engines.sim.invariants.interests_bounded import InterestsBounded
from ropewalk.engines.sim.invariants.link_counts import LinkCounts
from ropewalk.engines.sim.invariants.no_self_link import NoSelfLink
from ropewalk.engines.sim.invariants.rings_bounded import RingsBounded
from ropewalk.engines.sim.invariants.view_bounds import ViewBounds
from ropewalk.engines.sim.invariants.watch import invariants_of
from ropewalk.protocols.catalogue import PROTOCOLS
from ropewalk.protocols.contract import Contact, LinkUp

TOPICS = (11, 12, 13)
NAMES = ("attacked", "ann", "bob")
ATTACKERS = 24  # who takes turns: whoever is cut off comes back as another
AT_ONCE = 32  # frames before nodes have their turn
GARBLED = 0.1  # of frames that end a connection, those that are sent to the node: the others would seldom come in a row
EVERY = 1000  # frames from one look at what must hold to the next
A_FRAME = 0.002  # seconds of the nodes' time for each frame: no faster than anybody is cut off for, most of the time
SETTLED, AFTERWARDS = 30.0, 120.0  # seconds of the nodes' time
SHOWN = 3  # errors, of all that are logged
TRACED = 20_000  # up to so many frames memory is counted object by object, else as the system sees it
# bytes that three nodes may come to take, by how many frames there were. Seen: up to 2.9 MB with 300 (one of them large, and an event),
# 1.2 to 3.1 with 2,500, 2.2 to 2.9 with 20,000, by seed and protocol. If all that comes were kept it would be some 700 more a frame
AT_FIRST, FOR_A_FRAME = 3_700_000, 256
# And from half of them on, however many follow: by then all that has bounds is full. Seen, as the system sees it: 2.5 to 11 MB more in 400,000 frames
FROM_HALF_ON = 24_000_000
MOST_BYTES = 160 * 1_048_576  # at the very most: some 64 MiB of events, and all else
# those that need to know nothing but the node as it is
OF_ONE_MOMENT = (ViewBounds, NoSelfLink, LinkCounts, Bounded, CachesBounded, RingsBounded, InterestsBounded)


OF_MACHINES = 32  # kinds of frame below are of the connection itself
_TOPICS = Topics()
_TOPICS.by_number = list(range(MOST_NUMBERED))


class BrokenError(Exception):
    """Something that must hold does not."""


@dataclass(slots=True)
class Outcome:
    """What has become of a run."""

    frames: int = 0
    refused: int = 0  # frames that the decoder did not take
    struck: int = 0  # frames that were sent to the node
    taken_in: int = 0  # messages of theirs that came as far as its driver: of the others nobody but the connection has seen anything
    cut_off: int = 0  # connections that ended over it
    made: dict[str, int] = field(default_factory=dict)  # frames by how they were made
    limited: dict[str, int] = field(default_factory=dict)  # bounds that were reached
    grown: int = 0  # bytes of memory, at the most
    grown_by_half: int | None = None  # and when half was done
    digest: str = ""  # of all frames: the same seed makes the same


class Errors(logging.Handler):
    """What nodes log as errors: nothing that others send may bring them to it."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the first few."""
        if len(self.found) < SHOWN:
            cause = record.exc_info[1] if record.exc_info else None
            self.found.append(f"{record.getMessage()}: {cause!r}")


class Attack:
    """On one node of a small network, by one connection after the other."""

    def __init__(self, net: Net, seed: int, codec: Codec) -> None:
        self.victim, self.codec, self.seed = net.by_name["attacked"], codec, seed
        self.attackers = [identity(seed, f"attacker {place}") for place in range(ATTACKERS)]
        known = (*(each.me for each in net.nodes.values()), *(Contact(each.id, "a:1") for each in self.attackers))
        self.mutator = Mutator(codec, seed, known)
        self.random = Random(seed)  # noqa: S311  a seed is to decide
        self.connection: Connection | None = None
        self.came = self.struck = self.taken_in = 0  # connections, frames and messages so far
        for each in net.nodes.values():
            self._overhear(each)

    def _overhear(self, live: Live) -> None:
        heard = live.transport.heard

        def hear(sender: Any, message: Any) -> None:
            if self.connection is None or sender.id != self.connection.contact.id:
                self.mutator.hear(message)
            else:
                self.taken_in += 1
            heard(sender, message)

        live.transport.heard = hear

    def strike(self, data: bytes) -> None:
        """Send bytes, by a new connection if there is none."""
        if self.connection is None or self.connection.ending is not None:
            self._come()
        assert self.connection is not None
        self.struck += 1
        middle = self.random.randrange(len(data) + 1)  # bytes come as they come
        for part in (data[:middle], data[middle:]):
            if part and self.connection.ending is None:
                self.connection.data_received(part)

    def _come(self) -> None:
        who = self.attackers[self.came % ATTACKERS]
        self.came += 1
        connection = self.connection = Connection(self.victim.transport)
        pipe = Pipe(connection)
        splitter, topics = Splitter(pieces=True), Topics()

        def hear(data: bytes) -> None:
            for kind, body in splitter.feed(data):
                if kind == NUMBERED:
                    topics.learn(body)
                elif kind >= OF_MACHINES and (message := self.codec.decode(kind, body, topics)) is not None:
                    self.mutator.hear(message)

        pipe.hear = hear
        welcomed(connection, pipe, who, "a:1")
        self.victim.transport.limits.connections += 1
        self.victim.transport._install(connection)  # noqa: SLF001  as after the welcome


def fuzz(
    protocol: str, frames: int, seed: int, tell: Callable[[int], None] = lambda _: None, taken_in: int = 0
) -> Outcome:
    """So many frames at a node of one protocol, and as many more as it takes until it has taken in so many.

    Raises BrokenError if something does not hold.
    """
    errors = Errors()
    logging.getLogger("ropewalk").addHandler(errors)
    tracing = frames <= TRACED  # it takes as long again
    if tracing:
        tracemalloc.start(1)
    try:
        return play(lambda: _fuzz(protocol, frames, taken_in, seed, errors, tell))
    finally:
        logging.getLogger("ropewalk").removeHandler(errors)
        if tracing:
            tracemalloc.stop()


async def _fuzz(
    protocol: str, frames: int, taken_in: int, seed: int, errors: Errors, tell: Callable[[int], None]
) -> Outcome:
    codec, outcome = Codec(PROTOCOLS[protocol].messages), Outcome()
    net = Net(protocol, seed, NAMES, TOPICS)
    attack, hands = Attack(net, seed, codec), Hands(protocol, seed)
    await asyncio.sleep(SETTLED)
    for number, live in enumerate(net.nodes.values()):
        live.publish(TOPICS, 1000 + number)
    await asyncio.sleep(SETTLED)
    before = _memory()
    digest = blake2b(digest_size=8)
    number, is_over = 0, False
    while not is_over:
        number += 1
        data = attack.mutator.next()
        digest.update(data)
        refused = decoded(codec, data)
        outcome.refused += refused
        hands.try_(data)
        if not refused or attack.random.random() < GARBLED:
            attack.strike(data)
        if number % AT_ONCE == 0:
            await asyncio.sleep(AT_ONCE * A_FRAME)
        is_over = number >= frames and attack.taken_in >= taken_in
        is_half = outcome.grown_by_half is None and 2 * number >= frames and 2 * attack.taken_in >= taken_in
        if number % EVERY == 0 or is_half or is_over:
            _must_hold(protocol, net, errors, f"after {number} frames")
            now = _memory() - before
            outcome.grown = max(outcome.grown, now)
            most = most_bytes(number, outcome.grown_by_half)
            if now > most:
                raise BrokenError(f"after {number} frames: {now} bytes more, of {most} allowed")
            if is_half:
                outcome.grown_by_half = now
            tell(number)
    outcome.frames, outcome.cut_off, outcome.made = number, attack.came, attack.mutator.made
    outcome.struck, outcome.taken_in = attack.struck, attack.taken_in
    if attack.connection is not None:
        attack.connection.abort()
    await asyncio.sleep(AFTERWARDS)
    await _must_work(net)
    _must_hold(protocol, net, errors, "at the end")
    machine: Any = attack.victim.driver.machine
    outcome.limited = attack.victim.transport.limits.counts | machine.left_out()
    outcome.digest = digest.hexdigest()
    await net.close()
    return outcome


def decoded(codec: Codec, data: bytes) -> int:
    """Whether the decoder refuses bytes: with a WireError, and nothing else."""
    try:
        for kind, body in Splitter(pieces=True).feed(data):
            if kind == NUMBERED:
                Topics().learn(body)
            elif kind >= OF_MACHINES:
                codec.decode(kind, body, _TOPICS)
    except WireError:
        return 1
    except Exception as error:
        raise BrokenError(f"the decoder raised {error!r} at {data[:200].hex()}") from error
    return 0


class Hands:
    """Both ends of the handshake, each before a stranger."""

    def __init__(self, protocol: str, seed: int) -> None:
        ann, bob = identity(seed, "hand a"), identity(seed, "hand b")
        self.ann, self.bob = Terms(ann, "ann:1", protocol, b"secret"), Terms(bob, "bob:1", protocol, b"secret")
        self.shown = contexts(ann, None)[2]
        self.random = Random(seed)  # noqa: S311  a seed is to decide
        self.count = 0

    def try_(self, data: bytes) -> None:
        """Every tenth time: what both say to each other, with some of it changed."""
        self.count += 1
        if self.count % 10:
            return
        called, caller = Called(self.ann, self.shown, None), Caller(self.bob, self.shown, None, "ann:1")
        hello = called.begin()
        proof = caller.receive(*hello)
        assert isinstance(proof, tuple)
        for end, (kind, body) in ((Caller(self.bob, self.shown, None, "a:1"), hello), (called, proof)):
            for changed in self._changed(kind, body, data):
                try:
                    end.receive(*changed)
                except WireError:
                    continue
                except Exception as error:
                    raise BrokenError(f"the handshake raised {error!r} at {changed[1][:200].hex()}") from error

    def _changed(self, kind: int, body: bytes, data: bytes) -> Iterator[tuple[int, bytes]]:
        random = self.random
        flipped = bytearray(body)
        flipped[random.randrange(len(flipped))] ^= 1 << random.randrange(8)
        yield kind, bytes(flipped)
        yield kind, body[: random.randrange(len(body))]
        yield random.randrange(8), data
        values = msgspec.msgpack.decode(body)
        values[random.randrange(len(values))] = random.choice((-1, 0, 2**63, "x" * 300, b"\0" * 33, [], None, 1e308))
        yield kind, msgspec.msgpack.encode(values)


def _must_hold(protocol: str, net: Net, errors: Errors, when: str) -> None:
    if errors.found or net.wrong:
        raise BrokenError(f"{when}: a node has failed: {'; '.join([*errors.found, *net.wrong[:SHOWN]])}")
    for name, live in net.by_name.items():
        if live.driver.failed:
            raise BrokenError(f"{when}: {name} has failed at {live.driver.failed} inputs")
        moment = Moment(live.driver.machine, LinkUp(live.me), live.driver.loop.time())
        for invariant in invariants_of(protocol):
            wrong = invariant.after(moment) if isinstance(invariant, OF_ONE_MOMENT) else None
            if wrong:
                raise BrokenError(f"{when}: {name}: {invariant.name}: {wrong}")
        for what, count, most in _sizes(live):
            if count > most:
                raise BrokenError(f"{when}: {name}: {what}: {count}, of {most} allowed")


def most_bytes(frames: int, by_half: int | None) -> int:
    """What nodes may come to take after so many; from half of them on, by what they took then, too."""
    most = min(MOST_BYTES, AT_FIRST + FOR_A_FRAME * frames)
    return most if by_half is None else min(most, by_half + FROM_HALF_ON)


def _memory() -> int:
    """Bytes in use, by what somebody still holds."""
    gc.collect()
    if tracemalloc.is_tracing():
        return tracemalloc.get_traced_memory()[0]
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def _sizes(live: Live) -> Iterator[tuple[str, int, int]]:
    transport, before = live.transport, live.gate
    yield "links", len(transport.links), transport.limits.bounds.links
    yield "calls", len(transport.calls), 1024
    yield "kinds of limits", len(transport.limits.counts), 64
    yield "outcasts", len(transport.limits.outcasts), 4096
    yield "dropped", len(transport.dropped), MOST_COUNTED + 1
    yield "timers", len(live.driver._timers), 60_000  # noqa: SLF001  one for each event that is awaited, and some
    yield "verdicts", len(before._verdicts), gate.MOST_JUDGED  # noqa: SLF001
    yield "at work", len(before._at_work), gate.MOST_AT_WORK  # noqa: SLF001
    yield "rejecters", len(before._rejected), gate.MOST_REJECTERS  # noqa: SLF001
    for connection in transport.links.values():
        yield "topics of a connection", len(connection.topics.by_number), MOST_NUMBERED
        yield "bytes to send", connection.lanes.control_bytes, 8 * 1_048_576


async def _must_work(net: Net) -> None:
    """What one publishes the others get, both ways."""
    for number, (name, live) in enumerate(net.by_name.items()):
        events = [live.publish((topic,), 2**40 + 1000 * number + topic).id for topic in TOPICS]
        for _ in range(60):
            await asyncio.sleep(1.0)
            others = [each for each in net.nodes.values() if each is not live]
            if all(event in each.got for each in others for event in events):
                break
        else:
            missed = {
                each.me.address: sum(event not in each.got for event in events)
                for each in net.nodes.values()
                if each is not live
            }
            raise BrokenError(f"afterwards: of {len(events)} events that {name} published, others missed {missed}")

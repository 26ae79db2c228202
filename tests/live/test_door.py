"""Who calls and does not keep the rules: on real sockets, at one node, while somebody who does gets in."""

import asyncio
import errno
import os
import socket
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path

import pytest

from alive import alive, eventually
from ropewalk.engines.live import door, limits, transport, turns
from ropewalk.engines.live.endings import Ending
from ropewalk.engines.live.frames import HELLO, PROOF, frame
from ropewalk.engines.live.handshake import Terms
from ropewalk.engines.live.identity import ClusterCertificate, Identity, contexts, of_cluster
from ropewalk.engines.live.limits import Bounds
from ropewalk.engines.live.transport import Transport
from ropewalk.errors import RunError
from ropewalk.protocols.contract import Contact, Event
from ropewalk.protocols.dissemination.messages import Push
from ropewalk.protocols.rates import Rate
from ropewalk.protocols.stan.messages import Announce
from test_transport import CODEC, Station, linked, stations
from test_verbs_of_nodes import cluster_of


@asynccontextmanager
async def attacked(**bounds) -> AsyncIterator[Station]:
    station = Station()
    station.transport.limits.bounds = Bounds(**bounds)
    try:
        yield await station.start()
    finally:
        await station.transport.close()


def place_of(station: Station) -> tuple[str, int]:
    host, _, port = station.me.address.rpartition(":")
    return host, int(port)


def door_of(station: Station) -> door.Door:
    found = station.transport._door
    assert found is not None
    return found


def counts(station: Station) -> dict[str, int]:
    return station.transport.limits.counts


@contextmanager
def half_open(station: Station, count: int) -> Iterator[list[socket.socket]]:
    with ExitStack() as stack:
        yield [stack.enter_context(socket.create_connection(place_of(station))) for _ in range(count)]


@alive
async def test_who_connects_and_says_nothing_is_counted_and_makes_room_for_who_does() -> None:
    async with attacked(at_door=8) as a, stations(1) as (b,):
        with half_open(a, 40):
            await eventually(lambda: door_of(a).accepted == 40)
            assert len(door_of(a).callers) == 8
            assert counts(a) == {limits.BEFORE_TLS: 32}
            await linked(b, a)
            assert len(door_of(a).callers) == 7
        await eventually(lambda: not door_of(a).callers)
        assert a.transport.limits.connections == 1


@alive
async def test_who_never_finishes_tls_is_hung_up_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "UNANSWERED", 0.3)
    async with attacked() as a:
        with half_open(a, 3) as (silent, slow, wrong):
            slow.send(b"\x16\x03\x01")
            wrong.send(b"GET / HTTP/1.1\r\n\r\n")
            await eventually(lambda: counts(a) == {door.SLOW_TLS: 2, door.NO_TLS: 1})
            for each in (silent, slow):
                each.settimeout(5)
                assert await asyncio.to_thread(each.recv, 1) == b""
        assert a.transport.limits.connections == 0


@alive
async def test_callers_who_are_not_through_when_a_node_leaves_are_let_go() -> None:
    async with attacked() as a:
        with half_open(a, 5) as callers:
            await eventually(lambda: len(door_of(a).callers) == 5)
            await a.transport.close()
            callers[0].settimeout(5)
            assert await asyncio.to_thread(_ended, callers[0])
        await eventually(lambda: a.transport.limits.connections == 0)


def _ended(each: socket.socket) -> bool:
    try:
        return each.recv(1) == b""
    except ConnectionError:
        return True


@alive
async def test_handshakes_beyond_the_rate_are_refused_before_tls() -> None:
    async with attacked(handshakes=Rate(0.001, 3)) as a, stations(1) as (b,):
        with half_open(a, 10) as callers:
            await eventually(lambda: counts(a).get(limits.TOO_FAST) == 7)
            callers[9].settimeout(5)
            assert await asyncio.to_thread(_ended, callers[9])
        b.transport.connect(a.me)
        await eventually(lambda: b.downs)
        assert b.downs[0][1].why == "unreachable"


@alive
async def test_one_address_uses_up_its_own_share_only() -> None:
    async with attacked(loopback=True, from_one=4) as a, stations(1) as (b,):
        with ExitStack() as stack:
            for _ in range(10):
                stack.enter_context(socket.create_connection(place_of(a), source_address=("127.0.0.9", 0)))
            await eventually(lambda: counts(a) == {limits.TOO_MANY_THERE: 6})
            await linked(b, a)


@alive
async def test_an_address_that_goes_on_is_kept_out() -> None:
    async with attacked(loopback=True) as a, stations(1) as (b,):
        for _ in range(12):
            with socket.create_connection(place_of(a), source_address=("127.0.0.9", 0)) as each:
                each.send(b"rubbish\r\n\r\n")
                await asyncio.to_thread(_ended, each)
        await eventually(lambda: counts(a).get(limits.OUT_THERE))
        assert counts(a)[door.NO_TLS] >= limits.STRIKES.at_once
        await linked(b, a)


async def _tls(station: Station) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    host, port = place_of(station)
    return await asyncio.open_connection(host, port, ssl=station.transport.calling, server_hostname="node")


@alive
async def test_who_shows_no_proof_makes_room_for_who_does() -> None:
    async with attacked(strangers=4) as a, stations(1) as (b,):
        writers = [(await _tls(a))[1] for _ in range(10)]
        await eventually(lambda: counts(a) == {limits.BEFORE_PROOF: 6})
        await linked(b, a)
        for each in writers:
            each.transport.abort()


@alive
async def test_who_is_in_the_way_of_a_node_that_is_behind_is_hung_up_on_and_not_held_to_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(transport, "UNANSWERED", 0.3)
    many = 2 * int(limits.STRIKES.at_once)
    async with attacked(loopback=True) as a, stations(1) as (b,):
        a.transport._calling.look(turns.BEHIND + 1, asyncio.get_running_loop().time() + 60)
        with half_open(a, many):
            await eventually(lambda: counts(a) == {door.SLOW_TLS: many})
        writers = [(await _tls(a))[1] for _ in range(many)]
        await eventually(lambda: counts(a).get(transport.NO_PROOF) == many)
        for each in writers:
            each.transport.abort()
        await linked(b, a)
        assert set(counts(a)) == {door.SLOW_TLS, transport.NO_PROOF}


@alive
async def test_who_hangs_up_before_it_is_refused_has_said_nothing_wrong() -> None:
    async with attacked() as a:
        _, writer = await _tls(a)
        await eventually(lambda: a.transport.strangers)
        (caller,) = a.transport.strangers
        assert caller.transport is not None
        caller.transport.close()
        caller.refuse("it took too long.")
        await eventually(lambda: not a.transport.strangers)
        assert (a.transport.endings, counts(a)) == ({"refused": 1}, {})
        writer.transport.abort()


@alive
@pytest.mark.parametrize(
    ("most", "is_heard"), [(ssl.TLSVersion.TLSv1_2, False), (ssl.TLSVersion.TLSv1_3, True)], ids=str
)
async def test_who_offers_less_than_tls_1_3_gets_no_handshake_and_is_counted(
    most: ssl.TLSVersion, is_heard: bool
) -> None:
    async with attacked() as a, stations(1) as (b,):
        offering = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        offering.check_hostname, offering.verify_mode = False, ssl.CERT_NONE
        offering.maximum_version = most
        with suppress(OSError):  # ssl.SSLError is one
            reader, writer = await asyncio.open_connection(*place_of(a), ssl=offering, server_hostname="node")
            assert is_heard
            assert (await reader.readexactly(4))[3] == HELLO
            writer.transport.abort()
        await eventually(lambda: counts(a) == ({} if is_heard else {door.NO_TLS: 1}) and not door_of(a).callers)
        assert len(a.linked) == 0
        await linked(b, a)


@alive
async def test_nobody_is_called_over_less_than_tls_1_3() -> None:
    met: list[str] = []
    served = contexts(Identity.fresh(), None)[0]
    served.minimum_version = served.maximum_version = ssl.TLSVersion.TLSv1_2
    server = await asyncio.start_server(lambda *_: met.append("TLS is up"), "127.0.0.1", 0, ssl=served)
    async with server, stations(1) as (a,):
        a.transport.connect(Contact(5, f"127.0.0.1:{server.sockets[0].getsockname()[1]}"))
        await eventually(lambda: a.downs == [(5, Ending("failed", "unreachable"))])
    assert met == []


@alive
async def test_who_is_called_must_be_certified(tmp_path: Path) -> None:
    authority, certificate, key = (Path(word) for word in cluster_of(tmp_path, ["a"])["a"][1::2])
    cluster = ClusterCertificate(authority, certificate, key)
    certified = Transport(Terms(of_cluster(cluster), "", "stan", certified=True), CODEC, cluster)
    downs: list[str] = []
    certified.down = lambda _, ending: downs.append(ending.why)
    async with stations(1) as (open_,):
        certified.connect(open_.me)
        await eventually(lambda: downs == ["unreachable"])
        assert open_.linked == []
    await certified.close()


@alive
@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="this system does not let go of who takes nothing")
async def test_who_takes_nothing_for_too_long_is_let_go_by_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ropewalk.engines.live.sockets.UNACKNOWLEDGED", 1000)  # milliseconds
    async with stations(2, heartbeat=30.0) as (a, b):
        await linked(a, b)
        inner = b.transport.links[a.me.id].transport
        assert inner is not None
        inner.pause_reading()
        for event in range(8):
            a.transport.send(b.me, Push(Event(event, 1, (7,), bytes(1_000_000)), (7,), 1, False))
        await eventually(lambda: a.downs)
        assert a.downs == [(b.me.id, Ending("failed", "reset"))]


@alive
@pytest.mark.parametrize("body", [b"", b"\xc1", b"\x99rubbish"])
async def test_a_proof_that_cannot_be_read_is_counted(body: bytes) -> None:
    async with attacked() as a:
        reader, writer = await _tls(a)
        writer.write(frame(PROOF, body))
        await reader.read()
        await eventually(lambda: counts(a) == {transport.GARBLED: 1})
        assert a.transport.endings == {"garbled": 1}
        writer.close()


@alive
async def test_what_is_said_together_with_the_last_of_tls_is_not_lost() -> None:
    """A caller may send at once what it has, before it has heard anything."""
    async with attacked() as a:
        reader, writer = await _tls(a)
        writer.write(frame(99, b"early"))
        assert b"came before the proof" in await reader.read()
        writer.close()


@alive
async def test_a_neighbour_that_floods_is_cut_off_and_kept_out() -> None:
    async with attacked(messages=Rate(10.0, 100)) as a, stations(2) as (b, c):
        await linked(b, a)
        c.transport.connect(a.me)
        await eventually(lambda: len(a.linked) == 2)
        for _ in range(3000):
            b.transport.send(a.me, Announce(7))
        await eventually(lambda: a.downs)
        assert a.downs[0][0] == b.me.id
        assert a.downs[0][1].why == "evicted: it sends too many messages of kind announce"
        assert counts(a) == {"flood of announce": 1}
        assert a.linked == [c.me.id]
        await eventually(lambda: not b.linked)
        b.transport.connect(a.me)
        await eventually(lambda: any(each.why == "refused" for _, each in b.downs))
        assert counts(a)[limits.OUT] == 1


@alive
async def test_a_node_with_all_the_links_that_it_may_have_can_still_call() -> None:
    async with attacked(links=4) as a, stations(5) as others:
        for each in others[:4]:
            each.transport.connect(a.me)
        await eventually(lambda: len(a.linked) == 3 and counts(a).get(limits.TOO_MANY) == 1)
        a.transport.connect(others[4].me)
        await eventually(lambda: len(a.linked) == 4)


@alive
async def test_a_node_calls_no_faster_than_it_may_and_says_so_of_what_is_beyond(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(transport, "MOST_CALLS", 8)
    async with stations(1) as (a,):
        for node in range(20):
            a.transport.connect(Contact(node, "127.0.0.1:1"))
        await eventually(lambda: len(a.downs) == 20)
        assert {each.why for _, each in a.downs} == {"unreachable"}
        assert counts(a) == {transport.MANY_CALLS: 12}


@alive
async def test_a_node_without_descriptors_goes_on_when_there_are_some(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "RESTED", 0.05)
    async with attacked() as a, stations(1) as (b,):
        spent = [OSError(errno.EMFILE, "none left")] * 3

        class Listening(socket.socket):
            """The real socket, while the system has no descriptor for it."""

            def __init__(self, real: socket.socket) -> None:
                super().__init__(fileno=os.dup(real.fileno()))

            def accept(self):
                if spent:
                    raise spent.pop()
                return super().accept()

        found = door_of(a)
        accept = found._accept

        def accept_once(each: socket.socket) -> None:
            with Listening(each) as listening:
                accept(listening)

        monkeypatch.setattr(found, "_accept", accept_once)
        found._go_on()  # with the other
        await linked(b, a)
        assert counts(a) == {door.NO_ROOM: 3}


@alive
async def test_a_name_with_several_addresses_is_listened_at() -> None:
    station = Station()
    port = await station.transport.listen("localhost", 0)
    with socket.create_connection(("localhost", port)):
        await eventually(lambda: door_of(station).accepted)
    await station.transport.close()


@alive
async def test_a_place_that_is_elsewhere_is_said() -> None:
    with pytest.raises(RunError, match=r"nobody can listen at 192\.0\.2\.1:7"):
        await Station().transport.listen("192.0.2.1", 7)

"""Connections: one with each other node, whoever calls, and why they end."""

import asyncio
import gc
import socket
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from alive import LONG, alive, eventually
from ropewalk.engines.live import transport
from ropewalk.engines.live.addresses import place
from ropewalk.engines.live.calls import Call
from ropewalk.engines.live.connection import Connection
from ropewalk.engines.live.endings import Ending
from ropewalk.engines.live.frames import MORE, PIECE, PIECE_BYTES, PING, TOPICS, _piece_header, frame
from ropewalk.engines.live.handshake import Terms
from ropewalk.engines.live.identity import Identity, contexts
from ropewalk.engines.live.limits import OUT, STALLED, TOO_MANY, WATCHED, Bounds, Limits
from ropewalk.engines.live.pace import HELD_UP, PASSED_OVER
from ropewalk.engines.live.reading import A_TURN
from ropewalk.engines.live.transport import Transport
from ropewalk.engines.live.wire import KINDS, Codec, Numbers, fresh_topics
from ropewalk.errors import RunError, UsageError
from ropewalk.protocols.catalogue import PROTOCOLS
from ropewalk.protocols.contract import Contact, Event
from ropewalk.protocols.dissemination.messages import Push
from ropewalk.protocols.stan.messages import Announce, KeepAlive, Walk

CODEC = Codec(PROTOCOLS["stan"].messages)
BEAT = 0.2
PUSH = KINDS["push"]


class Station:
    """A transport, and what it has told."""

    def __init__(self, identity: Identity | None = None, heartbeat: float = BEAT, **more) -> None:
        identity = identity or Identity.fresh()
        self.transport = Transport(Terms(identity, "", "stan", heartbeat=heartbeat, **more), CODEC)
        self.me = Contact(identity.id)
        self.ups: list[int] = []
        self.downs: list[tuple[int, Ending]] = []
        self.heard: list[tuple[int, Any]] = []
        self.transport.up = lambda contact: self.ups.append(contact.id)
        self.transport.down = lambda contact, ending: self.downs.append((contact.id, ending))
        self.transport.heard = lambda contact, message: self.heard.append((contact.id, message))

    async def start(self, *, listening: bool = True) -> "Station":
        if listening:
            port = await self.transport.listen("127.0.0.1", 0)
            self.me = Contact(self.me.id, f"127.0.0.1:{port}")
            self.transport.terms = replace(self.transport.terms, address=self.me.address)
        self.transport.begin()
        return self

    @property
    def linked(self) -> list[int]:
        return list(self.transport.links)


@asynccontextmanager
async def stations(count: int, **more) -> AsyncIterator[list[Station]]:
    """Some, the one with the smallest id first."""
    identities = sorted((Identity.fresh() for _ in range(count)), key=lambda each: each.id)
    found = [await Station(identity, **more).start() for identity in identities]
    try:
        yield found
    finally:
        await asyncio.gather(*(each.transport.close() for each in found))


async def linked(a: Station, b: Station) -> None:
    a.transport.connect(b.me)
    await eventually(lambda: a.linked == [b.me.id] and b.linked == [a.me.id])


async def linked_besides(a: Station, b: Station) -> None:
    """Likewise, where there are others."""
    a.transport.connect(b.me)
    await eventually(lambda: b.me.id in a.linked and a.me.id in b.linked)


@alive
async def test_a_link_is_up_at_both_ends_and_carries_messages_both_ways() -> None:
    async with stations(2) as (a, b):
        await linked(a, b)
        a.transport.send(b.me, Announce(7))
        b.transport.send(a.me, Announce(8))
        await eventually(lambda: a.heard and b.heard)
        assert (a.heard, b.heard) == ([(b.me.id, Announce(8))], [(a.me.id, Announce(7))])
        assert b.transport.links[a.me.id].contact == a.me


@alive
@pytest.mark.parametrize("round_", range(5))
async def test_two_that_call_each_other_at_once_have_one_connection(round_: int) -> None:
    async with stations(2) as (a, b):
        a.transport.connect(b.me)
        b.transport.connect(a.me)
        await eventually(lambda: a.linked and b.linked and not a.transport.strangers and not b.transport.strangers)
        await eventually(lambda: not a.transport.calls and not b.transport.calls)
        (mine,), (yours,) = a.transport.links.values(), b.transport.links.values()
        assert mine.dialled != yours.dialled
        assert (a.ups, b.ups) == ([b.me.id], [a.me.id])
        assert (a.downs, b.downs) == ([], [])
        a.transport.send(b.me, Announce(7))
        b.transport.send(a.me, Announce(8))
        await eventually(lambda: a.heard and b.heard)


@alive
@pytest.mark.parametrize("round_", range(5))
async def test_two_that_greet_each_other_at_once_have_one_connection(round_: int) -> None:
    async with stations(2) as (a, b):
        contacts = await asyncio.gather(a.transport.greet(b.me.address), b.transport.greet(a.me.address))
        assert list(contacts) == [b.me, a.me]
        await eventually(lambda: not a.transport.strangers and not b.transport.strangers)
        await eventually(lambda: a.linked == [b.me.id] and b.linked == [a.me.id])
        a.transport.send(b.me, Announce(7))
        b.transport.send(a.me, Announce(8))
        await eventually(lambda: a.heard and b.heard)


@alive
async def test_who_has_shown_who_it_is_in_time_is_not_blamed_for_having_to_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(transport, "CROSSED", LONG)
    async with stations(2) as (a, b):
        nowhere, late = asyncio.Event(), asyncio.Event()
        call = a.transport.calls[b.me.id] = Call()  # which b's call crosses
        call.task = asyncio.create_task(nowhere.wait())  # type: ignore[arg-type]

        def arrived(connection: Connection) -> None:
            with monkeypatch.context() as shorter:
                shorter.setattr(transport, "UNANSWERED", 1.0)
                Transport.arrived(a.transport, connection)
            connection.loop.call_later(1.0, late.set)

        a.transport.arrived = arrived  # type: ignore[method-assign]
        b.transport.connect(a.me)
        await late.wait()
        assert all(stranger.other is not None for stranger in a.transport.strangers)
        assert a.transport.limits.counts == {}
        nowhere.set()
        await eventually(lambda: a.linked == [b.me.id] and b.linked == [a.me.id])
        assert (a.transport.limits.counts, b.downs) == ({}, [])


@alive
async def test_a_link_that_is_there_is_up_at_once() -> None:
    async with stations(2) as (a, b):
        await linked(a, b)
        b.transport.connect(a.me)
        await eventually(lambda: b.ups == [a.me.id, a.me.id])
        assert len(a.ups) == 1


@alive
@pytest.mark.parametrize("cause", ["closed", "left"])
async def test_who_closes_a_link_says_why_and_what_was_sent_before_arrives(cause) -> None:
    async with stations(2) as (a, b):
        await linked(a, b)
        for topic in range(500):
            a.transport.send(b.me, Announce(topic))
        a.transport.disconnect(b.me, cause)
        await eventually(lambda: b.downs)
        assert b.downs == [(a.me.id, Ending(cause, cause))]
        assert [message for _, message in b.heard] == [Announce(topic) for topic in range(500)]
        assert (a.linked, a.downs) == ([], [])


@alive
async def test_nobody_there_is_said() -> None:
    async with stations(2) as (a, b):
        nowhere = Contact(b.me.id, "127.0.0.1:1")
        a.transport.connect(nowhere)
        a.transport.connect(Contact(5))  # which says nowhere that it can be called
        await eventually(lambda: len(a.downs) == 2)
        assert {(node, each.cause, each.why) for node, each in a.downs} == {
            (b.me.id, "failed", "unreachable"),
            (5, "failed", "unreachable"),
        }


@alive
@pytest.mark.parametrize("address", ["a..b:1", f"{'x' * 64}.org:1", "a\0b:1", "a b:1", "nonsense"])
async def test_an_address_that_is_none_is_nobody_there(address: str) -> None:
    async with stations(1) as (a,):
        a.transport.connect(Contact(5, address))
        await eventually(lambda: a.downs == [(5, Ending("failed", "unreachable"))])
        assert not a.transport.calls


@alive
async def test_who_has_left_lets_nobody_in() -> None:
    async with stations(2) as (a, b):
        calling = [asyncio.create_task(a.transport.greet(b.me.address)) for _ in range(5)]
        await eventually(lambda: b.transport.strangers or b.transport.links)
        await b.transport.close()
        await asyncio.gather(*calling, return_exceptions=True)
        await eventually(lambda: not a.transport.links)
        assert not b.transport.links
        assert not b.transport.strangers


@alive
async def test_ends_with_different_heartbeats_agree_on_the_slower() -> None:
    async with stations(1, heartbeat=0.1) as (fast,), stations(1, heartbeat=1.0) as (slow,):
        await linked(fast, slow)
        beats = slow.transport.counts.pings
        await eventually(lambda: slow.transport.counts.pings >= beats + 2)
        assert (fast.downs, slow.downs) == ([], [])


@alive
async def test_somebody_else_there_is_refused() -> None:
    async with stations(2) as (a, b):
        a.transport.connect(Contact(5, b.me.address))
        await eventually(lambda: a.downs)
        assert a.downs == [(5, Ending("failed", "refused"))]
        await eventually(lambda: not b.transport.strangers)
        assert b.linked == []


@alive
async def test_who_may_not_come_in_is_told_so() -> None:
    async with stations(1) as (a,), stations(1, admits=lambda _: False) as (b,):
        a.transport.connect(b.me)
        await eventually(lambda: a.downs)
        assert a.downs == [(b.me.id, Ending("failed", "refused"))]
        assert a.ups == []


@alive
async def test_who_is_frozen_is_noticed_and_who_only_has_nothing_to_say_is_not() -> None:
    async with stations(3) as (a, b, c):
        await linked(a, b)
        a.transport.connect(c.me)
        await eventually(lambda: len(a.linked) == 2)
        for task in list(b.transport._tasks):
            task.cancel()  # it says nothing any more, as if its machine had stopped
        await eventually(lambda: a.downs)
        assert a.downs == [(b.me.id, Ending("failed", "frozen"))]
        assert a.linked == [c.me.id]


@alive
async def test_a_node_that_starts_anew_replaces_its_former_self() -> None:
    identity = Identity.fresh()
    async with stations(1) as (a,):
        first = await Station(identity).start()
        await linked(first, a)
        second = await Station(identity).start()
        second.transport.connect(a.me)
        await eventually(lambda: len(a.ups) == 2)
        assert a.downs == [(identity.id, Ending("failed", "replaced"))]
        assert a.linked == [identity.id]
        for each in (first, second):
            await each.transport.close()


@alive
async def test_who_has_lost_a_connection_that_the_other_believes_in_gets_a_new_one() -> None:
    async with stations(2, heartbeat=30.0) as (one, two):
        for a, b in ((one, two), (two, one)):
            await linked(a, b)
            b.transport.links.pop(a.me.id)  # without a word
            b.transport.connect(a.me)
            await eventually(partial(_again, a, b))
            assert a.downs == [(b.me.id, Ending("closed", "replaced"))]
            a.transport.disconnect(b.me, "closed")
            await eventually(partial(_apart, b))
            for each in (one, two):
                each.ups.clear()
                each.downs.clear()


def _again(a: Station, b: Station) -> bool:
    return b.linked == [a.me.id] and len(a.ups) == 2


def _apart(b: Station) -> bool:
    return not b.linked


@alive
async def test_a_call_that_leads_nowhere_does_not_keep_the_other_end_out() -> None:
    async with stations(2) as (a, b):
        silent = socket.create_server(("127.0.0.1", 0))  # takes calls, and answers nothing
        port = silent.getsockname()[1]
        a.transport.connect(Contact(b.me.id, f"127.0.0.1:{port}"))
        b.transport.connect(a.me)
        await eventually(lambda: a.linked == [b.me.id] and b.linked == [a.me.id])
        await eventually(lambda: not a.transport.calls)
        assert (a.ups, a.downs) == ([b.me.id], [])
        silent.close()


@alive
async def test_whoever_does_not_read_is_hung_up_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ropewalk.engines.live.connection.MOST_CONTROL_WAITING", 100_000)
    async with stations(2, heartbeat=30.0) as (a, b):
        await linked(a, b)
        inner = b.transport.links[a.me.id].transport
        assert inner is not None
        inner.pause_reading()
        for topic in range(5000):
            a.transport.send(b.me, KeepAlive(topic, tuple(range(1000))))
            if topic % 100 == 0:
                await asyncio.sleep(0)
            if a.downs:
                break
        await eventually(lambda: a.downs)
        assert a.downs[0][1].why == "evicted: it is too slow"


def begin_to_send(station: Station, other: Contact, pieces: int) -> None:
    """Some of a message, and not the rest."""
    connection = station.transport.links[other.id]
    for _ in range(pieces):
        connection._write(frame(PIECE, _piece_header(0, PUSH, MORE) + bytes(PIECE_BYTES)))


@alive
async def test_who_has_begun_to_send_most_goes_if_all_together_have_begun_too_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(transport, "MOST_UNFINISHED_IN_ALL", 20 * PIECE_BYTES)
    async with stations(4) as (a, *others):
        for other in others:
            await linked_besides(other, a)
        for other, pieces in zip(others, (6, 12, 1), strict=True):
            begin_to_send(other, a.me, pieces)
        await eventually(lambda: a.transport.unfinished == 19 * PIECE_BYTES)
        lain(a, 10.0)
        begin_to_send(others[2], a.me, 2)
        await eventually(lambda: a.downs)
        assert [(who, ending.why) for who, ending in a.downs] == [(others[1].me.id, "evicted: unfinished bytes")]
        assert a.transport.limits.counts == {"unfinished bytes": 1}
        await eventually(lambda: a.transport.unfinished == 9 * PIECE_BYTES)
        a.transport.links[others[0].me.id].abort()
        await eventually(lambda: a.transport.unfinished == 3 * PIECE_BYTES)


@alive
async def test_who_sends_something_large_does_not_make_room_for_those_who_let_it_lie(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(transport, "MOST_UNFINISHED_IN_ALL", 20 * PIECE_BYTES)
    async with stations(5) as (a, *holding, honest):
        for other in (*holding, honest):
            await linked_besides(other, a)
        for other in holding:
            begin_to_send(other, a.me, 6)
        await eventually(lambda: a.transport.unfinished == 18 * PIECE_BYTES)
        lain(a, 60.0)
        push = Push(Event(1, 2, (7,), bytes(14 * PIECE_BYTES)), (7,), 1, False)  # more than any of them has begun
        honest.transport.send(a.me, push)
        await eventually(lambda: a.heard)
        assert a.heard == [(honest.me.id, push)]
        assert honest.me.id in a.linked
        assert {who for who, _ in a.downs} < {each.me.id for each in holding}
        assert a.transport.limits.counts == {"unfinished bytes": len(a.downs)}


def lain(station: Station, seconds: float) -> None:
    """All that has begun to come there has lain for so long."""
    begun = asyncio.get_running_loop().time() - seconds
    for link in station.transport.links.values():
        for coming in link.splitter._pieces.values():
            coming.since = begun


@alive
async def test_who_does_not_go_on_with_what_it_began_to_send_is_hung_up_on() -> None:
    async with stations(2) as (a, b):
        await linked(a, b)
        link = a.transport.links[b.me.id]
        for pieces in range(1, 4):  # it takes longer than that, and goes on
            begin_to_send(b, a.me, 1)
            await eventually(lambda pieces=pieces: a.transport.unfinished == pieces * PIECE_BYTES)  # type: ignore[misc]
            link.unfinished_since -= 0.8 * STALLED
        assert a.linked
        link.unfinished_since -= STALLED
        await eventually(lambda: a.downs)
        assert a.downs[0][1].why == "evicted: unfinished bytes"
        assert a.transport.limits.counts == {"unfinished bytes": 1}
        assert not len(a.transport.limits.outcasts)  # it may only be slow


@alive
async def test_a_node_that_stood_still_itself_blames_nobody_for_it() -> None:
    async with stations(2, heartbeat=30.0) as (a, b):
        await linked(a, b)
        begin_to_send(b, a.me, 1)
        await eventually(lambda: a.transport.unfinished)
        link = a.transport.links[b.me.id]
        link.unfinished_since -= STALLED
        then = asyncio.get_running_loop().time()
        time.sleep(3 * WATCHED)  # noqa: ASYNC251  the loop stands still
        await eventually(lambda: link.unfinished_since > then)
        assert a.linked
        assert not a.transport.limits.counts


@alive
async def test_what_has_begun_to_come_counts_from_its_first_byte_and_no_longer_than_its_link() -> None:
    async with stations(2) as (a, b):
        await linked(a, b)
        b.transport.links[a.me.id]._write(frame(PUSH, bytes(1000))[:500])
        await eventually(lambda: a.transport.unfinished == 500)
        b.transport.links[a.me.id].abort()
        await eventually(lambda: not a.transport.unfinished)


@alive
async def test_nobody_waits_for_who_takes_too_little_nor_when_it_comes_back_on_another_link() -> None:
    async with stations(2, heartbeat=30.0) as (a, b):
        await linked(a, b)
        inner = b.transport.links[a.me.id].transport
        assert inner is not None
        inner.pause_reading()
        link = a.transport.links[b.me.id]
        for event in range(4):
            a.transport.send(b.me, Push(Event(event, 1, (7,), bytes(1_000_000)), (7,), 1, False))
        assert link in a.transport.slow
        assert link.is_worth_waiting_for()
        assert link.pace is not None
        link.pace.since -= 2 * HELD_UP
        assert not link.is_worth_waiting_for()
        assert link.node is not None
        b.transport.links[a.me.id].abort()
        await eventually(lambda: a.downs and b.downs)
        assert not link.lanes  # nobody keeps what will not be sent
        assert a.transport.counts.unsent
        await linked(b, a)
        assert not a.transport.links[b.me.id].is_worth_waiting_for()
        a.transport.passed_over.add(b.me.id, asyncio.get_running_loop().time() - PASSED_OVER)
        assert a.transport.links[b.me.id].is_worth_waiting_for()


@alive
async def test_for_whom_most_waits_goes_if_too_much_waits_for_all_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "MOST_WAITING_IN_ALL", 5_000_000)
    async with stations(3, heartbeat=30.0) as (a, b, c):
        for other, events in ((b, 6), (c, 3)):
            await linked_besides(other, a)
            inner = other.transport.links[a.me.id].transport
            assert inner is not None
            inner.pause_reading()
            for event in range(events):
                a.transport.send(other.me, Push(Event(event, 1, (7,), bytes(1_000_000)), (7,), 1, False))
        assert not a.transport.dropped  # who reads is refused nothing for the sake of who does not
        await asyncio.sleep(0)  # in the next turn of the loop
        assert a.transport.waiting.bytes <= 5_000_000
        await eventually(lambda: a.downs)
        assert [(who, ending.why) for who, ending in a.downs] == [(b.me.id, "evicted: it is too slow")]
        assert a.linked == [c.me.id]
        assert a.transport.limits.counts == {"too slow": 1}
        inner = c.transport.links[a.me.id].transport
        assert inner is not None
        inner.resume_reading()
        await eventually(lambda: a.transport.waiting.bytes == 0)


@alive
async def test_where_much_waits_for_all_together_each_who_is_behind_holds_up_who_sends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(transport, "MOST_WAITING_IN_ALL", 12_000_000)
    lagging: list[int] = []
    async with stations(3, heartbeat=30.0) as (a, b, c):
        a.transport.lagging = lambda connection: lagging.append(connection.contact.id)
        for other in (b, c):
            await linked_besides(other, a)
            inner = other.transport.links[a.me.id].transport
            assert inner is not None
            inner.pause_reading()

        def send(other: Station, event: int) -> None:
            a.transport.send(other.me, Push(Event(event, 1, (7,), bytes(1_000_000)), (7,), 1, False))

        for event in range(8):
            send(b, event)
        for event in range(3):
            send(c, event)
        assert c.me.id not in lagging
        await eventually(lambda: a.transport.lagging_from < 1_000_000)
        send(c, 3)
        assert lagging[-1] == c.me.id
        assert sorted(a.linked) == sorted([b.me.id, c.me.id])


@alive
async def test_what_is_recalled_while_the_other_end_does_not_read_never_comes() -> None:
    async with stations(2, heartbeat=30.0) as (a, b):
        await linked(a, b)
        inner = b.transport.links[a.me.id].transport
        assert inner is not None
        inner.pause_reading()
        size, events = 1_000_000, range(8)
        for event in events:
            a.transport.send(b.me, Push(Event(event, 1, (7,), bytes(size)), (7,), 1, False))
        connection = a.transport.links[b.me.id]
        await eventually(lambda: connection.paused and not connection.scheduled)
        waited = connection.lanes.event_bytes
        for event in (5, 6):
            a.transport.recall(b.me, "push", event)
        assert connection.lanes.event_bytes < waited - 1.9 * size
        inner.resume_reading()
        await eventually(lambda: len(b.heard) == 6)
        assert [push.event.id for _, push in b.heard] == [0, 1, 2, 3, 4, 7]
        assert a.transport.counts.recalled == 2
        assert a.transport.counts.sent["push"][0] == 6


@alive
async def test_who_can_only_call_takes_part() -> None:
    async with stations(1) as (a,):
        inside = await Station().start(listening=False)
        inside.transport.connect(a.me)
        await eventually(lambda: a.linked)
        a.transport.send(Contact(inside.me.id), Announce(1))
        await eventually(lambda: inside.heard)
        assert a.transport.links[inside.me.id].contact == Contact(inside.me.id, "")
        await inside.transport.close()
        await eventually(lambda: a.downs)
        assert a.downs == [(inside.me.id, Ending("left", "left"))]


@alive
async def test_bytes_that_nobody_sends_end_a_link_and_nothing_else() -> None:
    async with stations(3) as (a, b, c):
        await linked(a, b)
        c.transport.connect(b.me)
        await eventually(lambda: len(b.linked) == 2)
        a.transport.links[b.me.id]._write(b"\0\0\1\x63rubbish")
        await eventually(lambda: b.downs)
        assert b.downs[0][0] == a.me.id
        assert b.downs[0][1].why.startswith("garbled: there is no message of kind 99")
        assert b.linked == [c.me.id]


@alive
async def test_strangers_who_say_nothing_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ropewalk.engines.live.transport.UNANSWERED", 0.3)
    async with stations(1) as (a,):
        host, _, port = a.me.address.rpartition(":")
        context = a.transport.calling
        reader, writer = await asyncio.open_connection(host, int(port), ssl=context, server_hostname="x")
        await eventually(lambda: a.transport.strangers)
        await reader.read()  # until it hangs up
        await eventually(lambda: not a.transport.strangers)
        writer.close()


@alive
async def test_what_carries_no_event_overtakes_those_that_wait_on_a_slow_connection() -> None:
    async with stations(2, heartbeat=30.0) as (a, b):
        await linked(a, b)
        connection, other = a.transport.links[b.me.id], b.transport.links[a.me.id]
        assert other.transport is not None
        other.transport.pause_reading()
        for event in range(8):
            a.transport.send(b.me, Push(Event(event, 1, (7,), bytes(1_000_000)), (7,), 1, False))
        await eventually(lambda: connection.paused)
        taken = connection.lanes.event_bytes
        assert taken > 4_000_000  # little of it is beyond recall
        a.transport.send(b.me, Announce(9))
        other.transport.resume_reading()
        await eventually(lambda: len(b.heard) == 9)
        place = [message for _, message in b.heard].index(Announce(9))
        assert place < 4  # as many as were on their way


@alive
async def test_links_that_come_and_go_leave_nothing_behind() -> None:
    async with stations(2) as (a, b):
        tasks = len(asyncio.all_tasks())
        for _ in range(30):
            await linked(a, b)
            a.transport.disconnect(b.me, "closed")
            await eventually(partial(_apart, b))
        await eventually(lambda: not a.transport.closing)
        await eventually(lambda: len(asyncio.all_tasks()) == tasks)
        await eventually(lambda: not _connections_of(a, b))
        assert not [*a.transport.strangers, *b.transport.strangers, *a.transport.calls]


def _connections_of(*found: Station) -> list[Connection]:
    gc.collect()
    owners = [each.transport for each in found]
    return [each for each in gc.get_objects() if isinstance(each, Connection) and each.owner in owners]


@alive
async def test_a_taken_port_is_said() -> None:
    async with stations(1) as (a,):
        with pytest.raises(RunError, match=r"nobody can listen at 127\.0\.0\.1"):
            await Station().transport.listen("127.0.0.1", int(a.me.address.rpartition(":")[2]))


@pytest.mark.parametrize("address", ["", "host", "host:", "host:port", "host:70000", ":"])
def test_what_is_no_address_is_said(address: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"say HOST:PORT"):
        place(address)


@alive
async def test_who_answers_no_call_holds_up_nobody_who_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ropewalk.engines.live.calls.UNANSWERED", 2 * LONG)
    async with stations(2, heartbeat=30.0) as (a, b):
        with socket.create_server(("127.0.0.1", 0), backlog=64) as silent:  # the system answers, and nobody else does
            address = f"127.0.0.1:{silent.getsockname()[1]}"
            for number in range(1, 31):
                a.transport.connect(Contact(number, address))
            a.transport.connect(b.me)
            await eventually(lambda: b.me.id in a.ups)
            assert not a.downs  # whom it waits for is not given up yet
            assert len(a.transport.calls) == 30


@alive
async def test_what_is_too_long_to_be_sent_is_counted() -> None:
    async with stations(2) as (a, b):
        await linked(a, b)
        far = frozenset(Contact(number, "x" * 255) for number in range(260))
        a.transport.send(b.me, Walk(7, a.me, 0, 4, far))
        assert a.transport.limits.counts == {"too long to be sent": 1}
        a.transport.send(b.me, Announce(7))
        await eventually(lambda: (a.me.id, Announce(7)) in b.heard)


@alive
async def test_who_sends_without_end_is_read_from_in_turn_with_others() -> None:
    """What has come over one link is not all read before anything else happens, however much the system has taken in."""
    async with stations(2, heartbeat=30.0) as (a, b):
        await linked(a, b)
        turn, turns, many = [0], list[int](), 400
        b.transport.heard = lambda *_: turns.append(turn[0])

        async def count() -> None:
            while len(turns) < many:
                turn[0] += 1
                await asyncio.sleep(0)

        for number in range(many):
            a.transport.send(b.me, Push(Event(number, a.me.id, (7,), bytes(10_000)), (7,), 1, False))
        await asyncio.wait_for(count(), LONG)
        most = max(turns.count(each) for each in set(turns))
        assert most * 10_000 < 2 * 4 * A_TURN


@alive
async def test_what_has_come_before_a_link_breaks_is_read() -> None:
    """Also what is waiting for its turn just then."""
    async with stations(2, heartbeat=30.0) as (a, b):
        await linked(a, b)
        (line,) = b.transport.links.values()
        pushes = [Push(Event(number, a.me.id, (7,), bytes(1000)), (7,), 1, False) for number in range(200)]
        numbers = Numbers()
        encoded = [CODEC.encode(push, numbers) for push in pushes]
        named = fresh_topics(numbers)
        assert named is not None
        line.data_received(frame(TOPICS, named) + b"".join(frame(*each) for each in encoded))
        assert len(b.heard) < len(pushes)  # the others wait
        line.connection_lost(None)
        assert len(b.heard) < len(pushes)  # for others have their turn now as well
        await eventually(lambda: b.downs)
        assert [message.event.id for _, message in b.heard] == list(range(200))
        assert b.downs == [(a.me.id, Ending("failed", "reset"))]
        assert not b.linked


@alive
async def test_who_is_not_read_since_there_is_too_much_to_read_is_not_taken_for_frozen() -> None:
    async with stations(2) as (a, b):
        await linked(a, b)
        (line,) = b.transport.links.values()
        line.ahead.put(frame(PING, b""))  # it has come, and there was no time to read it
        line.see_to_reading()
        quiet = asyncio.get_running_loop().time() - 100
        line.heard_at = quiet
        await eventually(lambda: line.heard_at > quiet)
        assert b.linked
        line.hold_up()
        line.heard_at = quiet
        await eventually(lambda: line.heard_at > quiet)
        assert b.linked


@alive
async def test_what_had_come_on_a_link_that_broke_is_read_before_another_takes_its_place() -> None:
    async with stations(2, heartbeat=30.0) as (a, b):
        await linked(a, b)
        former = b.transport.links[a.me.id]
        push = Push(Event(1, a.me.id, (7,), bytes(1000)), (7,), 1, False)
        numbers = Numbers()
        kind, body = CODEC.encode(push, numbers)
        named = fresh_topics(numbers)
        assert named is not None
        former.hold_up()
        former.data_received(frame(TOPICS, named) + frame(kind, body))
        assert not b.heard
        former.connection_lost(None)  # nobody holds it up any more, and it waits for its turn
        b.transport._install(former)
        assert [message for _, message in b.heard] == [push]


@alive
async def test_nothing_is_kept_of_what_comes_on_a_link_that_was_closed() -> None:
    async with stations(2, heartbeat=30.0) as (a, b):
        await linked(a, b)
        line = b.transport.links[a.me.id]
        line.take_in(frame(PIECE, _piece_header(0, PUSH, MORE) + bytes(PIECE_BYTES)))
        assert b.transport.unfinished == PIECE_BYTES
        b.transport.disconnect(a.me, "closed")
        for _ in range(1000):
            line.take_in(frame(TOPICS, b"") + bytes(3))
        assert (line.splitter.unfinished, b.transport.unfinished) == (0, 0)
        assert not b.heard
        assert not b.downs


@alive
async def test_what_this_end_does_not_read_is_not_held_against_who_has_begun_to_send_it() -> None:
    async with stations(2, heartbeat=30.0) as (a, b):
        await linked(a, b)
        begin_to_send(b, a.me, 1)
        await eventually(lambda: a.transport.unfinished)
        line, now = a.transport.links[b.me.id], asyncio.get_running_loop().time
        lain(a, 10.0)
        line.hold_up()
        before = line.kept(now())
        line.held_at -= 1000.0
        assert line.kept(now()) == line.splitter.kept(line.held_at)
        line.held_at += 1000.0
        await asyncio.sleep(0.05)
        assert line.kept(now()) == before
        line.go_on()
        assert line.kept(now()) == pytest.approx(before, rel=0.01)


@alive
async def test_a_link_that_is_ended_while_something_waits_to_be_read_is_let_go() -> None:
    async with stations(2) as (a, b):
        await linked(a, b)
        (line,) = b.transport.links.values()
        connections = b.transport.limits.connections
        line.ahead.put(frame(PING, b""))
        line.connection_lost(None)
        line.abort(Ending("failed", "frozen"))
        await eventually(lambda: b.transport.limits.connections == connections - (not line.dialled))
        line.go_on()
        await asyncio.sleep(0)
        assert b.downs == [(a.me.id, Ending("failed", "frozen"))]
        assert b.transport.limits.connections == connections - (not line.dialled)


def odd() -> ssl.SSLContext:
    """Of somebody whose certificate has a version that there is none of."""
    usual, key = x509.load_der_x509_certificate(contexts(Identity.fresh(), None)[2]), Ed25519PrivateKey.generate()
    builder = x509.CertificateBuilder(
        usual.issuer, usual.subject, key.public_key(), 1, usual.not_valid_before_utc, usual.not_valid_after_utc
    )
    der, version = builder.sign(key, None).public_bytes(Encoding.DER), b"\xa0\x03\x02\x01"
    assert version + b"\2" in der
    served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with TemporaryDirectory() as folder:
        shown, kept = Path(folder, "shown"), Path(folder, "kept")
        shown.write_text(ssl.DER_cert_to_PEM_cert(der.replace(version + b"\2", version + b"\5", 1)))
        kept.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        served.load_cert_chain(shown, kept)
    return served


@alive
async def test_who_shows_what_nobody_can_read_is_no_link_and_in_the_way_of_none() -> None:
    async with stations(2) as (a, b), await asyncio.start_server(lambda *_: None, "127.0.0.1", 0, ssl=odd()) as server:
        address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        with pytest.raises(RunError):
            await a.transport.greet(address)
        a.transport.connect(Contact(1, address))
        await eventually(lambda: a.downs)
        assert a.downs[0][0] == 1
        assert not a.transport.calls
        await linked(a, b)


@alive
async def test_a_node_calls_nobody_where_it_has_as_many_links_as_it_may() -> None:
    async with stations(4) as (a, *others):
        a.transport.limits = Limits(Bounds(links=2))
        for other in others:
            a.transport.connect(other.me)
        await eventually(lambda: len(a.linked) == 2 and a.downs)
        assert a.downs == [(others[2].me.id, Ending("failed", "unreachable"))]
        assert a.transport.limits.counts == {TOO_MANY: 1}


@alive
async def test_who_hangs_up_before_it_is_cut_off_is_kept_out_all_the_same() -> None:
    async with stations(2) as (a, b):
        await linked(b, a)
        b.transport.disconnect(a.me, "closed")
        await eventually(lambda: not a.linked)
        a.transport.cut_off(b.me.id, "rejected")
        b.transport.connect(a.me)
        await eventually(lambda: b.downs)
        assert b.downs[-1][1].why == "refused"
        assert a.transport.limits.counts == {"rejected": 1, OUT: 1}

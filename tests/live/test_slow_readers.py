"""Who reads too slowly, or judges too slowly: who waits for it, and what it loses."""

import asyncio
import sys
from contextlib import AsyncExitStack
from dataclasses import replace

import pytest

from acquainted import FAST, HUNDRED, NEWS, SPORT, network
from alive import Node, alive, alive_for, eventually, publish_apart, read, settled
from ropewalk.engines.live import subscriptions
from ropewalk.engines.live.envelope import MOST_TOGETHER
from ropewalk.engines.live.pace import HELD_UP, LEAST
from ropewalk.engines.live.subscriptions import SlowConsumerError, Subscription, WhenFull


async def unread(stack: AsyncExitStack, when_full: WhenFull) -> Subscription:
    """A subscription with room for five, for which a hundred events have been published."""
    a, b = await network(stack, 2)
    events = b.subscribe("news", buffer=5, when_full=when_full)
    a.subscribe("news")
    await settled(a, b, topic=NEWS)
    await publish_apart(a, HUNDRED, ["news"])
    return events


@alive
async def test_a_slow_reader_that_has_others_wait_misses_nothing() -> None:
    async with AsyncExitStack() as stack:
        events = await unread(stack, "wait")
        await eventually(events.is_full)
        assert sorted([event.payload for event in await read(events, 100)]) == sorted(HUNDRED)  # in no order
        assert events.dropped == 0


@alive
async def test_more_than_a_slow_reader_has_room_for_waits_where_it_comes_from() -> None:
    """As much as sixteen mebibytes, half of which it has room for."""
    async with AsyncExitStack() as stack:
        a, b = await network(stack, 2)
        events = b.subscribe("news")
        a.subscribe("news", when_full="drop-oldest", buffer=1)
        await settled(a, b, topic=NEWS)
        payloads = [number.to_bytes(2, "big") * 32_768 for number in range(256)]
        publishing = asyncio.create_task(publish_apart(a, payloads, ["news"]))
        assert b.pressure is not None
        await eventually(lambda: b.pressure is not None and b.pressure.times)
        got = [event.payload for event in await read(events, len(payloads))]
        await publishing
        assert {*got} == {*payloads}
        assert events.dropped == 0
        await eventually(lambda: not any(link.held_up for link in b.transport.links.values()))


@alive
async def test_a_reader_that_never_reads_holds_up_others_for_so_long_and_is_told_what_it_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ropewalk.engines.live.pace.HELD_UP", 0.2)
    async with AsyncExitStack() as stack:
        a, b = await network(stack, 2)
        never, others = b.subscribe("news"), b.subscribe("news", "sport", when_full="drop-oldest", buffer=1)
        a.subscribe("news", "sport", when_full="drop-oldest", buffer=1)
        await settled(a, b, topic=NEWS)
        await settled(a, b, topic=SPORT)
        payloads = [number.to_bytes(2, "big") * 32_768 for number in range(256)]
        await publish_apart(a, payloads, ["news"])
        await eventually(lambda: never.dropped)
        assert b.unread >= never.dropped
        await a.publish(b"now", ["sport"])
        while (await anext(others)).payload != b"now":
            pass
        assert b.pressure is not None
        assert b.pressure.has_given_up(never)
        assert never.arrived.bytes < 9 * 1_048_576
        await never.close()
        assert not b.pressure.has_given_up(never)


@alive
async def test_a_reader_that_goes_on_reading_is_waited_for_however_slow_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ropewalk.engines.live.pace.HELD_UP", 0.4)
    monkeypatch.setattr("ropewalk.engines.live.pressure.LOOK", 0.1)
    async with AsyncExitStack() as stack:
        a, b = await network(stack, 2)
        never, steady = b.subscribe("sport"), b.subscribe("news")
        a.subscribe("news", "sport", when_full="drop-oldest", buffer=1)
        await settled(a, b, topic=NEWS)
        await settled(a, b, topic=SPORT)
        payloads = [number.to_bytes(2, "big") * 32_768 for number in range(256)]
        await publish_apart(a, payloads, ["sport"])  # which nobody reads
        await eventually(lambda: b.pressure is not None and b.pressure.has_given_up(never))
        publishing = asyncio.create_task(publish_apart(a, payloads, ["news"]))
        got: list[bytes] = []
        while len(got) < len(payloads):
            got.append((await anext(steady)).payload)
            await asyncio.sleep(0.01)
        await publishing
        assert {*got} == {*payloads}
        assert steady.dropped == 0


@pytest.mark.thorough
@alive_for(90)
async def test_a_reader_that_takes_twice_what_is_asked_of_a_neighbour_has_its_node_not_taken_for_a_slow_one() -> None:
    """What its node has no room for is let in as it reads, and not all at once when half of that is read: others would see nothing move."""
    async with AsyncExitStack() as stack:
        a, b = await network(stack, 2)
        events = b.subscribe("news")
        a.subscribe("news", when_full="drop-oldest", buffer=1)
        await settled(a, b, topic=NEWS)
        await a.publish(b"leaves a tree behind", ["news"])
        await read(events, 1)
        size, loop = 16_384, asyncio.get_running_loop()
        publishing = asyncio.create_task(
            publish_apart(a, [bytes(size)] * 2000, ["news"])
        )  # more than all have room for
        await eventually(lambda: b.pressure is not None and b.pressure.times, seconds=30)
        begun, got = loop.time(), 0
        while loop.time() < begun + 4 * HELD_UP:
            await anext(events)
            got += 1
            await asyncio.sleep(max(0.0, begun + got * size / (2 * LEAST) - loop.time()))
        assert not publishing.done()
        assert a.transport.passed_over.times == 0
        assert not a.transport.dropped
        assert events.dropped == 0
        assert not a.transport.endings
        assert len(await read(events, 2000 - got)) == 2000 - got
        await publishing


@alive
async def test_who_waits_for_a_slow_reader_has_those_behind_it_wait() -> None:
    """From who publishes to who reads there is only the way over a third."""
    async with AsyncExitStack() as stack:
        relay = await stack.enter_async_context(Node(options=FAST))
        only_relay = replace(FAST, allow=frozenset({relay.public_key}))
        first, last = [
            await stack.enter_async_context(Node(bootstrap=[relay.address], options=only_relay)) for _ in range(2)
        ]
        events = last.subscribe("news")
        for node in (relay, first):
            node.subscribe("news", when_full="drop-oldest", buffer=1)
        await settled(relay, first, last, topic=NEWS)
        await first.publish(b"leaves a tree behind", ["news"])
        await read(events, 1)
        payloads = [number.to_bytes(2, "big") * 65_536 for number in range(320)]  # 40 MiB
        publishing = asyncio.create_task(publish_apart(first, payloads, ["news"]))
        await eventually(lambda: relay.pressure is not None and relay.pressure.times)
        assert not publishing.done()
        got = [event.payload for event in await read(events, len(payloads))]
        await publishing
        assert {*got} == {*payloads}
        assert not relay.transport.dropped


@alive
async def test_a_slow_neighbour_on_one_topic_holds_up_nobody_who_publishes_on_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ropewalk.engines.live.publishing.ROOM", 60.0)
    monkeypatch.setattr("ropewalk.engines.live.pace.HELD_UP", 60.0)
    async with AsyncExitStack() as stack:
        a, b = await network(stack, 2)
        for node in (a, b):
            node.subscribe("news", "sport", when_full="drop-oldest", buffer=1)
        await settled(a, b, topic=NEWS)
        await settled(a, b, topic=SPORT)
        for topic in ("news", "sport"):
            await a.publish(b"leaves a tree behind", [topic])
        await eventually(lambda: b.counts["delivered"] == 2)
        (link,) = b.transport.links.values()
        assert link.transport is not None
        link.transport.pause_reading()
        publishing = asyncio.create_task(publish_apart(a, [bytes(1_000_000)] * 8, ["news"]))
        await eventually(lambda: a.transport.slow)
        async with asyncio.timeout(30):
            await a.publish(b"now", ["sport"])
        assert not publishing.done()
        link.transport.resume_reading()
        await publishing


@alive
async def test_a_slow_reader_that_wants_only_the_latest_is_told_how_many_it_lost() -> None:
    async with AsyncExitStack() as stack:
        events = await unread(stack, "drop-oldest")
        await eventually(lambda: events.dropped == 95)
        assert [event.payload for event in await read(events, 5)] == HUNDRED[95:]


@alive
async def test_a_slow_reader_that_wants_to_know_is_told() -> None:
    async with AsyncExitStack() as stack:
        events = await unread(stack, "raise")
        await eventually(lambda: events._failed)
        assert len(await read(events, 5)) == 5
        with pytest.raises(SlowConsumerError, match="more than 5 events were waiting"):
            await anext(events)


@alive
async def test_whoever_publishes_waits_for_readers_at_the_same_node() -> None:
    async with Node() as node:
        events = node.subscribe("news", buffer=2)
        for number in range(2):
            await node.publish(b"%d" % number, ["news"])
        third = asyncio.ensure_future(node.publish(b"2", ["news"]))
        await asyncio.sleep(0)
        assert not third.done()
        assert [event.payload for event in await read(events, 3)] == [b"0", b"1", b"2"]
        await third


@alive
async def test_many_who_publish_at_once_wait_for_readers_at_the_same_node_as_one_does() -> None:
    async with Node() as node:
        events = node.subscribe("news", buffer=2)
        publishing = [asyncio.create_task(node.publish(b"%d" % number, ["news"])) for number in range(50)]
        await eventually(events.is_full)
        for read_so_far in range(1, 51):
            assert len(await read(events, 1)) == 1
            want = min(50, read_so_far + 2)
            await eventually(lambda want=want: sum(each.done() for each in publishing) == want)  # type: ignore[misc]
            assert events.arrived.count <= 2
        await asyncio.gather(*publishing)


@alive
async def test_a_reader_at_the_same_node_loses_nothing_for_want_of_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subscriptions, "MOST_WAITING_BYTES", 50_000)
    monkeypatch.setattr(subscriptions, "PRESSED_BYTES", 25_000)
    async with Node() as node:
        events = node.subscribe("news", buffer=10_000)

        async def publish() -> None:
            for _ in range(500):
                await node.publish(bytes(1000), ["news"])

        publishing = asyncio.create_task(publish())
        assert len(await read(events, 500)) == 500
        await publishing
        assert not events.dropped


@alive
async def test_what_is_remembered_of_a_parcel_of_which_little_is_of_use_is_small() -> None:
    async with AsyncExitStack() as stack:
        a, b = await network(stack, 2)
        a.subscribe("news", when_full="drop-oldest", buffer=1)
        events = b.subscribe("news")
        b.validate("news", lambda event: "accept" if event.payload else "ignore")
        await settled(a, b, topic=NEWS)
        for payload in (b"of use", *[b""] * (MOST_TOGETHER - 1)):
            await a.publish(payload, ["news"])
        assert [event.payload for event in await read(events, 1)] == [b"of use"]
        ((_, verdicts),), ((_, ignored),) = b.gate._verdicts.items(), b.gate.ignored.items()
        assert sys.getsizeof(verdicts) + sys.getsizeof(ignored) < 2 * MOST_TOGETHER

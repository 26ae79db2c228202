"""Nodes as a program uses them, on real sockets."""

import asyncio
import socket
import sys
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from alive import LIVE, Node, Options, alive, eventually, neighbours, publish_apart, read, settled
from ropewalk.engines.live import gate, subscriptions
from ropewalk.engines.live.api import NotRunningError
from ropewalk.engines.live.envelope import MOST_SAID, MOST_TOGETHER, TOGETHER_BYTES, sealed, signed
from ropewalk.engines.live.identity import Identity, topic_of
from ropewalk.engines.live.outgoing import UndeliverableError
from ropewalk.engines.live.subscriptions import SlowConsumerError, Subscription, WhenFull
from ropewalk.errors import UsageError
from ropewalk.protocols import contract
from ropewalk.protocols.dissemination.messages import Push
from ropewalk.protocols.dissemination.settings import Settings as EventSettings

NEWS, SPORT = topic_of("news"), topic_of("sport")
QUICK = replace(LIVE, period=1.0)
FAST = Options(settings=QUICK)


async def network(stack: AsyncExitStack, count: int, options: Options = FAST) -> list[Node]:
    """Some nodes that know the first."""
    first = await stack.enter_async_context(Node(options=options))
    others = [
        await stack.enter_async_context(Node(bootstrap=[first.address], options=options)) for _ in range(1, count)
    ]
    await settled(first, *others)
    return [first, *others]


@alive
async def test_the_first_lines_of_a_newcomer() -> None:
    async with Node() as node, node.subscribe("news", "sport") as events:
        await node.publish(b"hello", topics=["news", "sport"])
        async for event in events:
            assert (event.payload, event.topics) == (b"hello", ("news", "sport"))
            break


@alive
async def test_everybody_who_follows_a_topic_gets_its_events_once_and_nobody_else_does() -> None:
    async with AsyncExitStack() as stack:
        nodes = await network(stack, 6)
        news = [node.subscribe("news") for node in nodes[:4]]
        sport = nodes[5].subscribe("sport")
        await settled(*nodes[:4], topic=NEWS)
        for number in range(20):
            await nodes[number % 4].publish(b"%d" % number, ["news"])
        for subscription in news:
            assert {event.payload for event in await read(subscription, 20)} == {b"%d" % n for n in range(20)}
        await nodes[0].publish(b"last", ["sport"])
        assert [event.payload for event in await read(sport, 1)] == [b"last"]
        assert all(not subscription._waiting for subscription in news)


@alive
async def test_an_event_on_several_topics_comes_once() -> None:
    async with AsyncExitStack() as stack:
        nodes = await network(stack, 4)
        both = [node.subscribe("news", "sport") for node in nodes]
        await settled(*nodes, topic=NEWS)
        await settled(*nodes, topic=SPORT)
        for number in range(10):
            await nodes[0].publish(b"%d" % number, ["news", "sport"])
        await nodes[0].publish(b"end", ["news"])
        for subscription in both:
            got = await read(subscription, 11)
            assert len({event.id for event in got}) == 11
            assert {event.topics for event in got if event.payload != b"end"} == {("news", "sport")}


@alive
async def test_publishing_to_a_topic_that_one_does_not_follow() -> None:
    async with AsyncExitStack() as stack:
        a, b, c = await network(stack, 3)
        events = c.subscribe("news")
        await eventually(lambda: c.driver.machine.finding.discovery.served)  # type: ignore[attr-defined]
        await a.publish(b"from outside", ["news"])
        (event,) = await read(events, 1)
        assert (event.payload, event.publisher, event.signed) == (b"from outside", a.id, False)
        assert not b.driver.machine.follows(NEWS)


@alive
async def test_publishing_to_a_topic_without_a_member_fails_loudly() -> None:
    async with AsyncExitStack() as stack:
        a, b = await network(stack, 2, replace(FAST, events=EventSettings(entry=0.3)))
        events = b.subscribe("news")
        with pytest.raises(UndeliverableError, match="did not get into 'nothing'") as failed:
            await a.publish(b"x", ["nothing", "news"])
        assert list(failed.value.failed) == ["nothing"]
        assert [event.payload for event in await read(events, 1)] == [b"x"]


@alive
async def test_a_mebibyte_is_carried_and_more_is_refused() -> None:
    async with AsyncExitStack() as stack:
        nodes = await network(stack, 3)
        subscriptions = [node.subscribe("news") for node in nodes]
        await settled(*nodes, topic=NEWS)
        large = bytes(range(256)) * 4096
        assert len(large) == 1 << 20
        await nodes[0].publish(large, ["news"])
        for subscription in subscriptions:
            assert (await read(subscription, 1))[0].payload == large
        with pytest.raises(UsageError, match="too large"):
            await nodes[0].publish(bytes(MOST_SAID + 1), ["news"])


# What is published together


@alive
async def test_what_is_published_in_one_breath_travels_as_one_event_and_comes_as_many() -> None:
    async with AsyncExitStack() as stack:
        a, b = await network(stack, 2)
        mine, others = a.subscribe("news"), b.subscribe("news")
        await settled(a, b, topic=NEWS)
        seen = len(a.driver.machine.events.seen)  # type: ignore[attr-defined]
        names = [await a.publish(payload, ["news"]) for payload in HUNDRED]
        here, there = await read(mine, 100), await read(others, 100)
        for events in (here, there):
            assert [event.payload for event in events] == HUNDRED
            assert [event.id for event in events] == names
        assert len({*names}) == 100
        assert len(a.driver.machine.events.seen) == seen + 1  # type: ignore[attr-defined]
        assert a.counts["published"] == b.counts["delivered"] == 100


@alive
async def test_what_is_on_other_topics_or_too_large_travels_by_itself_and_in_order() -> None:
    async with AsyncExitStack() as stack:
        a, b = await network(stack, 2)
        a.subscribe("news", "sport", when_full="drop-oldest")
        events = b.subscribe("news", "sport")
        await settled(a, b, topic=NEWS)
        await settled(a, b, topic=SPORT)
        large = bytes(TOGETHER_BYTES)
        said = [(b"1", "news"), (b"2", "news"), (large, "news"), (b"3", "news"), (b"4", "sport"), (b"5", "news")]
        for payload, topic in said:
            await a.publish(payload, [topic])
        got = await read(events, len(said))
        assert {(event.payload, event.topics[0]) for event in got} == {*said}
        parcels = {event.id.partition(".")[0] for event in got}
        assert len(parcels) == len(said) - 1


@alive
async def test_who_publishes_on_one_topic_and_another_in_turn_lets_others_have_theirs() -> None:
    async with Node() as node:
        node.subscribe("news", "sport", when_full="drop-oldest", buffer=1)
        turns = 0

        async def count() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        counting = asyncio.create_task(count())
        for number in range(1000):
            await node.publish(b"x", ["news" if number % 2 else "sport"])
        counting.cancel()
        assert turns >= 1000 // 16 - 1


@alive
@pytest.mark.parametrize(("size", "together"), [(10, MOST_TOGETHER), (1000, TOGETHER_BYTES // 1000)])
async def test_what_is_published_without_a_pause_travels_in_parcels_that_are_full(size: int, together: int) -> None:
    async with Node() as node:
        node.subscribe("news", when_full="drop-oldest", buffer=1)
        names = [await node.publish(bytes(size), ["news"]) for _ in range(10 * together)]
        assert len({name.partition(".")[0] for name in names}) == 10


@alive
async def test_what_is_published_just_before_leaving_or_following_no_longer_still_goes() -> None:
    async with AsyncExitStack() as stack:
        a, b = await network(stack, 2)
        mine, events = a.subscribe("news"), b.subscribe("news")
        await settled(a, b, topic=NEWS)
        await a.publish(b"before", ["news"])
        await mine.close()
        again = a.subscribe("news")
        await settled(a, b, topic=NEWS)
        await a.publish(b"last", ["news"])
        await a.leave()
        assert {event.payload for event in await read(events, 2)} == {b"before", b"last"}
        await again.close()


@alive
async def test_a_subscription_at_the_same_node_gets_what_is_published_between_its_beginning_and_its_end() -> None:
    async with Node() as node:
        first = node.subscribe("news")
        await node.publish(b"early", ["news"])
        second = node.subscribe("news")
        await node.publish(b"both", ["news"])
        await first.close()
        await node.publish(b"late", ["news"])
        assert [event.payload async for event in first] == [b"early", b"both"]
        assert [event.payload for event in await read(second, 2)] == [b"both", b"late"]


@alive
async def test_names_of_what_is_published_together_are_those_under_which_it_is_read() -> None:
    async with AsyncExitStack() as stack:
        a, b = await network(stack, 2)
        mine, events = a.subscribe("news"), b.subscribe("news")
        await settled(a, b, topic=NEWS)
        named = {await a.publish(payload, ["news"]): payload for payload in HUNDRED}
        assert {event.id: event.payload for event in await read(mine, 100)} == named
        assert {event.id: event.payload for event in await read(events, 100)} == named


@alive
@pytest.mark.parametrize("size", [1, 1000])
async def test_who_publishes_without_end_lets_others_have_their_turn(size: int) -> None:
    async with Node() as node:
        node.subscribe("news", when_full="drop-oldest", buffer=1)
        turns = 0

        async def others() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        task = asyncio.create_task(others())
        for _ in range(10 * MOST_TOGETHER):
            await node.publish(bytes(size), ["news"])
        task.cancel()
        assert turns >= 10


# Slow readers


HUNDRED = [b"%d" % number for number in range(100)]


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
        assert [event.payload for event in await read(events, 100)] == HUNDRED
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
    monkeypatch.setattr("ropewalk.engines.live.pressure.HELD_UP", 0.2)
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
        assert never._bytes < 9 * 1_048_576
        await never.close()
        assert not b.pressure.has_given_up(never)


@alive
async def test_a_reader_that_goes_on_reading_is_waited_for_however_slow_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ropewalk.engines.live.pressure.HELD_UP", 0.4)
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
            assert len(events._waiting) <= 2
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


# Whose events


@alive
async def test_signed_events_are_known_to_be_whose_they_are() -> None:
    async with AsyncExitStack() as stack:
        a, b = await network(stack, 2, replace(FAST, sign=True))
        events = b.subscribe("news", signed=True)
        await a.publish(b"mine", ["news"])
        (event,) = await read(events, 1)
        assert (event.signed, event.publisher) == (True, a.id)


@alive
async def test_who_wants_signed_events_gets_no_others_and_everybody_else_does() -> None:
    async with AsyncExitStack() as stack:
        a, b, c = await network(stack, 3)
        signer = await stack.enter_async_context(Node(bootstrap=[a.address], options=replace(FAST, sign=True)))
        await settled(signer)
        strict, lax, last = b.subscribe("news", signed=True), b.subscribe("news"), c.subscribe("news")
        a.subscribe("news")
        await settled(a, b, c, topic=NEWS)
        for number in range(2 * gate.MOST_REJECTED):
            await a.publish(b"%d" % number, ["news"])
        await signer.publish(b"signed", ["news"])
        assert [event.payload for event in await read(strict, 1)] == [b"signed"]
        for subscription in (lax, last):
            assert len(await read(subscription, 2 * gate.MOST_REJECTED + 1)) == 2 * gate.MOST_REJECTED + 1
        assert not strict._waiting
        assert "evicted" not in b.transport.endings  # whoever passed them on is not to blame


@alive
async def test_who_goes_on_sending_what_is_rejected_is_sent_away() -> None:
    async with AsyncExitStack() as stack:
        a, b = await network(stack, 2)
        b.subscribe("news")
        a.subscribe("news")
        await settled(a, b, topic=NEWS)
        b.validate("news", lambda _: "reject")
        await publish_apart(a, HUNDRED[: gate.MOST_REJECTED + 1], ["news"])
        await eventually(lambda: int(a.id, 16) not in b.transport.links)
        assert b.gate.counts["reject"] >= gate.MOST_REJECTED
        assert b.transport.endings["evicted"] == 1


@alive
async def test_an_event_is_judged_once_however_often_it_comes() -> None:
    let_in: list[int] = []
    before = gate.Gate(lambda sender, _: let_in.append(sender.id), lambda _, __: None, lambda _: None)
    asked, answer = [], asyncio.Event()

    async def judge(*_):
        asked.append(1)
        await answer.wait()
        return "accept"

    before.judges[NEWS] = judge
    push = Push(sealed(Identity.fresh(), (NEWS,), b"said", 1), (NEWS,), 1, False)
    for sender in range(5):
        before.receive(contract.Contact(sender), push)
    await eventually(lambda: asked)
    answer.set()
    await eventually(lambda: let_in == list(range(5)))
    before.receive(contract.Contact(5), push)
    assert let_in == list(range(6))
    assert len(asked) == 1


@alive
async def test_what_one_event_says_in_its_topics_is_not_taken_for_what_another_says_in_its_payload() -> None:
    """One of two topics, and of one: the bytes of both are the same, in the same order."""
    publisher, sender = Identity.fresh(), contract.Contact(7)
    let_in: list[tuple[int, ...]] = []
    before = gate.Gate(lambda _, push: let_in.append(push.event.topics), lambda _, __: None, lambda _: None)
    before.judges[NEWS] = lambda event, *_: "reject" if len(event.topics) > 1 else "accept"
    payload = b"\0other[]\0said"
    hidden = int.from_bytes(b"[]" + payload[:6], "big")
    of_one = contract.Event(1, publisher.id, (NEWS,), payload)
    of_two = contract.Event(1, publisher.id, (NEWS, hidden), payload[8:])
    before.receive(sender, Push(of_two, (NEWS,), 1, False))
    await eventually(lambda: before.counts == {"reject": 1})
    before.receive(sender, Push(of_one, (NEWS,), 1, False))
    await eventually(lambda: let_in == [(NEWS,)], "it was judged by what another says")


@alive
async def test_validators_accept_ignore_and_reject() -> None:
    async with AsyncExitStack() as stack:
        a, b, c = await network(stack, 3)
        subscriptions = [node.subscribe("news") for node in (a, b, c)]
        await settled(a, b, c, topic=NEWS)

        async def later(event):
            await asyncio.sleep(0)
            return {b"bad": "reject", b"dull": "ignore"}.get(event.payload, "accept")

        for node in (b, c):
            node.validate("news", later)
        for payload in (b"bad", b"dull", b"good"):
            await a.publish(payload, ["news"])
        for subscription in subscriptions[1:]:
            assert [event.payload for event in await read(subscription, 1)] == [b"good"]
        await eventually(lambda: b.gate.counts.get("reject") and b.gate.counts.get("ignore"))


@alive
async def test_what_one_node_has_no_use_for_still_gets_to_others_behind_it() -> None:
    async with AsyncExitStack() as stack:
        nodes = await network(stack, 5)
        events = [node.subscribe("news") for node in nodes]
        await settled(*nodes, topic=NEWS)
        for node in nodes[1:3]:
            node.validate("news", lambda event: "ignore" if event.payload.endswith(b"7") else "accept")
        for payload in HUNDRED:
            await nodes[0].publish(payload, ["news"])
        for place in (3, 4):
            assert {event.payload for event in await read(events[place], 100)} == {*HUNDRED}
        for place in (1, 2):
            assert {event.payload for event in await read(events[place], 90)} == {
                each for each in HUNDRED if not each.endswith(b"7")
            }


@alive
async def test_one_parcel_with_much_that_is_rejected_is_one_offence() -> None:
    async with AsyncExitStack() as stack:
        a, b = await network(stack, 2)
        events = b.subscribe("news")
        a.subscribe("news", when_full="drop-oldest", buffer=1)
        await settled(a, b, topic=NEWS)
        b.validate("news", lambda event: "accept" if event.payload == b"99" else "reject")
        for payload in HUNDRED:
            await a.publish(payload, ["news"])
        assert [event.payload for event in await read(events, 1)] == [b"99"]
        assert b.gate.counts == {"reject": 99}
        assert int(a.id, 16) in b.transport.links


@alive
@pytest.mark.parametrize("verdict", ["ignore", "reject"])
async def test_what_is_not_wanted_is_not_asked_for_again(verdict: gate.Verdict) -> None:
    async with AsyncExitStack() as stack:
        a, b = await network(stack, 2)
        a.subscribe("news")
        events = b.subscribe("news")
        await settled(a, b, topic=NEWS)
        b.validate("news", lambda event: verdict if event.payload == b"no" else "accept")
        await a.publish(b"no", ["news"])
        await eventually(lambda: b.gate.counts.get(verdict))
        kept = a.driver.machine.events  # type: ignore[attr-defined]
        turn = kept.turn
        await eventually(lambda: kept.turn > turn + 1)  # it has offered again what it keeps
        await a.publish(b"yes", ["news"])
        assert [event.payload for event in await read(events, 1)] == [b"yes"]
        assert b.gate.counts == {verdict: 1}
        assert b.id in {f"{node:016x}" for node in a.transport.links}


@alive
async def test_nobody_can_take_the_id_of_a_signed_event() -> None:
    publisher, sender = Identity.fresh(), contract.Contact(7)
    let_in: list[bytes] = []
    refused: list[int] = []
    before = gate.Gate(
        lambda _, push: let_in.append(push.event.payload),
        lambda _, event: refused.append(event),
        lambda _: None,
        clock=lambda: 1000.0,
    )
    genuine = signed(publisher, (NEWS,), b"said", 1_000_000_000)
    other = signed(Identity.fresh(), (NEWS,), b"other", 1_000_000_000)
    stale = signed(publisher, (NEWS,), b"old", 300_000_000)
    plain = sealed(publisher, (NEWS,), b"rubbish", 1)
    for forged in (
        replace(plain, id=genuine.id),
        replace(other, id=genuine.id),
        replace(other, publisher=publisher.id),
    ):
        before.receive(sender, Push(forged, (NEWS,), 1, False))
    await eventually(lambda: before.counts == {"forged": 3})
    before.receive(sender, Push(stale, (NEWS,), 1, False))
    before.receive(sender, Push(genuine, (NEWS,), 1, False))
    await eventually(lambda: let_in)
    assert (let_in, refused) == ([genuine.payload], [stale.id])
    await before.close()


@alive
async def test_what_is_said_twice_at_once_and_signed_is_two_events() -> None:
    async with AsyncExitStack() as stack:
        (node,) = await network(stack, 1, replace(FAST, sign=True))
        events = node.subscribe("news")
        for _ in range(10):
            await node.publish(b"same", ["news"])
        assert len({event.id for event in await read(events, 10)}) == 10


@alive
async def test_a_validator_that_fails_leaves_the_event_out() -> None:
    async with AsyncExitStack() as stack:
        a, b = await network(stack, 2)
        events = b.subscribe("news")
        a.subscribe("news")
        await settled(a, b, topic=NEWS)

        def failing(event):
            raise KeyError(event.payload)

        b.validate("news", failing)
        await a.publish(b"1", ["news"])
        await eventually(lambda: b.gate.counts.get("ignore"))
        b.validate("news", None)
        await a.publish(b"2", ["news"])
        assert [event.payload for event in await read(events, 1)] == [b"2"]


@alive
async def test_publishing_does_not_wait_for_ever_for_a_reader_at_the_same_node(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ropewalk.engines.live.readers.ROOM", 0.2)
    async with Node() as node:
        events = node.subscribe("news", buffer=1)
        await node.publish(b"1", ["news"])
        with pytest.raises(SlowConsumerError, match="at this very node has been full"):
            await node.publish(b"2", ["news"])
        waiting = asyncio.ensure_future(node.publish(b"3", ["news", "other"]))
        await asyncio.sleep(0)
        await events.close()
        await node.leave()
        with pytest.raises((NotRunningError, UndeliverableError)):
            await waiting


@alive
async def test_what_waits_for_one_slow_reader_holds_up_no_other_at_the_same_node() -> None:
    async with AsyncExitStack() as stack:
        a, b = await network(stack, 2)
        one, two = b.subscribe("news", buffer=1), b.subscribe("sport", buffer=1)
        a.subscribe("news", "sport", when_full="drop-oldest")
        await settled(a, b, topic=NEWS)
        await settled(a, b, topic=SPORT)
        await publish_apart(a, HUNDRED[:4], ["news", "sport"])
        await eventually(one.is_full)
        assert {event.payload for event in await read(two, 4)} == {*HUNDRED[:4]}
        assert len(await read(one, 1)) == 1


@alive
async def test_who_sends_faster_than_signatures_are_checked_waits_and_nothing_is_lost() -> None:
    async with AsyncExitStack() as stack:
        a, b = await network(stack, 2, replace(FAST, sign=True))
        events = b.subscribe("news", signed=True, buffer=5000)
        a.subscribe("news", when_full="drop-oldest", buffer=1)
        await settled(a, b, topic=NEWS)
        payloads = [b"%d" % number for number in range(3000)]
        publishing = asyncio.create_task(publish_apart(a, payloads, ["news"]))
        assert {event.payload for event in await read(events, len(payloads))} == {*payloads}
        await publishing
        assert not b.gate.counts


# Coming and going


@alive
async def test_who_closes_a_full_subscription_holds_up_nobody_any_more() -> None:
    async with AsyncExitStack() as stack:
        a, b = await network(stack, 2)
        a.subscribe("news", "sport")
        slow, other = b.subscribe("news", buffer=1), b.subscribe("sport")
        await settled(a, b, topic=NEWS)
        await settled(a, b, topic=SPORT)
        await publish_apart(a, HUNDRED[:4], ["news", "sport"])
        await eventually(slow.is_full)
        await slow.close()
        assert {event.payload for event in await read(other, 4)} == {b"0", b"1", b"2", b"3"}
        full = b.subscribe("news", buffer=1)
        await b.publish(b"first", ["news"])
        waiting = asyncio.create_task(b.publish(b"second", ["news"]))
        await eventually(full.is_full)
        await full.close()
        await waiting


@alive
async def test_a_bootstrap_node_that_does_not_answer_holds_up_nobody() -> None:
    async with AsyncExitStack() as stack:
        (a,) = await network(stack, 1)
        silent = stack.enter_context(socket.create_server(("127.0.0.1", 0)))  # it never takes a call
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        events = a.subscribe("news")
        b = await stack.enter_async_context(Node(bootstrap=[address, a.address, address], options=FAST))
        await b.publish(b"here", ["news"])
        assert [event.payload for event in await read(events, 1)] == [b"here"]


@alive
async def test_who_follows_publishes_and_leaves_at_once_is_heard() -> None:
    async with AsyncExitStack() as stack:
        a, b = await network(stack, 2)
        events = [node.subscribe("news") for node in (a, b)]
        await settled(a, b, topic=NEWS)
        async with Node(bootstrap=[a.address], options=FAST) as c, c.subscribe("news"):
            await c.publish(b"bye", ["news"])
        for each in events:
            assert [event.payload for event in await read(each, 1)] == [b"bye"]


@alive
async def test_a_bootstrap_node_that_is_not_there_is_waited_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ropewalk.engines.live.publishing.JOINED", 0.5)
    async with Node(bootstrap=["127.0.0.1:1"], options=FAST) as node:
        for _ in range(20):  # half a second in all
            with pytest.raises(UndeliverableError, match=r"127\.0\.0\.1:1: nobody listens there"):
                await node.publish(b"x", ["news"])
        assert asyncio.get_running_loop().time() - node._started_at < 5


@alive
async def test_who_starts_again_has_joined_nobody_yet() -> None:
    async with AsyncExitStack() as stack:
        (a,) = await network(stack, 1)
        b = await Node(bootstrap=[a.address], options=FAST).start()
        await b.joined.wait()
        b.validate("news", lambda _: "ignore")
        await b.leave()
        await a.leave()
        await b.start()
        try:
            assert not b.joined.is_set()
            assert list(b.gate.judges) == [NEWS]
        finally:
            await b.leave()


@alive
async def test_a_bootstrap_node_that_is_linked_already_is_left_alone() -> None:
    async with Node(options=FAST) as a, Node(options=FAST) as placeholder:
        later = placeholder.address
        await placeholder.leave()
        async with Node(bootstrap=[a.address, later, later], options=FAST) as x:
            await x.joined.wait()
            async with Node(listen=later, bootstrap=[a.address], options=FAST) as b:
                for node in (x, b):
                    node.subscribe("news")
                await settled(x, b, topic=NEWS)
                await eventually(lambda: len(x.driver.machine.finding.discovery.seeds) == 2)  # type: ignore[attr-defined]
                assert x.transport.endings.get("replaced", 0) == 0


@alive
async def test_a_node_that_is_told_of_itself_is_the_first_of_a_network() -> None:
    async with Node(options=FAST) as a:
        address = a.address
    async with Node(listen=address, bootstrap=[address], options=FAST) as first:
        await first.joined.wait()
        async with Node(bootstrap=[address], options=FAST) as second, Node(bootstrap=[address], options=FAST) as third:
            events = second.subscribe("news")
            await settled(second, third)
            await third.publish(b"x", ["news"])
            assert [event.payload for event in await read(events, 1)] == [b"x"]


@alive
async def test_a_bootstrap_node_may_come_back_as_somebody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ropewalk.engines.live.joining.RETRY", (0.2, 0.5))
    async with Node(options=FAST) as a:
        address = a.address
        b = await Node(bootstrap=[address], options=FAST).start()
        await b.joined.wait()
        events = b.subscribe("news")
    async with Node(listen=address, options=FAST) as other:
        await eventually(lambda: b.transport.links)
        await other.publish(b"here again", ["news"])
        assert [event.payload for event in await read(events, 1)] == [b"here again"]
    await b.leave()


@alive
async def test_leaving_can_be_cut_short_and_gone_on_with() -> None:
    async with AsyncExitStack() as stack:
        _, b = await network(stack, 2)
        events = b.subscribe("news")
        leaving = asyncio.ensure_future(b.leave())
        await asyncio.sleep(0)
        leaving.cancel()
        await asyncio.gather(leaving, return_exceptions=True)
        await b.leave()
        assert [event async for event in events] == []
        assert not b.transport.links


@alive
async def test_a_node_that_cannot_start_leaves_nothing_behind() -> None:
    before = asyncio.all_tasks()
    with pytest.raises(UsageError, match="must say where others reach it"):
        await Node(listen="0.0.0.0:0").start()
    assert asyncio.all_tasks() == before


@alive
async def test_unsubscribing_ends_events_and_only_the_last_reader_ends_the_topic() -> None:
    async with AsyncExitStack() as stack:
        a, b = await network(stack, 2)
        one, two = b.subscribe("news"), b.subscribe("news")
        a.subscribe("news")
        await settled(a, b, topic=NEWS)
        await one.close()
        await a.publish(b"1", ["news"])
        assert [event.payload for event in await read(two, 1)] == [b"1"]
        assert [event async for event in one] == []
        await two.close()
        assert not b.driver.machine.follows(NEWS)
        await eventually(lambda: not neighbours(a, NEWS))


@alive
async def test_a_node_that_comes_back_is_the_same_and_gets_what_it_missed(tmp_path: Path) -> None:
    kept = replace(FAST, identity=tmp_path)
    async with AsyncExitStack() as stack:
        a, b = await network(stack, 2)
        for node in (a, b):
            node.subscribe("news")
        async with Node(bootstrap=[a.address], options=kept) as first:
            first.subscribe("news")
            await settled(a, first, topic=NEWS)
            await a.publish(b"before", ["news"])
            name = first.id
        await eventually(lambda: int(name, 16) not in a.transport.links)
        await a.publish(b"meanwhile", ["news"])
        async with Node(bootstrap=[a.address], options=kept) as second:
            assert second.id == name
            events = second.subscribe("news")
            assert {event.payload for event in await read(events, 2)} == {b"before", b"meanwhile"}


@alive
async def test_a_bootstrap_node_may_come_later() -> None:
    async with Node(options=FAST) as a:
        address = a.address
    async with Node(bootstrap=[address], options=FAST) as b:
        events = b.subscribe("news")
        assert not b.joined.is_set()
        async with Node(listen=address, options=FAST) as again:
            await b.joined.wait()
            await again.publish(b"here", ["news"])
            assert [event.payload for event in await read(events, 1)] == [b"here"]


@alive
async def test_who_can_only_call_publishes_and_subscribes() -> None:
    async with AsyncExitStack() as stack:
        a, b = await network(stack, 2)
        inside = await stack.enter_async_context(Node(listen=None, bootstrap=[a.address], options=FAST))
        await settled(inside)
        outside_events, inside_events = b.subscribe("news"), inside.subscribe("news")
        await settled(b, inside, topic=NEWS)
        await inside.publish(b"out", ["news"])
        await b.publish(b"in", ["news"])
        assert {event.payload for event in await read(outside_events, 2)} == {b"out", b"in"}
        assert {event.payload for event in await read(inside_events, 2)} == {b"out", b"in"}


@alive
async def test_most_may_only_call_as_long_as_some_can_be_called() -> None:
    async with AsyncExitStack() as stack:
        reached = await network(stack, 2)
        hidden = [Node(listen=None, bootstrap=[reached[0].address], options=FAST) for _ in range(6)]
        nodes = [*reached, *[await stack.enter_async_context(node) for node in hidden]]
        subscriptions = [node.subscribe("news") for node in nodes]
        await settled(*nodes, topic=NEWS)
        for number in range(10):
            await nodes[-1 - number % 8].publish(b"%d" % number, ["news"])
        for subscription in subscriptions:
            assert {event.payload for event in await read(subscription, 10)} == {b"%d" % n for n in range(10)}


@alive
async def test_after_leaving_nothing_is_left() -> None:
    before = asyncio.all_tasks()
    node = Node(options=FAST)
    await node.start()
    events = node.subscribe("news")
    await node.leave()
    await node.leave()
    assert [event async for event in events] == []
    assert asyncio.all_tasks() == before
    with pytest.raises(NotRunningError, match="not running"):
        node.subscribe("news")
    with pytest.raises(NotRunningError):
        await node.publish(b"x", ["news"])


@alive
async def test_a_reader_that_is_cancelled_loses_nothing() -> None:
    async with Node(options=FAST) as node:
        events = node.subscribe("news")
        reading = asyncio.ensure_future(anext(events))
        await asyncio.sleep(0)
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        await node.publish(b"1", ["news"])
        assert [event.payload for event in await read(events, 1)] == [b"1"]


@alive
async def test_networks_with_different_secrets_do_not_meet() -> None:
    one, two = (replace(FAST, secret=secret) for secret in (b"one", b"two"))
    async with Node(options=one) as a, Node(bootstrap=[a.address], options=two) as b:
        await eventually(lambda: b.transport.endings.get("refused"))
        assert not b.joined.is_set()
        async with Node(bootstrap=[a.address], options=one) as c:
            await c.joined.wait()


@alive
async def test_a_list_of_public_keys_lets_nobody_else_in(tmp_path: Path) -> None:
    friend = Node(options=replace(FAST, identity=tmp_path))
    listed = replace(FAST, allow=frozenset({friend.public_key}))
    async with Node(options=listed) as a:
        async with Node(bootstrap=[a.address], options=FAST) as stranger:
            await eventually(lambda: stranger.transport.endings.get("refused"))
            assert not stranger.joined.is_set()
        async with Node(bootstrap=[a.address], options=replace(FAST, identity=tmp_path)) as known:
            await known.joined.wait()
            assert list(a.transport.links) == [known.identity.id]


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"heartbeat": 0.0}, "heartbeat is 0.0"),
        ({"allow": frozenset({"ff"})}, "is no public key"),
        ({"allow": frozenset({"x" * 64})}, "is no public key"),
    ],
)
def test_what_makes_no_sense_is_said(wrong: dict, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        Options(**wrong)


@alive
async def test_values_of_a_wrong_kind_are_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="must be a list of addresses"):
        Node(bootstrap="127.0.0.1:7000")
    with pytest.raises(UsageError, match="a secret is a str, but must be bytes"):
        Options(secret="text")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="names nobody"):
        Options(allow=frozenset())
    async with Node(options=Options(identity=str(tmp_path))) as node:  # type: ignore[arg-type]
        for wrong in (["news"], 1, "", "\udcff"):
            with pytest.raises(UsageError, match="a topic is"):
                node.subscribe(wrong)  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="a payload is a str, but must be bytes"):
            await node.publish("x", ["news"])  # type: ignore[arg-type]


@alive
async def test_what_makes_no_sense_of_a_node_is_said() -> None:
    with pytest.raises(UsageError, match="say HOST:PORT"):
        Node(bootstrap=["nowhere"])
    async with Node() as node:
        with pytest.raises(UsageError, match="has no topic"):
            node.subscribe()
        with pytest.raises(UsageError, match="must have from 1 to 64"):
            await node.publish(b"", [])
        with pytest.raises(UsageError, match="buffer is 0"):
            node.subscribe("news", buffer=0)
        with pytest.raises(UsageError, match="when_full is 'drop_oldest', but must be one of: wait"):
            node.subscribe("news", when_full="drop_oldest")  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="but must be a list of names"):
            await node.publish(b"", "news")

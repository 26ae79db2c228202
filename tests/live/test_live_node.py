"""Nodes as a program uses them, on real sockets."""

import asyncio
import socket
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from acquainted import FAST, HUNDRED, NEWS, SPORT, network
from alive import Node, Options, alive, eventually, neighbours, publish_apart, read, settled
from ropewalk.engines.live.api import NotRunningError
from ropewalk.engines.live.envelope import MOST_SAID
from ropewalk.engines.live.outgoing import UndeliverableError
from ropewalk.errors import UsageError
from ropewalk.protocols.dissemination.settings import Settings as EventSettings


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
        assert all(not subscription.arrived.count for subscription in news)


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
@pytest.mark.parametrize("never", [[], ["127.0.0.1:1"]])  # one that never answers keeps nobody from the others
async def test_a_bootstrap_node_may_come_back_as_somebody_else(
    never: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ropewalk.engines.live.joining.RETRY", (0.2, 0.5))
    async with Node(options=FAST) as a:
        address = a.address
        b = await Node(bootstrap=[address, *never], options=FAST).start()
        await b.joined.wait()
        events = b.subscribe("news")
    async with Node(listen=address, options=FAST) as other:
        await eventually(lambda: b.transport.links)
        await other.publish(b"here again", ["news"])
        assert [event.payload for event in await read(events, 1)] == [b"here again"]
    await b.leave()


@alive
async def test_who_leaves_says_on_which_topics_nobody_was_found(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("ropewalk.engines.live.leaving.HANDED_ON", 0.0)  # as long after it was published
    async with AsyncExitStack() as stack:
        a, b = await network(stack, 2)
        events = a.subscribe("news")
        async with b.subscribe("news", "sport", "chess"):
            await settled(a, b, topic=NEWS)
            await b.publish(b"heard", ["news", "sport"])
            assert [event.payload for event in await read(events, 1)] == [b"heard"]
        await b.leave()
    assert [record.getMessage() for record in caplog.records] == [
        "nobody was found to hear what was published here on 'sport'"
    ]


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

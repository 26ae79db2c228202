"""Nodes of Magnet and Scribe as a program uses them, on real sockets."""

import asyncio
import socket
from contextlib import AsyncExitStack, ExitStack
from dataclasses import replace
from itertools import pairwise

import pytest

from alive import Node, Options, alive, eventually, publish_apart, read
from ropewalk.engines.live import subscriptions
from ropewalk.engines.live.arrived import EVENT_BYTES, TOPIC_BYTES
from ropewalk.engines.live.identity import topic_of
from ropewalk.engines.live.metrics import as_text
from ropewalk.engines.live.options import LIVE_ON_RINGS
from ropewalk.engines.live.outgoing import UndeliverableError
from ropewalk.errors import UsageError
from ropewalk.protocols.dht.ring import Ring
from ropewalk.protocols.dissemination.settings import Settings as EventSettings
from ropewalk.protocols.magnet.settings import Settings as MagnetSettings
from ropewalk.protocols.scribe.node import Node as RingNode
from ropewalk.protocols.scribe.settings import Settings as ScribeSettings
from ropewalk.protocols.stan.settings import Settings as StanSettings
from ropewalk.protocols.trees import events

NEWS = topic_of("news")
QUICK = {
    "magnet": Options(protocol="magnet", settings=MagnetSettings(period=0.5, gather=0.1)),
    "scribe": Options(protocol="scribe", settings=replace(LIVE_ON_RINGS["scribe"], period=0.5)),
}
both = pytest.mark.parametrize("protocol", list(QUICK))


def free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        taken = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [each.getsockname()[1] for each in taken]


def machine(node: Node) -> RingNode:
    found = node.driver.machine
    assert isinstance(found, RingNode)
    return found


async def network(stack: AsyncExitStack, count: int, protocol: str) -> list[Node]:
    """Some nodes that know the first, each on its rings."""
    nodes: list[Node] = []
    for _ in range(count):
        known = [nodes[0].address] if nodes else []
        nodes.append(await stack.enter_async_context(Node(bootstrap=known, options=QUICK[protocol])))
    await eventually(lambda: all(ring.place is not None for node in nodes for ring in machine(node).rings()))
    return nodes


async def settled(*nodes: Node) -> None:
    """Until all are on the trees of what they follow."""
    await eventually(lambda: all(machine(node).awaited() == (0, 0) for node in nodes), "not on their trees")


def are_closed(nodes: list[Node]) -> bool:
    """Whether each knows who sits right before and right after it, on all rings."""
    return all(map(is_closed, zip(*(machine(node).rings() for node in nodes), strict=True)))


def is_closed(ring: tuple[Ring, ...]) -> bool:
    """The same of one ring, as each of its nodes keeps it."""
    if any(each.place is None for each in ring):
        return False
    in_order = sorted(ring, key=lambda each: each.place or b"")
    return all(
        [seat.contact.id for seat in before.successors[:1]] == [after.me.id]
        and after.predecessor is not None
        and after.predecessor.contact.id == before.me.id
        for before, after in pairwise([*in_order, in_order[0]])
    )


@both
@alive
async def test_everybody_who_follows_a_topic_gets_its_events_once_and_nobody_else_does(protocol: str) -> None:
    async with AsyncExitStack() as stack:
        nodes = await network(stack, 8, protocol)
        news = [node.subscribe("news") for node in nodes[:5]]
        sport = nodes[6].subscribe("sport")
        await settled(*nodes)
        for number in range(20):
            await nodes[number % 8].publish(b"%d" % number, ["news"])  # three of them do not follow it
        for subscription in news:
            assert {event.payload for event in await read(subscription, 20)} == {b"%d" % n for n in range(20)}
        await nodes[0].publish(b"both", ["news", "sport"])
        assert [event.payload for event in await read(sport, 1)] == [b"both"]
        for subscription in news:
            assert [event.topics for event in await read(subscription, 1)] == [("news",)]
        beats = machine(nodes[0]).beats
        await eventually(lambda: machine(nodes[0]).beats > beats + 2)  # neighbours have told each other what they have
        assert all(not subscription.arrived.count for subscription in news)
        own = [
            sum(number % 8 == place for number in range(20)) for place in range(8)
        ]  # what one publishes is not delivered
        own[0] += 1
        assert [node.counts["delivered"] for node in nodes] == [
            21 - own[at] if at < 5 else int(at == 6) for at in range(8)
        ]


@both
@alive
async def test_what_is_published_before_there_is_a_way_gets_there(protocol: str) -> None:
    async with AsyncExitStack() as stack:
        a = await stack.enter_async_context(Node(options=QUICK[protocol]))
        news = a.subscribe("news")
        async with Node(bootstrap=[a.address], options=QUICK[protocol]) as passing:
            await passing.publish(b"hello", ["news"])  # and is gone
        assert [event.payload for event in await read(news, 1)] == [b"hello"]


@pytest.mark.thorough
@both
@alive
async def test_all_may_be_told_of_all_and_none_be_the_first(protocol: str) -> None:
    places = [f"127.0.0.1:{port}" for port in free_ports(3)]
    async with AsyncExitStack() as stack:
        nodes = [await stack.enter_async_context(Node(place, places, QUICK[protocol])) for place in places]
        news = [node.subscribe("news") for node in nodes]
        await settled(*nodes)
        await nodes[1].publish(b"hello", ["news"])
        for subscription in news:
            assert [event.payload for event in await read(subscription, 1)] == [b"hello"]


@both
@alive
async def test_a_neighbour_that_dies_takes_nobody_with_it(protocol: str) -> None:
    async with AsyncExitStack() as stack:
        nodes = await network(stack, 7, protocol)
        news = [node.subscribe("news") for node in nodes]
        # before that several may take themselves for the home, and all may know nobody but the first, which may be the home
        await eventually(lambda: are_closed(nodes), "rings are not closed")
        await settled(*nodes)
        (home,) = [node for node in nodes if NEWS in machine(node).standing().roots]
        rest = [node for node in nodes if node is not home]
        home.driver.stop()  # no good-bye: its connections break
        for link in list(home.transport.links.values()):
            link.abort()
        await home.transport.close()
        for number in range(10):
            await rest[number % 6].publish(b"%d" % number, ["news"])
        for node, subscription in zip(nodes, news, strict=True):
            if node is not home:
                assert {event.payload for event in await read(subscription, 10)} == {b"%d" % n for n in range(10)}


async def cut_off(stack: AsyncExitStack, protocol: str, *, sign: bool = False) -> Node:
    """A node that follows news, and soon gives up; nobody answers it any more."""
    other = await stack.enter_async_context(Node(options=QUICK[protocol]))
    node = Node(bootstrap=[other.address], options=replace(QUICK[protocol], sign=sign))
    await stack.enter_async_context(node)
    node.subscribe("news")
    await eventually(lambda: all(ring.place is not None for each in (node, other) for ring in machine(each).rings()))
    await settled(node)
    mine = machine(node).events
    mine.settings = replace(mine.settings, patience=0.05, tries=2)
    other.driver.stop()
    return node


@both
@alive
async def test_what_does_not_get_into_a_topic_that_is_followed_is_counted_and_said(
    protocol: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with AsyncExitStack() as stack:
        node = await cut_off(stack, protocol)
        for payload in (b"one", b"two", b"three"):  # together
            await node.publish(payload, ["news"])
        await eventually(lambda: node.counts["undelivered"] == 3, "nobody hears of it")
        assert "ropewalk_undelivered_total 3" in as_text(node)
        (said,) = [record.getMessage() for record in caplog.records if "did not get into" in record.getMessage()]
        assert said.startswith(
            "an event did not get into 'news', which is followed here: the topic's home could not be"
        )


@both
@alive
async def test_what_is_too_much_for_now_on_a_topic_that_is_followed_is_refused(
    protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "MOST_SUBMITTED", 2)
    async with AsyncExitStack() as stack:
        node = await cut_off(stack, protocol, sign=True)  # each by itself
        for payload in (b"one", b"two"):
            await node.publish(payload, ["news"])
        with pytest.raises(UndeliverableError, match="'news': too many events are on their way already"):
            await node.publish(b"three", ["news"])


@alive
async def test_a_slow_reader_holds_up_nobody_and_misses_nothing_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subscriptions, "MOST_WAITING_BYTES", 40 * (2 + EVENT_BYTES + TOPIC_BYTES))
    monkeypatch.setattr(subscriptions, "PRESSED_BYTES", 20 * (2 + EVENT_BYTES + TOPIC_BYTES))
    hundred = [b"%02d" % number for number in range(100)]
    async with AsyncExitStack() as stack:
        nodes = await network(stack, 5, "scribe")
        slow = [node.subscribe("news", buffer=5) for node in nodes[:4]]
        quick = nodes[4].subscribe("news", buffer=200)
        sport = nodes[0].subscribe("sport")
        await settled(*nodes)
        reading = asyncio.create_task(read(quick, 100))
        await publish_apart(nodes[4], hundred, ["news"])
        await nodes[4].publish(b"goal", ["sport"])
        assert [event.payload for event in await read(sport, 1)] == [b"goal"]  # at a node that is behind with news
        assert {event.payload for event in await reading} == {*hundred}
        await eventually(lambda: all(subscription.dropped == 60 for subscription in slow), "not as many as are said")
        for subscription in slow:
            assert len({event.payload for event in await read(subscription, 40)}) == 40


@both
@alive
async def test_a_node_that_has_left_can_come_back(protocol: str) -> None:
    async with AsyncExitStack() as stack:
        nodes = await network(stack, 3, protocol)
        await nodes[2].leave()
        await nodes[2].start()
        again = nodes[2].subscribe("news")
        await settled(*nodes)
        await nodes[0].publish(b"hello", ["news"])
        assert [event.payload for event in await read(again, 1)] == [b"hello"]


@alive
async def test_nodes_of_other_protocols_stay_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ropewalk.engines.live.publishing.JOINED", 1.0)
    async with Node() as stan:
        async with Node(bootstrap=[stan.address], options=QUICK["magnet"]) as other:
            with pytest.raises(UndeliverableError, match="no bootstrap node could be reached"):
                await other.publish(b"hello", ["news"])
        assert not stan.transport.links


def test_another_protocol_brings_its_own_settings() -> None:
    changed = replace(Options(), protocol="magnet")
    assert changed.settings == LIVE_ON_RINGS["magnet"]
    assert replace(changed, protocol="stan") == Options()


@alive
async def test_who_cannot_be_called_from_where_the_network_is_says_so() -> None:
    node = Node("127.0.0.1:0", ["10.9.8.7:7000"], QUICK["magnet"])
    with pytest.raises(UsageError, match=r"10.9.8.7:7000 cannot call 127.0.0.1; have it listen where that can"):
        await node.start()


def test_whom_nobody_can_call_cannot_sit_on_a_ring() -> None:
    with pytest.raises(UsageError, match="nodes of magnet must be called by others"):
        Node(None, ["127.0.0.1:7000"], QUICK["magnet"])


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"protocol": "carrier-pigeon"}, "protocol 'carrier-pigeon' is not known"),
        ({"protocol": "flood"}, "protocol 'flood' has no nodes on sockets; choose one of: stan, magnet, scribe, kato."),
        (
            {"protocol": "magnet", "events": EventSettings(entry=9.0)},
            "how events travel from neighbour to neighbour plays no part in magnet",
        ),
        ({"protocol": "scribe", "settings": ScribeSettings(loss=0.1)}, "loss and churn are made up by simulations"),
        ({"protocol": "magnet", "settings": StanSettings()}, "settings are those of another protocol than magnet"),
    ],
)
def test_a_protocol_that_cannot_be(told: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Options(**told)  # type: ignore[arg-type]

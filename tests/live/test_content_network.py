"""Nodes that link by what they want, as a program uses them, on real sockets."""

from contextlib import AsyncExitStack
from dataclasses import replace
from typing import NamedTuple

import pytest

from alive import LONG, Node, Options, alive, alive_for, eventually, read
from ropewalk.engines.live import gate
from ropewalk.engines.live.envelope import signed, unseal
from ropewalk.engines.live.identity import Identity
from ropewalk.engines.live.options import LIVE_BY_CONTENT
from ropewalk.engines.live.outgoing import UndeliverableError
from ropewalk.errors import UsageError
from ropewalk.protocols.kato.node import Node as KatoNode
from ropewalk.seeds import chance, pick, unit

SPACE = "stock:8,price:0:100:10"
QUICK = Options(protocol="kato", space=SPACE, settings=replace(LIVE_BY_CONTENT, period=0.5))
STOCKS = ("ABC", "ACME", "XYZ")
MANY = 60


class Wish(NamedTuple):
    """A range, as the oracle knows it."""

    stock: str
    low: float
    high: float

    def where(self) -> str:
        return f"stock == {self.stock!r} and {self.low} <= price <= {self.high}"

    def has(self, stock: str, price: float) -> bool:
        return stock == self.stock and self.low <= price <= self.high


def machine(node: Node) -> KatoNode:
    found = node.driver.machine
    assert isinstance(found, KatoNode)
    return found


async def network(stack: AsyncExitStack, count: int, options: Options = QUICK) -> list[Node]:
    nodes: list[Node] = []
    for _ in range(count):
        known = [nodes[0].address] if nodes else []
        nodes.append(await stack.enter_async_context(Node(bootstrap=known, options=options)))
    for node in nodes:
        await node.joined.wait()
    return nodes


def linked(one: Node, other: Node) -> bool:
    return other.identity.id in machine(one).neighbours.around


async def crash(node: Node) -> None:
    """No good-bye: its connections break."""
    node.driver.stop()
    for link in list(node.transport.links.values()):
        link.abort()
    await node.transport.close()


@alive
async def test_events_reach_exactly_those_whose_filters_they_match() -> None:
    async with AsyncExitStack() as stack:
        nodes = await network(stack, 5)
        cheap = nodes[0].subscribe(where='stock == "ACME" and price < 25')
        dear = nodes[1].subscribe(where='stock == "ACME" and price >= 50')
        either = nodes[2].subscribe(where='stock in ("ACME", "XYZ") and 10 <= price <= 60')
        await eventually(lambda: linked(nodes[0], nodes[2]) and linked(nodes[1], nodes[2]), "not linked")
        for price in (12.5, 19.0, 28.0, 50.0, 60.5):
            await nodes[4].publish(str(price).encode(), content={"stock": "ACME", "price": price})
        await nodes[3].publish(b"xyz", content={"stock": "XYZ", "price": 15})
        assert {event.payload for event in await read(cheap, 2)} == {b"12.5", b"19.0"}
        assert {event.payload for event in await read(dear, 2)} == {b"50.0", b"60.5"}
        found = await read(either, 5)
        assert {event.payload for event in found} == {b"12.5", b"19.0", b"28.0", b"50.0", b"xyz"}
        (last,) = [event for event in found if event.payload == b"xyz"]
        assert (last.topics, last.content) == ((), {"stock": "XYZ", "price": 15.0})
        standing = machine(nodes[0]).standing()
        assert standing.by_cell >= 1  # 28 lies in a cell that the first range touches: it came, and was not handed out


@pytest.mark.thorough
@alive_for(3 * LONG)
async def test_a_network_of_ranges_delivers_what_an_oracle_says_across_the_crash_of_a_primary() -> None:
    wishes = [_wish(number % 20) for number in range(MANY)]  # three nodes each want the same
    async with AsyncExitStack() as stack:
        nodes = await network(stack, MANY)
        readers = [node.subscribe(where=wish.where()) for node, wish in zip(nodes, wishes, strict=True)]
        await eventually(lambda: all(len(machine(node).alike.orders) >= 3 for node in nodes), "no groups", LONG)
        await eventually(lambda: all(machine(node).awaited()[0] == 0 for node in nodes), "links are coming up", LONG)
        first = [await _publish(nodes[pick(chance(3, "publisher", turn), MANY)], turn) for turn in range(60)]
        victim = next(node for node in nodes[1:] if machine(node).alike.is_primary)
        await crash(victim)
        rest = [place for place, node in enumerate(nodes) if node is not victim]
        more = [await _publish(nodes[rest[pick(chance(4, "publisher", t), len(rest))]], t) for t in range(60, 120)]
        said = [*first, *more]
        for place in rest:
            expected = {turn for turn, (stock, price) in enumerate(said) if wishes[place].has(stock, price)}
            got = [int(event.payload) for event in await read(readers[place], len(expected))]
            assert sorted(got) == sorted(expected)
        left = [machine(nodes[place]).alike for place in rest]
        await eventually(lambda: not any(each.has(victim.identity.id) for each in left), "it is still in its group")
        assert all(
            not readers[place].arrived.count for place in rest
        )  # nothing came twice, nothing that nobody asked for


def _wish(number: int) -> Wish:
    ends = sorted(round(100 * unit(chance(1, "end", number, which)), 2) for which in range(2))
    return Wish(STOCKS[number % len(STOCKS)], *ends)


async def _publish(node: Node, turn: int) -> tuple[str, float]:
    stock, price = STOCKS[pick(chance(2, "stock", turn), 3)], round(100 * unit(chance(2, "price", turn)), 2)
    await node.publish(str(turn).encode(), content={"stock": stock, "price": price})
    return stock, price


@alive
async def test_a_subscription_that_changes_takes_its_links_with_it() -> None:
    async with AsyncExitStack() as stack:
        nodes = await network(stack, 4)
        first = nodes[0].subscribe(where='stock == "ACME" and price < 20')
        other = nodes[1].subscribe(where='stock == "ACME" and price < 20')
        await eventually(lambda: machine(nodes[0]).alike.has(nodes[1].identity.id), "not one group")
        second = nodes[0].subscribe(where='stock == "XYZ"')
        await eventually(lambda: not machine(nodes[1]).alike.has(nodes[0].identity.id), "still one group")
        await first.close()
        await eventually(lambda: len(machine(nodes[0]).topics) == 10, "cells that nobody wants")
        await nodes[3].publish(b"xyz", content={"stock": "XYZ", "price": 99.0})
        await nodes[3].publish(b"acme", content={"stock": "ACME", "price": 9.0})
        assert [event.payload for event in await read(second, 1)] == [b"xyz"]
        assert [event.payload for event in await read(other, 1)] == [b"acme"]
        assert first.left_over() is None


@alive
async def test_topics_are_cells_as_well() -> None:
    async with AsyncExitStack() as stack:
        nodes = await network(stack, 4)
        news = [node.subscribe("news") for node in nodes[:3]]
        await eventually(lambda: all(len(machine(node).alike.orders) == 3 for node in nodes[:3]), "no group")
        await nodes[3].publish(b"hello", ["news"])
        for subscription in news:
            assert [event.topics for event in await read(subscription, 1)] == [("news",)]


@alive
async def test_signed_content_is_what_was_signed() -> None:
    signing = replace(QUICK, sign=True)
    async with AsyncExitStack() as stack:
        nodes = await network(stack, 3, signing)
        wanted = nodes[1].subscribe(where="price > 5", signed=True)
        await nodes[2].publish(b"hello", content={"stock": "ACME", "price": 7})
        (event,) = await read(wanted, 1)
        assert (event.signed, event.content["price"]) == (True, 7.0)


def test_nobody_changes_what_a_signed_event_says_and_no_verdict_on_one_is_for_the_other() -> None:
    event = signed(Identity.fresh(), (7,), b"hello", 1_000_000, (("price", 12.0), ("stock", "ACME")))
    altered = replace(event, content=(("price", 99.0), ("stock", "ACME")))
    letter = unseal(event.payload)
    assert letter is not None
    assert letter.is_genuine(event)
    assert not letter.is_genuine(altered)
    assert gate._known_by(event) != gate._known_by(altered)


@alive
async def test_a_full_reader_holds_up_only_what_it_wants() -> None:
    async with Node(options=QUICK) as node:
        full = node.subscribe(where="price < 5", buffer=1)
        other = node.subscribe(where="5 <= price and price < 9")
        await node.publish(b"one", content={"stock": "ACME", "price": 1})
        assert full.is_full()
        await node.publish(b"seven", content={"stock": "ACME", "price": 7})  # of the same cell
        assert [event.payload for event in await read(other, 1)] == [b"seven"]


@alive
async def test_a_node_wants_so_many_cells_and_no_more() -> None:
    options = replace(QUICK, space="stock:8,price:0:100:1000")
    async with Node(options=options) as node:

        def want_all() -> None:
            for number in range(40):
                node.subscribe(where=f"stock == 'stock-{number}'")

        with pytest.raises(UsageError, match="at the most: use larger cells"):
            want_all()
        assert len(node._readers.by_topic) == 4000
        assert machine(node).topics.keys() == node._readers.by_topic.keys()


@alive
async def test_what_nobody_wants_is_counted_and_no_fault_unlike_a_topic_that_nobody_follows() -> None:
    async with AsyncExitStack() as stack:
        nodes = await network(stack, 2, replace(QUICK, events=replace(QUICK.events, entry=0.2, entries=1)))
        await nodes[0].publish(b"hello", content={"stock": "ACME", "price": 7})
        assert nodes[0].counts["unwanted"] == 1
        with pytest.raises(UndeliverableError, match="no member of the topic could be reached"):
            await nodes[0].publish(b"hello", ["news"])


@alive
async def test_what_cannot_be_wanted_or_said() -> None:
    async with Node(options=QUICK) as node, Node() as other:
        for wrong, said in (
            ("price <", "cannot be read"),
            ("volume > 3", "volume is not in the space"),
            ("price > 3 and price < 2", "can never hold"),
        ):
            with pytest.raises(UsageError, match=said):
                node.subscribe(where=wrong)
        with pytest.raises(UsageError, match="says nothing of price"):
            await node.publish(b"", content={"stock": "ACME"})
        with pytest.raises(UsageError, match="must be a number below 1e"):
            await node.publish(b"", content={"stock": "ACME", "price": 1e305})
        with pytest.raises(UsageError, match="drop one"):
            await node.publish(b"", ["news"], content={"stock": "ACME", "price": 1})
        with pytest.raises(UsageError, match="say one of them"):
            node.subscribe("news", where="price > 3")
        with pytest.raises(UsageError, match="say --protocol kato, not stan"):
            other.subscribe(where="price > 3")
        assert not node.driver.machine.held()


def test_a_space_goes_with_nodes_that_link_by_content() -> None:
    with pytest.raises(UsageError, match="space plays no part in stan"):
        Options(space=SPACE)
    with pytest.raises(UsageError, match="is no attribute"):
        Options(protocol="kato", space="price:0:1")
    assert Options(protocol="kato", space=SPACE).settings.space == SPACE


@alive
async def test_without_a_space_there_are_topics_only() -> None:
    async with Node(options=replace(QUICK, space="", settings=None)) as node:
        with pytest.raises(UsageError, match="needs a space, the same at all nodes"):
            node.subscribe(where="price > 3")

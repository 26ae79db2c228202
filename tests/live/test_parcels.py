"""What is published in one breath travels together, and comes as the events that it was."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from acquainted import HUNDRED, NEWS, SPORT, network
from alive import Node, alive, read, settled
from ropewalk.engines.live.envelope import MOST_TOGETHER, TOGETHER_BYTES, name_of
from ropewalk.engines.live.outgoing import IN_A_ROW


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
async def test_what_is_on_other_topics_or_too_large_travels_by_itself() -> None:
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
        together = {event.payload[:1]: event.id.partition(".")[0] for event in got}
        assert together[b"1"] == together[b"2"]
        assert together[b"3"] == together[b"5"]
        assert len({*together.values()}) == len(said) - 2


@alive
@pytest.mark.parametrize(("topics", "together"), [(2, MOST_TOGETHER), (1000, IN_A_ROW)])
async def test_who_publishes_on_one_topic_and_another_in_turn_lets_others_have_theirs(
    topics: int, together: int
) -> None:
    async with Node() as node:
        names = [f"topic {number}" for number in range(topics)]
        node.subscribe(*names, when_full="drop-oldest", buffer=1)
        turns = 0

        async def count() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        counting = asyncio.create_task(count())
        for number in range(2000):
            await node.publish(b"x", [names[number % topics]])
        counting.cancel()
        assert turns >= 2000 // together - 1


@alive
@pytest.mark.parametrize(("size", "together"), [(10, MOST_TOGETHER), (1000, TOGETHER_BYTES // 1000)])
async def test_what_is_published_without_a_pause_travels_in_parcels_that_are_full(size: int, together: int) -> None:
    async with Node() as node:
        node.subscribe("news", when_full="drop-oldest", buffer=1)
        names = [await node.publish(bytes(size), ["news"]) for _ in range(10 * together)]
        assert len({name.partition(".")[0] for name in names}) == 10


@alive
async def test_what_has_to_be_counted_by_itself_travels_alone() -> None:
    async with AsyncExitStack() as stack:
        a, b = await network(stack, 2)
        a.subscribe("news")
        events, published = b.subscribe("news"), list[int]()
        await settled(a, b, topic=NEWS)
        a.published = lambda event: published.append(event.id)
        saying = (a.publish_on(b"%d" % number, {NEWS: "news"}, alone=True) for number in range(5))
        names = await asyncio.gather(*saying)
        assert {event.id for event in await read(events, 5)} == set(names)
        assert list(map(name_of, published)) == names


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

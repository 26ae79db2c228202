"""How much is begun at a time: less where a node is behind with its own work."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from ropewalk.engines.live.turns import AT_FIRST, BEHIND, Turns

MOST = 16
LATE = st.sampled_from([0.0, BEHIND, BEHIND + 0.01, 10.0])
STEPS = st.lists(st.tuples(LATE, st.integers(0, 8), st.integers(0, 8)), max_size=20)


@given(STEPS)
def test_no_more_begin_than_are_allowed_and_all_have_their_turn(steps: list[tuple[float, int, int]]) -> None:
    async def played() -> None:
        turns = Turns(MOST)
        done, begun, ended = asyncio.Event(), list[int](), list[int]()
        tasks: list[asyncio.Task[None]] = []

        async def one(number: int) -> None:
            async with turns.taken():
                begun.append(number)
                await done.wait()
                ended.append(number)

        given_up = 0
        for late, more, fewer in steps:
            tasks += [asyncio.create_task(one(number)) for number in range(len(tasks), len(tasks) + more)]
            await asyncio.sleep(0)
            before = turns.under_way
            turns.look(late, 0.0)
            await asyncio.sleep(0)
            assert 1 <= turns.allowed <= MOST
            assert turns.under_way <= max(before, turns.allowed)
            for task in [task for task in tasks if not task.done()][:fewer]:
                given_up += task.cancel()
            await asyncio.gather(*(task for task in tasks if task.cancelling()), return_exceptions=True)
        done.set()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert len(ended) == len(tasks) - given_up
        assert turns.under_way == 0

    asyncio.run(played())


def test_who_is_behind_begins_half_as_much_and_one_more_whenever_it_is_not() -> None:
    turns = Turns(MOST)
    assert turns.allowed == AT_FIRST
    for _ in range(2 * MOST):
        turns.look(0.0, 0.0)
    assert turns.allowed == MOST
    allowed = [MOST]
    for _ in range(5):
        turns.look(2 * BEHIND, 1.0)
        allowed.append(turns.allowed)
    assert allowed == [16, 8, 4, 2, 1, 1]
    turns.look(BEHIND, 2.0)
    assert turns.allowed == 2


def test_it_is_known_since_when_a_node_was_behind() -> None:
    turns = Turns(MOST)
    assert not turns.was_behind(0.0)
    turns.look(2 * BEHIND, 10.0)
    turns.look(0.0, 11.0)
    assert turns.was_behind(10.0)
    assert not turns.was_behind(10.1)


async def _until(condition) -> None:
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110  any condition
            await asyncio.sleep(0.001)


def test_who_takes_long_holds_up_nobody_unless_the_node_is_behind_itself(monkeypatch) -> None:
    monkeypatch.setattr("ropewalk.engines.live.turns.PASSED_ON", 0.01)

    async def played() -> None:
        turns, begun = Turns(1), list[str]()

        async def one(name: str, ends: asyncio.Event) -> None:
            async with turns.taken():
                begun.append(name)
                await ends.wait()

        loop, never, last = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()
        turns.look(2 * BEHIND, loop.time() + 0.2)  # it is behind for a while from now on, and then no more
        silent = [asyncio.create_task(one(name, never)) for name in ("a", "b")]
        await _until(lambda: begun == ["a"])
        assert turns.was_behind(loop.time())
        await _until(lambda: begun == ["a", "b"])
        assert not turns.was_behind(loop.time())
        honest = asyncio.create_task(one("c", last))
        await _until(lambda: begun == ["a", "b", "c"])
        last.set()
        await honest
        for task in silent:
            task.cancel()
        await asyncio.gather(*silent, return_exceptions=True)
        assert turns.under_way == 0

    asyncio.run(played())

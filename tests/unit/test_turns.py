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
        turns = Turns(MOST, MOST)
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
    turns = Turns(MOST, MOST)
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
    turns = Turns(MOST, MOST)
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
        turns, begun = Turns(1, 2), list[str]()

        async def one(name: str, ends: asyncio.Event) -> None:
            async with turns.taken():
                begun.append(name)
                await ends.wait()

        loop, never, last = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()
        turns.look(2 * BEHIND, loop.time() + 1000.0)  # it is behind until it is said that it is not
        silent = [asyncio.create_task(one(name, never)) for name in ("a", "b")]
        await _until(lambda: begun == ["a"])
        for _ in range(10):
            await asyncio.sleep(0.01)
        assert begun == ["a"]
        turns._behind_at = float("-inf")
        await _until(lambda: begun == ["a", "b"])
        honest = asyncio.create_task(one("c", last))
        await _until(lambda: begun == ["a", "b", "c"])
        last.set()
        await honest
        for task in silent:
            task.cancel()
        await asyncio.gather(*silent, return_exceptions=True)
        assert turns.under_way == turns.passed_on == 0

    asyncio.run(played())


def test_no_more_turns_are_passed_on_at_a_time_than_may_be(monkeypatch) -> None:
    monkeypatch.setattr("ropewalk.engines.live.turns.PASSED_ON", 0.01)

    async def played() -> None:
        turns, begun = Turns(1, 2), list[int]()

        async def one(number: int) -> None:
            async with turns.taken():
                begun.append(number)
                await asyncio.Event().wait()

        silent = [asyncio.create_task(one(number)) for number in range(5)]
        await _until(lambda: len(begun) == 3)
        for _ in range(10):
            await asyncio.sleep(0.01)
        assert (begun, turns.passed_on, turns.under_way) == ([0, 1, 2], 2, 1)
        silent[0].cancel()
        await _until(lambda: begun == [0, 1, 2, 3])
        for task in silent:
            task.cancel()
        await asyncio.gather(*silent, return_exceptions=True)
        assert turns.under_way == turns.passed_on == 0

    asyncio.run(played())

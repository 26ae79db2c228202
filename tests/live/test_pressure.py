"""Who does not keep up: for how long others are held up for it."""

import gc
import weakref
from typing import cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from alive import alive, eventually
from ropewalk.engines.live.connection import Connection
from ropewalk.engines.live.pace import HELD_UP, MOST_PASSED_OVER, PASSED_OVER, STOOD_STILL, Pace, PassedOver
from ropewalk.engines.live.pressure import Pressure


class Slow:
    """Somebody who takes a little at every look."""

    is_pressed = is_behind = True

    def __init__(self, least: float = 0.0, a_look: int = 0, node: int | None = None) -> None:
        self.least, self.a_look, self.taken, self.node = least, a_look, 0, node

    @property
    def progress(self) -> int:
        self.taken += self.a_look
        return self.taken


class Held:
    """A link that may be held up."""

    def __init__(self) -> None:
        self.held = False

    def hold_up(self) -> None:
        self.held = True

    def go_on(self) -> None:
        self.held = False

    def is_held_up(self) -> bool:
        return self.held


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ropewalk.engines.live.pace.HELD_UP", 0.3)
    monkeypatch.setattr("ropewalk.engines.live.pressure.LOOK", 0.05)


@alive
@pytest.mark.parametrize(("least", "a_look"), [(0.0, 0), (1000.0, 0), (1000.0, 5)])
async def test_who_takes_too_little_is_given_up(quick: None, least: float, a_look: int) -> None:
    pressure, link, slow = Pressure(PassedOver()), Held(), Slow(least, a_look)
    pressure.press(slow, cast("Connection", link))
    assert link.is_held_up()
    await eventually(lambda: pressure.has_given_up(slow))
    assert not link.is_held_up()
    pressure.ease(slow)
    assert not pressure.has_given_up(slow)
    pressure.close()


@alive
@pytest.mark.parametrize(("least", "a_look"), [(0.0, 1), (1000.0, 100_000)])
async def test_who_takes_enough_is_waited_for(quick: None, least: float, a_look: int) -> None:
    pressure, link, slow = Pressure(PassedOver()), Held(), Slow(least, a_look)
    pressure.press(slow, cast("Connection", link))
    await eventually(lambda: slow.taken > 20 * a_look)  # looks, of which six are too many without progress
    assert link.is_held_up()
    assert not pressure.has_given_up(slow)
    slow.is_pressed = False
    await eventually(lambda: not link.is_held_up())
    pressure.press(slow, cast("Connection", link))
    slow.is_behind = False
    await eventually(lambda: not link.is_held_up())
    pressure.close()


@alive
async def test_a_neighbour_that_was_given_up_is_not_waited_for_when_it_comes_back(quick: None) -> None:
    pressure, link, slow = Pressure(PassedOver()), Held(), Slow(node=1)
    pressure.press(slow, cast("Connection", link))
    await eventually(lambda: pressure.has_given_up(slow))
    pressure.ease(slow)  # it has hung up
    pressure.press(Slow(node=1), cast("Connection", link))
    assert not link.is_held_up()
    pressure.press(Slow(node=2), cast("Connection", link))
    assert link.is_held_up()
    pressure.close()


@alive
async def test_a_link_that_ends_while_it_is_held_up_is_kept_no_longer() -> None:
    pressure, link, slow = Pressure(PassedOver()), Held(), Slow()
    pressure.press(slow, cast("Connection", link))
    kept = weakref.ref(link)
    pressure.gone(cast("Connection", link))
    del link
    gc.collect()
    assert kept() is None
    pressure.close()


@given(
    st.lists(st.tuples(st.floats(0.01, STOOD_STILL), st.integers(0, 1000)), max_size=30),
    st.sampled_from([0.0, 1.0, 100.0]),
)
def test_nobody_stops_who_grows_by_enough_at_each_look_and_everybody_who_does_not_for_long_enough(
    looks: list[tuple[float, int]], least: float
) -> None:
    pace, now, progress = Pace(least, 0, 0.0), 0.0, 0
    for seconds, more in looks:
        now += seconds
        progress += int(least * seconds) + 1 + more
        assert not pace.has_stopped(progress, now)
    for _ in range(10):
        now += HELD_UP / 10 + 0.001
        pace.look(now)
    assert pace.has_stopped(progress, now)
    assert not pace.has_stopped(progress + 1_000_000, now)


@given(st.floats(STOOD_STILL + 0.001, 1000.0), st.sampled_from([0.0, 100.0]))
@example(6.5 + 3 * 2**-50, 0.0)
def test_nobody_stops_while_the_node_itself_stands_still(seconds: float, least: float) -> None:
    pace = Pace(least, 0, 0.0)
    assert not pace.has_stopped(0, 0.5)
    now = 0.5 + seconds
    assert not pace.has_stopped(0, now)
    while now < 0.5 + seconds + HELD_UP - 1.1:
        now += 0.5
        assert not pace.has_stopped(0, now)  # it has as much time as if nothing had been
    assert any(pace.has_stopped(0, now + later) for later in (0.5, 1.0, 1.5))


def test_who_is_passed_over_is_so_for_a_while_and_no_more_are_remembered_than_there_is_room_for() -> None:
    passed = PassedOver()
    passed.add(1, 10.0)
    passed.add(1, 10.0)
    assert passed.times == 1  # once, as long as it is
    assert passed.has(1, 10.0 + 0.9 * PASSED_OVER)
    assert not passed.has(1, 10.0 + PASSED_OVER)
    assert not passed.has(2, 10.0)
    for node in range(2, 2 + MOST_PASSED_OVER):
        passed.add(node, 11.0)
    assert not passed.has(1, 11.0)
    assert passed.has(2, 11.0)


@alive
async def test_others_go_on_as_soon_as_there_is_room_for_a_little_and_how_fast_it_is_counts_from_the_beginning(
    quick: None,
) -> None:
    pressure, link, slow = Pressure(PassedOver()), Held(), Slow(least=1000.0)
    for _ in range(3):
        slow.is_pressed = True
        pressure.press(slow, cast("Connection", link))
        assert link.is_held_up()
        slow.is_pressed = False
        pressure.relieve(slow)
        assert not link.is_held_up()
    await eventually(lambda: pressure.has_given_up(slow))  # it has taken nothing since it first held up somebody
    slow.is_behind = False
    await eventually(lambda: not pressure.has_given_up(slow))
    pressure.close()

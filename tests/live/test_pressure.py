"""Who does not keep up: for how long others are held up for it."""

from typing import cast

import pytest

from alive import alive, eventually
from ropewalk.engines.live.connection import Connection
from ropewalk.engines.live.pressure import Pressure


class Slow:
    """Somebody who takes a little at every look."""

    is_pressed = True

    def __init__(self, least: float, a_look: int) -> None:
        self.least, self.a_look, self.taken = least, a_look, 0

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
    monkeypatch.setattr("ropewalk.engines.live.pressure.HELD_UP", 0.3)
    monkeypatch.setattr("ropewalk.engines.live.pressure.LOOK", 0.05)


@alive
@pytest.mark.parametrize(("least", "a_look"), [(0.0, 0), (1000.0, 0), (1000.0, 5)])
async def test_who_takes_too_little_is_given_up(quick: None, least: float, a_look: int) -> None:
    pressure, link, slow = Pressure(), Held(), Slow(least, a_look)
    pressure.press(slow, cast("Connection", link))
    assert link.is_held_up()
    await eventually(lambda: pressure.has_given_up(slow))
    assert not link.is_held_up()
    pressure.ease(slow)
    assert not pressure.has_given_up(slow)
    pressure.close()


@alive
@pytest.mark.parametrize(("least", "a_look"), [(0.0, 1), (1000.0, 1000)])
async def test_who_takes_enough_is_waited_for(quick: None, least: float, a_look: int) -> None:
    pressure, link, slow = Pressure(), Held(), Slow(least, a_look)
    pressure.press(slow, cast("Connection", link))
    await eventually(lambda: slow.taken > 20 * a_look)  # looks, of which six are too many without progress
    assert link.is_held_up()
    assert not pressure.has_given_up(slow)
    slow.is_pressed = False
    await eventually(lambda: not link.is_held_up())
    pressure.close()

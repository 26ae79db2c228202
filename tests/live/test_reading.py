"""How much is read in one turn of the loop; connections are stood for by what they are asked."""

import asyncio

import pytest

from alive import alive
from ropewalk.engines.live.reading import A_TURN, MOST_SECONDS, Ahead, Reading


class Line:
    """Notes what it reads, and in which turn of the loop."""

    def __init__(self, turn: list[int], takes: float = 0.0) -> None:
        self.ahead, self.turn, self.takes = Ahead(), turn, takes
        self.held_up = False
        self.read: list[tuple[int, bytes]] = []
        self.clock = [0.0]

    def is_read(self) -> bool:
        return not self.held_up

    def take_in(self, data: bytes) -> None:
        self.clock[0] += self.takes
        self.read.append((self.turn[0], data))

    def see_to_reading(self) -> None:
        pass

    @property
    def all(self) -> bytes:
        return b"".join(data for _, data in self.read)


async def turns(turn: list[int], count: int) -> None:
    for _ in range(count):
        turn[0] += 1
        await asyncio.sleep(0)


@alive
async def test_what_is_beyond_a_turn_waits_for_the_next_and_keeps_its_order() -> None:
    turn = [0]
    line, other, at = Line(turn), Line(turn), Reading()
    data = bytes(range(256)) * (3 * A_TURN // 256) + b"end"
    at.came(line, data)
    at.came(line, b"afterwards")
    at.came(other, b"short")
    assert [len(each) for _, each in line.read] == [A_TURN]
    assert other.all == b"short"
    await turns(turn, 6)
    assert line.all == data + b"afterwards"
    assert len({when for when, _ in line.read}) == len(line.read) == 5
    assert line.ahead.size == 0


@alive
async def test_after_some_time_the_others_are_read_in_the_next_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    turn, clock = [0], [0.0]
    monkeypatch.setattr("ropewalk.engines.live.reading.time.monotonic", lambda: clock[0])
    at = Reading()
    lines = [Line(turn, takes=0.6 * MOST_SECONDS) for _ in range(6)]
    for line in lines:
        line.clock = clock
        at.came(line, b"long to read")
    assert [line.all for line in lines] == [b"long to read"] * 2 + [b""] * 4
    await turns(turn, 5)
    assert [line.all for line in lines] == [b"long to read"] * 6
    first = [line.read[0][0] for line in lines]
    assert first == sorted(first)
    assert max(first.count(when) for when in first) == 2


@alive
async def test_who_is_held_up_is_not_read_until_it_goes_on() -> None:
    turn = [0]
    line, at = Line(turn), Reading()
    line.held_up = True
    at.came(line, b"one")
    at.came(line, b"two")
    await turns(turn, 3)
    assert line.read == []
    line.held_up = False
    at.go_on(line)
    await turns(turn, 3)
    assert line.all == b"onetwo"


@alive
async def test_if_too_much_waits_over_all_nobody_is_asked_for_more_until_half_of_it_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ropewalk.engines.live.reading.MOST_AHEAD_IN_ALL", 10 * A_TURN)
    turn, told = [0], list[bool]()
    at = Reading(lambda: told.append(at.is_crowded))
    lines = [Line(turn) for _ in range(4)]
    for line in lines:
        line.held_up = True
        at.came(line, bytes(3 * A_TURN))
    assert (told, at.ahead) == ([True], 12 * A_TURN)
    lines[0].held_up = False
    at.finish(lines[0])
    assert (told, at.ahead, lines[0].all) == ([True], 9 * A_TURN, bytes(3 * A_TURN))
    at.forget(lines[1])
    assert (told, at.ahead, lines[1].ahead.size) == ([True], 6 * A_TURN, 0)
    lines[2].held_up = False
    at.go_on(lines[2])
    await turns(turn, 4)
    assert (told, at.ahead) == ([True, False], 3 * A_TURN)

"""When what is said goes, and with what: the clock is the test's."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Coroutine
from functools import wraps

from hypothesis import given
from hypothesis import strategies as st

from ropewalk.engines.live.envelope import MOST_TOGETHER, TOGETHER_BYTES, Said, name_of
from ropewalk.engines.live.identity import Identity
from ropewalk.engines.live.outgoing import APART, IN_A_ROW, MOST_OPEN, Outgoing
from ropewalk.protocols.contract import Event

ONE, OTHER = (1,), (2, 3)
WHO = Identity.fresh()


class Clock(asyncio.SelectorEventLoop):
    """A loop on which time passes when it is told to."""

    now = 1000.0

    def time(self) -> float:
        return self.now


class Spoken:
    """Somebody who says things, and what of it has gone."""

    def __init__(self) -> None:
        self.gone: list[tuple[Event, Said]] = []
        self.outgoing = Outgoing(WHO, lambda event, said: self.gone.append((event, said)), sign=False)

    def said(self) -> list[tuple[tuple[int, ...], Said]]:
        return [(event.topics, said) for event, said in self.gone]


def on_a_clock(test: Callable[[Spoken, Clock], Coroutine[None, None, None]]) -> Callable[[], None]:
    @wraps(test)
    def tested() -> None:
        loop = Clock()
        try:
            loop.run_until_complete(test(Spoken(), loop))
        finally:
            loop.close()

    del tested.__wrapped__  # pytest would look for what the test takes
    return tested


async def turn() -> None:
    """All that is due is done."""
    await asyncio.sleep(0)
    await asyncio.sleep(0)


@on_a_clock
async def test_who_says_one_thing_now_and_then_never_waits(spoken: Spoken, clock: Clock) -> None:
    for number in range(5):
        spoken.outgoing.join(ONE, b"%d" % number)
        await turn()
        assert spoken.said()[-1] == (ONE, (b"%d" % number,))
        clock.now += APART
    assert len(spoken.gone) == 5


@on_a_clock
async def test_what_follows_closely_goes_together_a_little_later(spoken: Spoken, clock: Clock) -> None:
    names = []
    for each in (b"a", b"b", b"c"):
        names.append(name_of(*spoken.outgoing.join(ONE, each)))
        await turn()
        clock.now += APART / 4
    assert spoken.said() == [(ONE, (b"a",))]
    clock.now += APART / 2
    await turn()
    assert spoken.said() == [(ONE, (b"a",)), (ONE, (b"b", b"c"))]
    assert names == [name_of(event.id, place) for event, said in spoken.gone for place in range(len(said))]


@on_a_clock
async def test_topics_that_take_turns_do_not_keep_each_other_from_going_together(spoken: Spoken, clock: Clock) -> None:
    spoken.outgoing.join(ONE, b"first")
    await turn()
    for number in range(3):
        spoken.outgoing.join(ONE, b"%d" % number)
        spoken.outgoing.join(OTHER, b"%d" % number)
        await turn()
    clock.now += APART
    await turn()
    assert spoken.said()[1:] == [(ONE, (b"0", b"1", b"2")), (OTHER, (b"0", b"1", b"2"))]


@on_a_clock
async def test_a_full_parcel_waits_for_nothing(spoken: Spoken, clock: Clock) -> None:
    for number in range(MOST_TOGETHER):
        assert not spoken.outgoing.full, number
        spoken.outgoing.join(ONE, b"x")
    assert spoken.outgoing.full  # others have a turn
    assert [len(said) for _, said in spoken.said()] == [MOST_TOGETHER]
    spoken.outgoing.join(OTHER, bytes(TOGETHER_BYTES))
    assert len(spoken.gone) == 2


@on_a_clock
async def test_so_many_parcels_wait_and_no_more(spoken: Spoken, clock: Clock) -> None:
    spoken.outgoing.join(ONE, b"first")
    await turn()
    for topic in range(10, 10 + MOST_OPEN):
        spoken.outgoing.join((topic,), b"x")
    assert len(spoken.gone) == 1
    spoken.outgoing.join((9,), b"x")
    assert [topics for topics, _ in spoken.said()[1:]] == [(topic,) for topic in range(10, 10 + MOST_OPEN)]
    assert spoken.outgoing.waiting[0] == 1


@on_a_clock
async def test_who_begins_many_parcels_in_a_turn_lets_others_have_one(spoken: Spoken, clock: Clock) -> None:
    for topic in range(IN_A_ROW):
        assert not spoken.outgoing.full
        spoken.outgoing.join((topic,), b"x")
    assert spoken.outgoing.full


@on_a_clock
async def test_what_travels_alone_goes_after_what_was_said_before(spoken: Spoken, clock: Clock) -> None:
    for each in (b"a", b"b"):
        spoken.outgoing.join(ONE, each)
        await turn()
    spoken.outgoing.event(OTHER, b"alone")
    assert spoken.said() == [(ONE, (b"a",)), (ONE, (b"b",))]
    assert spoken.outgoing.waiting == (0, 0)


@on_a_clock
async def test_what_was_said_on_a_topic_goes_in_its_order_whatever_else_it_is_on(spoken: Spoken, clock: Clock) -> None:
    spoken.outgoing.join(ONE, b"first")
    await turn()
    for topics, payload in (((1,), b"1"), ((1, 2), b"2"), ((1,), b"3"), ((2, 1), b"4")):
        spoken.outgoing.join(topics, payload)
    spoken.outgoing.flush()
    assert [said for _, said in spoken.said()[1:]] == [(b"1",), (b"2",), (b"3",), (b"4",)]


@on_a_clock
async def test_where_one_thing_cannot_be_said_the_others_are(spoken: Spoken, clock: Clock) -> None:
    spoken.outgoing.join(ONE, b"first")
    await turn()
    say = spoken.outgoing.say

    def fails(event: Event, said: Said) -> None:
        if said == (b"wrong",):
            raise ValueError("wrong")
        say(event, said)

    spoken.outgoing.say = fails
    for topics, payload in ((OTHER, b"wrong"), (ONE, b"1"), ((9,), b"2")):
        spoken.outgoing.join(topics, payload)
    clock.set_exception_handler(lambda *_: None)
    clock.now += APART
    await turn()
    assert spoken.said()[1:] == [(ONE, (b"1",)), ((9,), (b"2",))]
    assert spoken.outgoing.waiting == (0, 0)


SAYING = st.tuples(st.sampled_from([ONE, OTHER, (4,)]), st.integers(0, TOGETHER_BYTES + 10))
PASSING = st.sampled_from([0.0, APART / 3, APART])


@given(st.lists(st.one_of(SAYING, PASSING), max_size=60))
def test_whatever_is_said_goes_once_in_order_within_bounds_and_soon(
    acts: list[tuple[tuple[int, ...], int] | float],
) -> None:
    async def play(spoken: Spoken, clock: Clock) -> None:
        given_, names, since = defaultdict[tuple[int, ...], list[bytes]](list), list[str](), 0.0
        for number, act in enumerate(acts):
            if isinstance(act, float):
                clock.now += act
                since += act
                await turn()
                if since >= APART:  # whatever waited was said before that
                    assert spoken.outgoing.waiting == (0, 0)
            else:
                topics, size = act
                payload = b"%d" % number + bytes(size)
                given_[topics].append(payload)
                names.append(name_of(*spoken.outgoing.join(topics, payload)))
                since = 0.0
            count, _ = spoken.outgoing.waiting
            assert count + sum(len(said) for _, said in spoken.gone) == len(names)
        spoken.outgoing.flush()
        went = defaultdict[tuple[int, ...], list[bytes | None]](list)
        for event, said in spoken.gone:
            went[event.topics] += said
            assert len(said) <= MOST_TOGETHER
            assert len(said) == 1 or sum(len(each or b"") for each in said) <= TOGETHER_BYTES
        assert went == given_
        assert {*names} == {name_of(event.id, place) for event, said in spoken.gone for place in range(len(said))}

    loop = Clock()
    try:
        loop.run_until_complete(play(Spoken(), loop))
    finally:
        loop.close()

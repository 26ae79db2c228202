"""Signed events that come again when their ids are forgotten: for want of room that may be seconds after they came."""

import asyncio
from random import Random

import pytest

from acquainted import FAST, NEWS
from alive import Node, alive, eventually
from attackers import CODEC, Attempt, Line
from ropewalk.engines.live import gate, replays
from ropewalk.engines.live.envelope import STALE, sealed, signed
from ropewalk.engines.live.frames import TOPICS, frame
from ropewalk.engines.live.identity import Identity
from ropewalk.engines.live.replays import NEVER, Replays
from ropewalk.engines.live.wire import fresh_topics
from ropewalk.protocols.contract import Contact, Event
from ropewalk.protocols.dissemination import node as dissemination
from ropewalk.protocols.dissemination.messages import Push
from ropewalk.protocols.dissemination.settings import Settings
from ropewalk.protocols.remembered import Remembered
from ropewalk.protocols.trees import events as trees

SENDER = Contact(7)
SECOND = 1_000_000  # microseconds
START = 1000.0  # seconds since 1970


def event(number: int, publisher: int = 1) -> Event:
    return Event(number, publisher, (NEWS,), b"")


def push(each: Event) -> Push:
    return Push(each, (NEWS,), 1, asked=False)


class Watched:
    """A gate before a machine that knows what it is told that it knows."""

    def __init__(self) -> None:
        self.let_in: list[int] = []
        self.refused: list[int] = []
        self.known: set[int] = set()
        self.forgot_before = NEVER
        self.gate = gate.Gate(
            lambda _, message: self.let_in.append(message.event.id),
            lambda _, number: self.refused.append(number),
            lambda _: None,
            clock=lambda: START,
        )
        self.gate.has_had = self.known.__contains__
        self.gate.forgot_before = lambda: self.forgot_before

    async def comes(self, each: Event) -> None:
        """It comes, and all that is about it is done."""
        before = len(self.let_in), len(self.refused)
        self.gate.receive(SENDER, push(each))
        await eventually(lambda: (len(self.let_in), len(self.refused)) != before)


def at(seconds: float, who: Identity, said: bytes = b"said") -> Event:
    return signed(who, (NEWS,), said, int((START + seconds) * SECOND))


@alive
async def test_what_is_signed_does_not_come_again_when_others_have_pushed_its_id_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Over sockets: it was delivered a second time as soon as 65,536 others had come, within two seconds."""
    monkeypatch.setattr(dissemination, "MOST_SEEN", 64)
    monkeypatch.setattr(dissemination, "MOST_KEPT", 16)
    async with Node(options=FAST) as victim:
        got = victim.subscribe("news", signed=True)
        host, port = victim.address.rsplit(":", 1)
        line = await Line.to(Attempt((host, int(port)), Random(1)))
        await line.enter()

        async def send(*events: Event) -> None:
            parts: list[bytes] = []
            for each in events:
                kind, body = CODEC.encode(push(each), line.numbers)
                fresh = fresh_topics(line.numbers)
                parts += [frame(TOPICS, fresh)] if fresh is not None else []
                parts.append(frame(kind, body))
            await line.send(b"".join(parts))

        honest = Identity.fresh()
        paid = signed(honest, (NEWS,), b"pay 100", int(victim.gate.clock() * SECOND))
        await send(paid)
        await eventually(lambda: got.arrived.count == 1)
        await send(*(sealed(line.identity, (NEWS,), b"", number) for number in range(100)))
        await eventually(lambda: victim.counts["delivered"] == 101)
        assert not victim.gate.has_had(paid.id)
        await send(paid)
        await eventually(lambda: victim.gate.counts.get("replayed") == 1)
        await send(signed(honest, (NEWS,), b"pay 7", int(victim.gate.clock() * SECOND)))
        await eventually(lambda: got.arrived.count == 2)
        assert victim.counts["delivered"] == 102
        assert victim.gate.counts == {"replayed": 1}
        line.writer.transport.abort()


@alive
async def test_what_the_machine_had_no_use_for_then_may_come_again() -> None:
    """As an event on a topic that was followed only later; unless so much has come since that it may have been forgotten."""
    there, one = Watched(), at(0.0, Identity.fresh())
    await there.comes(one)
    await there.comes(one)
    assert there.let_in == [one.id, one.id]
    there.forgot_before = asyncio.get_running_loop().time()
    await there.comes(one)
    assert (there.let_in, there.refused) == ([one.id, one.id], [one.id])
    there.known.add(one.id)
    await there.comes(one)  # a copy of what is known is let in, as ever
    assert there.let_in == [one.id] * 3
    await there.gate.close()


@alive
async def test_what_is_forgotten_here_as_well_is_known_by_when_its_signer_has_signed_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By the signer's own clock, which is far behind: others who sign a lot change nothing about that."""
    monkeypatch.setattr(replays, "MOST_LET_IN", 4)
    monkeypatch.setattr(gate, "MOST_JUDGED", 2)
    there, late, other = Watched(), Identity.fresh(), Identity.fresh()
    first, second, third = (at(seconds - 500.0, late, b"%d" % number) for number, seconds in enumerate((1, 2, 3)))
    await there.comes(second)
    for number in range(5):
        await there.comes(at(number, other))
    there.let_in.clear()
    await there.comes(second)
    await there.comes(first)  # it may have been there: nobody knows any more
    assert there.refused == [second.id, first.id]
    await there.comes(third)
    assert there.let_in == [third.id]
    assert there.gate.counts == {"replayed": 2}
    await there.gate.close()


@alive
async def test_who_did_not_sign_it_cannot_have_a_genuine_event_taken_for_one_that_comes_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Under its id, with a time of signing that is long past: what is not genuine is told to nobody."""
    monkeypatch.setattr(replays, "MOST_LET_IN", 1)
    there, who = Watched(), Identity.fresh()
    for number in range(3):
        await there.comes(at(number, who))
    genuine, old = at(5.0, who, b"new"), at(0.5, who, b"old")
    there.gate.receive(SENDER, push(Event(genuine.id, genuine.publisher, genuine.topics, old.payload)))
    await eventually(lambda: there.gate.counts == {"forged": 1})
    await there.comes(genuine)
    assert there.let_in[-1] == genuine.id
    assert not there.refused
    await there.gate.close()


def test_where_there_are_too_many_signers_it_is_by_when_they_were_let_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replays, "MOST_LET_IN", 2)
    monkeypatch.setattr(replays, "MOST_SIGNERS", 2)
    there = Replays()
    for number in range(6):
        there.let_in(event(number, publisher=number), int((START + number) * SECOND), float(number), START + number)
    for number in range(4):  # of 0 and 1 it is not known any more when they signed
        assert there.is_one(event(number, publisher=number), int((START + number) * SECOND), NEVER)
    assert there.is_one(event(9, publisher=9), int((START + 1) * SECOND), NEVER)  # in doubt
    assert not there.is_one(event(9, publisher=9), int((START + 1.5) * SECOND), NEVER)
    assert not there.is_one(event(10, publisher=3), int((START + 3.5) * SECOND), NEVER)


def test_signers_of_what_is_stale_are_forgotten_and_nobody_is_in_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replays, "MOST_LET_IN", 1)
    monkeypatch.setattr(replays, "MOST_SIGNERS", 1)
    there = Replays()
    for number in range(4):
        clock = START + number * (STALE + 1)
        there.let_in(event(number, publisher=number), int(clock * SECOND), float(number), clock)
    assert not there.is_one(event(9, publisher=9), int((START + 1) * SECOND), NEVER)


def test_machines_say_when_the_latest_came_that_they_had_no_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dissemination, "MOST_SEEN", 3)
    near = {SENDER.id: SENDER}
    machine = dissemination.Node(Settings(), lambda _: near, 0)
    for number in range(3):
        machine.receive(SENDER, push(event(number)), float(number))
    machine.tidy(machine.settings.seen + 0.5)  # the first is old: nothing is said of it
    assert not machine.knows(0)
    assert machine.forgot_before == NEVER
    for number in range(3, 6):
        machine.receive(SENDER, push(event(number)), 1000.0 + number)
    assert machine.forgot_before == 2.0
    seen = Remembered(3)
    gone = [trees._note(seen, number, float(number), machine.reached) for number in range(5)]
    assert gone == [None, None, None, 0.0, 1.0]

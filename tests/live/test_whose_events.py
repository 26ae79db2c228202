"""Events that are signed, and events that somebody objects to."""

import asyncio
import time
from contextlib import AsyncExitStack
from dataclasses import replace

import pytest

from acquainted import FAST, HUNDRED, NEWS, SPORT, network
from alive import Node, alive, eventually, publish_apart, read, settled
from ropewalk.engines.live import gate
from ropewalk.engines.live.api import NotRunningError
from ropewalk.engines.live.envelope import STALE, parcel, sealed, signed
from ropewalk.engines.live.identity import Identity
from ropewalk.engines.live.outgoing import UndeliverableError
from ropewalk.engines.live.subscriptions import SlowConsumerError
from ropewalk.protocols import contract
from ropewalk.protocols.content.filters import MOST_ATTRIBUTES
from ropewalk.protocols.dissemination.messages import Push


@alive
async def test_signed_events_are_known_to_be_whose_they_are() -> None:
    async with AsyncExitStack() as stack:
        a, b = await network(stack, 2, replace(FAST, sign=True))
        events = b.subscribe("news", signed=True)
        await a.publish(b"mine", ["news"])
        (event,) = await read(events, 1)
        assert (event.signed, event.publisher) == (True, a.id)


@alive
async def test_who_wants_signed_events_gets_no_others_and_everybody_else_does() -> None:
    async with AsyncExitStack() as stack:
        a, b, c = await network(stack, 3)
        signer = await stack.enter_async_context(Node(bootstrap=[a.address], options=replace(FAST, sign=True)))
        await settled(signer)
        strict, lax, last = b.subscribe("news", signed=True), b.subscribe("news"), c.subscribe("news")
        a.subscribe("news")
        await settled(a, b, c, topic=NEWS)
        for number in range(2 * gate.MOST_REJECTED):
            await a.publish(b"%d" % number, ["news"])
        await signer.publish(b"signed", ["news"])
        assert [event.payload for event in await read(strict, 1)] == [b"signed"]
        for subscription in (lax, last):
            assert len(await read(subscription, 2 * gate.MOST_REJECTED + 1)) == 2 * gate.MOST_REJECTED + 1
        assert not strict.arrived.count
        assert "evicted" not in b.transport.endings  # whoever passed them on is not to blame


@alive
async def test_who_goes_on_sending_what_is_rejected_is_sent_away() -> None:
    async with AsyncExitStack() as stack:
        a, b = await network(stack, 2)
        b.subscribe("news")
        a.subscribe("news")
        await settled(a, b, topic=NEWS)
        b.validate("news", lambda _: "reject")
        await publish_apart(a, HUNDRED[: gate.MOST_REJECTED + 1], ["news"])
        await eventually(lambda: int(a.id, 16) not in b.transport.links)
        assert b.gate.counts["reject"] >= gate.MOST_REJECTED
        assert b.transport.endings["evicted"] == 1


@alive
async def test_an_event_is_judged_once_however_often_it_comes() -> None:
    let_in: list[int] = []
    before = gate.Gate(lambda sender, _: let_in.append(sender.id), lambda _, __: None, lambda _: None)
    asked, answer = [], asyncio.Event()

    async def judge(*_):
        asked.append(1)
        await answer.wait()
        return "accept"

    before.judges[NEWS] = judge
    push = Push(sealed(Identity.fresh(), (NEWS,), b"said", 1), (NEWS,), 1, False)
    for sender in range(5):
        before.receive(contract.Contact(sender), push)
    await eventually(lambda: asked)
    answer.set()
    await eventually(lambda: let_in == list(range(5)))
    before.receive(contract.Contact(5), push)
    assert let_in == list(range(6))
    assert len(asked) == 1


@alive
async def test_what_one_event_says_in_its_topics_is_not_taken_for_what_another_says_in_its_payload() -> None:
    """One of two topics, and of one: the bytes of both are the same, in the same order."""
    publisher, sender = Identity.fresh(), contract.Contact(7)
    let_in: list[tuple[int, ...]] = []
    before = gate.Gate(lambda _, push: let_in.append(push.event.topics), lambda _, __: None, lambda _: None)
    before.judges[NEWS] = lambda event, *_: "reject" if len(event.topics) > 1 else "accept"
    payload = b"\0other[]\0said"
    hidden = int.from_bytes(b"[]" + payload[:6], "big")
    of_one = contract.Event(1, publisher.id, (NEWS,), payload)
    of_two = contract.Event(1, publisher.id, (NEWS, hidden), payload[8:])
    before.receive(sender, Push(of_two, (NEWS,), 1, False))
    await eventually(lambda: before.counts == {"reject": 1})
    before.receive(sender, Push(of_one, (NEWS,), 1, False))
    await eventually(lambda: let_in == [(NEWS,)], "it was judged by what another says")


@alive
async def test_validators_accept_ignore_and_reject() -> None:
    async with AsyncExitStack() as stack:
        a, b, c = await network(stack, 3)
        subscriptions = [node.subscribe("news") for node in (a, b, c)]
        await settled(a, b, c, topic=NEWS)

        async def later(event):
            await asyncio.sleep(0)
            return {b"bad": "reject", b"dull": "ignore"}.get(event.payload, "accept")

        for node in (b, c):
            node.validate("news", later)
        for payload in (b"bad", b"dull", b"good"):
            await a.publish(payload, ["news"])
        for subscription in subscriptions[1:]:
            assert [event.payload for event in await read(subscription, 1)] == [b"good"]
        await eventually(lambda: b.gate.counts.get("reject") and b.gate.counts.get("ignore"))


@alive
async def test_what_one_node_has_no_use_for_still_gets_to_others_behind_it() -> None:
    async with AsyncExitStack() as stack:
        nodes = await network(stack, 5)
        events = [node.subscribe("news") for node in nodes]
        await settled(*nodes, topic=NEWS)
        for node in nodes[1:3]:
            node.validate("news", lambda event: "ignore" if event.payload.endswith(b"7") else "accept")
        for payload in HUNDRED:
            await nodes[0].publish(payload, ["news"])
        for place in (3, 4):
            assert {event.payload for event in await read(events[place], 100)} == {*HUNDRED}
        for place in (1, 2):
            assert {event.payload for event in await read(events[place], 90)} == {
                each for each in HUNDRED if not each.endswith(b"7")
            }


@alive
async def test_one_parcel_with_much_that_is_rejected_is_one_offence() -> None:
    async with AsyncExitStack() as stack:
        a, b = await network(stack, 2)
        events = b.subscribe("news")
        a.subscribe("news", when_full="drop-oldest", buffer=1)
        await settled(a, b, topic=NEWS)
        b.validate("news", lambda event: "accept" if event.payload == b"99" else "reject")
        for payload in HUNDRED:
            await a.publish(payload, ["news"])
        assert [event.payload for event in await read(events, 1)] == [b"99"]
        assert b.gate.counts == {"reject": 99}
        assert int(a.id, 16) in b.transport.links


@alive
@pytest.mark.parametrize("verdict", ["ignore", "reject"])
async def test_what_is_not_wanted_is_not_asked_for_again(verdict: gate.Verdict) -> None:
    async with AsyncExitStack() as stack:
        a, b = await network(stack, 2)
        a.subscribe("news")
        events = b.subscribe("news")
        await settled(a, b, topic=NEWS)
        b.validate("news", lambda event: verdict if event.payload == b"no" else "accept")
        await a.publish(b"no", ["news"])
        await eventually(lambda: b.gate.counts.get(verdict))
        kept = a.driver.machine.events  # type: ignore[attr-defined]
        turn = kept.turn
        await eventually(lambda: kept.turn > turn + 1)  # it has offered again what it keeps
        await a.publish(b"yes", ["news"])
        assert [event.payload for event in await read(events, 1)] == [b"yes"]
        assert b.gate.counts == {verdict: 1}
        assert b.id in {f"{node:016x}" for node in a.transport.links}


@alive
async def test_nobody_can_take_the_id_of_a_signed_event() -> None:
    publisher, sender = Identity.fresh(), contract.Contact(7)
    let_in: list[bytes] = []
    refused: list[int] = []
    before = gate.Gate(
        lambda _, push: let_in.append(push.event.payload),
        lambda _, event: refused.append(event),
        lambda _: None,
        clock=lambda: 1000.0,
    )
    genuine = signed(publisher, (NEWS,), b"said", 1_000_000_000)
    other = signed(Identity.fresh(), (NEWS,), b"other", 1_000_000_000)
    stale = signed(publisher, (NEWS,), b"old", 300_000_000)
    plain = sealed(publisher, (NEWS,), b"rubbish", 1)
    for forged in (
        replace(plain, id=genuine.id),
        replace(other, id=genuine.id),
        replace(other, publisher=publisher.id),
    ):
        before.receive(sender, Push(forged, (NEWS,), 1, False))
    await eventually(lambda: before.counts == {"forged": 3})
    before.receive(sender, Push(stale, (NEWS,), 1, False))
    before.receive(sender, Push(genuine, (NEWS,), 1, False))
    await eventually(lambda: let_in)
    assert (let_in, refused) == ([genuine.payload], [stale.id])
    await before.close()


@alive
async def test_what_is_said_twice_at_once_and_signed_is_two_events() -> None:
    async with AsyncExitStack() as stack:
        (node,) = await network(stack, 1, replace(FAST, sign=True))
        events = node.subscribe("news")
        for _ in range(10):
            await node.publish(b"same", ["news"])
        assert len({event.id for event in await read(events, 10)}) == 10


@alive
async def test_a_validator_that_fails_leaves_the_event_out() -> None:
    async with AsyncExitStack() as stack:
        a, b = await network(stack, 2)
        events = b.subscribe("news")
        a.subscribe("news")
        await settled(a, b, topic=NEWS)

        def failing(event):
            raise KeyError(event.payload)

        b.validate("news", failing)
        await a.publish(b"1", ["news"])
        await eventually(lambda: b.gate.counts.get("ignore"))
        b.validate("news", None)
        await a.publish(b"2", ["news"])
        assert [event.payload for event in await read(events, 1)] == [b"2"]


@alive
@pytest.mark.parametrize("said", [None, "accepted", 1, ""])
async def test_a_validator_that_says_something_else_leaves_the_event_out_and_the_gate_open(
    said: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "MOST_AT_WORK", 2)
    async with AsyncExitStack() as stack:
        a, b = await network(stack, 2)
        events = b.subscribe("news")
        a.subscribe("news")
        await settled(a, b, topic=NEWS)

        async def wrong(_):
            return said

        b.validate("news", wrong)
        for number in range(6):
            await publish_apart(a, [b"%d" % number], ["news"])
            await eventually(lambda number=number: b.gate.counts.get("ignore") == number + 1)  # type: ignore[misc]
        assert b.gate.counts == {"ignore": 6}
        b.validate("news", lambda _: "accept")
        await a.publish(b"at last", ["news"])
        assert [event.payload for event in await read(events, 1)] == [b"at last"]


@alive
async def test_an_event_that_cannot_be_judged_is_counted_with_its_copies_and_in_the_way_of_nobody() -> None:
    let_in: list[int] = []
    before = gate.Gate(lambda sender, _: let_in.append(sender.id), lambda _, __: None, lambda _: None)
    before.clock = lambda: 1 / 0
    before.judges[NEWS] = lambda *_: "accept"
    push = Push(sealed(Identity.fresh(), (NEWS,), b"said", 1), (NEWS,), 1, False)
    for sender in range(3):
        before.receive(contract.Contact(sender), push)
    await eventually(lambda: before.counts)
    assert before.counts == {"not judged": 3}
    assert not let_in
    assert not before._at_work
    assert not before._work_bytes


@alive
async def test_copies_of_what_is_being_judged_hold_up_who_sends_them_by_what_they_take() -> None:
    held_up: list[int] = []
    verdict = asyncio.get_running_loop().create_future()
    before = gate.Gate(lambda *_: None, lambda *_: None, lambda _: None)
    before.hold_up = lambda sender: held_up.append(sender.id)
    before.judges[NEWS] = lambda *_: verdict
    topics = (NEWS, *range(gate.MOST_COPIES - 1))
    sent = 0
    while not held_up:
        push = Push(sealed(Identity.fresh(), topics, b"", 1 + sent // 50), topics, 1, False)
        push = Push(replace(push.event, publisher=1), topics, 1, False)
        before.receive(contract.Contact(sent), push)
        sent += 1
    # some two and a half kilobytes each, mostly topics
    assert sent == pytest.approx(gate.BUSY * gate.MOST_AT_WORK_BYTES / (256 + 40 * len(topics)), rel=0.01)
    assert held_up == [sent - 1]
    verdict.set_result("accept")
    await eventually(lambda: not before._at_work)
    assert not before._work_bytes
    await before.close()


@alive
async def test_a_node_that_stood_still_does_not_take_a_reader_for_too_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ropewalk.engines.live.readers.ROOM", 0.3)
    monkeypatch.setattr("ropewalk.engines.live.readers.STOOD_STILL", 0.1)
    async with Node() as node:
        events = node.subscribe("news", buffer=1)
        await node.publish(b"1", ["news"])
        waiting = asyncio.ensure_future(node.publish(b"2", ["news"]))
        for _ in range(10):
            await asyncio.sleep(0)  # it has begun to wait
        time.sleep(1.0)  # noqa: ASYNC251  the loop stands still
        await asyncio.sleep(0.05)
        assert not waiting.done()
        assert [event.payload for event in await read(events, 2)] == [b"1", b"2"]
        await waiting


@alive
async def test_publishing_does_not_wait_for_ever_for_a_reader_at_the_same_node(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ropewalk.engines.live.readers.ROOM", 0.2)
    async with Node() as node:
        events = node.subscribe("news", buffer=1)
        await node.publish(b"1", ["news"])
        with pytest.raises(SlowConsumerError, match="at this very node has been full"):
            await node.publish(b"2", ["news"])
        waiting = asyncio.ensure_future(node.publish(b"3", ["news", "other"]))
        await asyncio.sleep(0)
        await events.close()
        await node.leave()
        with pytest.raises((NotRunningError, UndeliverableError)):
            await waiting


@alive
async def test_what_waits_for_one_slow_reader_holds_up_no_other_at_the_same_node() -> None:
    async with AsyncExitStack() as stack:
        a, b = await network(stack, 2)
        one, two = b.subscribe("news", buffer=1), b.subscribe("sport", buffer=1)
        a.subscribe("news", "sport", when_full="drop-oldest")
        await settled(a, b, topic=NEWS)
        await settled(a, b, topic=SPORT)
        await publish_apart(a, HUNDRED[:4], ["news", "sport"])
        await eventually(one.is_full)
        assert {event.payload for event in await read(two, 4)} == {*HUNDRED[:4]}
        assert len(await read(one, 1)) == 1


@alive
async def test_who_sends_faster_than_signatures_are_checked_waits_and_nothing_is_lost() -> None:
    async with AsyncExitStack() as stack:
        a, b = await network(stack, 2, replace(FAST, sign=True))
        events = b.subscribe("news", signed=True, buffer=5000)
        a.subscribe("news", when_full="drop-oldest", buffer=1)
        await settled(a, b, topic=NEWS)
        payloads = [b"%d" % number for number in range(3000)]
        publishing = asyncio.create_task(publish_apart(a, payloads, ["news"]))
        assert {event.payload for event in await read(events, len(payloads))} == {*payloads}
        await publishing
        assert not b.gate.counts


@alive
async def test_what_was_let_in_is_not_let_in_again_when_its_id_is_forgotten() -> None:
    """Verdicts are remembered for longer than ids are."""
    let_in: list[int] = []
    refused: list[int] = []
    now = [1000.0]
    before = gate.Gate(
        lambda _, push: let_in.append(push.event.id),
        lambda _, event: refused.append(event),
        lambda _: None,
        clock=lambda: now[0],
    )
    event = signed(Identity.fresh(), (NEWS,), b"said", 1_000_000_000)
    push = Push(event, (NEWS,), 1, False)
    before.receive(contract.Contact(7), push)
    await eventually(lambda: let_in == [event.id])
    now[0] += STALE
    before.receive(contract.Contact(7), push)
    assert let_in == [event.id, event.id]  # the machine knows it
    now[0] += 1.0
    before.receive(contract.Contact(7), push)
    assert (let_in, refused, before.counts) == ([event.id, event.id], [event.id], {"ignore": 1})
    await before.close()


@alive
async def test_what_is_said_by_name_is_bounded_and_counted_before_it_is_judged() -> None:
    let_in: list[int] = []
    before = gate.Gate(lambda _, push: let_in.append(push.event.id), lambda _, __: None, lambda _: None)
    answer = asyncio.Event()

    async def judge(*_):
        await answer.wait()
        return "accept"

    before.judges[NEWS] = judge
    publisher = Identity.fresh()
    by_name = tuple((f"name {number:05}", "x") for number in range(8192))
    for number, content in enumerate((by_name, by_name[: MOST_ATTRIBUTES + 1], by_name[:MOST_ATTRIBUTES])):
        before.receive(contract.Contact(7), Push(sealed(publisher, (NEWS,), b"", number, content), (NEWS,), 1, False))
    assert before.counts == {"too much said by name": 2}
    assert before._work_bytes > MOST_ATTRIBUTES * 256
    answer.set()
    await eventually(lambda: let_in == [2])
    assert before._work_bytes == 0
    together = parcel(publisher, (NEWS,), [b"1", b"2"], 9)
    before.receive(contract.Contact(7), Push(replace(together, content=by_name[:1]), (NEWS,), 1, False))
    assert before.counts["forged"] == 1  # nobody who keeps the rules says several things by one name
    await before.close()


@alive
async def test_a_validator_whose_own_work_is_cancelled_leaves_the_event_out_and_says_so() -> None:
    let_in: list[int] = []
    before = gate.Gate(lambda sender, _: let_in.append(sender.id), lambda *_: None, lambda _: None)
    work = asyncio.get_running_loop().create_future()
    before.judges[NEWS] = lambda *_: work
    push = Push(sealed(Identity.fresh(), (NEWS,), b"said", 1), (NEWS,), 1, False)
    for sender in range(3):
        before.receive(contract.Contact(sender), push)
    await eventually(lambda: before._at_work)
    await asyncio.sleep(0)
    work.cancel()
    await eventually(lambda: before.counts)
    assert before.counts == {"ignore": 3}
    assert not let_in
    before.judges[NEWS] = lambda *_: asyncio.get_running_loop().create_future()
    push = Push(sealed(Identity.fresh(), (NEWS,), b"another", 2), (NEWS,), 1, False)
    before.receive(contract.Contact(1), push)
    await asyncio.sleep(0)
    await before.close()  # which is what cancels it then, and it ends
    assert not before._at_work
    assert before.counts == {"ignore": 3}


@alive
@pytest.mark.parametrize(
    ("topics", "follows", "publisher", "blamed"),
    [
        ((SPORT,), False, 1, False),  # on a topic that nobody objects on: it cannot know
        ((NEWS,), False, 1, True),
        ((NEWS, SPORT), False, 1, True),
        ((SPORT,), True, 1, True),  # it is known to follow the other, whatever it says
        ((SPORT,), False, 2, True),  # it is who has published it
    ],
)
async def test_who_only_passes_on_what_is_rejected_on_a_topic_that_it_does_not_follow_is_not_to_blame(
    topics: tuple[int, ...], follows: bool, publisher: int, blamed: bool
) -> None:
    sent_away: list[int] = []
    before = gate.Gate(lambda *_: None, lambda *_: None, lambda sender: sent_away.append(sender.id))
    before.judges |= {NEWS: lambda *_: "reject", SPORT: lambda *_: "accept"}
    before.follows = lambda node, topic: follows and (node, topic) == (2, NEWS)
    for number in range(gate.MOST_REJECTED):
        event = sealed(Identity.fresh(), (NEWS, SPORT), b"%d" % number, number)
        for _ in range(2):  # also when the verdict is remembered
            before.receive(contract.Contact(2), Push(replace(event, publisher=publisher), topics, 1, False))
    await eventually(lambda: before.counts.get("reject", 0) == 2 * gate.MOST_REJECTED)
    assert bool(sent_away) == blamed
    assert set(sent_away) <= {2}

"""One node's discovery, input by input: what it believes, what it ignores, and when it tries again."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.errors import UsageError
from ropewalk.protocols.contract import Contact, Effect, Send, SetTimer
from ropewalk.protocols.discovery.messages import Found, Seek, Serve, Served, Unserve, is_sound
from ropewalk.protocols.discovery.node import Announce, Node, Overdue, Rejoin
from ropewalk.protocols.discovery.settings import (
    FEWEST_OPEN,
    FIRST_OPEN,
    MOST_ASKED,
    MOST_CLOSER,
    MOST_LOOKUPS,
    MOST_NAMED,
    MOST_OPEN,
    MOST_SERVING,
    Settings,
)
from ropewalk.protocols.discovery.tags import tag
from ropewalk.protocols.links import Links

ME, SEED, OTHER = Contact(1 << 40), Contact(1 << 41), Contact(1 << 42)
TOPIC = 12345
SETTINGS = Settings()


class Linked(Links):
    """Whoever is sent something is linked already."""

    __slots__ = ()

    def post(self, contact: Contact, message: Any, now: float) -> list[Effect]:
        return [Send(contact, message)]


def node(*seeds: Contact, secret: bytes = b"") -> Node:
    return Node(ME, SETTINGS, 1, Linked(), seeds, secret)


def sent(effects: list[Effect], kind: type) -> list[Any]:
    return [effect.message for effect in effects if isinstance(effect, Send) and isinstance(effect.message, kind)]


def timers(effects: list[Effect], kind: type) -> list[SetTimer]:
    return [effect for effect in effects if isinstance(effect, SetTimer) and isinstance(effect.timer, kind)]


def known(machine: Node) -> list[int]:
    return [route.contact.id for route in machine.routes]


# Tags


@given(st.integers(0, 2**63 - 1), st.binary(max_size=100))
def test_a_tag_is_as_long_as_an_id_and_hangs_on_topic_and_secret(topic: int, secret: bytes) -> None:
    assert 0 <= tag(topic, secret) < 2**63
    assert tag(topic, secret) == tag(topic, secret) != topic
    assert tag(topic, secret) != tag(topic ^ 1, secret)
    assert tag(topic, secret) != tag(topic, secret + b"x")


# Whom to believe


def test_who_is_only_named_is_asked_and_known_when_it_answers() -> None:
    machine = node(SEED)
    (seek,) = sent(machine.seek(TOPIC, 0.0), Seek)
    named = tuple(Contact(number) for number in range(1, 4))
    asked = machine.receive(SEED, Found(seek.tag, seek.turn, named, ()), 1.0)
    assert known(machine) == [SEED.id]
    assert len(sent(asked, Seek)) == 3
    first = next(effect for effect in asked if isinstance(effect, Send))
    machine.receive(first.to, Found(seek.tag, first.message.turn, (), ()), 2.0)
    assert sorted(known(machine)) == sorted([SEED.id, first.to.id])


def test_a_node_that_is_known_is_asked_where_it_is_known_to_be() -> None:
    machine = node(SEED)
    machine.receive(Contact(OTHER.id, "proven"), Unserve(1), 0.0)
    (seek,) = [each for each in sent(machine.seek(TOPIC, 0.0), Seek) if each.turn == 1]
    effects = machine.receive(SEED, Found(seek.tag, seek.turn, (Contact(OTHER.id, "rumour"),), ()), 1.0)
    assert all(effect.to.address != "rumour" for effect in effects if isinstance(effect, Send))


def test_late_doubled_and_misdirected_answers_change_nothing() -> None:
    machine = node(SEED)
    (seek,) = sent(machine.seek(TOPIC, 0.0), Seek)
    lie = (Contact(1), Contact(2), Contact(3))
    for sender, answer in (
        (OTHER, Found(seek.tag, seek.turn, lie, lie)),  # was not asked
        (SEED, Found(seek.tag + 1, seek.turn, lie, lie)),  # not about this
        (SEED, Found(seek.tag, seek.turn + 1, lie, lie)),  # not this time
        (SEED, Served(seek.tag, seek.turn, False, lie)),  # not what was asked
    ):
        assert machine.receive(sender, answer, 1.0) == []
    machine.receive(SEED, Found(seek.tag, seek.turn, (), (Contact(9),)), 1.0)
    assert machine.found == [(TOPIC, (Contact(9),))]
    assert machine.receive(SEED, Found(seek.tag, seek.turn, lie, lie), 1.5) == []
    assert machine.fire(Overdue(seek.turn), 2.0) == []
    assert len(machine.found) == 1


def test_one_witness_alone_ends_no_lookup_however_many_it_names() -> None:
    machine = node(SEED)
    (seek,) = sent(machine.seek(TOPIC, 0.0), Seek)
    many = tuple(Contact(number) for number in range(1, MOST_NAMED + 1))
    effects = machine.receive(SEED, Found(seek.tag, seek.turn, (OTHER,), many), 1.0)
    assert machine.found == []
    (seek,) = sent(effects, Seek)
    machine.receive(OTHER, Found(seek.tag, seek.turn, (), (Contact(77), Contact(1))), 2.0)
    ((topic, contacts),) = machine.found
    assert topic == TOPIC
    assert contacts[:2] == (Contact(1), Contact(77))  # whom both name, then whom either names first
    assert set(contacts) == {*many, Contact(77)}


def test_an_answer_whose_contacts_are_not_there_is_believed_last() -> None:
    machine = node(SEED, OTHER)
    seeks = {seek.turn: seek for seek in sent(machine.seek(TOPIC, 0.0), Seek)}
    first, second = seeks
    target = seeks[first].tag
    to = {turn: machine.questions.by_turn[turn].to for turn in seeks}
    liars = tuple(Contact(target ^ distance) for distance in range(1, 9))
    honest = tuple(Contact(target ^ (1 << 50) ^ distance) for distance in range(1, 9))
    machine.receive(to[first], Found(target, first, liars, ()), 1.0)
    machine.receive(to[second], Found(target, second, honest, ()), 1.0)
    asked: list[Contact] = []
    while machine.questions.by_turn and len(asked) < 12:
        turn, question = next(iter(machine.questions.by_turn.items()))
        asked.append(question.to)
        if question.to in liars:
            machine.fire(Overdue(turn), 5.0)
        else:
            machine.receive(question.to, Found(target, turn, (), ()), 5.0)
    assert sum(contact in liars for contact in asked[:8]) <= 5
    assert set(honest[:6]) <= set(asked)


@pytest.mark.parametrize(
    "message",
    [
        None,
        "seek",
        Seek(-1, 0, True),
        Seek(2**63, 0, True),
        Seek(1, -5, True),
        Seek("tag", 0, True),  # type: ignore[arg-type]
        Found(1, 1, (Contact(1),) * (MOST_CLOSER + 1), ()),
        Found(1, 1, (), (Contact(1),) * (MOST_NAMED + 1)),
        Found(1, 1, (Contact(2**64),), ()),
        Found(1, 1, (Contact(1, "x" * 1000),), ()),
        Found(1, 1, [Contact(1)], ()),  # type: ignore[arg-type]
        Found(1, 1, (None,), ()),  # type: ignore[arg-type]
        Found(1, 1, None, ()),  # type: ignore[arg-type]
        Served(1, 1, False, (Contact(1),) * (MOST_NAMED + 1)),
        Serve(1.5, 1),  # type: ignore[arg-type]
        Unserve(None),  # type: ignore[arg-type]
    ],
)
def test_what_nobody_sends_who_keeps_the_rules_is_ignored(message: Any) -> None:
    machine = node()
    assert not is_sound(message)
    assert machine.receive(OTHER, message, 0.0) == []
    assert known(machine) == []


def test_the_node_itself_is_never_found_asked_or_known() -> None:
    machine = node(SEED, ME)
    (seek,) = sent(machine.seek(TOPIC, 0.0), Seek)
    machine.receive(SEED, Found(seek.tag, seek.turn, (ME,), (ME,)), 1.0)
    machine.receive(ME, Serve(seek.tag, 1), 1.0)
    assert machine.found == [(TOPIC, ())]
    assert known(machine) == [SEED.id]
    assert machine.leases.by_tag == {}


# Serving


def test_whoever_says_so_is_kept_and_named_to_others_until_it_takes_that_back() -> None:
    machine = node()
    machine.receive(OTHER, Serve(7, 1), 0.0)
    (found,) = sent(machine.receive(SEED, Seek(7, 1, True), 1.0), Found)
    assert found.serving == (OTHER,)
    (found,) = sent(machine.receive(SEED, Seek(7, 2, False), 1.0), Found)
    assert found.serving == ()
    (served,) = sent(machine.receive(SEED, Serve(7, 3), 1.0), Served)
    assert (served.full, served.serving) == (False, (OTHER,))
    machine.receive(OTHER, Unserve(7), 2.0)
    (found,) = sent(machine.receive(Contact(5), Seek(7, 4, True), 3.0), Found)
    assert found.serving == (SEED,)
    machine.link_down(SEED, "left", 3.0)
    assert machine.leases.by_tag == {}


def test_a_full_tag_says_so() -> None:
    machine = node()
    answers = [
        sent(machine.receive(Contact(number), Serve(7, 1), 0.0), Served)[0] for number in range(10 * MOST_SERVING)
    ]
    assert not any(answer.full for answer in answers[:MOST_SERVING])
    assert sum(answer.full for answer in answers) > 8 * MOST_SERVING


def announced(machine: Node, effects: list[Effect], full: bool, now: float) -> list[Effect]:
    """Answer everything as the only other node would; what comes at the end."""
    while messages := [*sent(effects, Seek), *sent(effects, Serve)]:
        after: list[Effect] = []
        for message in messages:
            answer = (
                Served(message.tag, message.turn, full, ())
                if isinstance(message, Serve)
                else Found(message.tag, message.turn, (), ())
            )
            after += machine.receive(SEED, answer, now)
        effects = after
    return effects


def test_who_finds_no_room_announces_itself_less_and_less_often_and_as_before_when_there_is_room() -> None:
    machine = node(SEED)
    effects = announced(machine, machine.serve(TOPIC, 0.0), True, 0.0)
    delays = []
    for full in (True, True, True, True, False):
        (timer,) = timers(effects, Announce)
        delays.append(timer.delay / SETTINGS.refresh)
        effects = announced(machine, machine.fire(timer.timer, 0.0), full, 0.0)
    (timer,) = timers(effects, Announce)
    delays.append(timer.delay / SETTINGS.refresh)
    for delay, expected in zip(delays, (2, 4, 8, 16, 16, 1), strict=True):
        assert 0.9 * expected <= delay <= 1.1 * expected


def test_who_serves_no_more_says_so_where_it_is_kept_and_where_it_may_be_soon() -> None:
    machine = node(SEED)
    announced(machine, machine.serve(TOPIC, 0.0), False, 0.0)
    assert sent(machine.serve_no_more(TOPIC, 1.0), Unserve) == [Unserve(tag(TOPIC))]
    assert machine.serve_no_more(TOPIC, 1.0) == []
    (seek,) = sent(machine.serve(TOPIC, 2.0), Seek)
    (serve,) = sent(machine.receive(SEED, Found(seek.tag, seek.turn, (), ()), 2.0), Serve)
    assert sent(machine.serve_no_more(TOPIC, 2.0), Unserve) == [Unserve(tag(TOPIC))]
    assert machine.receive(SEED, Served(serve.tag, serve.turn, False, ()), 3.0) == []
    assert not machine.running
    assert machine.leases.by_tag == {}


def test_a_timer_of_what_was_served_before_does_nothing() -> None:
    machine = node(SEED)
    (timer,) = timers(announced(machine, machine.serve(TOPIC, 0.0), False, 0.0), Announce)
    machine.serve_no_more(TOPIC, 1.0)
    assert machine.fire(timer.timer, 2.0) == []
    machine.serve(TOPIC, 3.0)
    assert machine.fire(timer.timer, 4.0) == []


# Trying again


def test_a_node_that_reaches_nobody_tries_again_and_waits_longer_each_time() -> None:
    machine = node(SEED)
    effects, delays = machine.start(0.0), []
    for _ in range(7):
        (overdue,) = timers(effects, Overdue)
        (rejoin,) = timers(machine.fire(overdue.timer, 0.0), Rejoin)
        delays.append(rejoin.delay)
        effects = machine.fire(rejoin.timer, 0.0)
    assert delays == [5, 10, 20, 40, 80, 120, 120]


def test_a_node_without_seeds_waits_to_be_found() -> None:
    machine = node()
    assert not sent(machine.start(0.0), Seek)
    assert machine.seek(TOPIC, 0.0) == []
    assert machine.found == [(TOPIC, ())]


def test_what_is_being_sought_is_not_sought_twice() -> None:
    machine = node(SEED)
    assert sent(machine.seek(TOPIC, 0.0), Seek)
    assert machine.seek(TOPIC, 0.5) == []


def test_a_link_that_breaks_is_an_answer_and_one_that_is_closed_has_the_question_asked_again() -> None:
    machine = node(SEED)
    asked = sent(machine.seek(TOPIC, 0.0), Seek)
    assert asked
    assert sent(machine.link_down(SEED, "closed", 0.5), Seek) == asked
    assert machine.found == []
    machine.link_down(SEED, "failed", 1.0)
    machine.link_down(SEED, "failed", 2.0)  # asked a second time, before giving up
    assert machine.found == [(TOPIC, ())]


# Bounds


def test_a_node_with_many_topics_looks_for_a_few_at_a_time_and_for_all_in_the_end() -> None:
    machine = node(SEED)
    effects: list[Effect] = []
    for topic in range(500):
        effects += machine.seek(topic, 0.0)
        assert len(machine.running) <= MOST_LOOKUPS
    asked = sent(effects, Seek)
    assert len(asked) == FIRST_OPEN
    most = 0
    while asked:
        most = max(most, len(asked))
        effects = []
        for seek in asked:
            effects += machine.receive(SEED, Found(seek.tag, seek.turn, (), ()), 1.0)
        asked = sent(effects, Seek)
    assert [topic for topic, _ in machine.found] == list(range(500))
    assert most > FIRST_OPEN  # who is answered in time asks more at a time


def test_who_is_not_answered_in_time_asks_fewer_at_a_time() -> None:
    machine = node(SEED)
    machine.routes.heard(SEED, 0.0)  # who was never heard of may not be there, which says nothing about those who are
    effects = [effect for topic in range(50) for effect in machine.seek(topic, 0.0)]
    for turn in range(4):
        overdue = timers(effects, Overdue)
        effects = [effect for timer in overdue for effect in machine.fire(timer.timer, 2.1 * (turn + 1))]
    assert len(machine.questions) <= FEWEST_OPEN
    assert len(machine.waiting) + len(machine.running) + len(machine.found) == 50


def test_a_lookup_that_is_led_on_and_on_ends() -> None:
    """Every answer names contacts that are closer still, and they all answer."""
    machine = node(SEED)
    effects, asked = machine.seek(TOPIC, 0.0), 0
    while questions := [effect for effect in effects if isinstance(effect, Send)]:
        effects = []
        for question in questions:
            asked += 1
            target, turn = question.message.tag, question.message.turn
            closer = tuple(Contact(target ^ (10**9 - 10 * asked - number)) for number in range(8))
            effects += machine.receive(question.to, Found(target, turn, closer, ()), 1.0)
    assert asked == MOST_ASKED
    assert machine.found == [(TOPIC, ())]


WILD = st.one_of(
    st.builds(Seek, st.integers(0, 7), st.integers(0, 40), st.booleans()),
    st.builds(
        Found,
        st.sampled_from([tag(1), tag(2), 3]),
        st.integers(0, 40),
        st.lists(st.builds(Contact, st.integers(0, 60)), max_size=9).map(tuple),
        st.lists(st.builds(Contact, st.integers(0, 60)), max_size=9).map(tuple),
    ),
    st.builds(Serve, st.integers(0, 7), st.integers(0, 40)),
    st.builds(
        Served,
        st.sampled_from([tag(1), tag(2), 3]),
        st.integers(0, 40),
        st.booleans(),
        st.lists(st.builds(Contact, st.integers(0, 60)), max_size=9).map(tuple),
    ),
    st.builds(Unserve, st.integers(0, 7)),
)
INPUTS = st.one_of(
    st.tuples(st.just("receive"), st.builds(Contact, st.integers(0, 60)), WILD),
    st.tuples(st.just("fire"), st.builds(Overdue, st.integers(0, 40)), st.none()),
    st.tuples(st.sampled_from(["seek", "serve", "serve_no_more"]), st.integers(1, 2), st.none()),
    st.tuples(
        st.just("link_down"), st.builds(Contact, st.integers(0, 60)), st.sampled_from(["closed", "left", "failed"])
    ),
)


@given(st.lists(INPUTS, max_size=80))
def test_nothing_that_happens_breaks_it(inputs: list[tuple[str, Any, Any]]) -> None:
    machine = Node(Contact(30), replace(SETTINGS, bucket=3, replicas=2), 1, Linked(), (Contact(1), Contact(2)))
    machine.start(0.0)
    for now, (what, first, second) in enumerate(inputs):
        arguments = [first] if second is None else [first, second]
        getattr(machine, what)(*arguments, float(now))
        assert len(machine.questions) <= MOST_OPEN + MOST_LOOKUPS * 8
        assert len(machine.running) <= MOST_LOOKUPS
        assert all(contact.id != 30 for _, contacts in machine.found for contact in contacts)
    for turn in list(machine.questions.by_turn):
        machine.fire(Overdue(turn), 1e6)


@pytest.mark.parametrize(
    "wrong",
    [{"bucket": 0}, {"bucket": 21}, {"alpha": 9}, {"replicas": 9}, {"enough": 9}, {"patience": 0.0}, {"lease": 130.0}],
)
def test_settings_that_cannot_work_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(wrong))):
        Settings(**wrong)

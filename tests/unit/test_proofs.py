"""Showing that one knows a topic: what is believed, what is asked again, and what nobody can answer for another."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.protocols.contract import Contact, Effect, Send, SetTimer
from ropewalk.protocols.discovery.messages import Prove, Proven, is_sound
from ropewalk.protocols.discovery.proofs import Proofs, Unproven
from ropewalk.protocols.discovery.settings import MOST_TRIED, TRIES, Settings
from ropewalk.protocols.discovery.tags import proof, tag
from ropewalk.protocols.links import Links

ME, A, B, C, D = (Contact(1 << bit) for bit in range(40, 45))
TOPIC = 12345
IDS = st.integers(0, 2**63 - 1)


class Linked(Links):
    """Whoever is sent something is linked already."""

    __slots__ = ()

    def post(self, contact: Contact, message: Any, now: float) -> list[Effect]:
        return [Send(contact, message)]


def proofs(me: Contact = ME, secret: bytes = b"") -> Proofs:
    return Proofs(me, Settings(), Linked(), secret)


def member(contact: Contact, secret: bytes = b"") -> Proofs:
    found = proofs(contact, secret)
    found.serve(TOPIC)
    return found


def asked(effects: list[Effect]) -> dict[Contact, Prove]:
    sends = [effect for effect in effects if isinstance(effect, Send)]
    return {send.to: send.message for send in sends if isinstance(send.message, Prove)}


def answer(effects: list[Effect]) -> Proven:
    (send,) = effects
    assert isinstance(send, Send)
    assert isinstance(send.message, Proven)
    return send.message


def tried(seeker: Proofs, *contacts: Contact, now: float = 0.0) -> dict[Contact, Prove]:
    return asked(seeker.check(TOPIC, contacts, now))


@given(IDS, IDS, IDS, st.binary(max_size=80))
def test_a_proof_hangs_on_topic_both_ends_and_secret(topic: int, prover: int, judge: int, secret: bytes) -> None:
    shown = proof(topic, prover, judge, secret)
    assert is_sound(Proven(0, 0, shown))
    assert shown != proof(topic ^ 1, prover, judge, secret)
    assert shown != proof(topic, prover ^ 1, judge, secret)
    assert shown != proof(topic, prover, judge ^ 1, secret)
    assert shown != proof(topic, prover, judge, secret + b"x")
    assert shown != tag(topic, secret)
    if prover != judge:
        assert shown != proof(topic, judge, prover, secret)


@pytest.mark.parametrize("secret", [b"", b"ours"])
def test_a_member_shows_that_it_knows_the_topic(secret: bytes) -> None:
    seeker, serving = proofs(secret=secret), member(A, secret)
    question = tried(seeker, A)[A]
    assert seeker.checked == []
    seeker.receive(A, answer(serving.receive(ME, question, 0.1)), 0.2)
    assert seeker.checked == [(TOPIC, (A,))]


def test_it_is_handed_on_as_it_answered_and_not_as_it_was_named() -> None:
    seeker, rumour = proofs(), Contact(A.id, "elsewhere:1")
    question = tried(seeker, rumour)[rumour]
    seeker.receive(A, answer(member(A).receive(ME, question, 0.1)), 0.2)
    (found,) = seeker.checked[0][1]
    assert found.address == A.address != rumour.address


def test_who_does_not_follow_it_says_so_at_once() -> None:
    seeker, gone = proofs(), member(A)
    gone.serve_no_more(TOPIC)
    seeker.receive(A, answer(gone.receive(ME, tried(seeker, A)[A], 0.1)), 0.2)
    assert seeker.checked == [(TOPIC, ())]


def test_who_does_not_know_a_topic_cannot_find_out_who_follows_it() -> None:
    """Whatever it says about itself, who follows and who does not give it the same answer."""
    for guess in (0, 1, proof(TOPIC + 1, B.id, A.id), proof(TOPIC, A.id, B.id), proof(TOPIC, C.id, A.id)):
        question = Prove(tag(TOPIC), 1, guess)
        assert member(A).receive(B, question, 0.0) == proofs(A).receive(B, question, 0.0)
    knowing = Prove(tag(TOPIC), 1, proof(TOPIC, B.id, A.id))
    assert member(A).receive(B, knowing, 0.0) != proofs(A).receive(B, knowing, 0.0)


def test_a_question_that_is_passed_on_to_a_member_brings_nothing() -> None:
    """The liar asks a member as if it sought the topic itself, or returns what it was shown."""
    seeker, serving, liar = proofs(), member(A), B
    question = tried(seeker, liar)[liar]
    borrowed = answer(serving.receive(liar, question, 0.1))
    seeker.receive(liar, borrowed, 0.2)
    assert seeker.checked == [(TOPIC, ())]
    other = proofs()
    question = tried(other, liar)[liar]
    other.receive(liar, Proven(question.tag, question.turn, question.proof), 0.2)
    assert other.checked == [(TOPIC, ())]


@pytest.mark.parametrize("change", [{"turn": 7}, {"tag": 7}])
def test_an_answer_to_something_else_is_none(change: dict[str, int]) -> None:
    seeker, serving = proofs(), member(A)
    shown = answer(serving.receive(ME, tried(seeker, A)[A], 0.1))
    seeker.receive(A, replace(shown, **change), 0.2)
    seeker.receive(B, shown, 0.2)
    assert seeker.checked == []
    seeker.receive(A, shown, 0.3)
    assert seeker.checked == [(TOPIC, (A,))]


@pytest.mark.parametrize("which", [0, 1])
def test_a_lost_message_is_asked_for_once_more_and_either_answer_counts(which: int) -> None:
    seeker, serving = proofs(), member(A)
    effects = seeker.check(TOPIC, (A,), 0.0)
    timer = Unproven(tag(TOPIC), 1, last=False)
    assert SetTimer(Settings().patience, timer) in effects
    questions = [asked(effects)[A], asked(seeker.fire(timer, 2.0))[A]]
    seeker.receive(A, answer(serving.receive(ME, questions[which], 2.1)), 3.0)
    assert seeker.checked == [(TOPIC, (A,))]
    assert seeker.fire(Unproven(tag(TOPIC), 1, last=True), 4.0) == []
    assert seeker.checked == [(TOPIC, (A,))]


def test_nobody_is_waited_for_longer_than_twice() -> None:
    """Whatever is asked meanwhile: it joins what is under way, and does not make it longer."""
    seeker = proofs()
    tried(seeker, A, B)
    assert tried(seeker, C, now=1.0) == {}
    assert {*asked(seeker.fire(Unproven(tag(TOPIC), 1, last=False), 2.0))} == {A, B}
    assert tried(seeker, C, D, now=3.0) == {}
    assert seeker.checked == []
    seeker.fire(Unproven(tag(TOPIC), 1, last=True), 4.0)
    assert seeker.checked == [(TOPIC, ())]
    assert not seeker.trials


def test_nor_longer_than_once_if_somebody_has_shown_it() -> None:
    seeker = proofs()
    seeker.receive(A, answer(member(A).receive(ME, tried(seeker, A, B)[A], 0.1)), 0.2)
    assert seeker.checked == []
    assert seeker.fire(Unproven(tag(TOPIC), 1, last=False), 2.0) == []
    assert seeker.checked == [(TOPIC, (A,))]


def test_members_are_handed_on_in_the_order_in_which_they_were_named() -> None:
    """Who answers first may be whoever wants to be first."""
    seeker = proofs()
    questions = tried(seeker, A, B, C)
    for contact in (C, A, B):
        seeker.receive(contact, answer(member(contact).receive(ME, questions[contact], 0.1)), 0.2)
    assert seeker.checked == [(TOPIC, (A, B, C))]


def test_one_that_is_said_to_be_in_two_places_is_asked_in_one_after_the_other() -> None:
    seeker, here, there = proofs(), Contact(A.id, "here:1"), Contact(A.id, "there:1")
    assert list(asked(seeker.check(TOPIC, (here, there, here), 0.0))) == [here]
    assert list(asked(seeker.link_down(here, "failed", 0.1))) == [there]


def test_a_timer_of_a_trial_that_is_over_ends_no_other() -> None:
    seeker = proofs()
    seeker.receive(A, answer(member(A).receive(ME, tried(seeker, A)[A], 0.1)), 0.2)
    tried(seeker, B, now=1.9)
    assert seeker.fire(Unproven(tag(TOPIC), 1, last=False), 2.0) == []
    assert seeker.fire(Unproven(tag(TOPIC), 1, last=True), 4.0) == []
    assert seeker.checked == [(TOPIC, (A,))]
    assert [*seeker.trials[tag(TOPIC)].open] == [B.id]


def test_a_link_that_does_not_come_up_is_tried_again_and_then_given_up() -> None:
    seeker = proofs()
    tried(seeker, A)
    for _ in range(TRIES - 1):
        assert A in asked(seeker.link_down(A, "failed", 0.1))
    assert seeker.link_down(A, "failed", 0.2) == []
    assert seeker.checked == [(TOPIC, ())]


@pytest.mark.parametrize(("cause", "over"), [("left", True), ("closed", False)])
def test_who_has_left_is_not_waited_for(cause: Any, over: bool) -> None:
    seeker = proofs()
    tried(seeker, A)
    assert seeker.link_down(A, cause, 0.1) == []
    assert seeker.checked == ([(TOPIC, ())] if over else [])


def test_enough_are_enough() -> None:
    """Whoever is slow, or gone, is not waited for once three have shown it."""
    seeker = proofs()
    questions = tried(seeker, D, A, B, C)
    for contact in (A, B, C):
        assert seeker.checked == []
        seeker.receive(contact, answer(member(contact).receive(ME, questions[contact], 0.1)), 0.2)
    assert seeker.checked == [(TOPIC, (A, B, C))]
    seeker.receive(D, answer(member(D).receive(ME, questions[D], 0.1)), 0.3)
    assert seeker.checked == [(TOPIC, (A, B, C))]


def test_nobody_found_is_known_at_once() -> None:
    seeker = proofs()
    assert seeker.check(TOPIC, (), 0.0) == []
    assert seeker.checked == [(TOPIC, ())]


@pytest.mark.parametrize("silent", [False, True])
def test_who_was_asked_in_vain_makes_room_for_others(silent: bool) -> None:
    """Eight that pretend do not keep a member from being found for longer than one trial."""
    pretenders = tuple(Contact(number) for number in range(1, MOST_TRIED + 1))
    seeker = proofs()
    for contact, question in tried(seeker, *pretenders, A).items():
        if not silent:
            seeker.receive(contact, Proven(question.tag, question.turn, 1), 0.1)
    for last in (False, True):
        seeker.fire(Unproven(tag(TOPIC), 1, last), 4.0)
    assert seeker.checked == [(TOPIC, ())]
    assert next(iter(tried(seeker, *pretenders, A, now=5.0))) == A


def test_who_was_asked_in_vain_is_asked_again_where_there_is_room() -> None:
    """It may have begun to follow since."""
    seeker, late = proofs(), proofs(A)
    seeker.receive(A, answer(late.receive(ME, tried(seeker, A)[A], 0.1)), 0.2)
    assert seeker.is_doubted(TOPIC, A)
    late.serve(TOPIC)
    seeker.receive(A, answer(late.receive(ME, tried(seeker, A)[A], 1.1)), 1.2)
    assert seeker.checked == [(TOPIC, ()), (TOPIC, (A,))]
    assert not seeker.is_doubted(TOPIC, A)


@pytest.mark.parametrize("broken", [Prove(-1, 1, 1), Prove(1, -1, 1), Prove(1, 1, -1), Prove(1, 1, 1 << 63)])
def test_a_question_that_nobody_who_keeps_the_rules_asks_is_not_answered(broken: Prove) -> None:
    assert proofs().receive(A, broken, 0.0) == []


@pytest.mark.parametrize("shown", [-1, 1 << 63, "x", None])
def test_an_answer_that_nobody_who_keeps_the_rules_gives_is_none(shown: Any) -> None:
    seeker = proofs()
    question = tried(seeker, A)[A]
    assert seeker.receive(A, Proven(question.tag, question.turn, shown), 0.0) == []
    assert A.id in seeker.trials[question.tag].open


def test_only_as_many_are_asked_at_a_time_as_would_do_and_one_more() -> None:
    seeker, others = proofs(), [Contact(number) for number in range(1, 9)]
    first = tried(seeker, *others)
    assert list(first) == others[:4]
    denied = Proven(first[others[0]].tag, first[others[0]].turn, 0)
    assert list(asked(seeker.receive(others[0], denied, 0.1))) == [others[4]]


def test_who_had_no_turn_is_not_doubted() -> None:
    seeker, others = proofs(), [Contact(1 << bit) for bit in range(8)]
    effects = seeker.check(TOPIC, others, 0.0)
    first = asked(effects)
    seeker.receive(others[0], answer(member(others[0]).receive(ME, first[others[0]], 0.1)), 0.2)
    (timer,) = [effect.timer for effect in effects if isinstance(effect, SetTimer)]
    seeker.fire(timer, 2.0)
    assert seeker.checked == [(TOPIC, (others[0],))]
    assert [contact for contact in others if seeker.is_doubted(TOPIC, contact)] == others[1:4]


def test_who_is_linked_is_asked_first() -> None:
    seeker, others = proofs(), [Contact(number) for number in range(1, 9)]
    seeker.links.came_up(others[7], 0.0)
    assert next(iter(tried(seeker, *others))) == others[7]


def test_a_trial_ends_in_time_though_its_questions_wait_for_a_link() -> None:
    seeker = Proofs(ME, Settings(), Links(), b"")
    seeker.links.seek(A, 0.0)  # it is coming up: nothing is to be done for it
    (timer,) = [effect.timer for effect in seeker.check(TOPIC, [A], 0.0) if isinstance(effect, SetTimer)]
    (again,) = [effect.timer for effect in seeker.fire(timer, 2.0) if isinstance(effect, SetTimer)]
    seeker.fire(again, 4.0)
    assert seeker.checked == [(TOPIC, ())]

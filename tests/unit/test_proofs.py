"""Showing that one knows a topic: what is believed, what is asked again, and what nobody can answer for another."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.protocols.contract import Contact, Effect, Send, SetTimer
from ropewalk.protocols.discovery.messages import Prove, Proven, is_sound
from ropewalk.protocols.discovery.proofs import Proofs, Unproven
from ropewalk.protocols.discovery.settings import Settings
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


@given(IDS, IDS, IDS, st.binary(max_size=80))
def test_a_proof_hangs_on_topic_both_ends_and_secret(topic: int, seeker: int, member: int, secret: bytes) -> None:
    shown = proof(topic, seeker, member, secret)
    assert is_sound(Proven(0, 0, shown))
    assert shown != proof(topic ^ 1, seeker, member, secret)
    assert shown != proof(topic, seeker ^ 1, member, secret)
    assert shown != proof(topic, seeker, member ^ 1, secret)
    assert shown != proof(topic, seeker, member, secret + b"x")
    assert shown != tag(topic, secret)
    if seeker != member:
        assert shown != proof(topic, member, seeker, secret)


@pytest.mark.parametrize("secret", [b"", b"ours"])
def test_a_member_shows_that_it_knows_the_topic(secret: bytes) -> None:
    seeker, serving = proofs(secret=secret), member(A, secret)
    question = asked(seeker.check(TOPIC, (A,), 0.0))[A]
    assert seeker.checked == []
    seeker.receive(A, answer(serving.receive(ME, question, 0.1)), 0.2)
    assert seeker.checked == [(TOPIC, (A,))]


def test_who_has_shown_it_once_is_not_asked_again() -> None:
    seeker, serving = proofs(), member(A)
    seeker.receive(A, answer(serving.receive(ME, asked(seeker.check(TOPIC, (A,), 0.0))[A], 0.1)), 0.2)
    assert seeker.check(TOPIC, (A,), 1.0) == []
    assert seeker.checked == [(TOPIC, (A,)), (TOPIC, (A,))]
    assert A in asked(seeker.check(TOPIC + 1, (A,), 1.0))


def test_who_does_not_follow_it_says_so_at_once() -> None:
    seeker, gone = proofs(), member(A)
    gone.serve_no_more(TOPIC)
    seeker.receive(A, answer(gone.receive(ME, asked(seeker.check(TOPIC, (A,), 0.0))[A], 0.1)), 0.2)
    assert seeker.checked == [(TOPIC, ())]


def test_a_question_that_is_passed_on_to_a_member_brings_nothing() -> None:
    """The liar asks a member as if it sought the topic itself, and hands the answer on."""
    seeker, serving, liar = proofs(), member(A), B
    question = asked(seeker.check(TOPIC, (liar,), 0.0))[liar]
    borrowed = answer(serving.receive(liar, question, 0.1))
    seeker.receive(liar, borrowed, 0.2)
    assert seeker.checked == [(TOPIC, ())]


def test_an_answer_from_somebody_else_is_none() -> None:
    seeker, serving = proofs(), member(A)
    shown = answer(serving.receive(ME, asked(seeker.check(TOPIC, (A,), 0.0))[A], 0.1))
    seeker.receive(B, shown, 0.2)
    assert seeker.checked == []


def test_a_lost_message_is_asked_for_once_more() -> None:
    seeker, serving = proofs(), member(A)
    first = seeker.check(TOPIC, (A,), 0.0)
    assert SetTimer(Settings().patience, Unproven(1)) in first
    second = seeker.fire(Unproven(1), 2.0)
    seeker.receive(A, answer(serving.receive(ME, asked(second)[A], 2.1)), 2.2)
    assert seeker.checked == [(TOPIC, (A,))]
    assert seeker.fire(Unproven(2), 4.0) == []


def test_who_never_answers_is_not_believed() -> None:
    seeker = proofs()
    seeker.check(TOPIC, (A,), 0.0)
    seeker.fire(Unproven(1), 2.0)
    assert seeker.fire(Unproven(2), 4.0) == []
    assert seeker.checked == [(TOPIC, ())]
    assert not seeker.questions


@pytest.mark.parametrize(("cause", "over"), [("failed", True), ("left", True), ("closed", False)])
def test_who_cannot_be_reached_is_not_waited_for(cause: Any, over: bool) -> None:
    seeker = proofs()
    seeker.check(TOPIC, (A,), 0.0)
    seeker.link_down(A.id, cause)
    assert seeker.checked == ([(TOPIC, ())] if over else [])


def test_enough_are_enough() -> None:
    """Whoever is slow, or gone, is not waited for once three have shown it."""
    seeker = proofs()
    questions = asked(seeker.check(TOPIC, (D, A, B, C), 0.0))
    for contact in (A, B, C):
        assert seeker.checked == []
        seeker.receive(contact, answer(member(contact).receive(ME, questions[contact], 0.1)), 0.2)
    assert seeker.checked == [(TOPIC, (A, B, C))]
    late = answer(member(D).receive(ME, questions[D], 0.1))
    seeker.receive(D, late, 0.3)
    assert seeker.checked == [(TOPIC, (A, B, C))]


def test_nobody_found_is_known_at_once() -> None:
    seeker = proofs()
    assert seeker.check(TOPIC, (), 0.0) == []
    assert seeker.checked == [(TOPIC, ())]


@pytest.mark.parametrize("broken", [Prove(-1, 1), Prove(1, -1), Proven(1, 1, 1 << 63), Proven(1, 1, "x")])  # type: ignore[arg-type]
def test_what_nobody_who_keeps_the_rules_sends_is_ignored(broken: Any) -> None:
    assert proofs().receive(A, broken, 0.0) == []

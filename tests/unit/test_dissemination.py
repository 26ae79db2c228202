"""The events of one node, input by input: what it sends at once, what it offers, asks for, and tells again."""

from dataclasses import replace
from typing import Any

import pytest

from ropewalk.protocols.contract import Contact, Deliver, Effect, Event, Recall, Send, SetTimer, bytes_by_name
from ropewalk.protocols.dissemination.asking import Ask
from ropewalk.protocols.dissemination.greetings import Greet
from ropewalk.protocols.dissemination.messages import Have, Push, Spare, Want
from ropewalk.protocols.dissemination.node import Advertise, Node, Remind
from ropewalk.protocols.dissemination.patience import HALVES, HOPS, MOST_LATE, Lateness, Patience
from ropewalk.protocols.dissemination.settings import MOST_CAUGHT_UP, MOST_CROSSED, Settings
from ropewalk.protocols.reached import UNSOUND

A, B, C, D = (Contact(number) for number in range(1, 5))
ME, TOPIC, OTHER, EVENT = 9, 50, 60, 700
SETTINGS = Settings()


def node(**near: Any) -> Node:
    """One that follows TOPIC with A and B, if nothing else is said, and OTHER with nobody."""
    around: dict[int, dict[int, Contact]] = {TOPIC: {each.id: each for each in near.get("on", (A, B))}, OTHER: {}}
    return Node(SETTINGS, around.get, ME)


def event(*topics: int, number: int = EVENT, size: int = 1) -> Event:
    return Event(number, C.id, topics or (TOPIC,), b"x" * size)


def push(*topics: int, asked: bool = False, number: int = EVENT, hops: int = 1, size: int = 1) -> Push:
    return Push(event(*topics, number=number, size=size), topics or (TOPIC,), hops, asked)


def eager_towards(*contacts: Contact) -> Node:
    """A node to which these have brought events by themselves."""
    machine = node(on=(A, B, D))
    for number, contact in enumerate(contacts, 1):
        machine.receive(contact, push(number=number), 0.0)
    return machine


def sent(effects: list[Effect], kind: type) -> dict[Contact, Any]:
    return {each.to: each.message for each in effects if isinstance(each, Send) and isinstance(each.message, kind)}


def timers(effects: list[Effect]) -> list[object]:
    return [each.timer for each in effects if isinstance(each, SetTimer)]


def test_the_first_event_of_a_topic_is_only_advertised_and_that_at_once() -> None:
    effects = node().publish(event(), 0.0)
    assert (sent(effects, Push), timers(effects)) == ({}, [])
    assert sent(effects, Have) == {each: Have(((EVENT, (TOPIC,)),), alone=True) for each in (A, B)}


def test_what_follows_before_there_is_a_tree_is_advertised_together() -> None:
    machine = node()
    machine.publish(event(), 0.0)
    effects = [machine.publish(event(number=EVENT + each), each * 0.03) for each in (1, 2)]
    assert [(sent(each, Have), timers(each)) for each in effects] == [({}, [Advertise()]), ({}, [])]
    told = sent(machine.fire(Advertise(), 0.13), Have)
    assert told == {each: Have(((EVENT + 1, (TOPIC,)), (EVENT + 2, (TOPIC,))), alone=True) for each in (A, B)}
    assert sent(machine.publish(event(number=EVENT + 3), 0.14), Have).keys() == {A, B}


def test_who_asked_for_the_first_event_of_a_topic_offers_it_at_once_and_who_only_missed_one_takes_its_time() -> None:
    machine = node(on=(A, B, D))
    machine.receive(A, Have(((1, (TOPIC,)),), alone=True), 0.0)
    assert sent(machine.receive(A, push(asked=True, number=1), 0.1), Have).keys() == {B, D}
    machine.receive(A, push(number=2), 1.0)
    machine.fire(Advertise(), 1.1)
    machine.receive(B, Have(((3, (TOPIC,)),)), 2.0)
    machine.fire(Ask(3, 0), 3.0)
    assert timers(machine.receive(B, push(asked=True, number=3), 3.1)) == [Advertise()]


def test_an_event_whose_other_topic_has_no_tree_is_offered_to_all_there_at_once() -> None:
    """However many there are on the topic that has one."""
    many, few = ({number: Contact(number) for number in range(*each)} for each in ((20, 50), (60, 62)))
    for me in range(20):
        machine = Node(SETTINGS, {TOPIC: many, OTHER: few}.get, me)
        machine.receive(many[20], push(), 0.0)
        effects = machine.receive(many[20], Push(event(TOPIC, OTHER, number=EVENT + 1), (TOPIC,), 1, False), 1.0)
        told = sent(effects, Have)
        assert told.keys() >= {*few.values()}
        assert len(told) == len(few) + SETTINGS.lazy


def test_neighbours_are_drawn_once_for_all_that_comes_together_and_by_each_node_in_its_own_way() -> None:
    near = {number: Contact(number) for number in range(10, 30)}
    chosen = []
    for me in range(40):
        machine = Node(SETTINGS, {TOPIC: near}.get, me)
        for number in range(1, 5):
            machine.receive(near[10], push(number=number), 0.0)
        chosen.append(frozenset(sent(machine.fire(Advertise(), 0.1), Have)))
    assert {len(each) for each in chosen} == {SETTINGS.lazy}
    assert len({*chosen}) > 30
    assert frozenset.union(*chosen) == {*near.values()} - {near[10]}  # nobody is drawn last by all


def test_whoever_asks_for_it_gets_the_next_by_itself() -> None:
    machine = node()
    machine.publish(event(), 0.0)
    answered = machine.receive(A, Want((EVENT,), (TOPIC,)), 1.0)
    assert sent(answered, Push)[A].asked
    following = machine.publish(event(number=EVENT + 1), 2.0)
    assert list(sent(following, Push)) == [A]


def test_an_advertised_event_is_asked_for_at_once_where_nothing_comes_by_itself() -> None:
    effects = node().receive(A, Have(((EVENT, (TOPIC,)),)), 0.0)
    assert sent(effects, Want) == {A: Want((EVENT,), (TOPIC,))}


def test_and_after_some_patience_where_there_is_a_tree() -> None:
    machine = node()
    machine.receive(B, push(number=1), 0.0)
    effects = machine.receive(A, Have(((EVENT, (TOPIC,)),)), 1.0)
    assert (sent(effects, Want), timers(effects)) == ({}, [Ask(EVENT, 0)])
    assert sent(machine.fire(Ask(EVENT, 0), 1.1), Want) == {A: Want((EVENT,), ())}


def wait_for(effects: list[Effect]) -> float:
    (timer,) = [each for each in effects if isinstance(each, SetTimer)]
    return timer.delay


def test_who_is_late_itself_asks_later_since_what_it_would_ask_for_may_have_come_and_be_unread() -> None:
    machine = node()
    machine.receive(B, push(number=1), 0.0)
    machine.receive(A, Have(((EVENT, (TOPIC,)),)), 1.0)
    effects = machine.fire(Ask(EVENT, 0), 1.6)  # half a second late
    assert (sent(effects, Want), wait_for(effects)) == ({}, HOPS * 0.5)
    asked = machine.fire(Ask(EVENT, 0), 3.6)  # it is put off once, and now it is on time
    assert sent(asked, Want) == {A: Want((EVENT,), ())}
    assert SETTINGS.retry < wait_for(asked) < SETTINGS.retry + HOPS * 0.5
    for _ in range(60):
        machine.asking.lateness.fired(0.0, 3.6)
    assert machine.asking.lateness.seconds(3.6) < 0.001
    machine.asking.lateness.fired(1000.0, 3.6)
    assert machine.asking.lateness.seconds(3.6) == MOST_LATE


def test_a_node_that_stood_still_once_is_not_late_for_ever_after() -> None:
    lateness = Lateness()
    lateness.fired(2.0, 10.0)
    assert lateness.seconds(10.0) == HOPS * 2.0
    assert lateness.seconds(10.0 + HALVES) == HOPS * 1.0
    assert lateness.seconds(10.0 + 20 * HALVES) < 0.001
    lateness.fired(0.5, 10.0 + HALVES)  # still less than what is left of the former
    assert HOPS * 0.5 < lateness.seconds(10.0 + HALVES) < HOPS * 1.0


def test_who_is_hardly_late_asks_at_once() -> None:
    machine = node()
    machine.receive(B, push(number=1), 0.0)
    machine.receive(A, Have(((EVENT, (TOPIC,)),)), 1.0)
    assert sent(machine.fire(Ask(EVENT, 0), 1.1 + SETTINGS.doubt / 2), Want) == {A: Want((EVENT,), ())}


def test_where_a_link_of_the_tree_has_gone_the_next_event_is_asked_for_soon_and_mends_it() -> None:
    around = {TOPIC: {each.id: each for each in (A, B, D)}}
    machine = Node(SETTINGS, around.get, ME)
    for number, contact in enumerate((A, B), 1):
        machine.receive(contact, push(number=number), 0.0)
    machine.asking.patience.came(1.0)  # events may be late, here
    del around[TOPIC][A.id]
    assert wait_for(machine.receive(D, Have(((EVENT, (TOPIC,)),)), 1.0)) == SETTINGS.doubt
    assert sent(machine.fire(Ask(EVENT, 0), 1.1), Want) == {D: Want((EVENT,), (TOPIC,))}
    machine.receive(D, push(asked=True), 1.2)
    assert wait_for(machine.receive(D, Have(((EVENT + 1, (TOPIC,)),)), 2.0)) == SETTINGS.patience


def test_a_tree_that_lost_a_link_and_misses_nothing_is_trusted_again() -> None:
    around = {TOPIC: {each.id: each for each in (A, B, D)}}
    machine = Node(SETTINGS, around.get, ME)
    for number, contact in enumerate((A, B), 1):
        machine.receive(contact, push(number=number), 0.0)
    machine.asking.patience.came(1.0)  # events may be late, here
    del around[TOPIC][A.id]
    machine.tidy(10.0)
    assert wait_for(machine.receive(D, Have(((EVENT, (TOPIC,)),)), 11.0)) == SETTINGS.doubt
    machine.receive(B, push(), 11.05)
    for periods in range(2, 4):
        machine.tidy(10.0 * periods)
    assert wait_for(machine.receive(D, Have(((EVENT + 1, (TOPIC,)),)), 31.0)) > 2 * SETTINGS.doubt


def test_who_makes_a_link_eager_is_offered_what_it_has_missed_of_late() -> None:
    machine = node(on=(A, B))
    for number, at in ((1, 0.0), (2, 9.0), (3, 9.5)):
        machine.receive(A, push(number=number), at)
        machine.fire(Advertise(), at)
    effects = machine.receive(B, Want((3,), (TOPIC,)), 10.0)
    assert sent(effects, Push)[B].event.id == 3
    assert sent(effects, Have) == {B: Have(((2, (TOPIC,)),), alone=True)}
    assert sent(machine.receive(B, Want((2,), (TOPIC,)), 10.1), Have) == {}  # it is eager by now


def test_strangers_are_offered_nothing_for_making_a_link_eager() -> None:
    machine = node(on=(A,))
    machine.receive(A, push(number=1), 9.0)
    machine.fire(Advertise(), 9.1)
    assert machine.receive(B, Want((), (TOPIC,)), 10.0) == []
    assert machine.receive(A, Want((), (OTHER,) * 64), 10.0) == []


def test_who_makes_a_link_eager_again_and_again_is_offered_what_it_missed_once() -> None:
    machine = node(on=(A, B))
    machine.receive(A, push(number=1), 9.5)
    machine.fire(Advertise(), 9.6)
    assert list(sent(machine.receive(B, Want((), (TOPIC,) * 64), 10.0), Have)) == [B]
    machine.receive(B, Spare((), (TOPIC,)), 10.1)
    assert sent(machine.receive(B, Want((), (TOPIC,)), 10.2), Have) == {}
    machine.receive(B, Spare((), (TOPIC,)), 11.1)
    assert list(sent(machine.receive(B, Want((), (TOPIC,)), 11.2), Have)) == [B]


def test_one_old_event_that_came_late_hides_none_that_are_young() -> None:
    machine = node(on=(A, B))
    machine.receive(A, push(number=1), 9.5)
    machine.receive(A, replace(push(number=2), age=100.0), 9.6)
    machine.fire(Advertise(), 9.7)
    assert sent(machine.receive(B, Want((), (TOPIC,)), 10.0), Have) == {B: Have(((1, (TOPIC,)),), alone=True)}


def test_what_was_asked_for_too_soon_makes_patience_longer() -> None:
    machine = node(on=(A, B))
    for number in range(1, 9):
        machine.receive(A, push(number=number), 0.0)
    assert machine.asking.patience.seconds() == SETTINGS.doubt
    for number in range(10, 30):
        machine.receive(B, Have(((number, (TOPIC,)),)), number)
        machine.fire(Ask(number, 0), number + 0.1)
        machine.receive(B, push(number=number, asked=True), number + 0.2)
        machine.receive(A, push(number=number), number + 0.3)
    assert machine.asking.patience.seconds() > 0.3


def test_all_that_is_offered_at_once_is_asked_for_in_one_message() -> None:
    offers = tuple((number, (TOPIC,)) for number in range(1, 9))
    effects = node().receive(A, Have(offers, alone=True), 0.0)
    assert sent(effects, Want) == {A: Want(tuple(range(1, 9)), (TOPIC,))}
    assert len([each for each in effects if isinstance(each, Send)]) == 1


def test_who_was_told_to_be_lazy_and_has_not_heard_of_it_is_not_counted_on() -> None:
    machine = node()
    machine.receive(A, push(number=10), 0.0)
    machine.receive(B, push(number=10), 0.1)  # is told to be lazy
    machine.receive(B, push(number=11), 0.2)  # was on its way by then
    assert sent(machine.receive(A, push(number=11), 0.3), Spare) == {}
    assert sent(machine.publish(event(number=12), 1.0), Push).keys() == {A}


def test_what_nobody_else_has_is_not_waited_for() -> None:
    machine = node()
    machine.receive(B, push(number=1), 0.0)  # there is a tree
    effects = machine.receive(A, Have(((EVENT, (TOPIC,)),), alone=True), 1.0)
    assert list(sent(effects, Want)) == [A]


def test_patience_follows_how_late_events_are() -> None:
    patience = Patience(0.1, 1.0)
    assert patience.seconds() == 1.0
    for _ in range(20):
        patience.came(0.0)
    assert patience.seconds() == 0.1
    for _ in range(40):
        patience.came(0.3)
    assert 0.3 < patience.seconds() < 0.4
    patience.came(2.0)
    assert patience.seconds() == 1.0


def test_what_comes_a_second_time_over_an_eager_link_makes_it_lazy() -> None:
    machine = node()
    assert isinstance(machine.receive(A, push(), 0.0)[0], Deliver)
    again = machine.receive(B, push(), 0.1)
    assert sent(again, Spare) == {B: Spare((EVENT,), (TOPIC,))}
    assert not [each for each in again if isinstance(each, Deliver)]
    assert sent(machine.publish(event(number=2), 1.0), Push).keys() == {A}


def test_of_two_links_that_each_bring_something_first_one_stays_eager() -> None:
    machine = node()
    machine.receive(A, push(number=1), 0.0)
    machine.receive(B, push(number=2), 0.0)
    assert sent(machine.receive(B, push(number=1), 0.1), Spare) == {B: Spare((1,), (TOPIC,))}
    assert sent(machine.receive(A, push(number=2), 0.1), Spare) == {}
    assert sent(machine.publish(event(number=3), 1.0), Push).keys() == {A}


def test_an_answer_to_a_question_makes_nothing_lazy() -> None:
    machine = node()
    machine.receive(A, push(), 0.0)
    assert machine.receive(B, push(asked=True), 0.1) == []


def test_once_per_period_those_are_told_who_have_not_shown_that_they_have_it() -> None:
    machine = node()
    machine.receive(A, push(), 0.0)
    machine.fire(Advertise(), 0.1)
    effects = machine.tidy(10.0)
    assert sent(effects, Have) == {B: Have(((EVENT, (TOPIC,)),), answer=True)}
    assert timers(effects) == [Remind(1, 0)]


def test_whoever_does_not_answer_is_reminded_three_times() -> None:
    machine = node()
    machine.receive(A, push(), 0.0)
    machine.fire(Advertise(), 0.1)
    (timer,) = timers(machine.tidy(10.0))
    for _ in range(SETTINGS.reminders):
        effects = machine.fire(timer, 11.0)
        assert list(sent(effects, Have)) == [B]
        (timer,) = timers(effects)
    assert machine.fire(timer, 20.0) == []


def test_whoever_answers_is_not_reminded_and_not_told_again() -> None:
    machine = node()
    machine.receive(A, push(), 0.0)
    machine.fire(Advertise(), 0.1)
    (timer,) = timers(machine.tidy(10.0))
    machine.receive(B, Spare((EVENT,), ()), 10.5)
    assert machine.fire(timer, 11.0) == []
    assert machine.tidy(20.0) == []


def test_whoever_becomes_a_neighbour_is_told_what_can_be_had() -> None:
    """All at once, whoever comes within a moment; and nobody else."""
    machine = node(on=(A, B, D))
    machine.receive(A, push(), 0.0)
    machine.fire(Advertise(), 0.1)
    assert timers(machine.met([B])) == [Greet()]
    assert machine.met([A]) == []
    assert sent(machine.fire(Greet(), 0.3), Have) == {B: Have(((EVENT, (TOPIC,)),), answer=True)}
    assert timers(machine.met([D])) == [Greet()]


def test_who_holds_a_node_again_and_again_is_told_once_per_retry_and_nothing_is_lost() -> None:
    machine = node(on=(A, B, D))
    machine.receive(A, push(), 0.0)
    machine.fire(Advertise(), 0.1)
    machine.met([B])
    assert sent(machine.fire(Greet(), 0.2), Have).keys() == {B}
    assert timers(machine.met([B])) == [Greet()]  # on another topic, or to have it say everything again
    machine.met([D])
    effects = machine.fire(Greet(), 0.4)
    assert sent(effects, Have).keys() == {D}  # who is new does not wait for who is not
    assert [each.delay for each in effects if isinstance(each, SetTimer)] == [pytest.approx(SETTINGS.retry - 0.2)]
    effects = machine.fire(Greet(), 0.2 + SETTINGS.retry)
    assert sent(effects, Have) == {B: Have(((EVENT, (TOPIC,)),), answer=True)}
    assert timers(effects) == []


def test_a_new_neighbour_is_told_of_so_many_at_a_time_and_of_all_in_the_end() -> None:
    machine, heard = node(on=(A, B)), list[int]()
    count = 2 * MOST_CAUGHT_UP + 5
    for number in range(count):
        machine.receive(A, push(number=number), 0.0)
    machine.fire(Advertise(), 0.1)
    machine.met([B])
    for turn in range(3):
        effects = machine.fire(Greet(), 1.0 + turn * SETTINGS.retry)
        told = [number for each in effects if isinstance(each, Send) for number, _ in each.message.offers]
        assert len(told) <= MOST_CAUGHT_UP
        assert timers(effects) == ([Greet()] if turn < 2 else [])
        heard += told
    assert heard == [*range(count)]


def test_where_it_was_told_of_some_and_the_last_of_them_is_gone_a_new_neighbour_is_told_of_the_rest() -> None:
    machine = node(on=(A, B))
    for number in range(MOST_CAUGHT_UP + 2):
        age = 10.0 if number < MOST_CAUGHT_UP else 0.0
        machine.receive(A, replace(push(number=number), age=age), 0.0)
    machine.fire(Advertise(), 0.1)
    machine.met([B])
    machine.fire(Greet(), 1.0)
    machine.tidy(SETTINGS.keep - 5.0)
    told = sent(machine.fire(Greet(), SETTINGS.keep - 4.0), Have)[B]
    assert [number for number, _ in told.offers] == [MOST_CAUGHT_UP, MOST_CAUGHT_UP + 1]


def test_where_there_is_nothing_nobody_is_told() -> None:
    assert node().met([A]) == []


def test_a_new_neighbour_is_told_only_what_is_on_topics_that_are_shared() -> None:
    machine = node()
    machine.receive(A, push(OTHER, number=1), 0.0)
    machine.receive(A, push(TOPIC, OTHER, number=2), 0.0)
    machine.fire(Advertise(), 0.1)
    machine.met([B])
    assert sent(machine.fire(Greet(), 0.2), Have) == {B: Have(((2, (TOPIC,)),), answer=True)}


def test_strangers_get_nothing_and_learn_nothing() -> None:
    machine = node()
    machine.receive(A, push(), 0.0)
    assert machine.receive(D, Want((EVENT,), (TOPIC,)), 0.1) == []
    assert machine.receive(D, Have(((EVENT, (TOPIC,)),), answer=True), 0.1) == []
    assert machine.receive(D, Have(((EVENT + 1, (TOPIC,)),)), 0.1) == []
    assert sent(machine.publish(event(number=1), 1.0), Push).keys() == {A}


def test_what_is_old_is_forgotten_and_not_taken_any_more() -> None:
    machine = node()
    machine.receive(A, push(), 0.0)
    machine.tidy(SETTINGS.keep)
    assert not machine.has(EVENT)
    assert machine.receive(B, push(), SETTINGS.keep + 1) == []
    machine.tidy(SETTINGS.seen)
    assert machine.receive(B, Push(event(), (TOPIC,), 1, False, age=SETTINGS.keep), SETTINGS.seen + 1) == []


@pytest.mark.parametrize("hops", [0, -1])
def test_what_has_crossed_no_link_is_not_believed(hops: int) -> None:
    assert node().receive(A, push(hops=hops), 0.0) == []


def test_who_shows_that_it_has_an_event_is_sent_no_more_of_it() -> None:
    machine = eager_towards(A)
    assert sent(machine.publish(event(), 1.0), Push).keys() == {A}
    shows = Spare((EVENT,), ())
    assert machine.receive(A, shows, 1.1) == [Recall(A, Push.kind, EVENT)]
    assert machine.receive(A, shows, 1.2) == []
    assert machine.receive(B, shows, 1.3) == []  # nothing is under way there


def test_nor_is_who_asked_for_it_and_got_it_elsewhere() -> None:
    machine = node()
    machine.publish(event(), 0.0)
    machine.receive(A, Want((EVENT,), ()), 1.0)
    assert machine.receive(A, Have(((EVENT, (TOPIC,)),)), 1.1) == [Recall(A, Push.kind, EVENT)]


def test_who_is_sent_a_large_event_hears_of_it_first() -> None:
    machine = eager_towards(A, B)
    large = machine.receive(A, push(size=SETTINGS.large), 1.0)
    told = [each.message for each in large if isinstance(each, Send) and each.to == B]
    assert [type(each) for each in told] == [Have, Push]
    assert not sent(large, Have).keys() & {A}


@pytest.mark.parametrize("asked", [True, False])
def test_who_else_has_a_large_event_is_told_that_it_has_come(asked: bool) -> None:
    machine = eager_towards(A, B)
    offered = Have(((EVENT, (TOPIC,)),))
    machine.receive(A, offered, 1.0)
    machine.receive(B, offered, 1.1)
    if asked:
        machine.fire(Ask(EVENT, 0), 2.0)
    came = machine.receive(B, push(asked=asked, size=SETTINGS.large), 2.1)
    assert sent(came, Spare) == {A: Spare((EVENT,), ())}


def test_an_offer_of_a_large_event_that_had_to_be_asked_for_is_made_once() -> None:
    machine = eager_towards(A, B)
    came = machine.receive(A, push(asked=True, size=SETTINGS.large), 1.0)
    assert [each.message for each in came if isinstance(each, Send) and each.to == B] == [
        Have(((EVENT, (TOPIC,)),), alone=True)
    ]


def test_what_was_here_and_is_no_longer_kept_is_not_offered_again() -> None:
    machine = node()
    machine.receive(A, push(), 0.0)
    machine.tidy(SETTINGS.keep + 1)
    offered = Have(((EVENT, (TOPIC,)),), answer=True)
    assert machine.receive(B, offered, SETTINGS.keep + 2) == [Send(B, Spare((EVENT,), ()))]
    assert machine.receive(D, offered, SETTINGS.keep + 2) == []  # a stranger


def test_what_is_refused_is_not_asked_for_again() -> None:
    machine = node()
    offered = Have(((EVENT, (TOPIC,)),))
    machine.receive(A, offered, 0.0)
    assert machine.refuse(EVENT, A, 1.0) == [Send(A, Spare((EVENT,), ()))]
    assert machine.fire(Ask(EVENT, 1), 2.0) == []
    assert machine.receive(B, offered, 3.0) == []
    assert machine.receive(B, push(), 3.0) == []


def test_who_comes_back_is_told_what_it_had() -> None:
    machine = node()
    machine.receive(A, push(), 0.0)
    machine.receive(B, Spare((EVENT,), ()), 0.1)
    machine.fire(Advertise(), 0.2)
    machine.lost(B.id)
    machine.met([B])
    assert sent(machine.fire(Greet(), 1.0), Have).keys() == {B}


def test_nothing_is_passed_on_that_others_could_not_read() -> None:
    machine = eager_towards(A, B)
    effects = machine.receive(A, push(hops=MOST_CROSSED), 0.0)
    assert {each.hops for each in sent(effects, Push).values()} == {MOST_CROSSED}
    for hops in (MOST_CROSSED + 1, 2**63 - 1):
        assert machine.receive(A, push(number=hops, hops=hops), 0.0) == []
    assert machine.reached.counts == {UNSOUND: 2}


def test_what_is_said_by_name_counts_as_bytes_that_are_kept() -> None:
    machine = node()
    content = tuple((f"name {number:02}", "x" * 256) for number in range(16))
    machine.publish(replace(event(), content=content), 0.0)
    assert machine.kept_bytes == 1 + bytes_by_name(replace(event(), content=content)) > 16 * 4 * 256


def looking(*near: Contact) -> tuple[Node, list[int]]:
    """One that follows TOPIC and OTHER with these, and the topics for which it has looked at who is near."""
    looked: list[int] = []
    around = {each.id: each for each in near}

    def neighbours(topic: int) -> dict[int, Contact] | None:
        looked.append(topic)
        return around if topic in (TOPIC, OTHER) else None

    return Node(SETTINGS, neighbours, ME), looked


def test_what_is_asked_for_in_one_message_is_found_by_looking_once_at_who_is_near() -> None:
    """And nobody is looked at where there is nothing to send: the question takes eight bytes an event."""
    machine, looked = looking(A, B)
    for number in range(20):
        machine.publish(event(TOPIC, OTHER, number=number), 0.0)
    want = Want(tuple(range(40)), ())
    looked.clear()
    for _ in range(SETTINGS.tries):
        effects = machine.receive(A, want, 1.0)
        assert [each.message.event.id for each in effects if isinstance(each, Send)] == [*range(20)]
        assert {each.message.topics for each in effects if isinstance(each, Send)} == {(TOPIC, OTHER)}
    assert len(looked) == 2 * SETTINGS.tries
    assert machine.receive(A, want, 1.0) == []
    assert len(looked) == 2 * SETTINGS.tries


def test_who_is_reminded_of_many_events_is_found_by_looking_once_at_who_is_near() -> None:
    machine, looked = looking(*(Contact(number) for number in range(1, 31)))
    for number in range(20):
        machine.publish(event(number=number), 0.0)
    machine.fire(Advertise(), 0.1)
    (timer,) = timers(machine.tidy(10.0))
    looked.clear()
    assert len(sent(machine.fire(timer, 11.0), Have)) == 30
    assert len(looked) == 1

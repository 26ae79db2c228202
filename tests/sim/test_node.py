"""One StaN node, told one thing after another: what it answers, and what it does not."""

import gc
from types import FunctionType, ModuleType
from typing import Any

import pytest

from ropewalk.errors import UsageError
from ropewalk.protocols import links
from ropewalk.protocols.contract import (
    Connect,
    Contact,
    Disconnect,
    Effect,
    Event,
    Input,
    Join,
    Level,
    LinkDown,
    LinkUp,
    Received,
    Send,
    SetTimer,
    Subscribe,
    TimerFired,
    Unsubscribe,
)
from ropewalk.protocols.dissemination.messages import Have, Push, Want
from ropewalk.protocols.links import HASTY, MOST_COMING
from ropewalk.protocols.sampling.contract import Check, Left, ManagerName
from ropewalk.protocols.sampling.cyclon import node as cyclon
from ropewalk.protocols.sampling.cyclon.node import Swap, SwapBack
from ropewalk.protocols.sampling.scamp.node import Ask, Pass, Replace
from ropewalk.protocols.stan import neighbours
from ropewalk.protocols.stan.messages import Announce, KeepAlive, Reply, Walk, Withdraw
from ropewalk.protocols.stan.node import Node, Sweep, Tidy
from ropewalk.protocols.stan.settings import PASSING, Settings
from ropewalk.protocols.stan.walks import Open

ME, ANN, BOB, EVE = (Contact(number) for number in (10, 20, 30, 40))
PERIOD = 30.0
TOPIC = 1


def following(*others: Contact, manager: ManagerName = "given", **more) -> Node:
    """A node that follows a topic and is linked with these."""
    node = Node(ME, Settings(schedule="timed", period=PERIOD, manager=manager, **more), seed=1, key=1)
    node.handle(Subscribe(TOPIC, others), 0.0)
    for other in others:
        node.handle(LinkUp(other), 0.0)
    return node


def held(node: Node) -> list[Contact]:
    return sorted(node.topics[TOPIC].overlay.view.contacts)


def said(effects: list[Effect], kind: type) -> list[Send]:
    return [effect for effect in effects if isinstance(effect, Send) and isinstance(effect.message, kind)]


def reply(node: Node, *contacts: Contact, turn: int = 0) -> Received:
    return Received(ANN, Reply(TOPIC, node.me, turn, 0, frozenset(contacts)))


@pytest.mark.parametrize(
    "going",
    [Received(ANN, Withdraw(TOPIC)), LinkDown(ANN, "failed"), LinkDown(ANN, "closed"), LinkDown(ANN, "left")],
    ids=["lets go", "fails", "closes", "leaves"],
)
def test_when_who_has_brought_the_latest_event_is_a_neighbour_no_more_another_is_asked_to_bring_the_next(
    going: Input,
) -> None:
    node = following(BOB, EVE)
    node.handle(LinkUp(ANN), 0.0)
    node.handle(Received(ANN, Announce(TOPIC)), 0.0)
    node.handle(Received(ANN, Push(Event(5, EVE.id, (TOPIC,), b"x"), (TOPIC,), 1, False)), 1.0)
    node.handle(Received(EVE, Have(((5, (TOPIC,)),))), 1.1)
    assert said(node.handle(Received(BOB, Withdraw(TOPIC)), 1.2), Want) == []
    assert said(node.handle(going, 2.0), Want) == [Send(EVE, Want((), (TOPIC,)))]


def test_so_it_is_when_this_node_lets_go_of_it() -> None:
    node = following(ANN, BOB)
    node.handle(Received(ANN, Push(Event(5, BOB.id, (TOPIC,), b"x"), (TOPIC,), 1, False)), 1.0)
    effects = node.handle(Received(ANN, Left(TOPIC)), 2.0)
    assert said(effects, Withdraw) == [Send(ANN, Withdraw(TOPIC))]
    assert said(effects, Want) == [Send(BOB, Want((), (TOPIC,)))]


def test_whoever_closed_a_link_that_is_needed_is_asked_again() -> None:
    node = following(ANN, BOB)
    assert Connect(ANN) in node.handle(LinkDown(ANN, "closed"), 1.0)
    node.handle(LinkUp(ANN), 1.0)
    assert held(node) == [ANN, BOB]


def calls_after_good_byes(node: Node, at: float, lasting: float, times: int = 6) -> int:
    """How often ANN is called by a node that has just called it, where ANN says good-bye some time after each link is up."""
    calls = 0
    for turn in range(times):
        now = at + turn * (lasting + 0.01)
        node.handle(LinkUp(ANN), now)
        if Connect(ANN) not in node.handle(LinkDown(ANN, "closed"), now + lasting):
            break
        calls += 1
    return calls


def test_who_says_good_bye_as_soon_as_it_is_up_is_called_again_once() -> None:
    node = following(ANN, BOB)
    node.handle(LinkDown(ANN, "closed"), 2.0)
    assert calls_after_good_byes(node, 2.0, 0.01) == 1
    assert held(node) == [BOB]
    assert node.handle(reply(node, ANN), 3.0) == []  # it is taken for gone, for a while


def test_who_closes_links_that_have_been_up_for_a_while_is_called_as_often() -> None:
    node = following(ANN, BOB)
    node.handle(LinkDown(ANN, "closed"), 2.0)
    assert calls_after_good_byes(node, 2.0, HASTY) == 6


def test_a_question_is_not_put_for_ever_to_who_says_good_bye_as_soon_as_it_is_up() -> None:
    node = Node(ME, Settings(schedule="timed", period=PERIOD), seed=1, key=1)
    assert Connect(ANN) in node.handle(Join((ANN,)), 1.0)
    assert calls_after_good_byes(node, 1.0, 0.01) == 1


def test_who_closes_links_in_haste_is_remembered_within_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "MOST_HASTY", 3)
    node = following(ANN, BOB)
    for number in range(100, 110):
        node.handle(LinkUp(Contact(number)), 1.0)
        node.handle(LinkDown(Contact(number), "closed"), 1.0)
    assert len(node.neighbours.links.hasty) == 3
    assert node.left_out() == {"nodes that close links in haste": 7}


def test_a_walk_on_a_topic_of_the_past_is_answered_by_left() -> None:
    node = following(ANN)
    node.handle(Unsubscribe(TOPIC), 1.0)
    effects = node.handle(Received(ANN, Walk(TOPIC, EVE, 0, 0, frozenset())), 2.0)
    assert said(effects, Left)


def test_so_is_what_managers_say_but_not_a_left() -> None:
    node = following(ANN, manager="cyclon")
    node.handle(Unsubscribe(TOPIC), 1.0)
    assert said(node.handle(Received(ANN, Swap(TOPIC, 1, ((ANN, 0),))), 2.0), Left)
    assert node.handle(Received(ANN, Left(TOPIC)), 2.0) == []


def test_the_reply_to_a_walk_before_the_last_is_not_heard() -> None:
    node = following(ANN, BOB)
    era = node.topics[TOPIC].era
    for _ in range(2):
        node.handle(TimerFired(Open(TOPIC, era)), 1.0)
    node.handle(LinkDown(BOB, "failed"), 1.0)
    assert not any(isinstance(effect, Connect) for effect in node.handle(reply(node, EVE, turn=0), 1.0))
    assert Connect(EVE) in node.handle(reply(node, EVE, turn=1), 1.0)


def test_nobody_is_believed_who_names_one_that_is_gone_for_a_while() -> None:
    node = following(ANN, BOB)
    node.handle(TimerFired(Open(TOPIC, node.topics[TOPIC].era)), 1.0)
    node.handle(LinkDown(BOB, "failed"), 1.0)
    assert node.handle(reply(node, BOB), 2.0) == []
    assert Connect(BOB) in node.handle(reply(node, BOB), 1.0 + neighbours.BELIEVED_AGAIN * PERIOD)


def test_whoever_does_not_answer_once_is_not_taken_for_gone() -> None:
    node = following(ANN, BOB)
    node.handle(TimerFired(Open(TOPIC, node.topics[TOPIC].era)), 1.0)
    node.handle(LinkDown(BOB, "failed"), 1.0)
    for answered in (True, True, False):  # sought, sought again, and then no more
        assert (Connect(EVE) in node.handle(reply(node, EVE), 2.0)) == answered
        node.handle(LinkDown(EVE, "failed"), 2.0)


def test_a_link_that_stays_silent_is_let_go() -> None:
    node = following(ANN, BOB)
    node.handle(Received(BOB, KeepAlive(1, ())), 3 * PERIOD)
    effects = node.handle(TimerFired(Tidy()), 4 * PERIOD)
    assert [effect.contact for effect in effects if isinstance(effect, Disconnect)] == [ANN]
    assert held(node) == [BOB]


def test_a_link_that_no_topic_uses_is_closed_long_before_a_period_is_over() -> None:
    node = following(ANN)
    sweep = SetTimer(PASSING, Sweep())
    assert sweep in node.handle(LinkUp(EVE), 10.0)
    assert sweep not in node.handle(LinkUp(BOB), 10.0 + PASSING / 2)  # it is already on its way
    effects = node.handle(TimerFired(Sweep()), 10.0 + PASSING)
    assert effects == [Disconnect(EVE), sweep]
    assert node.handle(TimerFired(Sweep()), 10.0 + 2 * PASSING) == [Disconnect(BOB)]
    assert held(node) == [ANN]


@pytest.mark.parametrize("manager", ["given", "scamp", "cyclon"])
def test_who_is_told_of_itself_takes_no_notice(manager: ManagerName) -> None:
    node = following(manager=manager)
    node.handle(Unsubscribe(TOPIC), 0.0)
    effects = node.handle(Subscribe(TOPIC, (ME, ANN, ANN)), 1.0)
    assert [effect for effect in effects if isinstance(effect, Connect)] == [Connect(ANN)]
    assert node.topics[TOPIC].overlay.view.size == 1


def test_a_cyclon_table_is_bounded_though_its_entries_change_hands_while_a_swap_is_open() -> None:
    """What was paid with has been replaced meanwhile, so there is no room for all of the answer."""
    friends = [Contact(number) for number in range(100, 120)]
    node = following(*friends, manager="cyclon")
    manager = node.topics[TOPIC].manager
    assert isinstance(manager, cyclon.Node)
    opened = node.handle(TimerFired(Check(TOPIC, node.topics[TOPIC].era)), 1.0)
    (swap,) = said(opened, Swap)
    strangers = iter(range(200, 300))
    for _ in range(5):
        offer = tuple((Contact(next(strangers)), 0) for _ in range(8))
        node.handle(Received(ANN, Swap(TOPIC, 1, offer)), 2.0)
    answer = tuple((Contact(next(strangers)), 0) for _ in range(8))
    node.handle(Received(swap.to, SwapBack(TOPIC, swap.message.turn, answer)), 3.0)
    assert len(manager.table) == manager.settings.table_size


def test_to_shrink_is_to_give_up_one_place_and_the_worst_in_it() -> None:
    node = following(ANN, BOB, EVE)
    before = node.topics[TOPIC].overlay.view.contacts.copy()
    effects = node.neighbours._shrink(node.topics[TOPIC], 1.0)
    assert node.topics[TOPIC].overlay.view.size == 2
    assert node.topics[TOPIC].overlay.view.contacts == before[:2]
    assert effects == [Send(before[2], Withdraw(TOPIC))]


@pytest.mark.parametrize("news", [Replace(TOPIC, ()), Left(TOPIC), None])
def test_whoever_loses_the_only_node_it_knew_turns_to_another_it_was_told_of(news: Replace | Left | None) -> None:
    """It left with a word or without; with SCAMP only the first of those that one is told of is a neighbour."""
    node = following(ANN, BOB, manager="scamp")
    assert held(node) == [ANN]
    effects = node.handle(LinkDown(ANN, "failed") if news is None else Received(ANN, news), 1.0)
    assert [each.to for each in said(effects, Ask)] == [BOB]
    assert held(node) == [BOB]


def test_more_than_anybody_says_who_keeps_the_rules_is_not_heard() -> None:
    node = following(ANN)
    flood = KeepAlive(1, tuple(range(2, neighbours.MOST_LINKED_ON + 3)))
    assert node.handle(Received(ANN, flood), 1.0) == []


def test_holders_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbours, "MOST_HOLDERS", 2)
    node = following()
    for number in range(100, 110):
        node.handle(LinkUp(Contact(number)), 1.0)
        node.handle(Received(Contact(number), Announce(TOPIC)), 1.0)
    assert len(node.topics[TOPIC].overlay.held_by) == 2


@pytest.mark.parametrize(("name", "value"), [("most", 0), ("most", 257), ("connectivity", 1), ("period", -5)])
def test_a_level_that_cannot_be_is_refused(name: str, value: int) -> None:
    told: dict[str, Any] = {name: value}
    with pytest.raises(UsageError, match=f"a level's {name} is {value}"):
        Level(**told)


@pytest.mark.parametrize("manager", ["given", "scamp"])
def test_nobody_has_more_nodes_called_at_once_than_a_bound_however_many_are_named(manager: ManagerName) -> None:
    topics = range(1, 9)
    node = Node(ME, Settings(schedule="timed", period=PERIOD, manager=manager, learn=True), seed=1, key=1)
    for topic in topics:
        node.handle(Subscribe(topic, (ANN,)), 0.0)
    node.handle(LinkUp(ANN), 0.0)
    called: list[Contact] = []
    for number in range(200):
        for topic in topics:
            source = Contact(1000 * number + 100 + topic)
            effects = node.handle(Received(ANN, Walk(topic, source, number, 0, frozenset())), 1.0)
            effects += node.handle(Received(ANN, Pass(topic, source, number, 0, 0)), 1.0) if manager == "scamp" else []
            called += [effect.contact for effect in effects if isinstance(effect, Connect)]
    assert len(called) == MOST_COMING
    assert node.neighbours.links.reached.counts["calls on the word of others"] > 0
    for contact in called:  # who is there makes room for others; what is beyond the rate waits
        node.handle(LinkUp(contact), 1.0)
    more = [Received(ANN, Walk(1, Contact(900_000 + number), 201, 0, frozenset())) for number in range(100)]
    assert any(isinstance(effect, Connect) for each in more for effect in node.handle(each, 1.0))


def test_who_is_handed_many_neighbours_calls_all_of_them() -> None:
    others = tuple(Contact(100 + number) for number in range(3 * MOST_COMING))
    node = Node(ME, Settings(schedule="timed", period=PERIOD), seed=1, key=1)
    effects = node.handle(Subscribe(TOPIC, others), 0.0)
    assert len([effect for effect in effects if isinstance(effect, Connect)]) == len(others)


def _objects_of(node: Node) -> set[int]:
    """All that can be got to from a node, but for the program itself."""
    found, ahead = {id(node)}, [node]
    while ahead:
        for each in gc.get_referents(ahead.pop()):
            if id(each) not in found and not isinstance(each, type | FunctionType | ModuleType):
                found.add(id(each))
                ahead.append(each)
    return found


def test_topics_that_are_not_followed_are_not_remembered_whoever_names_them() -> None:
    node = following(ANN, BOB, manager="scamp", learn=True, shared=2)

    def told_of(topics: range) -> int:
        for topic in topics:
            for message in (
                Announce(topic),
                KeepAlive(topic, (topic,)),
                Walk(topic, ANN, 0, 0, frozenset()),
                Withdraw(topic),
                Ask(topic, ANN, 0, 1.0, False),
            ):
                node.handle(Received(ANN, message), 1.0)
        return len(_objects_of(node))

    few = told_of(range(100, 110))
    assert told_of(range(1000, 3000)) < few + 100
    assert list(node.topics) == [TOPIC]

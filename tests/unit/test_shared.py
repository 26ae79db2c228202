"""Who shares more topics is ranked higher: what is learnt, what is forgotten, and that views stay in order all the while."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.errors import UsageError
from ropewalk.protocols.contract import Contact, LinkDown, LinkUp, Received, Subscribe, Unsubscribe
from ropewalk.protocols.sampling.contract import Left
from ropewalk.protocols.stan import shared
from ropewalk.protocols.stan.messages import Announce, KeepAlive, Reply, Withdraw
from ropewalk.protocols.stan.node import Node
from ropewalk.protocols.stan.settings import HIGHEST_POWER, Settings
from ropewalk.protocols.stan.shared import COUNTED, KEPT, MOST_SHARED, Shared

RANKING = Settings(schedule="timed", manager="given", shared=2)
ME = Contact(1)
OTHERS = [Contact(node) for node in range(2, 8)]
TOPICS = (10, 20, 30)


def plain(node: int) -> int:
    return node * 1000


def made(settings: Settings = RANKING) -> Node:
    """A node that follows three topics with all others as neighbours, and links to all of them."""
    node = Node(ME, settings, 1, 1)
    for topic in TOPICS:
        node.handle(Subscribe(topic, tuple(OTHERS)), 0.0)
    for other in OTHERS:
        node.handle(LinkUp(other), 0.0)
    return node


def in_order(node: Node) -> bool:
    """Whether every view is ranked by what its neighbours weigh now, and holds nobody twice."""
    for following in node.topics.values():
        view = following.overlay.view
        ranks = [(view.weigh(each), each) for each in view.ids]
        if any(a >= b for a, b in pairwise(ranks)) or [weight for weight, _ in ranks] != view.weights:
            return False
        if view.ids != [contact.id for contact in view.contacts]:
            return False
    return True


def test_a_weight_is_divided_by_a_power_of_the_shared_topics() -> None:
    known = Shared(2, plain)
    assert known.weigh(9) == 9000
    assert known.learn(10, 9) == [9]
    assert known.weigh(9) == 9000
    known.learn(20, 9)
    assert known.weigh(9) == 9000 // 4
    assert known.learn(20, 9) == []
    known.forget(10, 9)
    assert known.weigh(9) == 9000


def test_from_some_topics_on_more_count_no_more() -> None:
    """Whoever follows everything is not preferred to who shares much."""
    known = Shared(2, plain)
    for topic in range(COUNTED):
        known.learn(topic, 9)
    much = known.weigh(9)
    known.learn(COUNTED, 9)
    assert known.weigh(9) == much == 9000 // COUNTED**2


def test_where_shared_topics_do_not_count_nothing_is_kept() -> None:
    known = Shared(0, plain)
    assert known.learn(10, 9) == []
    assert known.topics_of == {}


def test_a_topic_and_a_node_are_forgotten() -> None:
    known = Shared(2, plain)
    for node in (8, 9):
        for topic in (10, 20):
            known.learn(topic, node)
    assert known.forget_topic(10) == [8, 9]
    assert known.forget_node(8) == [8]
    assert known.forget_node(8) == known.forget(20, 8) == []
    assert known.topics_of == {9: {20: None}}
    assert known.pairs == 1


def test_beyond_the_bound_those_ranked_last_are_forgotten() -> None:
    known = Shared(2, plain)
    for node in range(MOST_SHARED):
        known.learn(10, node)
    assert known.learn(20, 0) == [0, *range(MOST_SHARED - 1, KEPT - 2, -1)]
    assert known.pairs == sum(map(len, known.topics_of.values())) == KEPT
    assert known.topics_of[0] == {10: None, 20: None}


def test_who_announces_on_more_topics_moves_up_in_all_views() -> None:
    node = made()
    last = node.topics[10].overlay.view.contacts[-1]
    for topic in TOPICS:
        node.handle(Received(last, Announce(topic)), 1.0)
    assert [following.overlay.view.contacts[0] for following in node.topics.values()] == [last] * 3
    assert in_order(node)


def test_a_keep_alive_shows_as_much_as_an_announcement() -> None:
    node = made()
    last = node.topics[10].overlay.view.contacts[-1]
    node.handle(Received(last, KeepAlive(1, TOPICS)), 5.0)
    assert node.topics[10].overlay.view.contacts[0] == last


def test_what_others_say_about_somebody_does_not_count() -> None:
    """Or liars could raise each other."""
    node = made()
    seen = frozenset(OTHERS[1:])
    for topic, following in node.topics.items():
        following.turn = 1
        node.handle(Received(OTHERS[0], Reply(topic, ME, 0, 0, seen)), 1.0)
    assert node.neighbours.shared.topics_of == {}


def test_who_withdraws_still_follows_and_who_left_does_not() -> None:
    node, other = made(), OTHERS[0]
    for topic in TOPICS:
        node.handle(Received(other, Announce(topic)), 1.0)
    node.handle(Received(other, Withdraw(10)), 2.0)
    assert node.neighbours.shared.topics_of == {other.id: dict.fromkeys(TOPICS)}
    node.handle(Received(other, Left(10)), 3.0)
    assert node.neighbours.shared.topics_of == {other.id: {20: None, 30: None}}
    assert in_order(node)


def test_what_is_no_longer_followed_here_is_shared_with_nobody() -> None:
    node, other = made(), OTHERS[0]
    for topic in TOPICS:
        node.handle(Received(other, Announce(topic)), 1.0)
    node.handle(Unsubscribe(20), 2.0)
    assert node.neighbours.shared.topics_of == {other.id: {10: None, 30: None}}
    assert in_order(node)


def test_who_is_gone_is_forgotten_and_who_only_closed_a_link_is_not() -> None:
    node, other = made(), OTHERS[0]
    node.handle(Received(other, Announce(10)), 1.0)
    node.handle(LinkDown(other, "closed"), 2.0)
    assert other.id in node.neighbours.shared.topics_of
    node.handle(LinkUp(other), 2.5)
    node.handle(LinkDown(other, "failed"), 3.0)
    assert other.id not in node.neighbours.shared.topics_of


SAID = st.sampled_from(("announce", "withdraw", "left", "keep-alive", "down", "up", "forget", "come"))
HAPPENING = st.tuples(SAID, st.sampled_from(OTHERS), st.sampled_from(TOPICS))


@given(st.lists(HAPPENING, max_size=40), st.integers(1, HIGHEST_POWER))
def test_views_stay_in_order_whatever_is_learnt_in_whichever_order(
    happenings: list[tuple[str, Contact, int]], power: int
) -> None:
    """And nobody is in one twice, also where the bound is so small that others are forgotten."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(shared, "MOST_SHARED", 6)
        patched.setattr(shared, "KEPT", 4)
        node = made(Settings(schedule="timed", manager="given", shared=power))
        for number, (what, other, topic) in enumerate(happenings):
            match what:
                case "announce":
                    node.handle(Received(other, Announce(topic)), number)
                case "withdraw":
                    node.handle(Received(other, Withdraw(topic)), number)
                case "left":
                    node.handle(Received(other, Left(topic)), number)
                case "keep-alive":
                    node.handle(Received(other, KeepAlive(number + 1, TOPICS)), number)
                case "down":
                    node.handle(LinkDown(other, "failed"), number)
                case "up":
                    node.handle(LinkUp(other), number)
                case "forget":
                    node.handle(Unsubscribe(topic), number)
                case "come":
                    node.handle(Subscribe(topic, (other,)), number)
            assert in_order(node)
            known = node.neighbours.shared
            assert known.pairs == sum(map(len, known.topics_of.values())) <= 6


def test_rounds_from_outside_do_not_go_with_it() -> None:
    with pytest.raises(UsageError, match="--shared needs --schedule timed"):
        Settings(shared=2)
    with pytest.raises(UsageError, match=f"shared is 9, but must be from 0 to {HIGHEST_POWER}"):
        Settings(schedule="timed", shared=9)

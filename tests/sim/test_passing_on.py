"""What nodes pass on for others: it ends, and is less than what has them cut each other off, whatever somebody sends."""

from collections import Counter
from typing import Any

import pytest

from ropewalk.engines.live.limits import LONG_ONES, MESSAGES, STATES
from ropewalk.protocols.contract import Connect, Contact, Input, LinkUp, Received, Send, Subscribe
from ropewalk.protocols.dht.messages import Locate
from ropewalk.protocols.dht.places import place_of
from ropewalk.protocols.kato.messages import Joining, Told
from ropewalk.protocols.links import OF_STATES, PASSED_ON, Links
from ropewalk.protocols.sampling.scamp.node import ENOUGH, MOST_REQUESTS, MOST_SEEN, Ask, Pass
from ropewalk.protocols.stan.messages import Announce, Relay, Reply, Walk
from ropewalk.protocols.stan.node import Node
from ropewalk.protocols.stan.settings import Settings

ANN, BOB, EVE, MAL = (Contact(number) for number in (10, 20, 30, 40))
TOPIC = 1
SETTINGS = Settings(schedule="timed", manager="scamp", fanout="two-way", period=10.0, ttl=5)


def linked(settings: Settings = SETTINGS) -> dict[int, Node]:
    """Ann and Bob, who hold Eve and each other, and are linked with Mal, who holds them; Eve says nothing."""
    nodes = {each.id: Node(each, settings, seed=1, key=1) for each in (ANN, BOB)}
    for me, other in ((ANN, BOB), (BOB, ANN)):
        node = nodes[me.id]
        node.handle(Subscribe(TOPIC, (other, EVE)), 0.0)
        for each in (other, EVE, MAL):
            node.handle(LinkUp(each), 0.0)
        for each in (other, EVE):
            if not node.topics[TOPIC].overlay.has(each.id):
                node.neighbours.grow(TOPIC, each, 0.0)
            node.handle(Received(each, Announce(TOPIC)), 0.0)
        assert {each.id for each in node.held()[TOPIC]} == {other.id, EVE.id}
    return nodes


def heard(nodes: dict[int, Node], inputs: list[tuple[int, Input]], now: float) -> Counter[tuple[int, int, str]]:
    """What is sent from whom to whom, by kind, until nobody has anything to say."""
    sent: Counter[tuple[int, int, str]] = Counter()
    while inputs:
        me, event = inputs.pop()
        for effect in nodes[me].handle(event, now):
            if isinstance(effect, Send):
                sent[me, effect.to.id, effect.message.kind] += 1
                if effect.to.id in nodes:
                    inputs.append((effect.to.id, Received(Contact(me), effect.message)))
    return sent


def test_a_request_to_take_in_who_is_held_by_all_ends_soon() -> None:
    """It went to and fro until it had passed each of them 64 times: 400 of them were 25,000 messages from each."""
    requests = [Received(MAL, Pass(TOPIC, EVE, number, 0, 0)) for number in range(400)]
    sent = heard(linked(), [(ANN.id, each) for each in requests], 1.0)
    assert max(sent.values()) <= 400 * ENOUGH


def test_and_also_where_so_many_are_on_their_way_that_nobody_counts_any_more() -> None:
    nodes, now = linked(), 1.0
    copies = [Pass(TOPIC, EVE, number, 0, 0) for number in range(2 * MOST_REQUESTS)]
    steps = 0
    while copies:  # all take a step before any takes the next
        steps += 1
        me = nodes[(ANN, BOB)[steps % 2].id]
        now += 5.0  # more slowly than anybody would be held up
        effects = [effect for copy in copies for effect in me.handle(Received(MAL, copy), now)]
        copies = [effect.message for effect in effects if isinstance(effect, Send)]
    assert ENOUGH < steps <= MOST_SEEN + 1


@pytest.mark.parametrize("kind", ["walk", "ask", "pass"])
def test_what_others_have_begun_is_passed_on_below_the_rate_at_which_one_is_cut_off(kind: str) -> None:
    """Several that send as much as each may are more than that together, though none of them breaks a rule."""
    makes: dict[str, Any] = {
        "walk": lambda number: Walk(TOPIC, MAL, number, 0, frozenset()),
        "ask": lambda number: Ask(TOPIC, EVE, number, 2.0, again=False),
        "pass": lambda number: Pass(TOPIC, EVE, number, 0, 0),
    }
    nodes, count = linked(), 0
    for second in range(5):
        messages = [makes[kind](second * 8000 + number) for number in range(8000)]
        sent = heard(nodes, [(ANN.id, Received(MAL, each)) for each in messages], 1.0 + second)
        count += max(sent[ANN.id, BOB.id, each] for each in (kind, "reply", "relay"))
        assert count <= PASSED_ON.at_once + (1 + second) * PASSED_ON.a_second
    assert any(node.left_out().get(f"{kind} passed on") for node in nodes.values())
    assert sent[ANN.id, BOB.id, kind] + sent[BOB.id, ANN.id, kind] > 0  # it goes on for all that


def test_a_walk_that_may_not_go_on_turns_back_with_what_it_has() -> None:
    nodes = linked()
    walks = [Received(MAL, Walk(TOPIC, MAL, number, 0, frozenset())) for number in range(40_000)]
    answered = [effect for walk in walks for effect in nodes[ANN.id].handle(walk, 1.0) if isinstance(effect, Send)]
    onward = [each for each in answered if isinstance(each.message, Walk)]
    back = [each for each in answered if isinstance(each.message, Reply)]
    assert len(onward) + len(back) == len(walks)
    assert len(onward) == 2 * PASSED_ON.at_once  # to Bob, and to Eve
    assert {each.to for each in back} == {MAL}
    assert {ANN, BOB, EVE} == set(back[0].message.seen)


def test_where_rounds_are_conducted_everything_is_passed_on() -> None:
    node = linked()[ANN.id]
    conducted = Node(ANN, Settings(), seed=1, key=1)
    conducted.handle(LinkUp(BOB), 0.0)
    for each in (node, conducted):
        for _ in range(int(PASSED_ON.at_once)):
            assert each.neighbours.may_pass_on(BOB.id, Walk.kind, 0.0)
    assert not node.neighbours.may_pass_on(BOB.id, Walk.kind, 0.0)
    assert conducted.neighbours.may_pass_on(BOB.id, Walk.kind, 0.0)


@pytest.mark.parametrize("send", ["pass_on", "answer"])
def test_so_are_questions_on_rings_and_their_answers(send: str) -> None:
    """Whoever somebody says that it is gets the answers."""
    links, sent = Links(), 0
    links.came_up(BOB, 0.0)
    question = Locate(0, place_of(1), EVE, 1, 0)
    for second in range(4):
        for _ in range(8000):
            sent += len(getattr(links, send)(BOB, question, float(second)))
        assert sent <= PASSED_ON.at_once + second * PASSED_ON.a_second
    assert links.reached.counts == {"locate passed on": 4 * 8000 - sent}
    assert links.pass_on(EVE, question, 4.0)[0] == Connect(EVE)  # others have a share of their own


def test_it_is_half_of_what_anybody_takes_for_a_node_has_something_to_say_itself() -> None:
    assert 2 * PASSED_ON.a_second <= MESSAGES.a_second
    assert 2 * PASSED_ON.at_once <= MESSAGES.at_once
    assert 2 * OF_STATES.a_second <= STATES.a_second
    assert 2 * OF_STATES.at_once <= STATES.at_once
    assert {Joining.kind, Told.kind} <= LONG_ONES
    assert not {Walk.kind, Reply.kind, Relay.kind, Ask.kind, Pass.kind, Locate.kind} & LONG_ONES

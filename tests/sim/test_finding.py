"""Nodes that are told nobody: they find a topic's members, get into its overlay, publish where they follow nothing."""

from dataclasses import replace

import pytest

from ropewalk.engines.sim.deliveries import Deliveries
from ropewalk.engines.sim.liars import Pretender, lying
from ropewalk.engines.sim.network import Latency, Loss, Partition, Rule, WideArea, Window
from ropewalk.engines.sim.population import Act, What
from ropewalk.engines.sim.simulator import Observer, Process
from ropewalk.protocols.contract import Contact, Effect, Event, Input, Join, Publish, Received, Report
from ropewalk.protocols.discovery.messages import Prove
from ropewalk.protocols.discovery.tags import tag
from ropewalk.protocols.dissemination.settings import MOST_PAYLOAD
from ropewalk.protocols.stan.node import Node
from ropewalk.protocols.stan.settings import Settings
from ropewalk.seeds import chance
from towns import PERIOD, TIMED, Town, members

FINDING = replace(TIMED, manager="scamp", learn=True, discover=True, rounds=16)


class Reports(Observer):
    """What publishers were told."""

    def __init__(self) -> None:
        self.all: list[Report] = []

    def handled(self, process, event: Input, effects: list[Effect], now: float) -> None:
        self.all += [effect for effect in effects if isinstance(effect, Report)]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_nodes_that_know_one_other_get_into_all_their_topics(seed: int) -> None:
    Town(settings=FINDING, seed=seed, rules=[WideArea(seed)], nodes=30).play().at_rest()


@pytest.mark.parametrize("seed", [1, 2])
def test_newcomers_find_topics_while_messages_are_lost(seed: int) -> None:
    followed = members(24, 3, seed)
    nodes = sorted({node for held in followed.values() for node in held})
    acts = []
    for place, node in enumerate(nodes[::3]):
        acts += [Act(PERIOD * (1 + place / 2), node, "crash"), Act(PERIOD * (3 + place / 2), node, "restart")]
    rules: list[Rule] = [Loss(seed, 0.1), WideArea(seed)]
    town = Town(settings=replace(FINDING, rounds=20), seed=seed, rules=rules, followed=followed, acts=acts).play()
    for topic, views in town.population.views().items():
        assert set(views) == set(followed[topic])
        assert all(views.values())


def publishing(town: Town, publisher: int, topics: tuple[int, ...], at: float, size: int = 8) -> Act:
    return Act(at, publisher, "publish", event=Event(7_000_000 + int(at), publisher, topics, b"x" * size))


@pytest.mark.parametrize("loss", [0.0, 0.2])
def test_an_event_gets_into_topics_that_its_publisher_does_not_follow(loss: float) -> None:
    followed = members(30, 4, 1)
    stranger = next(node for node in followed[1] if node not in followed[3] and node not in followed[4])
    deliveries, reports = Deliveries(), Reports()
    rules: list[Rule] = [Loss(1, loss), WideArea(1)]
    town = Town(settings=FINDING, rules=rules, followed=followed, observers=[deliveries, reports])
    town.acts = [publishing(town, stranger, (1, 3, 4), PERIOD * at) for at in (4, 5, 6)]
    town.play()
    due = deliveries.ledger.due(town.population)
    assert {node.me.id for _, node in due} == {*followed[1], *followed[3], *followed[4]} - {stranger}
    assert all(node in published.delivered for published, node in due)
    assert reports.all == []


def test_whoever_publishes_where_nobody_is_is_told() -> None:
    reports = Reports()
    town = Town(settings=FINDING, rules=[WideArea(1)], observers=[reports])
    town.acts = [publishing(town, town.ids[0], (999,), 3 * PERIOD)]
    town.play().at_rest()
    assert [(report.topic, report.why) for report in reports.all] == [
        (999, "no member of the topic could be reached, or none had room")
    ]


@pytest.mark.parametrize("how", ["leave", "crash"])
def test_what_a_publisher_had_no_time_to_get_in_is_gone_with_it(how: What) -> None:
    """Who leaves is told; those of its own topic have the event all the same."""
    near, far = sorted(members(8, 1, 1, share=1.0)[1]), sorted(members(8, 1, 2, share=1.0)[1])
    publisher, *others = near
    deliveries, reports = Deliveries(), Reports()
    town = Town(settings=FINDING, followed={1: near, 2: far}, rules=[Latency(1, 0.05)], observers=[deliveries, reports])
    first = publishing(town, publisher, (1,), 45.0)  # leaves a tree behind, so that the next is on its way at once
    town.acts = [first, publishing(town, publisher, (1, 2), 50.0), Act(50.12, publisher, how)]
    town.play().at_rest()
    _, published = deliveries.ledger.published.values()
    assert {node.me.id for node in published.delivered} == {*others}
    assert [report.topic for report in reports.all] == ([2] if how == "leave" else [])


def test_what_is_too_large_is_refused_at_once() -> None:
    node = Node(Contact(1), Settings(schedule="timed"), 1, 1)
    node.handle(Join(()), 0.0)
    large = Event(1, 1, (5, 6), b"x" * (MOST_PAYLOAD + 1))
    told = node.handle(Publish(large), 1.0)
    assert [type(effect) for effect in told] == [Report, Report]


def test_without_having_joined_nobody_can_be_found() -> None:
    reports = Reports()
    town = Town(settings=replace(FINDING, discover=False), rules=[WideArea(1)], observers=[reports])
    town.acts = [publishing(town, town.ids[0], (999,), 3 * PERIOD)]
    town.play()
    assert [report.topic for report in reports.all] == [999]


def test_a_partition_that_lasts_until_everybody_has_been_given_up_heals() -> None:
    """Neighbours have long forgotten each other; seeds and those who keep contacts for topics have not."""
    followed = members(20, 2, 1)
    nodes = sorted({node for held in followed.values() for node in held})
    apart = Partition(Window(4 * PERIOD, 40 * PERIOD), frozenset(nodes[::2]))
    settings = replace(FINDING, rounds=110)
    Town(settings=settings, rules=[apart, WideArea(1)], followed=followed).play().at_rest()


class Heard(Observer):
    """What some nodes are told, and on which topics."""

    def __init__(self, by: list[int]) -> None:
        self.by, self.topics, self.asked = by, set[tuple[int, int]](), set[int]()

    def handling(self, process: Process, event: Input, now: float) -> None:
        if isinstance(event, Received) and process.contact.id in self.by:
            self.topics |= {(process.contact.id, topic) for topic in event.message.topics}
            self.asked |= {event.message.tag} if isinstance(event.message, Prove) else set()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_who_only_says_that_it_serves_a_tag_learns_no_topic_and_no_event(seed: int) -> None:
    """They are asked to show that they know it, and cannot; everything gets where it should all the same."""
    followed = members(24, 3, seed)
    liars = [chance(seed, "liar", number) for number in range(5)]
    deliveries, heard = Deliveries(), Heard(liars)
    town = Town(
        settings=FINDING,
        seed=seed,
        rules=[WideArea(seed)],
        followed={**followed, 4: liars},
        observers=[deliveries, heard],
        make=lying(liars, None, Pretender),
    )
    publisher = next(node for node in followed[1] if node not in followed[3])
    town.acts = [publishing(town, publisher, (3,), PERIOD * at) for at in (4, 5, 6)]
    town.play().at_rest()
    assert tag(3) in heard.asked
    assert {topic for _, topic in heard.topics} <= {4}
    due = deliveries.ledger.due(town.population)
    assert len(due) == 3 * len(followed[3])
    assert all(node in published.delivered for published, node in due)

"""Events in histories with and without faults: who gets them, how often, and at what cost. Every invariant is on."""

from dataclasses import replace

import pytest

from ropewalk.engines.sim.deliveries import Deliveries
from ropewalk.engines.sim.network import Duplication, Latency, Loss, Partition, Reordering, Rule, WideArea, Window
from ropewalk.engines.sim.population import Act
from ropewalk.engines.sim.publishing import publications
from ropewalk.protocols.contract import Event
from ropewalk.protocols.sampling.contract import ManagerName
from towns import PERIOD, TIMED, Town, members

SETTINGS = replace(TIMED, rounds=10, connectivity=0.99)
QUIET = 4 * PERIOD  # after the last event: what was lost is asked for again by then


class Early:
    """A rule that holds until a moment."""

    def __init__(self, rule: Rule, until: float) -> None:
        self.rule, self.until = rule, until

    def judge(self, sender, receiver, message, now, delays):
        return self.rule.judge(sender, receiver, message, now, delays) if delays and now < self.until else delays


def played(events: int = 60, per_event: int = 1, acts: list[Act] | None = None, **more) -> tuple[Town, Deliveries]:
    """A town in which events are published after three periods, up to some before the end."""
    deliveries = Deliveries()
    town = Town(**({"settings": SETTINGS} | more), observers=[deliveries])
    end = town.settings.rounds * PERIOD - QUIET
    town.acts = [*(acts or []), *publications(town.population, events, per_event, 3 * PERIOD + 1, end)]
    town.play().at_rest()
    return town, deliveries


def frames_per_delivery(deliveries: Deliveries) -> float:
    return deliveries.frames / sum(len(each.delivered) for each in deliveries.ledger.published.values())


def test_without_faults_an_event_crosses_as_many_links_as_there_are_to_reach() -> None:
    town, deliveries = played(nodes=60, events=100, rules=[WideArea(1)])
    due = deliveries.ledger.due(town.population)
    assert len(due) > 2000
    assert all(node in published.delivered for published, node in due)
    assert frames_per_delivery(deliveries) < 1.1


@pytest.mark.thorough
def test_a_tenth_of_all_messages_lost_costs_little_more() -> None:
    rules: list[Rule] = [Early(Loss(1, 0.1), 8 * PERIOD), WideArea(1)]
    _, deliveries = played(nodes=60, events=100, rules=rules)
    assert frames_per_delivery(deliveries) < 1.3


def test_an_event_of_several_topics_crosses_a_link_once() -> None:
    """Fewer frames than if it were published once for each of its topics, which takes one for every follower of each."""
    town, deliveries = played(nodes=40, topics=6, events=40, per_event=4, rules=[WideArea(1)])
    events = [each.event for each in deliveries.ledger.published.values()]
    assert deliveries.frames < 0.85 * sum(len(town.followed[topic]) - 1 for event in events for topic in event.topics)


@pytest.mark.parametrize("manager", ["given", "scamp", "cyclon"])
@pytest.mark.parametrize("seed", [1, 2])
def test_lost_doubled_and_overtaken_messages(manager: ManagerName, seed: int) -> None:
    faults: list[Rule] = [Loss(seed, 0.1), Duplication(seed, 0.1), Reordering(seed, 0.1, 3.0)]
    rules: list[Rule] = [*(Early(rule, 8 * PERIOD) for rule in faults), Latency(seed, 0.05)]
    played(settings=replace(SETTINGS, manager=manager, learn=True, rounds=12), seed=seed, rules=rules)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_nodes_come_and_go(seed: int) -> None:
    followed = members(30, 3, seed)
    nodes = sorted({node for held in followed.values() for node in held})
    acts = []
    for place, node in enumerate(nodes[::3]):
        begin = PERIOD * (3 + place / 3)
        acts += [Act(begin, node, ("crash", "leave")[place % 2]), Act(begin + PERIOD / 2, node, "restart")]
    settings = replace(SETTINGS, manager="scamp", learn=True, rounds=16)
    played(settings=settings, seed=seed, followed=followed, acts=acts, rules=[Latency(1, 0.05)])


def test_what_was_published_on_both_sides_of_a_partition_gets_across_when_it_heals() -> None:
    followed = members(30, 2, 1)
    nodes = sorted({node for held in followed.values() for node in held})
    rules: list[Rule] = [Partition(Window(4 * PERIOD, 6 * PERIOD), frozenset(nodes[::2])), Latency(1, 0.05)]
    settings = replace(SETTINGS, manager="scamp", learn=True, rounds=14)
    played(settings=settings, followed=followed, rules=rules)


@pytest.mark.parametrize("loss", [0.0, 0.3])
@pytest.mark.parametrize("soon", [0.01, 0.12])
def test_an_event_is_not_lost_when_its_publisher_unsubscribes_at_once(loss: float, soon: float) -> None:
    followed = members(20, 2, 1)
    publisher = followed[1][0]
    event = Event(7, publisher, (1,), b"")
    at = 5 * PERIOD
    acts = [Act(at, publisher, "publish", event=event), Act(at + soon, publisher, "unsubscribe", 1)]
    rules: list[Rule] = [Early(Loss(1, loss), 6 * PERIOD), Latency(1, 0.05)]
    settings = replace(SETTINGS, manager="scamp", learn=True, rounds=16)
    _, deliveries = played(events=0, settings=settings, followed=followed, acts=acts, rules=rules)
    got = {node.me.id for node in deliveries.ledger.published[7].delivered}
    assert got == {*followed[1]} - {publisher}


def test_a_late_joiner_gets_what_is_young() -> None:
    followed = members(20, 1, 1, share=1.0)
    late = max(followed[1])
    acts = [Act(1.0, late, "leave"), Act(6 * PERIOD, late, "join")]
    town, deliveries = played(followed=followed, acts=acts, settings=replace(SETTINGS, manager="scamp"), events=30)
    machine = town.population.stan(late)
    young = [each for each in deliveries.ledger.published.values() if 6 * PERIOD - 30 < each.at < 6 * PERIOD]
    assert young
    assert all(machine in each.delivered for each in young)

"""Whatever goes wrong, every invariant holds after every input, and everything is in order again some periods later."""

from dataclasses import replace

import pytest

from ropewalk.engines.sim.network import (
    Duplication,
    Latency,
    Loss,
    OneWayCut,
    Partition,
    Reordering,
    Rule,
    SlowNode,
    WideArea,
    Window,
)
from ropewalk.engines.sim.population import Act, What
from ropewalk.protocols.contract import Level
from ropewalk.protocols.sampling.contract import ManagerName
from towns import PERIOD, TIMED, Town, members

FAULTY = Window(0.0, 6 * PERIOD)
MANAGERS = ("given", "scamp", "cyclon")
LONG = replace(TIMED, rounds=16)
REPAIRING = replace(LONG, learn=True)


@pytest.mark.parametrize("manager", MANAGERS)
@pytest.mark.parametrize("seed", range(3))
def test_nothing_goes_wrong(manager: ManagerName, seed: int) -> None:
    Town(settings=replace(LONG, manager=manager), seed=seed, rules=[WideArea(seed)]).play().at_rest()


def during(window: Window, rule):
    """A rule for as long as the window is open."""

    class Sometimes:
        overtaking = getattr(rule, "overtaking", False)

        def judge(self, sender, receiver, message, now, delays):
            return rule.judge(sender, receiver, message, now, delays) if window.holds(now) else delays

    return Sometimes()


@pytest.mark.parametrize("manager", MANAGERS)
@pytest.mark.parametrize("seed", range(3))
def test_messages_are_lost_doubled_and_overtaken_for_a_while(manager: ManagerName, seed: int) -> None:
    rules: list[Rule] = [
        during(FAULTY, Loss(seed, 0.2)),
        Latency(seed, 0.05, 0.05),
        during(FAULTY, Duplication(seed, 0.1)),
        during(FAULTY, Reordering(seed, 0.1, PERIOD / 2)),
    ]
    Town(settings=replace(LONG, manager=manager), seed=seed, rules=rules).play().at_rest()


@pytest.mark.parametrize("manager", ["scamp", "cyclon"])
@pytest.mark.parametrize("seed", range(3))
def test_nodes_come_and_go_for_a_while(manager: ManagerName, seed: int) -> None:
    followed = members(20, 3, seed)
    nodes = sorted({node for held in followed.values() for node in held})
    acts = []
    for place, node in enumerate(nodes[:12]):
        what: What = ("crash", "leave", "freeze", "unsubscribe")[place % 4]
        begin = PERIOD * (0.5 + place / 3)
        topic = next(topic for topic in followed if node in followed[topic])
        acts += [
            Act(begin, node, what, topic, seconds=5 * PERIOD),
            Act(begin + PERIOD, node, "subscribe" if what == "unsubscribe" else "restart", topic),
        ]
    settings = replace(REPAIRING, manager=manager, rounds=24)
    Town(settings=settings, seed=seed, rules=[Latency(seed, 0.05)], acts=acts, followed=followed).play().at_rest()


@pytest.mark.parametrize("seed", range(3))
def test_a_slow_node_and_a_one_way_cut(seed: int) -> None:
    followed = members(20, 3, seed)
    nodes = sorted({node for held in followed.values() for node in held})
    rules: list[Rule] = [
        OneWayCut(FAULTY, nodes[0], nodes[1]),
        OneWayCut(FAULTY, nodes[2], nodes[0]),
        Latency(seed, 0.05),
        SlowNode(FAULTY, nodes[3], PERIOD / 2),
    ]
    Town(settings=REPAIRING, seed=seed, rules=rules, followed=followed).play().at_rest()


@pytest.mark.parametrize("manager", ["scamp", "cyclon"])
def test_a_partition_for_less_than_it_takes_to_give_up(manager: ManagerName) -> None:
    followed = members(20, 3, 1)
    nodes = sorted({node for held in followed.values() for node in held})
    rules: list[Rule] = [Partition(Window(2 * PERIOD, 4 * PERIOD), frozenset(nodes[::2])), Latency(1, 0.05)]
    settings = replace(REPAIRING, manager=manager)
    Town(settings=settings, rules=rules, followed=followed).play().at_rest()


def test_topics_have_their_own_level_of_service() -> None:
    levels = {1: Level(period=PERIOD / 4), 2: Level(most=2)}
    town = Town(settings=replace(LONG, manager="scamp"), levels=levels, rules=[Latency(1, 0.05)]).play()
    turns: dict[int, list[int]] = {topic: [] for topic in town.followed}
    for node in town.ids:
        for topic, following in town.population.stan(node).topics.items():
            turns[topic].append(following.turn)
            assert topic != 2 or len(following.overlay.view.contacts) <= 2
    assert min(turns[1]) > 3 * max(turns[3])


def test_a_topic_may_ask_for_a_higher_connectivity() -> None:
    followed = dict.fromkeys((1, 2), members(100, 1, 1, share=1.0)[1])
    settings, levels = replace(LONG, manager="scamp", rounds=0), {1: Level(connectivity=0.9999)}
    town = Town(settings=settings, levels=levels, followed=followed)
    held = {topic: sum(map(len, views.values())) for topic, views in town.population.views().items()}
    assert held[1] > 1.3 * held[2]

"""The state machine in the simulator and the plain statement of StaN's rules hold equal views after every round."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import stan_cases as cases
import stan_reference as reference
import stan_rounds
from ropewalk.engines.sim.network import Network
from ropewalk.engines.sim.population import Population
from ropewalk.engines.sim.rounds import WalkLoss, begin, play
from ropewalk.engines.sim.simulator import Observer, Process, Simulator
from ropewalk.protocols.contract import Send
from ropewalk.protocols.stan.settings import Schedule, Settings
from stan_cases import IDS, Topics, universes

# Under churn they part: a node that walks still name becomes a neighbour here only if it answers, or its link looks alive.
ALONE = {family: wanted for family, wanted in cases.ALONE.items() if family not in ("erdos-renyi", "churn")}


class Sent(Observer):
    """How many walks and replies were sent on each topic, and how many nodes they named."""

    def __init__(self) -> None:
        self.messages: Counter[int] = Counter()
        self.ids: Counter[int] = Counter()

    def sent(self, sender: Process, send: Send, now: float, copies: int) -> None:
        if send.message.kind in ("walk", "reply"):
            self.messages[send.message.topic] += 1
            self.ids[send.message.topic] += send.message.contacts()


def check_every_round(topics: Topics, chosen: Settings, seed: int) -> None:
    rules = cases.rules(chosen, seed)
    initial = {topic: reference.fixed_overlay(rules, topic, members) for topic, members in topics.items()}
    sent = Sent()
    population = Population(Simulator(Network([WalkLoss(seed, chosen.loss)]), [sent]), topics, chosen, seed, {})
    begin(population, initial)
    assert population.views() == initial
    for _, expected in zip(play(population), stan_rounds.rounds(rules, initial), strict=True):
        assert population.views() == expected.views
        assert {topic: sent.messages[topic] for topic in topics} == expected.messages
        assert {topic: sent.ids[topic] for topic in topics} == expected.ids
        sent.messages.clear()
        sent.ids.clear()


@pytest.mark.parametrize("schedule", cases.CONDUCTED)
@pytest.mark.parametrize("family", ALONE)
@given(topics=universes(), seed=IDS, data=st.data())
@settings(max_examples=20)
def test_each_setting_alone_is_equal_after_every_round(family: str, schedule: str, topics, seed: int, data) -> None:
    check_every_round(topics, data.draw(cases.settings(**ALONE[family], schedule=schedule)), seed)


@given(universes(), cases.settings(**cases.ANY), IDS)
@settings(max_examples=100)
@example({5: [7]}, Settings(), 1)
@example({5: [1, 2, 3]}, Settings(ttl=0), 0)
def test_all_settings_together_are_equal_after_every_round(topics: Topics, chosen: Settings, seed: int) -> None:
    check_every_round(topics, replace(chosen, overlay="fixed", churn=0.0), seed)


@pytest.mark.long
@pytest.mark.parametrize("schedule", cases.CONDUCTED)
@pytest.mark.parametrize("seed", [1, 2])
def test_under_churn_pvs_agrees_within_two_percent_in_every_round(schedule: Schedule, seed: int) -> None:
    """At a tenth of the nodes a round it is up to 2.4 %."""
    topics = {topic: [node for node in range(1, 301) if node * topic % 7 < 2 or node % 9 == 0] for topic in range(1, 9)}
    chosen = Settings(rounds=8, ttl=5, connectivity=0.9, churn=0.05, schedule=schedule)
    rules = cases.rules(chosen, seed)
    initial = {topic: reference.fixed_overlay(rules, topic, members) for topic, members in topics.items()}
    population = Population(Simulator(Network()), topics, chosen, seed, {})
    begin(population, initial)
    for _, expected in zip(play(population), stan_rounds.rounds(rules, initial), strict=True):
        assert pvs(population.views()) == pytest.approx(pvs(expected.views), rel=0.02)


def pvs(views: dict[int, reference.Views]) -> float:
    """The mean over the nodes that are there."""
    held: dict[int, set[int]] = {}
    for topic in views.values():
        for node, view in topic.items():
            held.setdefault(node, set()).update(view)
    return sum(map(len, held.values())) / len(held)

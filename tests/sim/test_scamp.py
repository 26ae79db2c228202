"""SCAMP by itself, with nobody walking: sizes, isolation, partition, and what unsubscription leaves."""

import math
import statistics
from dataclasses import replace
from random import Random
from typing import cast

import pytest

from ropewalk.engines.sim.invariants.connected import weak_components
from ropewalk.engines.sim.network import Latency, Partition, Rule, Window
from ropewalk.engines.sim.population import Act
from ropewalk.protocols.sampling.scamp.node import Node as Scamp
from ropewalk.protocols.sampling.scamp.node import Settings as ScampSettings
from scamp_printed import Printed
from towns import PERIOD, TIMED, Town, members

ALONE = replace(TIMED, manager="scamp", rounds=0, connectivity=0.99)
COPIES = ScampSettings.for_connectivity(0.99).copies


def overlay(nodes: int, seed: int = 1, rules: tuple[Rule, ...] = (), **more) -> Town:
    followed = members(nodes, 1, seed, share=1.0)
    return Town(settings=replace(ALONE, **more), followed=followed, seed=seed, invariants=[], rules=rules)


def sizes(town: Town) -> list[int]:
    return [len(view) for view in town.population.views()[1].values()]


def law(nodes: int) -> float:
    return (COPIES + 1) * math.log(nodes)


@pytest.mark.parametrize("nodes", [100, 1000, pytest.param(10_000, marks=pytest.mark.long)])
def test_views_size_themselves(nodes: int) -> None:
    """About (c + 1) ln n, with nobody knowing n."""
    town = overlay(nodes)
    assert statistics.mean(sizes(town)) == pytest.approx(law(nodes), rel=0.2)
    assert weak_components(town.population.views()[1]) == 1


def test_more_copies_for_a_higher_target() -> None:
    few, many = (statistics.mean(sizes(overlay(300, connectivity=target))) for target in (0.3, 0.9999))
    assert many > 2 * few
    assert (
        many > math.log(300) + replace(ALONE, connectivity=0.9999).margin
    )  # what the target takes if links fell by chance


def around(town: Town) -> list[int]:
    """Neighbours in either direction, by node."""
    views = town.population.views()[1]
    found: dict[int, set[int]] = {node: set(view) for node, view in views.items()}
    for node, view in views.items():
        for other in view:
            found[other].add(node)
    return [len(others) for others in found.values()]


@pytest.mark.parametrize("nodes", [5, 30, 100])
def test_where_links_are_used_both_ways_nobody_has_few_neighbours(nodes: int) -> None:
    """And all together have fewer than where some may."""
    least = ScampSettings.for_connectivity(0.99, two_way=True).least
    balanced, printed = (overlay(nodes, rounds=12, fanout=fanout) for fanout in ("two-way", "printed"))
    for town in (balanced, printed):
        town.simulator.run(12 * PERIOD)
    wanted, found = min(least, nodes - 1), sorted(around(balanced))
    assert found[nodes // 10] >= wanted
    assert found[0] >= wanted - 2  # somebody may just have been let go
    if nodes == 100:
        assert statistics.mean(found) < statistics.mean(around(printed))
    else:
        assert found[0] > min(around(printed))


@pytest.mark.parametrize("nodes", [2, 3, 8])
def test_where_there_are_too_few_to_have_so_many_nobody_goes_on_asking(nodes: int) -> None:
    """The longer in vain, the more seldom; and views do not grow for it."""
    town = overlay(nodes, rounds=64, fanout="two-way")
    managers = [cast(Scamp, town.population.stan(node).topics[1].manager) for node in town.ids]
    town.simulator.run(32 * PERIOD)
    asked = sum(manager.asked for manager in managers)
    town.simulator.run(64 * PERIOD)
    assert sum(manager.asked for manager in managers) - asked <= 2 * nodes
    assert min(around(town)) == nodes - 1
    assert max(manager.overlay.view.size for manager in managers) < 2 * nodes


def test_unsubscription_as_printed_erodes_views() -> None:
    """In-views are not told of replacements, so leavers miss holders, and what was to be replaced is lost."""
    printed, chance, nodes = Printed(COPIES, seed=1), Random(1), 200
    for node in range(nodes):
        printed.subscribe(node)
    assert printed.mean_view() == pytest.approx(law(nodes), rel=0.2)
    for newcomer in range(nodes, 5 * nodes):
        printed.unsubscribe(chance.choice(list(printed.views)))
        printed.subscribe(newcomer)
    assert printed.dead_share() > 0.15
    assert printed.mean_view() < 0.5 * law(nodes)


@pytest.mark.thorough
def test_announced_replacements_cure_it() -> None:
    """The same turnover: one leaves, one comes back, four times as often as there are nodes; nobody walks."""
    town, chance = overlay(400), Random(1)
    population, gone = town.population, []
    for step in range(1000):
        there = [node for node in town.ids if population.is_there(node)]
        gone.append(chance.choice(there))
        population.perform(Act(0.0, gone[-1], "leave"))
        population.settle()
        if step >= 200:
            population.perform(Act(0.0, gone.pop(chance.randrange(len(gone) - 1)), "join"))
            population.settle()
        town.simulator.now += PERIOD / 50  # tombstones expire, and no timer fires
    views = population.views()[1]
    assert len(views) == 200
    assert all(other in views for view in views.values() for other in view)
    assert statistics.mean(sizes(town)) == pytest.approx(law(200), rel=0.2)
    assert weak_components(views) == 1


def test_sizes_stay_while_walks_align_and_nodes_come_and_go() -> None:
    """Three turnovers: whoever link management lets go of asks for places anew, and they must not add up."""
    town, chance = overlay(120, rules=(Latency(1, 0.05),), learn=True), Random(1)
    population, gone = town.population, []
    for step in range(240):
        gone.append(chance.choice(population.there(1)))
        population.perform(Act(0.0, gone[-1], "leave"))
        if step >= 60:
            population.perform(Act(0.0, gone.pop(chance.randrange(len(gone) - 1)), "join"))
        town.simulator.run(until=town.simulator.now + PERIOD / 2)
    assert statistics.mean(sizes(town)) == pytest.approx(law(60), rel=0.3)


def test_whoever_is_held_by_nobody_asks_to_be_taken_in_again() -> None:
    town = overlay(60, rules=(Latency(1, 0.05),), rounds=4)  # later, walks that explore may let go of it again
    lonely = town.population.stan(town.ids[7])
    for holder in list(lonely.topics[1].overlay.held_by):
        other = town.population.stan(holder).topics[1].overlay
        dropped = other.view.drop(lonely.me.id)
        assert dropped is not None
        town.population.stan(holder).neighbours.links.release(lonely.me.id, 0.0)
    for node in town.ids:  # nobody walks: only the manager can help
        town.population.stan(node).topics[1].due = 10**9
    town.play()
    assert lonely.topics[1].overlay.held_by


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_a_partition_has_torn_apart_grows_together(seed: int) -> None:
    """For longer than it takes to give a link up, so both halves have forgotten each other when it heals."""
    window = Window(2 * PERIOD, 10 * PERIOD)
    followed = members(60, 1, seed, share=1.0)
    half = frozenset(sorted(followed[1])[::2])
    rules: list[Rule] = [Partition(window, half), Latency(1, 0.05)]
    settings = replace(TIMED, manager="scamp", learn=True, rounds=10)
    town = Town(settings=settings, followed=followed, seed=seed, rules=rules, invariants=[])
    town.play()
    views = town.population.views()[1]
    assert not any((node in half) != (other in half) for node, view in views.items() for other in view)
    town.simulator.run(until=30 * PERIOD)
    assert weak_components(town.population.views()[1]) == 1

"""SCAMP by itself, with nobody walking: sizes, isolation, partition, and what unsubscription leaves."""

import math
import statistics
from dataclasses import replace

import pytest

from ropewalk.engines.sim.invariants.connected import strong_components, weak_components
from ropewalk.engines.sim.population import Act
from ropewalk.protocols.sampling.scamp.node import Settings as ScampSettings
from towns import TIMED, Town, members

ALONE = replace(TIMED, manager="scamp", rounds=0, connectivity=0.99)


def overlay(nodes: int, seed: int = 1, **more) -> Town:
    followed = members(nodes, 1, seed, share=1.0)
    return Town(settings=replace(ALONE, **more), followed=followed, seed=seed, invariants=[])


def sizes(town: Town) -> list[int]:
    return [len(view) for view in town.population.views()[1].values()]


@pytest.mark.parametrize("nodes", [100, 1000])
def test_views_size_themselves(nodes: int) -> None:
    """About (c + 1) ln n, with nobody knowing n."""
    town = overlay(nodes)
    copies = ScampSettings.for_connectivity(0.99).copies
    assert statistics.mean(sizes(town)) == pytest.approx((copies + 1) * math.log(nodes), rel=0.25)
    assert weak_components(town.population.views()[1]) == 1


def test_more_copies_for_a_higher_target() -> None:
    few, many = (statistics.mean(sizes(overlay(300, connectivity=target))) for target in (0.3, 0.9999))
    assert many > 1.5 * few


def test_departures_leave_the_sizes_that_fit_those_who_stay() -> None:
    town = overlay(400)
    for node in town.ids[:200]:
        town.population.perform(Act(0.0, node, "leave"))
        town.population.settle()
    copies = ScampSettings.for_connectivity(0.99).copies
    assert statistics.mean(sizes(town)) == pytest.approx((copies + 1) * math.log(200), rel=0.3)
    assert strong_components(town.population.views()[1]) <= 5
    assert weak_components(town.population.views()[1]) == 1

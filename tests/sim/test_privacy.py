"""What StAN promises by its title: interests are shared without being disclosed."""

from dataclasses import replace

import pytest

from ropewalk.engines.sim.record import Trace
from ropewalk.protocols.sampling.contract import ManagerName
from ropewalk.protocols.stan.settings import Schedule
from towns import TIMED, Town, members

OBSERVED = 2  # the topic whose trace is compared


def trace_of(schedule: Schedule, manager: ManagerName, others: dict[int, list[int]], seed: int = 1) -> list[str]:
    """What every member is told and answers about one topic, as a hash for each."""
    followed = {OBSERVED: members(16, 3, seed)[OBSERVED], **others}
    traces = [Trace(node, OBSERVED) for node in followed[OBSERVED]]
    settings = replace(TIMED, schedule=schedule, manager=manager, rounds=6, learn=True, snoop=True)
    Town(settings=settings, seed=seed, followed=followed, observers=list(traces)).play()
    return [trace.digest for trace in traces]


@pytest.mark.parametrize(
    ("schedule", "manager"), [("sync", "given"), ("sequential", "given"), ("timed", "given"), ("timed", "scamp")]
)
def test_what_a_node_does_on_a_topic_does_not_depend_on_its_others(schedule: Schedule, manager: ManagerName) -> None:
    """A-P2, to the bit; links take no time here: how long one takes to open can tell that it was open already."""
    everything = members(16, 3, 1)
    alone = trace_of(schedule, manager, {})
    assert trace_of(schedule, manager, {1: everything[1], 3: everything[3]}) == alone
    assert trace_of(schedule, manager, {7: everything[OBSERVED]}) == alone
    assert len(set(alone)) == len(alone)
    assert trace_of(schedule, manager, {}, seed=2) != alone

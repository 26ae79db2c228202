"""One run in the simulator on a stored universe: the same tables as the batch engine's, from messages and timers."""

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from pyspark.sql import SparkSession

from ropewalk.engines.contract import FINAL, INITIAL, Phase, Views, stage_after
from ropewalk.engines.job import Job, Outcome
from ropewalk.engines.played import Played, followers_in, members_of, stored
from ropewalk.engines.publishing import stretch
from ropewalk.engines.sim import rounds, timed
from ropewalk.engines.sim.deliveries import Deliveries
from ropewalk.engines.sim.deliveries import outcome as outcome_of
from ropewalk.engines.sim.network import Loss as MessageLoss
from ropewalk.engines.sim.network import Network, Rule, WideArea
from ropewalk.engines.sim.population import Act, Population
from ropewalk.engines.sim.publishing import publications
from ropewalk.engines.sim.record import Traffic
from ropewalk.engines.sim.room import refuse_beyond
from ropewalk.engines.sim.rows import rows_of_events
from ropewalk.engines.sim.simulator import Observer, Simulator
from ropewalk.engines.views import left_by, views_of
from ropewalk.protocols.catalogue import PROTOCOLS
from ropewalk.protocols.stan import kernel
from ropewalk.protocols.stan.settings import Settings
from ropewalk.tables.frames import read_table
from ropewalk.tables.schema import SUBSCRIPTIONS
from ropewalk.tables.store import Draft, Store

LINK_BYTES = 1300  # measured by benchmarks/sim.py: a link of a topic, at both ends, with its share of all else


def simulate(spark: SparkSession, universe: Store, job: Job, draft: Draft, phase: Phase) -> Outcome:
    """Run a protocol on a universe and write its tables into a draft."""
    with phase("read the universe"):
        _refuse_too_large(spark, universe, job.settings)
        members = members_of(spark, universe)
    deliveries = Deliveries() if job.events else None
    stages = list(stages_of(members, job, phase, deliveries))
    with phase("write the tables"):
        rows = rows_of_events(deliveries, stages[-1].owed) if deliveries is not None else (None, [])
        return stored(spark, universe, job, draft, members, stages, *rows)


def stages_of(
    members: kernel.Members, job: Job, phase: Phase, deliveries: Deliveries | None = None
) -> Iterator[Played]:
    """Let nodes play: the initial stage, the final one, and with `rounds` those in between."""
    node_ids = np.unique(members.ids)
    traffic = Traffic()
    observers: list[Observer] = [traffic, *([deliveries] if deliveries is not None else [])]
    population = population_of(members, job, observers)
    initial = views_of(members, kernel.initial(members, job.settings, job.seed))
    between = stretch(job.settings.period, job.settings.rounds)
    acts = publications(population, job.events, job.topics_per_event, *between) if job.events else []
    try:
        for stage, views in _stages(population, initial, traffic, acts, phase):
            if stage in (INITIAL, FINAL) or "rounds" in job.keep:
                left = left_by(stage, views, node_ids, traffic.by_topic)
                events: dict[str, Any] = {}
                owed: set[tuple[int, int]] = set()
                if deliveries is not None and stage == FINAL:
                    events = outcome_of(deliveries, population)
                    owed = {(each.event.id, node.me.id) for each, node in deliveries.ledger.due(population)}
                yield Played(left, _open_links(population), population.simulator.now, traffic.by_node, events, owed)
                traffic.clear()
    finally:
        gc.unfreeze()


def _refuse_too_large(spark: SparkSession, universe: Store, settings: Settings) -> None:
    """All nodes lie in the memory of one process."""
    followers = (
        read_table(spark, universe, SUBSCRIPTIONS).groupBy("topic").count().toArrow().column("count").to_pylist()
    )
    refuse_beyond(universe, LINK_BYTES * sum(count * settings.fan_out(count) for count in followers))


def population_of(members: kernel.Members, job: Job, observers: Iterable[Observer]) -> Population:
    """The nodes of a universe, none of which runs yet."""
    simulator = Simulator(Network(rules_of(job.settings, job.seed)), observers)
    return Population(simulator, followers_in(members), job.settings, job.seed, {}, PROTOCOLS[job.protocol].make)


def rules_of(settings: Settings, seed: int) -> list[Rule]:
    """The network of a run: perfect but for loss where rounds are conducted, wide-area where nodes have timers."""
    if settings.schedule != "timed":
        return [rounds.WalkLoss(seed, settings.loss)] if settings.loss else []
    return [*([MessageLoss(seed, settings.loss)] if settings.loss else []), WideArea(seed)]


def _stages(
    population: Population, initial: Views, traffic: Traffic, acts: list[Act], phase: Phase
) -> Iterator[tuple[str, Views]]:
    settings = population.settings
    with phase("let all nodes subscribe"), _here_to_stay():
        begin(population, initial)
    traffic.clear()  # what it takes to set the stage is not part of the play
    yield INITIAL, population.views()
    playing = play(population, acts)
    for turn in range(1, settings.rounds + 1):
        with phase(f"round {turn} of {settings.rounds}"):
            next(playing)
        yield stage_after(turn, settings.rounds), population.views()
    if not settings.rounds:
        yield FINAL, population.views()


def _open_links(population: Population) -> dict[int, int] | None:
    """How many connections an operating system would count at every node."""
    if population.settings.schedule != "timed":
        return None
    return {node: len(process.linked) for node, process in population.simulator.processes.items()}


@contextmanager
def _here_to_stay() -> Iterator[None]:
    """What is made meanwhile is not searched for garbage, then or later: there is none, and it took a third of all time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.freeze()


def begin(population: Population, initial: Views) -> None:
    """Have everybody subscribe."""
    (timed if population.settings.schedule == "timed" else rounds).begin(population, initial)


def play(population: Population, acts: list[Act] | None = None) -> Iterator[int]:
    """Round after round, on the schedule of the settings; the number of those that are over."""
    return timed.play(population, acts) if population.settings.schedule == "timed" else rounds.play(population)

"""One run of nodes on rings in the simulator, on a stored universe: tables of trees and nodes, as the batch engine's, from messages and timers."""

from typing import Any

from pyspark.sql import SparkSession

from ropewalk.engines.contract import Phase
from ropewalk.engines.job import Order, Outcome
from ropewalk.engines.publishing import stretch
from ropewalk.engines.sim import timed
from ropewalk.engines.sim.deliveries import Deliveries, outcome
from ropewalk.engines.sim.network import Loss, Network, Rule, WideArea
from ropewalk.engines.sim.population import Act, Filters, Population
from ropewalk.engines.sim.publishing import publications
from ropewalk.engines.sim.record import Traffic
from ropewalk.engines.sim.room import refuse_beyond
from ropewalk.engines.sim.rows import rows_of_events
from ropewalk.engines.sim.simulator import Observer, Simulator
from ropewalk.engines.standings import Ended, following_in, stored
from ropewalk.errors import RunError
from ropewalk.protocols.catalogue import PROTOCOLS
from ropewalk.protocols.scribe.node import Node as ScribeNode
from ropewalk.tables.store import Draft, Store

NODE_BYTES, SUBSCRIPTION_BYTES = 80_000, 5_000  # ours: measured, of Magnet's nodes


def simulate(spark: SparkSession, universe: Store, job: Order, draft: Draft, phase: Phase) -> Outcome:
    """Run a protocol on a universe and write its tables into a draft."""
    with phase("read the universe"):
        following = following_in(spark, universe)
        refuse_beyond(universe, NODE_BYTES * following.nodes + SUBSCRIPTION_BYTES * following.subscriptions)
    traffic, deliveries = Traffic(), Deliveries() if job.events else None
    population = played(following.members, job, phase, traffic, deliveries)
    if not population.simulator.processes:
        raise RunError("no node is there at the end, so nothing is kept; use less churn, or more nodes.")
    processes = population.simulator.processes
    standings = {id_: each.node.standing() for id_, each in processes.items() if isinstance(each.node, ScribeNode)}
    ended = ended_of(population, traffic, deliveries, standings)
    with phase("write the tables"):
        return stored(spark, universe, job, draft, following, ended)


def played(
    followed: dict[int, list[int]],
    job: Order,
    phase: Phase,
    traffic: Traffic,
    deliveries: Deliveries | None,
    acts: list[Act] | None = None,  # None: events by chance
    filters: Filters | None = None,
) -> Population:
    """Let nodes join one after the other, then let periods pass."""
    settings, seed = job.settings, job.seed
    observers: list[Observer] = [traffic, *([deliveries] if deliveries is not None else [])]
    rules: list[Rule] = [*([Loss(seed, settings.loss)] if settings.loss else []), WideArea(seed)]
    population = Population(
        Simulator(Network(rules), observers), followed, settings, seed, {}, PROTOCOLS[job.protocol].make, filters
    )
    with phase("let all nodes join"):
        timed.begin(population, {})
    traffic.clear()  # what it takes to set the stage is not part of the play
    between = stretch(settings.period, settings.rounds)
    if acts is None:
        acts = publications(population, job.events, job.topics_per_event, *between) if job.events else []
    playing = timed.play(population, acts)
    for turn in range(1, settings.rounds + 1):
        with phase(f"round {turn} of {settings.rounds}"):
            next(playing)
    return population


def ended_of(
    population: Population, traffic: Traffic, deliveries: Deliveries | None, standings: dict[int, Any]
) -> Ended:
    """How it has ended."""
    processes = population.simulator.processes
    ended = Ended(
        standings=standings,
        open={id_: len(each.linked) for id_, each in processes.items()},
        sent=traffic.by_node,
        at=population.simulator.now,
    )
    if deliveries is not None:
        owed = {(each.event.id, node.me.id) for each, node in deliveries.ledger.due(population)}
        ended.events = outcome(deliveries, population)
        ended.published, ended.delivered = rows_of_events(deliveries, owed)
    return ended

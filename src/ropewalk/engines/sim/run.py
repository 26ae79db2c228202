"""One run in the simulator on a stored universe: the same tables as the batch engine's, from messages and timers."""

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

from ropewalk.engines.contract import FINAL, INITIAL, Phase, stage_after
from ropewalk.engines.job import Job, Outcome, of_run, run_of, runs_row
from ropewalk.engines.sim import rounds, timed
from ropewalk.engines.sim.deliveries import SETTLED, Deliveries
from ropewalk.engines.sim.deliveries import outcome as outcome_of
from ropewalk.engines.sim.network import Loss as MessageLoss
from ropewalk.engines.sim.network import Network, Rule, WideArea
from ropewalk.engines.sim.population import Act, Population, Views
from ropewalk.engines.sim.publishing import publications
from ropewalk.engines.sim.record import Traffic
from ropewalk.engines.sim.simulator import Observer, Simulator
from ropewalk.engines.sim.tables import as_arrow, connection_columns, left_by, view_columns, views_of
from ropewalk.engines.stages import LINK_COLUMNS, Left, Longs, link_rows, topic_columns
from ropewalk.errors import InputError, UsageError
from ropewalk.protocols.catalogue import PROTOCOLS
from ropewalk.protocols.stan import kernel
from ropewalk.protocols.stan.settings import NAME, Settings
from ropewalk.tables.frames import hexadecimal, read_table, write_tables
from ropewalk.tables.machine import memory_bytes
from ropewalk.tables.schema import (
    CONNECTIONS,
    DELIVERIES,
    LINKS,
    OVERLAYS,
    PUBLICATIONS,
    RUNS,
    SUBSCRIPTIONS,
    TRAFFIC,
    VIEWS,
    Table,
)
from ropewalk.tables.store import Draft, Store

LINK_BYTES = 1300  # measured by benchmarks/sim.py: a link of a topic, at both ends, with its share of all else
COUNTED = ("messages", "ids")  # of StaN's walks and replies, by topic; what others send is in `traffic` by kind
PUBLISHED_AFTER = SETTLED  # periods: from then on there is somebody who must get it
QUIET = 2  # periods without events at the end: what was lost is asked for again
OF_MEMORY = 0.6  # ours: the share of the machine that nodes may take; Spark and the tables have the rest


@dataclass(frozen=True, slots=True)
class Played:
    """What a stage left behind, when it was over, and what was sent since the stage before: node -> kind -> [messages, bytes]."""

    left: Left
    open: dict[int, int] | None  # node -> links that are open, used or not; None in lock step: those of views
    at: float
    sent: dict[int, dict[str, list[int]]]
    events: dict[str, Any]  # what became of them, at the final stage
    owed: set[tuple[int, int]]  # likewise: which event to whom


def simulate(spark: SparkSession, universe: Store, job: Job, draft: Draft, phase: Phase) -> Outcome:
    """Run a protocol on a universe and write its tables into a draft."""
    with phase("read the universe"):
        _refuse_too_large(spark, universe, job.settings)
        members = members_of(spark, universe)
    deliveries = Deliveries() if job.events else None
    stages = list(stages_of(members, job, phase, deliveries))
    final = stages[-1].left
    node_ids = np.unique(members.ids)
    outcome = Outcome(
        run=run_of(universe, job),
        digest=hexadecimal(int(np.bitwise_xor.reduce(kernel.digests(final.members, final.overlays)))),
        nodes=node_ids.size,
        topics=members.topics.size,
        subscriptions=members.ids.size,
        events=stages[-1].events,
    )
    draft.manifest.digest = outcome.digest
    with phase("write the tables"):
        tables = [(RUNS, runs_row(spark, outcome, job, universe))]
        for table, rows in [*_tables(stages, node_ids, job), *_event_tables(deliveries, stages[-1].owed)]:
            tables.append((table, of_run(outcome, table, spark.createDataFrame(rows))))
        outcome.tables |= write_tables(draft, tables)
    return outcome


def stages_of(
    members: kernel.Members, job: Job, phase: Phase, deliveries: Deliveries | None = None
) -> Iterator[Played]:
    """Let nodes play: the initial stage, the final one, and with `rounds` those in between."""
    node_ids = np.unique(members.ids)
    traffic = Traffic()
    observers: list[Observer] = [traffic, *([deliveries] if deliveries is not None else [])]
    population = population_of(members, job, observers)
    initial = views_of(members, kernel.initial(members, job.settings, job.seed))
    begin, end = PUBLISHED_AFTER * job.settings.period, (job.settings.rounds - QUIET) * job.settings.period
    acts = publications(population, job.events, job.topics_per_event, begin, end) if job.events else []
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


def members_of(spark: SparkSession, universe: Store) -> kernel.Members:
    """Who follows what, as arrays."""
    rows = universe.manifest.tables[SUBSCRIPTIONS.name].rows
    table = read_table(spark, universe, SUBSCRIPTIONS).toArrow()
    topics, nodes = (table.column(name).to_numpy() for name in ("topic", "node"))
    order = np.lexsort((nodes, topics))
    topics, nodes = topics[order], nodes[order]
    if rows != nodes.size or np.any((np.diff(topics) == 0) & (np.diff(nodes) == 0)):
        raise InputError(f"{universe.folder_of(SUBSCRIPTIONS)} is not as its manifest says; make the store again.")
    names, firsts = np.unique(topics, return_index=True)
    return kernel.Members(names, np.append(firsts, nodes.size).astype(np.int64), nodes)


def _refuse_too_large(spark: SparkSession, universe: Store, settings: Settings) -> None:
    """All nodes lie in the memory of one process."""
    followers = (
        read_table(spark, universe, SUBSCRIPTIONS).groupBy("topic").count().toArrow().column("count").to_pylist()
    )
    gigabytes = LINK_BYTES * sum(count * settings.fan_out(count) for count in followers) / 1e9
    most = OF_MEMORY * memory_bytes() / 1e9
    if gigabytes > most:
        raise UsageError(
            f"{universe.path} would take the simulator about {gigabytes:.1f} GB, of {most:.1f} GB it may take here;"
            " use --engine batch, or cut a smaller universe."
        )


def population_of(members: kernel.Members, job: Job, observers: Iterable[Observer]) -> Population:
    """The nodes of a universe, none of which runs yet."""
    offsets, ids = members.offsets.tolist(), members.ids.tolist()
    followed = {topic: ids[offsets[place] : offsets[place + 1]] for place, topic in enumerate(members.topics.tolist())}
    simulator = Simulator(Network(rules_of(job.settings, job.seed)), observers)
    return Population(simulator, followed, job.settings, job.seed, {}, PROTOCOLS[job.protocol].make)


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


def _tables(played: list[Played], node_ids: Longs, job: Job) -> Iterator[tuple[Table, pa.Table]]:
    stages = [each.left for each in played]
    views = [as_arrow(each.left.stage, view_columns(each.left, node_ids, each.open)) for each in played]
    yield VIEWS, pa.concat_tables(views)
    overlays = []
    for left in stages:
        columns = topic_columns(left, fitness=job.fitness, ids="traffic" in job.keep)
        used = np.flatnonzero(columns["members"])
        for name in ("digest", *(() if job.protocol == NAME else COUNTED)):
            columns.pop(name, None)
        known = as_arrow(left.stage, {name: values[used] for name, values in columns.items()})
        for name in OVERLAYS.columns:
            if name not in ("run", *known.column_names):  # not asked for, or not counted
                known = known.append_column(name, pa.nulls(used.size, pa.float64()))
        overlays.append(known)
    yield OVERLAYS, pa.concat_tables(overlays)
    if "links" in job.keep:
        batches = [batch for left in stages for batch in link_rows(left)]
        yield LINKS, pa.Table.from_batches(batches, pa.schema(LINK_COLUMNS))
    if "connections" in job.keep:
        pairs = [as_arrow(left.stage, connection_columns(left, node_ids)) for left in stages]
        yield CONNECTIONS, pa.concat_tables(pairs)
    if "traffic" in job.keep:
        rows = [
            (node, kind, each.at, messages, size)
            for each in played
            for node, kinds in each.sent.items()
            for kind, (messages, size) in kinds.items()
        ]
        schema = {
            "node": pa.int64(),
            "kind": pa.string(),
            "at": pa.float64(),
            "messages": pa.int64(),
            "bytes": pa.int64(),
        }
        counts = [pa.array([row[place] for row in rows], type_) for place, type_ in enumerate(schema.values())]
        yield TRAFFIC, pa.table(counts, list(schema))


def _event_tables(deliveries: Deliveries | None, owed: set[tuple[int, int]]) -> Iterator[tuple[Table, pa.Table]]:
    if deliveries is None:
        return
    published = list(deliveries.ledger.published.values())
    columns: dict[str, tuple[list[Any], pa.DataType]] = {
        "event": ([each.event.id for each in published], pa.int64()),
        "publisher": ([each.event.publisher for each in published], pa.int64()),
        "topics": ([list(each.event.topics) for each in published], pa.list_(pa.int64())),
        "size": ([len(each.event.payload) for each in published], pa.int64()),
        "at": ([each.at for each in published], pa.float64()),
        "content": ([None for _ in published], pa.string()),
    }
    yield PUBLICATIONS, _arrow(columns)
    latest = {  # of a node that came back and got it anew, the last
        (each.event.id, node.me.id): (delivery, (each.event.id, node.me.id) in owed)
        for each in published
        for node, delivery in each.delivered.items()
    }
    columns = {
        "event": ([event for event, _ in latest], pa.int64()),
        "node": ([node for _, node in latest], pa.int64()),
        "hops": ([delivery.hops for delivery, _ in latest.values()], pa.int64()),
        "at": ([delivery.at for delivery, _ in latest.values()], pa.float64()),
        "copies": ([delivery.copies for delivery, _ in latest.values()], pa.int64()),
        "owed": ([was_owed for _, was_owed in latest.values()], pa.bool_()),
    }
    yield DELIVERIES, _arrow(columns)


def _arrow(columns: dict[str, tuple[list[Any], pa.DataType]]) -> pa.Table:
    return pa.table([pa.array(values, type_) for values, type_ in columns.values()], list(columns))

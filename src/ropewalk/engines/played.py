"""What a run of single nodes leaves behind, as tables: the same whether they ran in the simulator or on sockets."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

from ropewalk.engines.job import Job, Outcome, of_run, run_of, runs_row
from ropewalk.engines.stages import LINK_COLUMNS, Left, Longs, link_rows, topic_columns
from ropewalk.engines.views import as_arrow, connection_columns, view_columns
from ropewalk.errors import InputError
from ropewalk.protocols.content.filters import Content
from ropewalk.protocols.stan import kernel
from ropewalk.protocols.stan.settings import NAME
from ropewalk.tables.frames import hexadecimal, read_table, write_tables
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

COUNTED = ("messages", "ids")  # of StaN's walks and replies, by topic; what others send is in `traffic` by kind

Sent = dict[int, dict[str, list[int]]]
"""node -> kind -> [messages, bytes]"""


@dataclass(frozen=True, slots=True)
class Played:
    """What a stage left behind, when it was over, and what was sent since the stage before: node -> kind -> [messages, bytes]."""

    left: Left
    open: dict[int, int] | None  # node -> links that are open, used or not; None in lock step: those of views
    at: float
    sent: Sent
    events: dict[str, Any]  # what became of them, at the final stage
    owed: set[tuple[int, int]]  # likewise: which event to whom


class Publication(NamedTuple):
    """An event, as its table tells it."""

    event: int
    publisher: int
    topics: tuple[int, ...]
    size: int
    at: float
    content: Content = ()


class Delivery(NamedTuple):
    """An event at a node, likewise."""

    event: int
    node: int
    hops: int
    at: float
    copies: int
    owed: bool


def stored(
    spark: SparkSession,
    universe: Store,
    job: Job,
    draft: Draft,
    members: kernel.Members,
    stages: list[Played],
    published: list[Publication] | None,
    delivered: list[Delivery],
) -> Outcome:
    """Write what was played into a draft."""
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
    tables = [(RUNS, runs_row(spark, outcome, job, universe))]
    for table, rows in [*_tables(stages, node_ids, job), *event_tables(published, delivered)]:
        tables.append((table, of_run(outcome, table, spark.createDataFrame(rows))))
    outcome.tables |= write_tables(draft, tables)
    return outcome


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


def followers_in(members: kernel.Members) -> dict[int, list[int]]:
    """The same, by topic."""
    offsets, ids = members.offsets.tolist(), members.ids.tolist()
    return {topic: ids[offsets[at] : offsets[at + 1]] for at, topic in enumerate(members.topics.tolist())}


def _tables(played: list[Played], node_ids: Longs, job: Job) -> Iterator[tuple[Table, pa.Table]]:
    stages = [each.left for each in played]
    views = [as_arrow(each.left.stage, view_columns(each.left, node_ids, each.open)) for each in played]
    yield VIEWS, pa.concat_tables(views)
    overlays = []
    for left in stages:
        columns = topic_columns(left, fitness=job.fitness, ids="traffic" in job.keep)
        used = np.flatnonzero(columns["members"])
        counted = job.protocol == NAME and job.engine != "live"  # real nodes count by kind, not by topic
        for name in ("digest", *(() if counted else COUNTED)):
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
        yield TRAFFIC, traffic_table([(each.sent, each.at) for each in played])


def traffic_table(sent: list[tuple[Sent, float]]) -> pa.Table:
    """What was sent from one moment to the next."""
    rows = [
        (node, kind, at, messages, size)
        for by_node, at in sent
        for node, kinds in by_node.items()
        for kind, (messages, size) in kinds.items()
    ]
    schema = {"node": pa.int64(), "kind": pa.string(), "at": pa.float64(), "messages": pa.int64(), "bytes": pa.int64()}
    counts = [pa.array([row[place] for row in rows], type_) for place, type_ in enumerate(schema.values())]
    return pa.table(counts, list(schema))


def event_tables(published: list[Publication] | None, delivered: list[Delivery]) -> Iterator[tuple[Table, pa.Table]]:
    """What became of events, if there were any."""
    if published is None:
        return
    columns: dict[str, tuple[list[Any], pa.DataType]] = {
        "event": ([each.event for each in published], pa.int64()),
        "publisher": ([each.publisher for each in published], pa.int64()),
        "topics": ([list(each.topics) for each in published], pa.list_(pa.int64())),
        "size": ([each.size for each in published], pa.int64()),
        "at": ([each.at for each in published], pa.float64()),
        "content": ([_said(each.content) for each in published], pa.string()),
    }
    yield PUBLICATIONS, _arrow(columns)
    columns = {
        "event": ([each.event for each in delivered], pa.int64()),
        "node": ([each.node for each in delivered], pa.int64()),
        "hops": ([each.hops for each in delivered], pa.int64()),
        "at": ([each.at for each in delivered], pa.float64()),
        "copies": ([each.copies for each in delivered], pa.int64()),
        "owed": ([each.owed for each in delivered], pa.bool_()),
    }
    yield DELIVERIES, _arrow(columns)


def _said(content: Content) -> str | None:
    return json.dumps(dict(content), sort_keys=True) if content else None


def _arrow(columns: dict[str, tuple[list[Any], pa.DataType]]) -> pa.Table:
    return pa.table([pa.array(values, type_) for values, type_ in columns.values()], list(columns))

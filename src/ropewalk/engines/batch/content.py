"""The overlay by interests, as a Spark job: links are found in parallel over nodes, events go in parallel over events.

filters or subscriptions -> contents -> (here) ids and groups -> (tasks) links of some nodes each -> (here) mesh
-> (tasks) some events each -> views, routing, spreads
"""

import json
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

from ropewalk.engines.batch.rows import Mapped, sql_schema
from ropewalk.engines.contents import Contents, contents_in, contents_of_topics, drawn, said_by
from ropewalk.engines.contract import FINAL, Phase
from ropewalk.engines.job import Order, Outcome, of_run, run_of, runs_row
from ropewalk.protocols.dht.kernel.interests import Longs
from ropewalk.protocols.kato.kernel import links as of_links
from ropewalk.protocols.kato.kernel import spread as of_events
from ropewalk.protocols.kato.kernel.links import COVERED, COVERING, NEIGHBOUR, Links, linked
from ropewalk.protocols.kato.kernel.profiles import Profiles, profiled
from ropewalk.protocols.kato.kernel.spread import COLUMNS, Events, Mesh, meshed, spread
from ropewalk.protocols.kato.settings import Settings
from ropewalk.tables.frames import write_tables
from ropewalk.tables.schema import PUBLICATIONS, ROUTING, RUNS, SPREADS, VIEWS, Table
from ropewalk.tables.store import Draft, Store
from ropewalk.workloads.thresholds import slices_of

LINKED = pa.schema({"node": pa.int64(), "other": pa.int64(), "kind": pa.int64()})
SENT = pa.schema({"event": pa.int64(), **{name: pa.int64() for name in COLUMNS}})
HEARD = pa.schema({"node": pa.int64(), "received": pa.int64(), "unwanted": pa.int64()})

Columns = dict[str, "np.typing.NDArray[np.generic]"]


class Overlay(NamedTuple):
    """Everybody with their links."""

    profiles: Profiles
    links: Links
    mesh: Mesh


class Heard(NamedTuple):
    """What events came to: by event, and what each node got of them."""

    events: Longs
    received: Longs
    unwanted: Longs


def simulate(spark: SparkSession, universe: Store, job: Order, draft: Draft, phase: Phase) -> Outcome:
    """Run it on a universe and write its tables into a draft."""
    settings: Settings = job.settings
    with phase("read the universe"):
        contents = contents_in(spark, universe, settings.space)
    with phase("compile the kernels"):
        compile_kernels()
    with phase("link the nodes"):
        overlay = _linked(spark, contents, settings, job)
    published = drawn(contents, settings, job.events, job.seed)
    with phase("publish the events"):
        heard = _spread(spark, contents, overlay, published, settings, job)
    interests = contents.interests
    outcome = Outcome(
        run=run_of(universe, job),
        digest=digest_of(contents, overlay),
        nodes=interests.node_ids.size,
        topics=interests.topic_ids.size,
        subscriptions=interests.nodes.size,
    )
    draft.manifest.digest = outcome.digest
    with phase("write the tables"):
        tables = [(RUNS, runs_row(spark, outcome, job, universe))]
        wanted: list[tuple[Table, Columns]] = [
            (VIEWS, view_columns(contents, overlay)),
            (ROUTING, routing_columns(contents, overlay, heard)),
        ]
        if job.events:
            wanted.append((SPREADS, spread_columns(heard)))
        for table, columns in wanted:
            tables.append((table, of_run(outcome, table, spark.createDataFrame(pa.table(columns)))))
        if job.events:
            rows = spark.createDataFrame(_publications(contents, published))
            tables.append((PUBLICATIONS, of_run(outcome, PUBLICATIONS, rows)))
        outcome.tables |= write_tables(draft, tables)
    return outcome


def compile_kernels() -> None:
    """Run everything once on three nodes, here, so that tasks find the kernels compiled instead of each compiling them."""
    contents = contents_of_topics(np.array([1, 2, 3, 1, 2]), np.array([7, 7, 7, 8, 9]))
    for settings in (Settings(), Settings(cover="cells"), Settings(neighbours="proof")):
        run_here(contents, settings, 2, 0)


def run_here(contents: Contents, settings: Settings, events: int, seed: int) -> tuple[Overlay, Heard]:
    """All of it in this process."""
    profiles = profiled(contents.interests, settings, seed)
    count = profiles.primaries.size
    links = linked(profiles, settings, 0, count)
    overlay = Overlay(profiles, links, meshed(count, links))
    published = drawn(contents, settings, events, seed)
    found = spread(contents.interests, profiles, overlay.mesh, contents.wants, published, settings.spread == "forward")
    return overlay, Heard(*found)


def view_columns(contents: Contents, overlay: Overlay) -> Columns:
    """What every node holds. It has no links of topics, so logical ones are the physical ones."""
    count = contents.interests.node_ids.size
    held = np.diff(overlay.links.starts) + _on_ring(overlay.profiles)
    return {
        "stage": np.full(count, FINAL),
        "node": contents.interests.node_ids,
        "lvs": held,
        "pvs": held,
        "connections": np.diff(overlay.mesh.starts) + _on_ring(overlay.profiles),
        "in_links": np.bincount(overlay.links.others, minlength=count) + _on_ring(overlay.profiles),
    }


def routing_columns(contents: Contents, overlay: Overlay, heard: Heard) -> Columns:
    """What every node's table has of each kind, and what came to it."""
    profiles, links = overlay.profiles, overlay.links
    count = contents.interests.node_ids.size
    owners = np.repeat(np.arange(count), np.diff(links.starts))
    kinds = {"covering": COVERING, "covered": COVERED, "neighbours": NEIGHBOUR}
    by_kind = {name: np.bincount(owners[links.kinds == kind], minlength=count) for name, kind in kinds.items()}
    return {
        "stage": np.full(count, FINAL),
        "node": contents.interests.node_ids,
        "cells": np.diff(contents.interests.by_node),
        "bits": profiles.weights,
        **by_kind,
        "incoming": np.diff(overlay.mesh.starts) - np.diff(links.starts),
        "ring": _on_ring(profiles),
        "alike": profiles.sizes.astype(np.int64),
        "primary": profiles.primaries == np.arange(count),
        "received": heard.received,
        "unwanted": heard.unwanted,
    }


def spread_columns(heard: Heard) -> Columns:
    """What became of every event."""
    counts = {name: heard.events[:, at] for at, name in enumerate(COLUMNS)}
    return {"event": np.arange(heard.events.shape[0]), **counts, "lost": counts["lost"].astype(np.bool_)}


def digest_of(contents: Contents, overlay: Overlay) -> str:
    """One hash for who is whose primary, and all links."""
    hashed = blake2b(digest_size=8)
    ids = contents.interests.node_ids
    parts = (ids[overlay.profiles.primaries], overlay.links.starts, overlay.links.others, overlay.links.kinds)
    for part in parts:
        hashed.update(np.ascontiguousarray(part, np.int64).tobytes())
    return hashed.hexdigest()


def _on_ring(profiles: Profiles) -> Longs:
    """Links to those who want the same."""
    return np.minimum(profiles.sizes.astype(np.int64) - 1, 2)


def _parts(total: int, parts: int) -> list[tuple[int, int]]:
    bounds = [total * part // parts for part in range(parts + 1)]
    return list(pairwise(bounds))


def _linked(spark: SparkSession, contents: Contents, settings: Settings, job: Order) -> Overlay:
    profiles = profiled(contents.interests, settings, job.seed)
    count = profiles.primaries.size
    ranges = _parts(count, min(job.partitions or slices_of(spark), count))

    def link(part: int) -> Iterator[pa.RecordBatch]:
        first, last = ranges[part]
        found = of_links.linked(profiles, settings, first, last)
        owners = np.repeat(np.arange(first, last), np.diff(found.starts))
        yield _batch(LINKED, {"node": owners, "other": found.others, "kind": found.kinds})

    rows = spark.range(0, len(ranges), numPartitions=len(ranges)).mapInArrow(_task(link), sql_schema(LINKED)).toArrow()
    nodes, others, kinds = (rows.column(name).to_numpy() for name in LINKED.names)
    order = np.argsort(nodes, kind="stable")  # within a node in the order in which they were found
    starts = np.concatenate(([0], np.cumsum(np.bincount(nodes, minlength=count)))).astype(np.int64)
    links = Links(starts, others[order].astype(np.int32), kinds[order].astype(np.int32))
    return Overlay(profiles, links, meshed(count, links))


def _spread(
    spark: SparkSession, contents: Contents, overlay: Overlay, published: Events, settings: Settings, job: Order
) -> Heard:
    count = contents.interests.node_ids.size
    if not job.events:
        return Heard(np.zeros((0, len(COLUMNS)), np.int64), np.zeros(count, np.int64), np.zeros(count, np.int64))
    ranges = _parts(job.events, min(job.partitions or slices_of(spark), job.events))
    everywhere = settings.spread == "forward"
    interests, profiles, mesh, wants = contents.interests, overlay.profiles, overlay.mesh, contents.wants
    both = pa.schema([*SENT, *HEARD])

    def send(part: int) -> Iterator[pa.RecordBatch]:
        first, last = ranges[part]
        some = published.some(first, last)
        found = of_events.spread(interests, profiles, mesh, wants, some, everywhere)
        columns: Columns = {"event": np.arange(first, last)}
        columns |= {name: found.events[:, at] for at, name in enumerate(COLUMNS)}
        yield _batch(both, columns)
        busy = np.flatnonzero((found.received > 0) | (found.unwanted > 0))
        yield _batch(both, {"node": busy, "received": found.received[busy], "unwanted": found.unwanted[busy]})

    frame = spark.range(0, len(ranges), numPartitions=len(ranges)).mapInArrow(_task(send), sql_schema(both))
    rows = frame.toArrow()
    events = rows.filter(pa.compute.is_valid(rows.column("event"))).sort_by("event")
    nodes = rows.filter(pa.compute.is_valid(rows.column("node")))
    at = nodes.column("node").to_numpy()
    summed = [
        np.bincount(at, nodes.column(name).to_numpy(), minlength=count).astype(np.int64)
        for name in ("received", "unwanted")
    ]
    return Heard(np.stack([events.column(name).to_numpy() for name in COLUMNS], axis=1), *summed)


def _task(work: Callable[[int], Iterator[pa.RecordBatch]]) -> Mapped:
    def task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for part in batch.column(0).to_pylist():
                yield from work(part)

    return task


def _batch(schema: pa.Schema, columns: Columns) -> pa.RecordBatch:
    rows = len(next(iter(columns.values())))
    arrays = [
        pa.array(columns[field.name].astype(np.int64)) if field.name in columns else pa.nulls(rows, field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _publications(contents: Contents, published: Events) -> pa.Table:
    interests = contents.interests
    cells = np.where(published.cells >= 0, interests.topic_ids[published.cells], 0).tolist()
    said = [json.dumps(said_by(contents, point), sort_keys=True) for point in published.points]
    return pa.table(
        {
            "event": pa.array(np.arange(published.publishers.size)),
            "publisher": pa.array(interests.node_ids[published.publishers]),
            "topics": pa.array([[cell] if at >= 0 else [] for cell, at in zip(cells, published.cells, strict=True)]),
            "size": pa.array(np.zeros(published.publishers.size, np.int64)),
            "at": pa.array(np.zeros(published.publishers.size)),
            "content": pa.array(said if contents.space is not None else [None] * len(said), pa.string()),
        }
    )

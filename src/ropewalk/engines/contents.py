"""What nodes want, as arrays: filters that touch cells, or topics, each of which is a cell of its own.

A universe with filters says in its manifest how its events are cut into cells; else numbers are cut evenly between the least and the
greatest that any filter names, and every word has an interval of its own.
"""

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

from ropewalk.arrays.chance import chances, stream
from ropewalk.engines.played import members_of
from ropewalk.errors import InputError, UsageError
from ropewalk.protocols.content.kernel import Floats, Longs, Words, cells_of, filter_of, touched
from ropewalk.protocols.content.spaces import Attribute, Space, space_of
from ropewalk.protocols.dht.kernel import Interests, interests_of
from ropewalk.protocols.kato.kernel.profiles import places_of
from ropewalk.protocols.kato.kernel.spread import Events, Wants
from ropewalk.protocols.kato.settings import Settings
from ropewalk.tables.frames import read_table
from ropewalk.tables.schema import FILTERS
from ropewalk.tables.store import Store

INTERVALS = 16  # ours: of numbers, where nobody says how they are cut


class Contents(NamedTuple):
    """Who wants what: cells by node, and behind them exact filters."""

    interests: Interests  # topics are cells
    wants: Wants
    space: Space | None  # None: cells are topics, and all that is wanted of them
    words: Words


def contents_in(spark: SparkSession, universe: Store, said: str) -> Contents:
    """What the nodes of a stored universe want, in a space as somebody says it; empty: as its filters are."""
    if FILTERS.name not in universe.manifest.tables:
        if said:
            raise UsageError(
                f"--space plays no part: {universe.path} has no filters, so each topic is a cell; drop it."
            )
        members = members_of(spark, universe)
        return contents_of_topics(members.ids, np.repeat(members.topics, np.diff(members.offsets)))
    table = read_table(spark, universe, FILTERS).orderBy("node", "filter", "attribute").toArrow()
    words = _words_in(table)
    try:
        space = space_of(said, words) if said else _usual_space(table, words)
    except UsageError as error:
        raise UsageError(f"the filters of {universe.path} do not fit --space {said!r}: {error}") from error
    return contents_of(space, words, *_ranges(table, space, words, universe))


def contents_of_topics(nodes: Longs, topics: Longs) -> Contents:
    """Whoever follows a topic wants all of it."""
    interests = interests_of(nodes, topics)
    count = interests.node_ids.size
    return Contents(interests, Wants(np.arange(count + 1), np.empty((count, 0)), np.empty((count, 0))), None, {})


def contents_of(space: Space, words: Words, nodes: Longs, lows: Floats, highs: Floats) -> Contents:
    """Of filters: whose each is, and its range of every attribute."""
    order = np.argsort(nodes, kind="stable")
    nodes, lows, highs = nodes[order], lows[order], highs[order]
    rows, cells = touched(space, words, lows, highs)
    pairs = np.unique(np.stack((nodes[rows], cells), axis=1), axis=0)
    interests = interests_of(pairs[:, 0], pairs[:, 1])
    starts = np.append(np.searchsorted(nodes, interests.node_ids), nodes.size).astype(np.int64)
    return Contents(interests, Wants(starts, lows, highs), space, words)


def drawn(contents: Contents, settings: Settings, count: int, seed: int) -> Events:
    """So many events, each within something that somebody wants, which is who publishes it; or anybody does."""
    interests, wants = contents.interests, contents.wants
    events = np.arange(count).reshape(-1, 1)
    nodes = _picked(seed, "content node", events, interests.node_ids.size)
    publishers = nodes
    if settings.publishers == "anybody":
        publishers = _picked(seed, "content publisher", events, interests.node_ids.size)
    if contents.space is None:
        sizes = np.diff(interests.by_node)[nodes]
        cells = interests.topics[interests.by_node[nodes] + _picked(seed, "content topic", events, sizes)]
        ids, points = interests.topic_ids[cells], np.empty((count, 0))
    else:
        filters = wants.starts[nodes] + _picked(seed, "content filter", events, np.diff(wants.starts)[nodes])
        points = _points(contents, wants.lows[filters], wants.highs[filters], seed)
        ids = cells_of(contents.space, contents.words, points)
    known = np.searchsorted(interests.topic_ids, ids)
    found = interests.topic_ids[np.minimum(known, interests.topic_ids.size - 1)] == ids
    cells = np.where(found, known, -1).astype(np.int32)
    return Events(publishers.astype(np.int32), cells, places_of(ids, settings.bits, settings.hashes), points)


def said_by(contents: Contents, point: Floats) -> dict[str, Any]:
    """What an event says, by name."""
    if contents.space is None:
        return {}
    found: dict[str, Any] = {}
    for attribute, value in zip(contents.space.attributes, point.tolist(), strict=True):
        found[attribute.name] = value if attribute.is_number else contents.words[attribute.name][int(value)]
    return found


def filters_by_node(contents: Contents) -> dict[int, list[Any]]:
    """Filters as nodes know them."""
    space, wants = contents.space, contents.wants
    if space is None:
        return {}
    starts = wants.starts.tolist()
    return {
        node: [
            filter_of(space, contents.words, wants.lows[at], wants.highs[at]) for at in range(starts[i], starts[i + 1])
        ]
        for i, node in enumerate(contents.interests.node_ids.tolist())
    }


def _picked(seed: int, what: str, events: Longs, counts: "int | Longs") -> Longs:
    """One of so many, for each event."""
    return (((chances(stream(seed, what), events) >> 31) * np.asarray(counts, np.int64)) >> 32).astype(np.int64)


def _points(contents: Contents, lows: Floats, highs: Floats, seed: int) -> Floats:
    """A point in each of these ranges; where one has no limit, up to the end of its attribute."""
    points = np.empty_like(lows)
    for which, attribute in enumerate(contents.space.attributes if contents.space else ()):
        events = np.stack((np.arange(lows.shape[0]), np.full(lows.shape[0], which)), axis=1)
        share = chances(stream(seed, "content value"), events) / 2.0**63
        if attribute.is_number:
            low, high = (
                np.maximum(lows[:, which], attribute.low or 0.0),
                np.minimum(highs[:, which], attribute.high or 0.0),
            )
            points[:, which] = np.clip(low + share * np.maximum(high - low, 0.0), lows[:, which], highs[:, which])
        else:
            last = float(len(contents.words[attribute.name]) - 1)
            low, high = np.maximum(lows[:, which], 0.0), np.minimum(highs[:, which], last)
            points[:, which] = low + np.floor(share * (high - low + 1.0))
    return points


def _words_in(table: pa.Table) -> dict[str, list[str]]:
    found: dict[str, set[str]] = {}
    for name, value in zip(table.column("attribute").to_pylist(), table.column("value").to_pylist(), strict=True):
        if value is not None:
            found.setdefault(name, set()).add(value)
    return {name: sorted(values) for name, values in sorted(found.items())}


def _usual_space(table: pa.Table, words: Words) -> Space:
    names = table.column("attribute").to_numpy(zero_copy_only=False)
    lows, highs = (table.column(name).to_numpy(zero_copy_only=False).astype(np.float64) for name in ("low", "high"))
    attributes = []
    for name in sorted(set(names.tolist())):
        if name in words:
            attributes.append(Attribute(name, len(words[name]), words=tuple(words[name])))
        else:
            own = np.concatenate((lows[names == name], highs[names == name]))
            own = own[np.isfinite(own)]
            ends = (float(own.min()), float(own.max())) if own.size else (0.0, 0.0)
            attributes.append(Attribute(name, INTERVALS, *ends))
    return Space(tuple(attributes))


def _ranges(table: pa.Table, space: Space, words: Words, universe: Store) -> tuple[Longs, Floats, Floats]:
    """Of each filter its node, and its range of every attribute."""
    names = {attribute.name: which for which, attribute in enumerate(space.attributes)}
    codes = {name: {word: code for code, word in enumerate(known)} for name, known in words.items()}
    nodes, filters = (table.column(name).to_numpy() for name in ("node", "filter"))
    begins = np.ones(nodes.size, np.bool_)
    begins[1:] = (np.diff(nodes) != 0) | (np.diff(filters) != 0)
    rows = np.cumsum(begins) - 1
    count = int(begins.sum())
    lows, highs = np.full((count, len(names)), -np.inf), np.full((count, len(names)), np.inf)
    columns = [table.column(name).to_pylist() for name in ("attribute", "low", "high", "value")]
    for row, name, low, high, value in zip(rows.tolist(), *columns, strict=True):
        which = names.get(name)
        if which is None or (value is None) != space.attributes[which].is_number:
            raise InputError(
                f"{universe.folder_of(FILTERS)} has a condition on {name}, which the space {space} does not know."
            )
        if value is not None:
            lows[row, which] = highs[row, which] = codes[name][value]
        else:
            lows[row, which] = -np.inf if low is None else low
            highs[row, which] = np.inf if high is None else high
    return nodes[begins], lows, highs

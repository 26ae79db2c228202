"""What nodes want, as arrays: filters that touch cells, or topics, each of which is a cell of its own.

A universe with filters says in its manifest how its events are cut into cells; else numbers are cut evenly between the least and the
greatest that any filter names, and every word has an interval of its own.
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import SparkSession

from ropewalk.arrays.chance import chances, stream
from ropewalk.engines.played import members_of
from ropewalk.errors import InputError, RopewalkError, UsageError
from ropewalk.protocols.content.filters import LIMIT, MOST_ATTRIBUTES, shortened
from ropewalk.protocols.content.kernel import Floats, Longs, Words, cells_of, filter_of, touched
from ropewalk.protocols.content.spaces import MOST_CELLS, Attribute, Space, space_of
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
    words: Words  # of every attribute that has words


class Conditions(NamedTuple):
    """The rows of `filters`."""

    nodes: Longs  # of each filter, whose it is
    rows: Longs  # of each condition, its filter
    names: list[str]  # of attributes
    which: Longs  # of each condition, its attribute
    lows: Floats  # of each condition; infinite where it has no limit
    highs: Floats
    values: pa.Array  # of each condition, its word, or null
    is_word: NDArray[np.bool_]


def contents_in(spark: SparkSession, universe: Store, said: str) -> Contents:
    """What the nodes of a stored universe want, in a space as somebody says it; empty: as its filters are."""
    if FILTERS.name not in universe.manifest.tables:
        if said:
            raise UsageError(
                f"--space plays no part: {universe.path} has no filters, so each topic is a cell; drop it."
            )
        members = members_of(spark, universe)
        if not members.ids.size:
            raise InputError(f"{universe.path} has no subscriptions, so nobody wants anything; give another.")
        return contents_of_topics(members.ids, np.repeat(members.topics, np.diff(members.offsets)))
    table = read_table(spark, universe, FILTERS).orderBy("node", "filter", "attribute").toArrow()
    return contents_of_rows(table, universe, said)


def contents_of_rows(table: pa.Table, universe: Store, said: str) -> Contents:
    """What `filters` of a universe say, by its key, in a space as somebody says it; empty: as its filters are."""
    conditions = _conditions_in(table, universe.folder_of(FILTERS))
    words = _words_in(conditions)
    try:
        space = space_of(said, words) if said else _usual_space(conditions, words)
        return contents_of(space, words, conditions.nodes, *_ranges(conditions, space, words))
    except UsageError as error:
        raise _misfit(universe, said, error) from error


def contents_of_topics(nodes: Longs, topics: Longs) -> Contents:
    """Whoever follows a topic wants all of it."""
    interests = interests_of(nodes, topics)
    count = interests.node_ids.size
    return Contents(interests, Wants(np.arange(count + 1), np.empty((count, 0)), np.empty((count, 0))), None, {})


def contents_of(space: Space, words: Words, nodes: Longs, lows: Floats, highs: Floats) -> Contents:
    """Of filters: whose each is, and its range of every attribute. One that touches no cell is nobody's."""
    words = {each.name: words.get(each.name) or _words_for(each) for each in space.attributes if not each.is_number}
    order = np.argsort(nodes, kind="stable")
    nodes, lows, highs = nodes[order], lows[order], highs[order]
    rows, cells = touched(space, words, lows, highs)
    pairs = np.unique(np.stack((nodes[rows], cells), axis=1), axis=0)
    interests = interests_of(pairs[:, 0], pairs[:, 1])
    counts = np.diff(interests.by_node)
    if counts.max(initial=0) > MOST_CELLS:
        raise InputError(
            f"the filters of node {interests.node_ids[counts.argmax()]} touch {counts.max()} cells, more than"
            f" {MOST_CELLS}: use larger cells."
        )
    held = np.bincount(rows, minlength=nodes.size) > 0
    starts = np.append(np.searchsorted(nodes[held], interests.node_ids), held.sum()).astype(np.int64)
    return Contents(interests, Wants(starts, lows[held], highs[held]), space, words)


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
            points[:, which] = np.minimum(low + np.floor(share * (high - low + 1.0)), high)  # a share may round up to 1
    return points


def _words_for(attribute: Attribute) -> list[str]:
    """What events can say of an attribute that no filter names: what its list has, or words made up, about one an interval."""
    count = min(attribute.intervals, MOST_CELLS)
    return list(attribute.words) or sorted(f"{attribute.name}-{number}" for number in range(count))


def _conditions_in(table: pa.Table, folder: Path) -> Conditions:
    if not table.num_rows:
        raise InputError(f"{folder} is empty, so nobody wants anything; give another universe.")
    for name in FILTERS.key:
        if table.column(name).null_count:
            raise InputError(f"{folder} has rows without {name}; make the store again.")
    nodes, filters = (table.column(name).to_numpy() for name in ("node", "filter"))
    begins = np.ones(nodes.size, np.bool_)
    begins[1:] = (np.diff(nodes) != 0) | (np.diff(filters) != 0)
    named = table.column("attribute").combine_chunks().dictionary_encode()
    values = table.column("value").combine_chunks()
    lows, highs = (
        pc.fill_null(table.column(name), without).to_numpy() for name, without in (("low", -np.inf), ("high", np.inf))
    )
    found = Conditions(
        nodes[begins],
        np.cumsum(begins) - 1,
        named.dictionary.to_pylist(),
        named.indices.to_numpy().astype(np.int64),
        lows,
        highs,
        values,
        values.is_valid().to_numpy(zero_copy_only=False),
    )
    _refuse_wrong(found, filters, folder)
    return found


def _refuse_wrong(found: Conditions, filters: Longs, folder: Path) -> None:
    """Whoever wrote the rows need not have been one of us."""
    if len(found.names) > MOST_ATTRIBUTES:
        raise InputError(f"{folder} names {len(found.names)} attributes, more than {MOST_ATTRIBUTES}.")
    lows, highs = found.lows, found.highs
    is_range = (lows <= highs) & ((np.abs(lows) < LIMIT) | np.isneginf(lows))
    is_range &= (np.abs(highs) < LIMIT) | np.isposinf(highs)
    with_words = np.bincount(found.which[found.is_word], minlength=len(found.names)) > 0
    again = np.zeros(lows.size, np.bool_)
    again[1:] = (np.diff(found.rows) == 0) & (np.diff(found.which) == 0)
    for wrong, what in (
        (~is_range, "has {name} from {low} to {high}, which is no range of numbers below {limit:g}"),
        (found.is_word & (np.isfinite(lows) | np.isfinite(highs)), "has a word and a range for {name}"),
        (~found.is_word & with_words[found.which], "has no word for {name}, which has words in others"),
        (again, "names {name} twice"),
    ):
        if wrong.any():
            at = int(wrong.argmax())
            name = shortened(found.names[found.which[at]])
            said = what.format(name=name, low=lows[at], high=highs[at], limit=LIMIT)
            node = found.nodes[found.rows[at]]
            raise InputError(f"{folder}: filter {filters[at]} of node {node} {said}; make the store again.")


def _words_in(found: Conditions) -> dict[str, list[str]]:
    """Those of every attribute that has any, ascending."""
    named = np.unique(found.which[found.is_word]).tolist()
    own = {found.names[at]: pa.array(found.is_word & (found.which == at)) for at in named}
    return {name: sorted(found.values.filter(mask).unique().to_pylist()) for name, mask in sorted(own.items())}


def _usual_space(found: Conditions, words: Words) -> Space:
    attributes = []
    for at, name in sorted(enumerate(found.names), key=lambda each: each[1]):
        if name in words:
            attributes.append(Attribute(name, len(words[name]), words=tuple(words[name])))
        else:
            own = np.concatenate((found.lows[found.which == at], found.highs[found.which == at]))
            own = own[np.isfinite(own)]
            ends = (float(own.min()), float(own.max())) if own.size else (0.0, 0.0)
            attributes.append(Attribute(name, INTERVALS if ends[0] < ends[1] else 1, *ends))
    return Space(tuple(attributes))


def _ranges(found: Conditions, space: Space, words: Words) -> tuple[Floats, Floats]:
    """The range that each filter has of every attribute of a space."""
    places = {attribute.name: place for place, attribute in enumerate(space.attributes)}
    shape = (found.nodes.size, len(places))
    lows, highs = np.full(shape, -np.inf), np.full(shape, np.inf)
    for at, name in enumerate(found.names):
        if name not in places:
            raise UsageError(f"attribute {name} is not in the space {shortened(str(space))}.")
        place, own = places[name], np.flatnonzero(found.which == at)
        of_words, rows = not space.attributes[place].is_number, found.rows[own]
        if (found.is_word[own] != of_words).any():
            kinds = ("a number", "a word") if of_words else ("a word", "a number")
            raise UsageError(f"attribute {name} is {kinds[0]} in filters, but must be {kinds[1]}.")
        if of_words:
            codes = pc.index_in(found.values.take(pa.array(own)), pa.array(words[name], found.values.type))
            lows[rows, place] = highs[rows, place] = codes.to_numpy()
        else:
            lows[rows, place], highs[rows, place] = found.lows[own], found.highs[own]
    return lows, highs


def _misfit(universe: Store, said: str, error: UsageError) -> RopewalkError:
    """Whose fault it is that filters and space do not go together: whoever said the space, or the universe."""
    if not said:
        return InputError(f"say with --space how to cut the filters of {universe.path} into cells: {error}")
    if said == universe.manifest.defaults.get("space"):
        return InputError(
            f"the filters of {universe.path} do not fit the space {shortened(said)!r} of its manifest: {error}"
        )
    return UsageError(f"the filters of {universe.path} do not fit --space {shortened(said)!r}: {error}")

"""What the rows of `filters` come to as arrays: spaces that nobody told, ranges without limits, and rows that are refused."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ropewalk.engines.contents import (
    Contents,
    contents_of,
    contents_of_rows,
    drawn,
    filters_by_node,
    said_by,
)
from ropewalk.errors import InputError, UsageError
from ropewalk.protocols.content.filters import Filter, Range
from ropewalk.protocols.content.spaces import Attribute, Space, space_of
from ropewalk.protocols.kato.settings import Settings
from ropewalk.tables.schema import FILTERS
from ropewalk.tables.store import Manifest, Store, Tally

TYPES = {"long": pa.int64(), "string": pa.string(), "double": pa.float64()}
NO_END, ENDLESS = -math.inf, math.inf


@pytest.fixture
def universe(tmp_path: Path) -> Store:
    (tmp_path / FILTERS.name).mkdir()
    tables = {FILTERS.name: Tally(1, "")}
    return Store(tmp_path, Manifest(name="told", made_by="tests", seed=1, settings={}, tables=tables))


def rows(*told: tuple[Any, ...]) -> pa.Table:
    """Rows (node, filter, attribute, low, high, value)."""
    schema = pa.schema({name: TYPES[kind] for name, kind in FILTERS.columns.items()})
    return pa.Table.from_pylist([dict(zip(FILTERS.columns, row, strict=True)) for row in told], schema)


def words_and_numbers() -> pa.Table:
    return rows(
        (1, 0, "price", 10.0, 20.0, None),
        (1, 0, "stock", None, None, "KLM"),
        (1, 1, "price", None, 5.0, None),
        (2, 0, "price", 15.0, None, None),
        (2, 0, "stock", None, None, "ABC"),
        (3, 7, "price", None, None, None),
    )


def test_a_range_without_an_end_has_no_limit_there(universe: Store) -> None:
    contents = contents_of_rows(words_and_numbers(), universe, "")
    assert contents.words == {"stock": ["ABC", "KLM"]}
    assert contents.wants.starts.tolist() == [0, 2, 3, 4]
    assert contents.wants.lows.tolist() == [[10.0, 1.0], [NO_END, NO_END], [15.0, 0.0], [NO_END, NO_END]]
    assert contents.wants.highs.tolist() == [[20.0, 1.0], [5.0, ENDLESS], [ENDLESS, 0.0], [ENDLESS, ENDLESS]]
    assert filters_by_node(contents) == {
        1: [Filter((("price", Range(10.0, 20.0)), ("stock", "KLM"))), Filter((("price", Range(high=5.0)),))],
        2: [Filter((("price", Range(low=15.0)), ("stock", "ABC")))],
        3: [Filter()],
    }


def test_nodes_want_the_cells_of_their_filters(universe: Store) -> None:
    contents = contents_of_rows(words_and_numbers(), universe, "stock:3,price:0:30:6")
    interests = contents.interests
    assert contents.space is not None
    for at, (node, wanted) in enumerate(filters_by_node(contents).items()):
        assert interests.node_ids[at] == node
        cells = interests.topic_ids[interests.topics[interests.by_node[at] : interests.by_node[at + 1]]]
        assert sorted(cells.tolist()) == sorted(contents.space.all_cells_of(wanted))


def test_where_nobody_says_how_numbers_are_cut_between_the_least_and_the_greatest(universe: Store) -> None:
    told = contents_of_rows(words_and_numbers(), universe, "")
    assert told.space == Space((Attribute("price", 16, 5.0, 20.0), Attribute("stock", 2, words=("ABC", "KLM"))))
    same = contents_of_rows(rows((1, 0, "price", 7.0, 7.0, None), (2, 0, "price", None, 7.0, None)), universe, "")
    assert same.space == Space((Attribute("price", 1, 7.0, 7.0),))
    no_limits = contents_of_rows(rows((1, 0, "price", NO_END, ENDLESS, None)), universe, "")
    assert no_limits.space == Space((Attribute("price", 1, 0.0, 0.0),))
    assert said_by(no_limits, drawn(no_limits, Settings(), 1, 1).points[0]) == {"price": 0.0}


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (math.nan, 1.0), (1.0, math.nan), (2.0, 1.0), (ENDLESS, None), (None, NO_END), (ENDLESS, ENDLESS),
        (-1e300, 1.0), (1.0, 1e300), (1e308, 1.7e308),
    ],
)  # fmt: skip
@pytest.mark.parametrize("said", ["", "price:0:1:4"])
def test_what_is_no_range_is_refused_by_node_and_filter(universe: Store, low: Any, high: Any, said: str) -> None:
    table = rows((1, 0, "price", 0.0, 1.0, None), (5, 3, "price", low, high, None))
    with pytest.raises(InputError, match=r"filters: filter 3 of node 5 has price from .* to .*, which is no range"):
        contents_of_rows(table, universe, said)


@pytest.mark.parametrize(
    ("table", "why"),
    [
        (rows(), "filters is empty, so nobody wants anything"),
        (rows((1, 0, "price", 0.0, None, "a")), "filter 0 of node 1 has a word and a range for price"),
        (rows((1, 0, "a", 0.0, 1.0, None), (1, 0, "a", 2.0, 3.0, None)), "filter 0 of node 1 names a twice"),
        (rows((None, 0, "a", 0.0, 1.0, None)), "has rows without node"),
        (rows((1, None, "a", 0.0, 1.0, None)), "has rows without filter"),
        (rows((1, 0, None, 0.0, 1.0, None)), "has rows without attribute"),
        (rows((1, 0, "a b", 0.0, 1.0, None)), "into cells: attribute 'a b' must be a name"),
        (rows((1, 0, "a", 0.0, 1.0, None), (2, 0, "a", None, None, "b")), "filter 0 of node 1 has no word for a"),
        (rows(*((1, 0, f"a{at:02}", 0.0, 1.0, None) for at in range(17))), "names 17 attributes, more than 16"),
        (
            rows((1, 0, "a", 0.0, 1.0, None), *((2, at, f"b{at}", 0.0, 1.0, None) for at in range(3))),
            "into cells: a filter touches 65536 cells",
        ),
    ],
)
def test_rows_that_cannot_be_used_are_refused_in_a_sentence(universe: Store, table: pa.Table, why: str) -> None:
    with pytest.raises(InputError, match=why):
        contents_of_rows(table, universe, "")


def test_a_space_that_does_not_fit_is_refused_as_whose_it_is(universe: Store) -> None:
    for said in ("price:0:1:4", "stock:4", "price:4,stock:4", "price:0:1:4,stock:0:1:4", "stock:0"):
        with pytest.raises(UsageError, match=f"do not fit --space '{said}': attribute (stock|price)"):
            contents_of_rows(words_and_numbers(), universe, said)
        universe.manifest.defaults["space"] = said
        with pytest.raises(InputError, match=f"do not fit the space '{said}' of its manifest: attribute"):
            contents_of_rows(words_and_numbers(), universe, said)
        universe.manifest.defaults.clear()


@pytest.mark.parametrize("colour", ["colour:8", "colour:1", "colour=red|green", "colour:1000000,curve:6"])
def test_events_say_something_of_words_that_no_filter_names(universe: Store, colour: str) -> None:
    contents = contents_of_rows(words_and_numbers(), universe, f"stock:3,price:0:30:6,{colour}")
    assert contents.space is not None
    published = drawn(contents, Settings(), 40, 1)
    assert np.array_equal(published.points, drawn(contents, Settings(), 40, 1).points)
    wanted = filters_by_node(contents)
    for publisher, cell, point in zip(published.publishers, published.cells, published.points, strict=True):
        said = json.loads(json.dumps(said_by(contents, point)))
        assert any(each.matches(said) for each in wanted[contents.interests.node_ids[publisher].item()])
        assert contents.interests.topic_ids[cell] == contents.space.cell_of(said)
    colours = {said_by(contents, point)["colour"] for point in published.points}
    assert len(colours) == 1 if colour == "colour:1" else len(colours) > 1
    assert colours <= {"red", "green"} or "=" not in colour


def starts_of(contents: Contents) -> list[int]:
    return list(contents.wants.starts)


def test_a_filter_that_touches_nothing_is_nobody_elses() -> None:
    space = space_of("price:0:100:10")
    lows = np.array([[0.0], [90.0], [20.0], [95.0], [5.0]])
    highs = np.array([[9.0], [10.0], [29.0], [5.0], [6.0]])
    contents = contents_of(space, {}, np.array([3, 2, 4, 3, 1]), lows, highs)
    assert contents.interests.node_ids.tolist() == [1, 3, 4]  # 2 wants what can never be
    assert starts_of(contents) == [0, 1, 2, 3]
    assert contents.wants.lows.tolist() == [[5.0], [0.0], [20.0]]


def test_a_filter_told_twice_counts_for_its_own_node_only() -> None:
    space = space_of("price:0:100:10")
    ends = np.array([[5.0], [5.0], [15.0], [5.0]])
    contents = contents_of(space, {}, np.array([2, 2, 1, 3]), ends, ends)
    assert starts_of(contents) == [0, 1, 3, 4]
    assert np.diff(contents.interests.by_node).tolist() == [1, 1, 1]


def test_a_node_may_touch_no_more_cells_than_a_live_one(universe: Store) -> None:
    space = "price:0:5000:5000"
    halves = [(1, 0, "price", 0.0, 2999.5, None), (1, 1, "price", 2000.0, 4095.5, None)]
    contents = contents_of_rows(rows(*halves), universe, space)
    assert contents.interests.topic_ids.size == 4096
    with pytest.raises(InputError, match="filters of node 1 touch 4097 cells, more than 4096"):
        contents_of_rows(rows(*halves, (1, 2, "price", 4500.0, 4500.0, None)), universe, space)

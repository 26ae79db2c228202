"""Filters, as people write them and as nodes compare them, and the cells that they touch."""

import keyword
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.errors import UsageError
from ropewalk.protocols.content.expressions import filters_of
from ropewalk.protocols.content.filters import Filter, Range, content_of, merged, met
from ropewalk.protocols.content.kernel import cells_of, filter_of, touched
from ropewalk.protocols.content.spaces import MOST_CELLS, Attribute, Space, space_of

WORDS = ("ABC", "KLM", "XYZ")
SAID = sorted((*WORDS, "other", "a|b", ""))
NUMBERS = st.floats(-20.0, 120.0, allow_nan=False)
RANGES = st.tuples(NUMBERS, NUMBERS).map(lambda ends: Range(min(ends), max(ends)))
SPACES = st.sampled_from(
    [
        "stock=ABC|KLM|XYZ,price:0:100:16",
        "stock:7,price:0:100:5",
        "price:0:100:16,stock:4,volume:0:1:3",
        "price:0:100:16,stock:4,volume:0:1:3,curve:7",
        "price:0:100:1,stock:4,curve:9",
    ]
).map(space_of)


@st.composite
def filters(draw: st.DrawFn) -> Filter:
    """On stock and price, either or both."""
    found: dict[str, Range | str] = {}
    if draw(st.booleans()):
        found["price"] = draw(RANGES)
    if draw(st.booleans()):
        found["stock"] = draw(st.sampled_from(WORDS))
    return Filter(tuple(sorted(found.items())))


@st.composite
def contents(draw: st.DrawFn) -> dict[str, float | str]:
    return {
        "price": draw(NUMBERS),
        "stock": draw(st.sampled_from((*WORDS, "other"))),
        "volume": draw(st.floats(0.0, 1.0)),
    }


@given(filters(), filters(), contents())
def test_covering_and_intersecting_say_what_events_can_match(one: Filter, other: Filter, said: dict) -> None:
    if one.covers(other) and other.matches(said):
        assert one.matches(said)
    both = met(one, other)
    assert one.intersects(other) == other.intersects(one) == (both is not None)
    assert (both is not None and both.matches(said)) == (one.matches(said) and other.matches(said))


@given(st.lists(filters(), min_size=1, max_size=5), contents())
def test_a_merger_covers_all_that_it_is_made_of(many: list[Filter], said: dict) -> None:
    whole = merged(many)
    assert all(whole.covers(each) for each in many)
    assert whole.matches(said) or not any(each.matches(said) for each in many)


@given(SPACES, filters(), contents())
def test_whatever_matches_a_filter_lies_in_a_cell_that_it_touches(space: Space, wanted: Filter, said: dict) -> None:
    known = {each.name: said[each.name] for each in space.attributes}
    cell = space.cell_of(known)
    cells = space.cells_of(wanted)
    assert len(set(cells)) == len(cells) <= space.cells
    if wanted.matches(known):
        assert cell in cells


@st.composite
def spaces(draw: st.DrawFn) -> Space:
    """Up to four attributes of every kind, some with one interval; by grid or by curve."""
    kinds = draw(st.lists(st.sampled_from(["number", "point", "list", "hash"]), min_size=1, max_size=4))
    attributes = []
    for at, kind in enumerate(kinds):
        intervals = draw(st.integers(1, 6))
        if kind == "number":
            low, high = sorted(draw(st.lists(NUMBERS, min_size=2, max_size=2, unique=True)))
            attributes.append(Attribute(f"a{at}", intervals, low, high))
        elif kind == "point":
            low = draw(NUMBERS)
            attributes.append(Attribute(f"a{at}", 1, low, low))
        elif kind == "list":
            listed = draw(st.sets(st.sampled_from([*SAID, "a,b|c"]), min_size=1))
            attributes.append(Attribute(f"a{at}", len(listed), words=tuple(sorted(listed))))
        else:
            attributes.append(Attribute(f"a{at}", intervals))
    return Space(tuple(attributes), draw(st.integers(0, 9)))


@st.composite
def in_space(draw: st.DrawFn, space: Space) -> tuple[Filter, dict[str, float | str]]:
    """A filter, with ranges that may have no limit at either end, and an event."""
    conditions: dict[str, Range | str] = {}
    said: dict[str, float | str] = {}
    for attribute in space.attributes:
        values: st.SearchStrategy[float | str] = NUMBERS if attribute.is_number else st.sampled_from(SAID)
        said[attribute.name] = draw(values)
        if draw(st.booleans()):
            continue
        if attribute.is_number:
            low, high = sorted(draw(st.tuples(NUMBERS | st.just(-math.inf), NUMBERS | st.just(math.inf))))
            if (low, high) != (-math.inf, math.inf):
                conditions[attribute.name] = Range(low, high)
        else:
            conditions[attribute.name] = draw(st.sampled_from(SAID))
    return Filter(tuple(sorted(conditions.items()))), said


@given(st.data(), SPACES | spaces())
def test_arrays_touch_the_same_cells(data: st.DataObject, space: Space) -> None:
    many = data.draw(st.lists(in_space(space), min_size=1, max_size=4))
    words = {each.name: SAID for each in space.attributes if not each.is_number}

    def coded(value: float | str) -> float:
        return float(SAID.index(value)) if isinstance(value, str) else value

    lows, highs = (np.full((len(many), len(space.attributes)), sign * np.inf) for sign in (-1, 1))
    points = np.zeros_like(lows)
    for row, (wanted, said) in enumerate(many):
        for which, attribute in enumerate(space.attributes):
            points[row, which] = coded(said[attribute.name])
            condition = dict(wanted.conditions).get(attribute.name)
            if condition is not None:
                ends = condition if isinstance(condition, Range) else Range(coded(condition), coded(condition))
                lows[row, which], highs[row, which] = ends
    rows, cells = touched(space, words, lows, highs)
    assert (np.diff(rows) >= 0).all()
    for row, (wanted, said) in enumerate(many):
        assert sorted(cells[rows == row].tolist()) == sorted(space.cells_of(wanted))
        assert filter_of(space, words, lows[row], highs[row]) == wanted
        assert cells_of(space, words, points[row : row + 1]).tolist() == [space.cell_of(said)]
        assert not wanted.matches(said) or space.cell_of(said) in space.cells_of(wanted)


@given(SPACES)
def test_a_space_can_be_said_and_read_again(space: Space) -> None:
    assert space_of(str(space)) == space
    everything = space.cells_of(Filter())
    assert len(everything) <= space.cells


@pytest.mark.parametrize(
    ("where", "matching", "others"),
    [
        ('stock == "ABC" and 10 <= price < 20', [("ABC", 10.0), ("ABC", 19.99)], [("ABC", 20.0), ("XYZ", 15.0)]),
        ('"ABC" == stock or price > 50', [("ABC", 1.0), ("XYZ", 50.5)], [("XYZ", 50.0)]),
        ('stock in ("ABC", "XYZ") and -5 < price', [("XYZ", 0.0)], [("KLM", 0.0), ("ABC", -5.0)]),
        ("20 > price >= 10 or price == 99", [("ABC", 10), ("ABC", 99)], [("ABC", 20), ("ABC", 98.9)]),
        ('(stock == "ABC" or stock == "KLM") and (price < 5 or price > 9)', [("KLM", 9.5)], [("KLM", 7.0)]),
    ],
)
def test_a_filter_means_what_it_says(where: str, matching: list, others: list) -> None:
    wanted = filters_of(where)
    for stock, price in matching:
        assert any(each.matches({"stock": stock, "price": price}) for each in wanted)
    for stock, price in others:
        assert not any(each.matches({"stock": stock, "price": price}) for each in wanted)


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("", "cannot be read"),
        ("price >", "cannot be read"),
        ("__import__('os').system('ls')", "is not known there"),
        ("price < len(x)", "'len(x)', which is not known there"),
        ("not price > 5", "is not known there"),
        ("price != 5", "in a way that is not known"),
        ('price < "a"', "in a way that is not known"),
        ("price", "is not known there"),
        ("price < True", "is not known there"),
        ("price < 1e999", "is not known there"),
        ("price < 5 and price > 6", "can never hold"),
        ("p" * 65 + " < 1", "must be a name of at most 64"),
        ("price < 1 " + "or price < 1 " * 1000, "too long"),
        ("(" * 1500 + "price < 1" + ")" * 1500, "filter"),
        (" and ".join(f"(a{at} < 1 or a{at} > 2)" for at in range(9)), "more than 256 alternatives"),
        (" and ".join(f"a{at % 9}<{at}" for at in range(300)), "300 conditions, more than 256"),
        (" and ".join(f"a{at}<1" for at in range(17)), "17 attributes, more than 16"),
        ('price == +"abc"', "is not known there"),
        ('stock == -"abc"', "is not known there"),
        ('stock == "\ud800"', "UTF-8 cannot write"),
        (r'stock == "\ud800"', "UTF-8 cannot write"),
        (f'stock == "{"x" * 257}"', "more than 256 characters"),
        ("\ufb01 == 1", "'\ufb01', which is not known there"),
        ("größe == 1", "must be a name of at most 64"),
        ("class == 1", "'class', which is no attribute"),
        ('stock == "for" and (lambda > 1', "'lambda', which is no attribute"),
        ("curve == 1", "'curve' must be a name"),
    ],
)
def test_what_is_no_filter_is_refused_in_a_sentence(where: str, said: str) -> None:
    with pytest.raises(UsageError, match="(?s)" + said.replace("(", r"\(").replace(")", r"\)")) as caught:
        filters_of(where)
    assert len(str(caught.value)) < 300
    str(caught.value).encode()


PIECES = [
    "price",
    "class",
    "\ufb01",
    "é",
    "==",
    "<",
    ">=",
    "!=",
    "in",
    "and",
    "or",
    "not",
    "(",
    ")",
    ",",
    "+",
    "-",
    "1",
    "1e400",
]
PIECES += ['"abc"', '"\\ud800"', "'", "\ud800", "\0", "\n", "\\", "#", ":=", "*", "."]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join) | st.text(st.characters(codec=None)))
def test_whatever_is_written_is_a_filter_or_refused(where: str) -> None:
    try:
        found = filters_of(where)
    except UsageError as error:
        str(error).encode()
    else:
        assert 1 <= len(found) <= 256


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("price", "is no attribute"),
        ("price:1:2", "is no attribute"),
        ("price:a", "is no attribute"),
        ("price:0:inf:4", "is no attribute"),
        ("price:0", "must have from 1"),
        ("price:1e299", "must have from 1"),
        ("price:4,curve:1e299", "from 0 to 48 turns"),
        ("price:5:1:4", "which is no range"),
        ("a b:4", "must be a name"),
        ("price:4,price:4", "each once"),
        ("price:4,curve:99", "from 0 to 48 turns"),
        ("price:4,curve:3,curve:4", "says curve more than once"),
        ("price:4,curve:2.5", "is no whole number"),
        ("price:0:1:2.5", "is no whole number"),
        ("stock:3.7", "is no whole number"),
        ("price:5:5:16", "goes from 5.0 to 5.0, so it must have 1 interval, not 16"),
        ("curve:0:1:4", "'curve' must be a name"),
        ("curve=a|b", "'curve' must be a name"),
        ("class:4", "'class' must be a name"),
        ("stock=\ud800|b", "has words that"),
        ("stock=" + "x" * 257, "has words that"),
        ("a:65536,b:65536,c:65536,d:65536", "use larger cells, or a curve"),
        (",".join(f"a{at}:1000000" for at in range(5)), "use larger cells, or a curve"),
        ("stock:4,stock:" + "9" * 2000, "is no attribute"),
    ],
)
def test_what_is_no_space_is_refused_in_a_sentence(said: str, why: str) -> None:
    with pytest.raises(UsageError, match=why) as caught:
        space_of(said)
    assert len(str(caught.value)) < 300
    str(caught.value).encode()


@pytest.mark.parametrize(
    ("attribute", "why"),
    [
        ({"intervals": 2, "words": ("b", "a")}, "must be in ascending order, each once"),
        ({"intervals": 2, "words": ("a", "a")}, "must be in ascending order, each once"),
        ({"intervals": 3, "words": ("a", "b")}, "has 2 words, so it must have as many intervals, not 3"),
        ({"intervals": 2, "low": 0.0, "high": 1.0, "words": ("a", "b")}, "has words or a range, not both"),
        ({"intervals": 4, "low": 0.0, "high": 1e300}, "which is no range"),
        ({"intervals": 4, "low": -math.inf, "high": 0.0}, "which is no range"),
        ({"intervals": 4, "low": math.nan, "high": 0.0}, "which is no range"),
        ({"intervals": 4, "low": 1.0}, "which is no range"),
        ({"intervals": 4, "high": 1.0}, "which is no range"),
    ],
)
def test_what_is_no_attribute_is_refused_in_a_sentence(attribute: dict, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        Attribute("stock", **attribute)


def test_numbers_near_the_limit_are_cut_evenly() -> None:
    attribute = Attribute("price", 10**6, -9e299, 9e299)
    assert [attribute.interval(value) for value in (-1e308, -9e299, 0.0, 9e299, 1e308)] == [
        0,
        0,
        500_000,
        999_999,
        999_999,
    ]
    whole = Attribute("price", 100, 0.0, 100.0)
    assert [whole.interval(value) for value in range(100)] == list(range(100))


def ids_of_all(space: Space) -> set[int]:
    return {space.id_of(number) for number in range(space.cells)}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([Attribute("stock", 2, words=("a", "b|c"))], [Attribute("stock", 2, words=("a|b", "c"))]),
        ([Attribute("stock", 1, words=("a,b:4",))], [Attribute("stock", 1, words=("a",)), Attribute("b", 4)]),
        ([Attribute("stock", 1, words=("a,curve:1",))], [Attribute("stock", 1, words=("a",))]),
        ([Attribute("stock", 1, words=("4",))], [Attribute("stock", 1)]),
        ([Attribute("price", 4, 0.0, 10.0)], [Attribute("price", 5, 0.0, 10.0)]),
        ([Attribute("price", 4, 0.0, 10.0)], [Attribute("price", 4, 0.0, 11.0)]),
        ([Attribute("price", 4)], [Attribute("price", 4, 0.0, 4.0)]),
    ],
)
@pytest.mark.parametrize("curves", [(0, 0), (1, 1), (0, 1)])
def test_cells_of_spaces_that_differ_never_meet(one: list, other: list, curves: tuple[int, int]) -> None:
    spaces = [Space(tuple(each), curve) for each, curve in zip((one, other), curves, strict=True)]
    assert not ids_of_all(spaces[0]) & ids_of_all(spaces[1])


def test_equal_spaces_have_equal_cells() -> None:
    one, other = Space((Attribute("price", 4, 0, 10),)), Space((Attribute("price", 4, -0.0, 10.0),))
    assert one == other
    assert ids_of_all(one) == ids_of_all(other)


def test_words_may_have_what_separates_them_in_a_list_that_is_known() -> None:
    words = sorted(["a,b", "a|b", "c:4", "d=e", " ", "", "curve:3"])
    space = space_of("stock,price:0:1:2", {"stock": words})
    assert [space.attributes[0].interval(word) for word in words] == list(range(7))
    assert space_of("stock=c:4|d=e").attributes[0].words == ("c:4", "d=e")


def test_cells_have_bounds_and_events_every_attribute() -> None:
    space = space_of("stock:64,price:0:100:4096")
    with pytest.raises(UsageError, match=f"more than {MOST_CELLS}"):
        space.cells_of(Filter())
    with pytest.raises(UsageError, match="more than 4096: use larger cells"):
        touched(space, {"stock": ["a"]}, np.array([[-np.inf, 0.0]]), np.array([[np.inf, 100.0]]))
    huge = space_of("a:65536,b:65536,c:65536,d:16384")  # 2^62 cells
    nothing = np.full((2, 4), np.inf)
    with pytest.raises(UsageError, match="more than 4096: use larger cells"):
        touched(huge, {}, -nothing, nothing)
    narrow = [Filter((("price", Range(at * 100 / 4096, at * 100 / 4096)), ("stock", "a"))) for at in range(4096)]
    one_more = Filter((("price", Range(0, 0)), ("stock", "b")))
    with pytest.raises(UsageError, match="touch 4097 cells"):
        space.all_cells_of([*narrow, one_more])
    with pytest.raises(UsageError, match="says nothing of stock"):
        space.cell_of({"price": 1.0})
    with pytest.raises(UsageError, match="something of volume"):
        space.cell_of({"price": 1.0, "stock": "a", "volume": 3.0})
    with pytest.raises(UsageError, match="must be a number"):
        space.cell_of({"price": "a", "stock": "a"})
    with pytest.raises(UsageError, match="is not in the space"):
        space.cells_of(Filter((("volume", Range(0, 1)),)))


def test_content_is_checked() -> None:
    assert content_of({"b": 1, "a": "x"}) == (("a", "x"), ("b", 1.0))
    for wrong in (math.nan, math.inf, True, None, "x" * 257, 10**400, "\ud800"):
        with pytest.raises(UsageError, match="attribute a must be"):
            content_of({"a": wrong})
    with pytest.raises(UsageError, match="at most 16"):
        content_of({f"a{at}": 1 for at in range(17)})
    for name in ("a b", "", "\ufb01", "größe", "\ud800", "x" * 5000, "curve", 5, *keyword.kwlist):
        with pytest.raises(UsageError, match="must be a name") as caught:
            content_of({name: 1})  # type: ignore[dict-item]
        assert len(str(caught.value)) < 300

"""Lines into fields: quotes, blanks, widths; and a bad line costs itself alone."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.errors import UsageError
from ropewalk.workloads.reading.delimited import Style, cut, separator

CSV = Style()


def rows(data: bytes, style: Style = CSV, width: int = 2) -> tuple[dict[int, tuple[str, ...]], dict[int, str]]:
    """Fields by line, and reasons by line."""
    found = cut(data, style, width, range(width))
    columns = [column.to_pylist() for column in found.columns]
    good = {int(line): fields for line, *fields in zip(found.lines, *columns, strict=True)}
    return {line: tuple(fields) for line, fields in good.items()}, {odd.line: odd.reason for odd in found.odd}


def test_plain_lines() -> None:
    assert rows(b"a,b\nc,d\n") == ({0: ("a", "b"), 1: ("c", "d")}, {})


def test_a_wrong_number_of_fields() -> None:
    good, bad = rows(b"a,b\nc\nd,e,f\ng,h\n")
    assert good == {0: ("a", "b"), 3: ("g", "h")}
    assert bad == {1: "1 field found, 2 expected", 2: "3 fields found, 2 expected"}


def test_a_quote_that_is_not_closed_costs_its_own_line() -> None:
    good, bad = rows(b'a,b\n"c,d\ne,"f ""g"", h"\ni,5" disk\n"x","y"z\nj,k","l\nm,n\n')
    assert good == {0: ("a", "b"), 2: ("e", 'f "g", h'), 3: ("i", '5" disk'), 6: ("m", "n")}
    assert set(bad) == {1, 4, 5}


def test_line_ends_blank_lines_and_bytes_that_are_no_text() -> None:
    good, bad = rows(b"a,b\r\n\r\n\nc,\xc3\xbc\n\xff,d\ne,f\rg\nh,\xe2\x82\xac\r\n")
    assert good == {0: ("a", "b"), 3: ("c", "ü"), 6: ("h", "€")}
    assert bad == {4: "the line is not UTF-8", 5: "there is a carriage return inside the line"}


def test_a_comment_is_counted() -> None:
    found = cut(b"# head\na,b\n#c,d\n", Style(comment="#"), 2, [0, 1])
    assert (found.comments, found.lines.tolist()) == (2, [1])


@pytest.mark.parametrize(
    ("sep", "data"), [("\\t", b"a\tb c\n"), ("::", b"a::b c\n"), ("|", b"a|b c\n"), (", ", b"a, b c\n")]
)
def test_separators(sep: str, data: bytes) -> None:
    assert rows(data, Style(separator(sep), quote='"')) == ({0: ("a", "b c")}, {})


def test_several_blanks_are_one() -> None:
    assert rows(b" a   b \nc d\n", Style(" ")) == ({0: ("a", "b"), 1: ("c", "d")}, {})


def test_separators_and_blanks_inside_quotes_stay() -> None:
    assert rows(b'"a::b"::c\nd::e\n', Style("::")) == ({0: ("a::b", "c"), 1: ("d", "e")}, {})
    assert rows(b'"New  York"  c \n d  e\n', Style(" ")) == ({0: ("New  York", "c"), 1: ("d", "e")}, {})
    assert rows(b"a\x1fb::c\n", Style("::")) == ({0: ("a\x1fb", "c")}, {})


FIELD = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\x00"), max_size=6)


@given(st.lists(st.tuples(FIELD, FIELD, FIELD), min_size=1, max_size=20), st.booleans())
def test_what_is_written_as_csv_is_read_back(table: list[tuple[str, str, str]], quoted: bool) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL).writerows(table)
    good, bad = rows(text.getvalue().encode(), width=3)
    assert not bad
    assert good == dict(enumerate(table))


@pytest.mark.parametrize(
    ("style", "sentence"),
    [
        (Style(""), "sep is ''"),
        (Style(",", quote="''"), "quote is"),
        (Style('"'), "they must differ"),
    ],
)
def test_impossible_styles_are_refused(style: Style, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        style.refuse_if_impossible()

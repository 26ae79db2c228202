"""Ids of whole columns of names, and the set of those met before."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.arrays import names
from ropewalk.arrays.names import Seen, ids_of, marks_of
from ropewalk.ids import identify


@given(
    st.lists(st.one_of(st.text(max_size=80), st.text("ab", min_size=20, max_size=120)), max_size=30), st.integers(0, 5)
)
def test_ids_of_a_column_are_those_of_its_names(called: list[str], skipped: int) -> None:
    column = pa.array(called, pa.string())[skipped:]
    assert ids_of(column).tolist() == [identify(name) for name in called[skipped:]]


@given(st.lists(st.lists(st.integers(0, 2**63 - 1) | st.integers(0, 50), max_size=60), max_size=6))
def test_new_is_what_was_not_there(blocks: list[list[int]]) -> None:
    seen, plain = Seen(), set()
    for block in blocks:
        expected = []
        for each in block:
            expected.append(each not in plain)
            plain.add(each)
        ids = np.array(block, np.int64)
        assert seen.are_new(ids, ids // 7).tolist() == expected


def test_a_set_that_is_full_forgets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names, "LARGEST", 1 << 13)
    seen = Seen()
    for start in range(0, 20_000, 1000):
        block = np.arange(start, start + 1000)
        assert seen.are_new(block, block).all()
        assert not seen.are_new(block[:10], block[:10]).any()
        assert len(seen._table) <= 1 << 13


def test_two_names_with_one_id_are_both_new() -> None:
    names_ = pa.array(["alicealice000001", "JsaHXBzf5jAl1BYN"])
    assert len(set(ids_of(names_))) == 1
    assert Seen().are_new(ids_of(names_), marks_of(names_)).all()

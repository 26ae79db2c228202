"""Every declared table keeps the house rules."""

from typing import get_args

import pytest

from ropewalk.tables.schema import TABLES, Table, Type

EVERY = pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)


@EVERY
def test_a_table_says_what_a_row_is(table: Table) -> None:
    assert table.row_is
    assert not table.row_is.endswith(".")


@EVERY
def test_a_table_begins_with_its_key(table: Table) -> None:
    assert tuple(table.columns)[: len(table.key)] == table.key
    assert all(table.columns[name] in get_args(Type) for name in table.columns)


@EVERY
def test_references_lead_somewhere(table: Table) -> None:
    for reference in table.references:
        there = TABLES[reference.table]
        assert len(reference.columns) == len(reference.columns_there)
        assert all(name in table.columns for name in reference.columns)
        assert all(name in there.columns for name in reference.columns_there)
        types = [
            (table.columns[a], there.columns[b])
            for a, b in zip(reference.columns, reference.columns_there, strict=True)
        ]
        assert all(ours == theirs for ours, theirs in types)


@EVERY
def test_what_belongs_to_a_run_says_which(table: Table) -> None:
    if "run" in table.columns:
        assert table.key[0] == "run"

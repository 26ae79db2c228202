"""A content model's filters and its subscriptions say the same, in any number of partitions."""

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from ropewalk.experiments.workload import make_workload
from ropewalk.tables.frames import problems_of, struct_of
from ropewalk.tables.schema import FILTERS
from ropewalk.tables.session import Session
from ropewalk.tables.store import Store
from ropewalk.workloads.contract import ContentModel
from ropewalk.workloads.naming import filters_of
from ropewalk.workloads.stock_quotes import StockQuotes

SMALL = StockQuotes(nodes=50, filters_per_node=6, exponent=2.0)


@pytest.fixture
def sliced(spark: Session) -> Iterator[Session]:
    before = spark.conf.get("spark.sql.shuffle.partitions")
    yield spark
    spark.conf.set("spark.sql.shuffle.partitions", before or "4")


def test_stock_quotes_are_a_content_model() -> None:
    assert isinstance(SMALL, ContentModel)


@pytest.mark.thorough
def test_filters_do_not_depend_on_the_number_of_partitions(sliced: Session) -> None:
    found = []
    for partitions in (1, 2, 7):
        sliced.conf.set("spark.sql.shuffle.partitions", str(partitions))
        found.append(sorted(map(tuple, SMALL.filters(sliced, 1).collect()), key=str))
    assert found[0] == found[1] == found[2]


def test_a_filter_is_a_stock_and_a_range_of_prices(spark: Session) -> None:
    frame = SMALL.filters(spark, 1)
    found = {field.name: field.dataType for field in filters_of(frame).schema}
    assert found == {field.name: field.dataType for field in struct_of(FILTERS)}
    rows = frame.collect()
    assert len({(row["node_key"], row["filter"], row["attribute"]) for row in rows}) == len(rows) == 50 * 6 * 2
    assert {row["filter"] for row in rows} == set(range(6))
    for row in rows:
        if row["attribute"] == "stock":
            assert (row["low"], row["high"]) == (None, None)
            assert row["value"].startswith("stock-")
        else:
            assert row["attribute"] == "price"
            assert row["value"] is None
            assert 0 <= row["low"] < row["high"] <= 100


def test_a_node_subscribes_to_the_stocks_of_its_filters(spark: Session) -> None:
    wanted = SMALL.filters(spark, 1).where("attribute = 'stock'").select("node_key", "value").distinct()
    subscribed = SMALL.subscriptions(spark, 1)
    assert sorted(map(tuple, subscribed.collect())) == sorted(map(tuple, wanted.collect()))


@pytest.mark.thorough
def test_filters_are_stored_beside_the_subscriptions(spark: Session, tmp_path: Path) -> None:
    made = make_workload(
        SMALL, 1, tmp_path / "u", overwrite=False, session=nullcontext(spark), phase=lambda _: nullcontext()
    )
    assert made["nodes"] == 50
    assert problems_of(spark, tmp_path / "u") == []
    assert Store.open(tmp_path / "u").manifest.tables["filters"].rows == 50 * 6 * 2

import pytest

from ropewalk.errors import InputError
from ropewalk.tables.session import Session
from ropewalk.universes.pack import pack

PAIRS = [(50, 1), (10, 1), (30, 1), (10, 2), (70, 3), (30, 3), (10, 3)]


@pytest.mark.parametrize("partitions", [1, 3, 7])
def test_nodes_are_numbered_by_id_and_topics_gather_their_members_in_order(spark: Session, partitions: int) -> None:
    subscriptions = spark.createDataFrame(PAIRS, "node long, topic long").repartition(partitions)
    packed = pack(subscriptions, partitions)
    assert sorted(tuple(row) for row in packed.nodes.collect()) == [(10, 0), (30, 1), (50, 2), (70, 3)]
    rows = {row["topic"]: (row["members"], row["ranks"]) for row in packed.topics.collect()}
    assert rows == {1: ([10, 30, 50], [0, 1, 2]), 2: ([10], [0]), 3: ([10, 30, 70], [0, 1, 3])}
    assert (packed.node_count, packed.topic_count, packed.subscription_count) == (4, 3, 7)
    packed.unpersist()


def test_ranks_count_on_over_partitions(spark: Session) -> None:
    subscriptions = spark.range(5000).selectExpr("id * 37 + 5 as node", "id % 3 as topic").repartition(9)
    packed = pack(subscriptions, 4)
    ranked = sorted(tuple(row) for row in packed.nodes.collect())
    assert ranked == [(37 * rank + 5, rank) for rank in range(5000)]
    packed.unpersist()


@pytest.mark.parametrize(
    ("rows", "said"), [([(1, 5), (1, 5), (2, 5)], "1 rows that are there twice"), ([(1, None)], "without a node or a")]
)
def test_rows_that_cannot_be_are_said_so(spark: Session, rows: list[tuple], said: str) -> None:
    with pytest.raises(InputError, match=said):
        pack(spark.createDataFrame(rows, "node long, topic long"), 2)


def test_a_universe_without_subscriptions_is_said_so(spark: Session) -> None:
    with pytest.raises(InputError, match="no subscriptions"):
        pack(spark.createDataFrame([], "node long, topic long"), 2)

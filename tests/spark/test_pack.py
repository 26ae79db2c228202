"""Nodes are numbered by id, topics dealt to parts, and nothing depends on how many parts there are."""

import numpy as np
import pytest
from pyspark.sql import functions as F

from ropewalk.errors import InputError
from ropewalk.tables.session import Session
from ropewalk.universes import pack as packing
from ropewalk.universes.pack import Packed, gathered, pack

PAIRS = [(50, 1), (10, 1), (30, 1), (10, 2), (70, 3), (30, 3), (10, 3)]


def parts_of(packed: Packed) -> dict[int, dict[int, list[int]]]:
    """part -> topic -> the ids of its members, in the order in which a task gets them."""
    found: dict[int, list] = {}
    for row in packed.parts.withColumn("partition", F.spark_partition_id()).collect():
        assert row["partition"] == row["part"]
        found.setdefault(row["part"], []).append(
            (np.frombuffer(row["topics"], np.int64), np.frombuffer(row["ranks"], np.int32))
        )
    parts = {}
    for part, blobs in found.items():
        topics, offsets, ranks, repeated = gathered(*(np.concatenate(column) for column in zip(*blobs, strict=True)))
        assert repeated == 0
        members = np.split(packed.ids[ranks].tolist(), offsets[1:-1])
        parts[part] = {int(topic): list(map(int, ids)) for topic, ids in zip(topics, members, strict=True)}
    return parts


@pytest.mark.parametrize("parts", [1, 3, 7, None])
def test_nodes_are_numbered_by_id_and_topics_gather_their_members_in_order(spark: Session, parts: int | None) -> None:
    packed = pack(spark.createDataFrame(PAIRS, "node long, topic long").repartition(3), parts)
    assert packed.ids.tolist() == [10, 30, 50, 70]
    topics = {topic: members for part in parts_of(packed).values() for topic, members in part.items()}
    assert topics == {1: [10, 30, 50], 2: [10], 3: [10, 30, 70]}
    assert (packed.node_count, packed.topic_count, packed.subscription_count) == (4, 3, 7)


def test_big_topics_come_first_and_alone_and_the_rest_is_shared_out(
    spark: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "BIG_TOPIC", 100)
    monkeypatch.setattr(packing, "LARGE_TOPIC", 50)
    sizes = {1: 300, 2: 100, 3: 99, 4: 500, 5: 10, 6: 50}
    pairs = [(node, topic) for topic, size in sizes.items() for node in range(size)]
    packed = pack(spark.createDataFrame(pairs, "node long, topic long").repartition(5), 2)
    parts = parts_of(packed)
    assert [list(parts[part]) for part in range(3)] == [[4], [1], [2]]
    assert packed.parts.rdd.getNumPartitions() == 5
    assert sorted(topic for part in parts if part > 2 for topic in parts[part]) == [3, 5, 6]
    assert not any({3, 6} <= set(part) for part in parts.values())  # neither is small enough to leave it to chance
    assert {topic: len(members) for part in parts.values() for topic, members in part.items()} == sizes


@pytest.mark.parametrize(
    ("rows", "said"), [([(1, None), (2, 3)], "without a node or a"), ([(None, 1)], "without a node or a")]
)
def test_rows_without_a_node_or_a_topic_are_said_so(spark: Session, rows: list[tuple], said: str) -> None:
    with pytest.raises(InputError, match=said):
        pack(spark.createDataFrame(rows, "node long, topic long"), 2)


def test_a_universe_without_subscriptions_is_said_so(spark: Session) -> None:
    with pytest.raises(InputError, match="no subscriptions"):
        pack(spark.createDataFrame([], "node long, topic long"), 2)

"""Every workload model keeps the contract, whatever it models."""

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any, cast

import pytest

from ropewalk.errors import UsageError
from ropewalk.tables.session import Session
from ropewalk.workloads.catalogue import MODELS
from ropewalk.workloads.contract import Model

EVERY = pytest.mark.parametrize("model", [entry.usual for entry in MODELS.values()], ids=MODELS)


@pytest.fixture
def sliced(spark: Session) -> Iterator[Session]:
    before = spark.conf.get("spark.sql.shuffle.partitions")
    yield spark
    spark.conf.set("spark.sql.shuffle.partitions", before or "4")


def small(model: Model) -> Model:
    sizes = {"nodes": 64, "topics": 16, "categories": 4, "subscriptions_per_node": 2}
    known = {field.name for field in fields(cast("Any", model))}
    return cast("Model", replace(cast("Any", model), **{name: size for name, size in sizes.items() if name in known}))


@pytest.mark.thorough
@EVERY
def test_the_same_seed_gives_the_same_pairs_in_any_number_of_partitions(sliced: Session, model: Model) -> None:
    found = []
    for partitions in (1, 7):
        sliced.conf.set("spark.sql.shuffle.partitions", str(partitions))
        frame = small(model).subscriptions(sliced, 1)
        assert frame.dtypes == [("node_key", "string"), ("topic_key", "string")]
        found.append(sorted(tuple(row) for row in frame.collect()))
    assert found[0] == found[1]
    assert len(set(found[0])) == len(found[0]) > 0
    assert len({node for node, _ in found[0]}) == 64
    other = sorted(tuple(row) for row in small(model).subscriptions(sliced, 2).collect())
    assert other != found[0]


@EVERY
def test_a_model_says_how_it_was_simulated(model: Model) -> None:
    assert model.overlay in ("fixed", "erdos-renyi")
    assert 0 < model.connectivity < 1


@EVERY
def test_impossible_sizes_are_refused_when_it_is_made(model: Model) -> None:
    with pytest.raises(UsageError, match="nodes is 0"):
        replace(cast("Any", model), nodes=0)

from collections.abc import Mapping

import pytest
from pyspark import SparkConf

from ropewalk.tables import cluster
from ropewalk.tables.masters import recognised


def usual(master: str, told: Mapping[str, str] = {}) -> dict[str, str]:
    conf = SparkConf(loadDefaults=False)
    for name, value in told.items():
        conf.set(name, value)
    return cluster._usual_on(recognised(master, "--master"), conf)


def test_a_cluster_of_this_machine_is_told_that_we_are_on_it() -> None:
    assert usual("spark://127.0.0.1:7077")["spark.driver.host"] == "127.0.0.1"


@pytest.mark.parametrize("master", ["spark://head:7077", "yarn", "k8s://https://api:443"])
def test_elsewhere_spark_knows_best_who_we_are(master: str) -> None:
    assert not [name for name in usual(master) if name.startswith("spark.driver")]


@pytest.mark.parametrize("master", ["yarn", "k8s://https://api:443"])
@pytest.mark.parametrize(
    ("told", "overhead"),
    [
        ({}, "1408m"),
        ({"spark.executor.cores": "4"}, "4480m"),
        ({"spark.executor.cores": "4", "spark.executor.memory": "16g"}, "5734m"),
        ({"spark.executor.memory": "2048"}, "1408m"),
        ({"spark.executor.memoryOverheadFactor": "0.5"}, None),
    ],
)
def test_containers_have_room_for_python(master: str, told: dict[str, str], overhead: str | None) -> None:
    assert usual(master, told).get("spark.executor.memoryOverhead") == overhead


def test_standalone_executors_have_no_container() -> None:
    assert "spark.executor.memoryOverhead" not in usual("spark://head:7077")


@pytest.mark.parametrize(("cores", "partitions"), [(1, 8), (2, 16), (64, 512), (100, 512), (1000, 2000)])
def test_partitions_follow_the_cores(cores: int, partitions: int) -> None:
    assert cluster.partitions_for(cores) == partitions

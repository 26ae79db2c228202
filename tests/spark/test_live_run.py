"""Real nodes of a small universe, as `ropewalk cluster` runs them: processes, TLS, faults, and the tables of every engine."""

import json
import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from ropewalk.engines.job import Job
from ropewalk.engines.live.faults import Fault, faults_of
from ropewalk.errors import UsageError
from ropewalk.experiments.run import chosen, execute
from ropewalk.experiments.workload import make_workload
from ropewalk.tables.frames import read_table
from ropewalk.tables.schema import CONNECTIONS, DELIVERIES, LINKS, PUBLICATIONS, TRAFFIC, VIEWS
from ropewalk.tables.session import Session
from ropewalk.tables.store import Store
from ropewalk.workloads.grid import SETS

linux = pytest.mark.skipif(sys.platform != "linux", reason="addresses of their own on loopback are Linux's")


@pytest.fixture(scope="module")
def town(spark: Session, tmp_path_factory: pytest.TempPathFactory) -> Store:
    place = tmp_path_factory.mktemp("town") / "town"
    model = replace(SETS["fig6"], nodes=16, topics=4)
    make_workload(model, 1, place, overwrite=False, session=nullcontext(spark), phase=lambda _: nullcontext())
    return Store.open(place)


def run(spark: Session, town: Store, out: Path, *, faults: str = "", **told):
    keep = frozenset({"rounds", "traffic", "links", "connections"})
    job = Job(
        settings=chosen(town, {"period": 1.0} | told, "live"),
        seed=1,
        engine="live",
        keep=keep,  # type: ignore[arg-type]
        events=60,
        topics_per_event=2,
        faults=faults,
    )
    return execute(town, job, out, overwrite=False, session=nullcontext(spark), phase=lambda _: nullcontext()).document


@pytest.mark.thorough
def test_real_nodes_fill_the_tables_of_a_simulation(spark: Session, town: Store, tmp_path: Path) -> None:
    document = run(spark, town, tmp_path / "run", rounds=8)
    assert (document["engine"], document["nodes"]) == ("live", 16)
    assert document["lvs"]["initial"]["mean"] == document["lvs"]["final"]["mean"]
    assert (document["missed"], document["unwanted"], document["doubled"]) == (0, 0, 0)
    assert document["expected"] > 0
    assert document["frames_per_delivery"] < 1.5
    store = Store.open(tmp_path / "run")
    for table in (VIEWS, LINKS, CONNECTIONS, PUBLICATIONS, DELIVERIES, TRAFFIC):
        assert read_table(spark, store, table).count() > 0
    kinds = {row.kind for row in read_table(spark, store, TRAFFIC).select("kind").distinct().collect()}
    assert {"walk", "reply", "announce", "keep-alive", "push", "ping"} <= kinds
    assert json.loads((tmp_path / "run" / "manifest.json").read_text())["settings"]["engine"] == "live"


@pytest.mark.thorough
@linux
@pytest.mark.parametrize(
    "faults",
    ["kill:30%@5", *(pytest.param(each, marks=pytest.mark.long) for each in ("partition:50%@5+6", "freeze:25%@5+4"))],
)
def test_whatever_goes_wrong_overlays_are_whole_again_and_nothing_is_missed_or_doubled(
    spark: Session, town: Store, tmp_path: Path, faults: str
) -> None:
    document = run(spark, town, tmp_path / "run", faults=faults, rounds=20, discover=True)
    assert (document["missed"], document["doubled"], document["unwanted"]) == (0, 0, 0)
    assert document["expected"] > 0
    assert document["fitness"]["final"]["weakly_connected"] == 1.0


@pytest.mark.long
@linux
def test_all_nodes_restart_one_after_the_other(spark: Session, town: Store, tmp_path: Path) -> None:
    document = run(spark, town, tmp_path / "run", faults="restart@4", rounds=40, discover=True)
    assert (document["missed"], document["doubled"], document["unwanted"]) == (0, 0, 0)
    assert document["expected"] > 0
    assert document["fitness"]["final"]["weakly_connected"] == 1.0


def test_faults_are_read_in_the_order_of_time() -> None:
    found = faults_of("restart@20, kill:30%@8,partition:12.5%@10+6")
    assert found == [Fault("kill", 0.3, 8), Fault("partition", 0.125, 10, 6), Fault("restart", 1.0, 20)]
    victims = found[0].victims(list(range(40)), 1)
    assert len(victims) == 12
    assert victims == found[0].victims(list(range(40)), 1) != found[0].victims(list(range(40)), 2)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("kill", "say for instance kill:30%@20"),
        ("kill@20", "say of how many"),
        ("kill:0%@20", "above 0 and at most 100 %"),
        ("kill:30%@20+5", "a kill does not last"),
        ("freeze:30%@20", "say for how long"),
        ("restart:30%@20", "all nodes restart"),
        ("explode:3%@2", "say for instance"),
    ],
)
def test_faults_that_make_no_sense_are_said(said: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        faults_of(said)

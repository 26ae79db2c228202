"""The simulator end to end on a small universe: in lock step its tables are the batch engine's."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import functions as F

from ropewalk.engines.contract import Engine, Keep
from ropewalk.engines.job import Job
from ropewalk.engines.sim import room
from ropewalk.errors import UsageError
from ropewalk.experiments.run import Executed, chosen, command_of, execute
from ropewalk.protocols.stan.settings import Settings
from ropewalk.report.page import render
from ropewalk.tables.frames import problems_of, read_table
from ropewalk.tables.schema import CONNECTIONS, DELIVERIES, LINKS, OVERLAYS, PUBLICATIONS, TRAFFIC, VIEWS, Table
from ropewalk.tables.session import Session
from ropewalk.tables.store import Manifest, Store, drafted
from ropewalk.workloads.grid import SETS
from ropewalk.workloads.write import write_workload

LOCK_STEP = Settings(rounds=3, ttl=3, connectivity=0.9, loss=0.1, learn=True)
TIMED = Settings(rounds=3, ttl=3, connectivity=0.9, schedule="timed", manager="scamp", churn=0.1)


@pytest.fixture(scope="module")
def universe(spark: Session, tmp_path_factory: pytest.TempPathFactory) -> Store:
    path = tmp_path_factory.mktemp("sim") / "universe"
    with drafted(path, Manifest(name="fig6", made_by="a test", seed=1, settings={})) as draft:
        write_workload(draft, SETS["fig6"].subscriptions(spark, 1), source="grid", rule="generated")
    return Store.open(path)


def executed(spark: Session, universe: Store, settings: Settings, engine: Engine, out: Path) -> tuple[Executed, Store]:
    keep: frozenset[Keep] = frozenset({"rounds", "links", "connections", "traffic"})
    job = Job(settings=settings, seed=1, engine=engine, keep=keep)
    run = execute(universe, job, out, overwrite=False, session=nullcontext(spark), phase=lambda _: nullcontext())
    return run, Store.open(out)


def rows(spark: Session, store: Store, table: Table) -> list[tuple[object, ...]]:
    frame = read_table(spark, store, table).drop("run")
    return sorted((tuple(row) for row in frame.collect()), key=str)


@pytest.mark.thorough
def test_in_lock_step_every_table_is_the_batch_engines(spark: Session, universe: Store, tmp_path: Path) -> None:
    ours, store = executed(spark, universe, LOCK_STEP, "sim", tmp_path / "sim")
    theirs, batch = executed(spark, universe, LOCK_STEP, "batch", tmp_path / "batch")
    assert problems_of(spark, store.path) == []
    assert ours.document["digest"] == theirs.document["digest"]
    assert ours.document["run"] != theirs.document["run"]
    assert {key: ours.document[key] for key in ("pvs", "lvs", "connections", "fitness", "traffic")} == {
        key: theirs.document[key] for key in ("pvs", "lvs", "connections", "fitness", "traffic")
    }
    for table in (VIEWS, OVERLAYS, LINKS, CONNECTIONS):
        assert rows(spark, store, table) == rows(spark, batch, table)


@pytest.mark.thorough
def test_with_timers_tables_are_sound_and_say_what_was_sent(spark: Session, universe: Store, tmp_path: Path) -> None:
    run, store = executed(spark, universe, TIMED, "sim", tmp_path / "timed")
    assert problems_of(spark, store.path) == []
    traffic = read_table(spark, store, TRAFFIC)
    sent = {row["kind"]: row["sum(messages)"] for row in traffic.groupBy("kind").agg(F.sum("messages")).collect()}
    assert sent["walk"] + sent["reply"] == run.document["traffic"]["messages"]
    assert sent["keep-alive"] > 0
    assert {row[0] for row in traffic.select("at").distinct().collect()} == {30.0, 60.0, 90.0}
    assert "--engine sim" in run.document["again"]
    page = render(run.document, run.rows)
    assert f"<tr><td>walk</td><td>{sent['walk']:,}</td>" in page
    assert f"<dt>loss</dt><dd>{TIMED.loss}</dd>" in page


@pytest.mark.thorough
def test_what_became_of_events_is_in_tables_and_document(spark: Session, universe: Store, tmp_path: Path) -> None:
    job = Job(settings=replace(TIMED, rounds=7), seed=1, engine="sim", events=20, topics_per_event=2)
    out = tmp_path / "events"
    run = execute(universe, job, out, overwrite=False, session=nullcontext(spark), phase=lambda _: nullcontext())
    document, store = run.document, Store.open(out)
    assert problems_of(spark, out) == []
    published = {row["event"]: row for row in read_table(spark, store, PUBLICATIONS).collect()}
    assert 15 <= len(published) == document["events"] <= 20  # some publishers are not there
    assert {len(row["topics"]) for row in published.values()} <= {1, 2}
    delivered = read_table(spark, store, DELIVERIES).collect()
    assert len(delivered) == document["delivered"] > 100
    assert sum(row["copies"] - 1 for row in delivered) == document["duplicates"]
    assert all(row["hops"] >= 1 and row["at"] > published[row["event"]]["at"] for row in delivered)
    assert document["missed"] == 0 < document["expected"]
    assert document["frames_per_delivery"] >= 1
    assert "--publish 20 --topics-per-event 2" in document["again"]


@pytest.mark.thorough
def test_what_is_usual_depends_on_the_engine(universe: Store) -> None:
    assert chosen(universe, {}).schedule == "sync"
    assert chosen(universe, {}, "sim").schedule == "timed"
    assert chosen(universe, {}, "sim").manager == "given"
    assert chosen(universe, {"churn": 0.1}, "sim").manager == "scamp"
    assert chosen(universe, {"churn": 0.1, "schedule": "sync"}, "sim").manager == "given"
    assert chosen(universe, {"churn": 0.1, "manager": "cyclon"}, "sim").manager == "cyclon"
    assert chosen(universe, {"churn": 0.1}, "sim", "flood").manager == "scamp"
    assert chosen(universe, {"churn": 0.1}, "sim", "gossipsub").manager == "given"  # it has none


@pytest.mark.parametrize("settings", [TIMED, LOCK_STEP, Settings(schedule="timed", manager="cyclon")])
def test_the_command_of_a_run_leads_to_its_settings(universe: Store, settings: Settings) -> None:
    words = command_of(universe, Job(settings=settings, seed=1, engine="sim")).split()
    told = {"churn": settings.churn, "loss": settings.loss, "manager": settings.manager, "schedule": settings.schedule}
    named = {name: value for name, value in told.items() if f"--{name}" in words}
    assert all(words[words.index(f"--{name}") + 1] == str(value) for name, value in named.items())
    again = chosen(universe, named, "sim")
    assert {name: getattr(again, name) for name in told} == told


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("protocol", "brings"), [("flood", "push"), pytest.param("gossipsub", "publication", marks=pytest.mark.long)]
)
def test_rivals_fill_the_same_tables(
    spark: Session, universe: Store, tmp_path: Path, protocol: str, brings: str
) -> None:
    settings = chosen(universe, {"rounds": 6, "connectivity": 0.99, "churn": 0.02}, "sim", protocol)
    job = Job(
        settings=settings, seed=1, engine="sim", protocol=protocol, keep=frozenset({"traffic", "links"}), events=20
    )
    out = tmp_path / protocol
    run = execute(universe, job, out, overwrite=False, session=nullcontext(spark), phase=lambda _: nullcontext())
    store = Store.open(out)
    assert problems_of(spark, store.path) == []
    assert run.document["missed"] == 0
    assert run.document["delivered"] > 100
    assert run.document["traffic"] == {}  # what StaN's walks cost is not theirs
    sent = read_table(spark, store, TRAFFIC).where(F.col("kind") == brings).agg(F.sum("messages")).first()
    assert sent is not None
    assert sent[0] == round(run.document["frames_per_delivery"] * run.document["delivered"])
    assert read_table(spark, store, DELIVERIES).count() > 100
    assert read_table(spark, store, LINKS).where(F.col("stage") == "final").count() > 0
    assert run.document["again"].startswith(f"ropewalk simulate {protocol} UNIVERSE --seed 1 --engine sim --rounds 6")


@pytest.mark.thorough
def test_without_rounds_nothing_has_been_sent(spark: Session, universe: Store, tmp_path: Path) -> None:
    run, store = executed(spark, universe, replace(TIMED, rounds=0, churn=0.0), "sim", tmp_path / "still")
    assert problems_of(spark, store.path) == []
    assert run.document["traffic"]["messages"] == 0
    assert read_table(spark, store, TRAFFIC).count() == 0


def test_more_than_it_can_hold_is_refused(
    spark: Session, universe: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "memory_bytes", lambda: 1_000_000)
    with pytest.raises(
        UsageError, match=r"would take the simulator about .* GB, of 0.0 GB it may .* use --engine batch"
    ):
        executed(spark, universe, TIMED, "sim", tmp_path / "large")
    assert list(tmp_path.iterdir()) == []

"""Protocols over rings end to end on a small universe: tables, measures, sweeps, and what cannot be asked."""

from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

from ropewalk.engines.batch.rings import Plan, interests_in
from ropewalk.engines.batch.sweep import Point, swept
from ropewalk.engines.contract import Engine
from ropewalk.engines.job import Order
from ropewalk.engines.sim import room
from ropewalk.errors import UsageError
from ropewalk.experiments.run import Executed, command_of, execute, of_protocol
from ropewalk.experiments.workload import make_workload
from ropewalk.measures.together import measured
from ropewalk.protocols.magnet.settings import Settings
from ropewalk.report.page import render
from ropewalk.tables.frames import problems_of, read_table
from ropewalk.tables.schema import RELAYS, TOPICS, TRAFFIC, TREES, VIEWS
from ropewalk.tables.session import Session
from ropewalk.tables.store import Store
from ropewalk.workloads.hierarchical import HierarchicalTopics
from ropewalk.workloads.multi_modal import MultiModal
from ropewalk.workloads.rates import Rates
from ropewalk.workloads.spatial import Spatial

pytestmark = pytest.mark.thorough  # runs from end to end, a few seconds each

MODEL = MultiModal(nodes=200, topics=40, categories=4, subscriptions_per_node=6.0)
RATES = Rates("power-law")


@pytest.fixture(scope="module")
def universe(spark: Session, tmp_path_factory: pytest.TempPathFactory) -> Store:
    path = tmp_path_factory.mktemp("rings") / "universe"
    make_workload(
        MODEL, 3, path, rates=RATES, overwrite=False, session=nullcontext(spark), phase=lambda _: nullcontext()
    )
    return Store.open(path)


def executed(
    spark: Session, universe: Store, out: Path, protocol: str = "magnet", parts: int | None = None, **told
) -> Executed:
    job = Order(settings=of_protocol(protocol, told), seed=3, protocol=protocol, fitness=False, partitions=parts)
    return execute(universe, job, out, overwrite=False, session=nullcontext(spark), phase=lambda _: nullcontext())


@pytest.fixture(scope="module")
def usual(spark: Session, universe: Store, tmp_path_factory: pytest.TempPathFactory) -> Executed:
    return executed(spark, universe, tmp_path_factory.mktemp("usual") / "run")


def test_a_run_of_magnet_is_sound_and_saves_relays(spark: Session, universe: Store, usual: Executed) -> None:
    run, out = usual, Path(usual.document["out"])
    assert problems_of(spark, out) == []
    before, after = run.document["trees"]["initial"], run.document["trees"]["final"]
    assert 0 < after["relays_per_message"] < before["relays_per_message"]
    assert 0 < after["relay_share"] < before["relay_share"] < 1
    store = Store.open(out)
    assert read_table(spark, store, TREES).count() == 2 * run.document["topics"]
    assert (
        read_table(spark, store, VIEWS).count() == read_table(spark, store, RELAYS).count() == 2 * run.document["nodes"]
    )
    trees = read_table(spark, store, TREES).filter("stage = 'final'").collect()
    rates = {row.topic: row.rate for row in read_table(spark, universe, TOPICS).collect()}
    paid = sum(rates[row.topic] * row.relays for row in trees) / sum(rates.values())
    assert after["relays_per_message"] == pytest.approx(paid)
    loads = read_table(spark, store, RELAYS).filter("stage = 'final'").collect()
    assert sum(row.load for row in loads) == pytest.approx(
        sum(rates[row.topic] * row.relays for row in trees), abs=1e-3
    )
    assert sum(row.children for row in loads) == sum(row.nodes - 1 for row in trees)


def test_tasks_change_no_result(spark: Session, universe: Store, usual: Executed, tmp_path: Path) -> None:
    run = executed(spark, universe, tmp_path / "run", parts=1)
    assert run.document["digest"] == usual.document["digest"]
    assert run.rows == usual.rows
    assert run.document["run"] == usual.document["run"]


def test_scribe_has_one_stage(spark: Session, universe: Store, tmp_path: Path) -> None:
    run = executed(spark, universe, tmp_path / "run", "scribe")
    assert problems_of(spark, tmp_path / "run") == []
    assert list(run.document["trees"]) == ["final"]
    assert run.document["again"] == "ropewalk simulate scribe UNIVERSE --seed 3"
    assert "Relays that do not follow" in render(run.document, run.rows)


def test_the_command_says_what_is_unusual(universe: Store) -> None:
    told = {"samples": 3, "grafting": "strict"}
    job = Order(settings=of_protocol("magnet", told), seed=3, protocol="magnet", fitness=False)
    assert command_of(universe, job) == "ropewalk simulate magnet UNIVERSE --seed 3 --samples 3 --grafting strict"


def test_a_page_shows_before_and_after(usual: Executed) -> None:
    page = render(usual.document, usual.rows)
    assert f"{usual.document['trees']['final']['relays_per_message']:.2f}" in page
    assert "magnet, before" in page


def test_a_sweep_finds_what_runs_find(spark: Session, universe: Store, usual: Executed, tmp_path: Path) -> None:
    points = [
        Point(name=f"{samples}", model=MODEL, rates=RATES, plan=Plan("magnet", Settings(samples=samples), 3))
        for samples in (0, 10)
    ]
    found = swept(spark, points)
    rows = {(row["run"], row["measure"], row["group"]): row["value"] for row in measured(spark, found, examined=False)}
    found["rows"].unpersist()
    for samples, run in ((0, executed(spark, universe, tmp_path / "run", samples=0)), (10, usual)):
        alone = {(measure, group): value for measure, group, value in run.rows}
        of_sweep = {(measure, group): value for (name, measure, group), value in rows.items() if name == f"{samples}"}
        assert of_sweep == pytest.approx(alone, rel=1e-6)


@pytest.mark.parametrize(
    "model",
    [
        MODEL,
        Spatial(nodes=150, subscriptions_per_node=5.0),
        HierarchicalTopics(nodes=128, topics=128, subscriptions_per_node=4.0),
    ],
)
def test_a_task_makes_the_universe_that_is_generated(spark: Session, tmp_path: Path, model: MultiModal) -> None:
    make_workload(
        model,
        5,
        tmp_path / "u",
        rates=RATES,
        overwrite=False,
        session=nullcontext(spark),
        phase=lambda _: nullcontext(),
    )
    stored = interests_in(spark, Store.open(tmp_path / "u"))
    made = Point(name="x", model=model, rates=RATES, plan=Plan("magnet", Settings(), 5)).interests()
    for one, other in zip(stored[:-1], made[:-1], strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose(stored.rates, made.rates, rtol=1e-12)  # powers differ in the last bit


@pytest.fixture(scope="module")
def hamlet(spark: Session, tmp_path_factory: pytest.TempPathFactory) -> Store:
    path = tmp_path_factory.mktemp("hamlet") / "universe"
    model = MultiModal(nodes=40, topics=8, categories=2, subscriptions_per_node=3.0)
    make_workload(
        model, 3, path, rates=RATES, overwrite=False, session=nullcontext(spark), phase=lambda _: nullcontext()
    )
    return Store.open(path)


ON_NODES = {
    ("scribe", "sim"): "simulate scribe UNIVERSE --seed 3 --engine sim --rounds 12 --loss 0.05",
    ("magnet", "sim"): "simulate magnet UNIVERSE --seed 3 --engine sim --rounds 12 --loss 0.05",
    ("magnet", "live"): "cluster UNIVERSE --seed 3 --protocol magnet --period 1.0 --rounds 9",
}


@pytest.mark.parametrize(
    ("protocol", "engine"),
    [pytest.param(*which, marks=pytest.mark.long if which != ("scribe", "sim") else []) for which in ON_NODES],
)
def test_nodes_that_send_messages_fill_the_same_tables(
    spark: Session, hamlet: Store, tmp_path: Path, protocol: str, engine: Engine
) -> None:
    told = {"rounds": 12, "loss": 0.05} if engine == "sim" else {"rounds": 9, "period": 1.0}
    job = Order(
        settings=of_protocol(protocol, told, engine),
        seed=3,
        protocol=protocol,
        engine=engine,
        keep=frozenset({"traffic"}),
        fitness=False,
        events=20,
        topics_per_event=2,
    )
    session = nullcontext(spark)
    run = execute(hamlet, job, tmp_path / "run", overwrite=False, session=session, phase=lambda _: nullcontext())
    assert problems_of(spark, tmp_path / "run") == []
    document, store = run.document, Store.open(tmp_path / "run")
    assert document["events"] == 20
    assert document["missed"] == document["unwanted"] == 0
    assert 0 <= document["trees"]["final"]["relay_share"] < 1
    assert document["connections"]["final"]["mean"] > 2
    assert read_table(spark, store, TREES).count() == document["topics"]
    assert read_table(spark, store, RELAYS).count() == document["nodes"]
    kinds = {row.kind for row in read_table(spark, store, TRAFFIC).select("kind").distinct().collect()}
    assert {"stabilise", "graft", "bear", "submit", "shed"} <= kinds
    assert ("gather" in kinds) == (protocol == "magnet")
    said = {row.topic: row.rate for row in read_table(spark, hamlet, TOPICS).collect()}
    assert {row.topic: row.rate for row in read_table(spark, store, TREES).collect()} == said
    assert not {measure for measure, _, _ in run.rows} & {"tree.grafts", "tree.strays"}  # how trees grew is not known
    command = command_of(hamlet, job)
    assert command == f"ropewalk {ON_NODES[protocol, engine]} --publish 20 --topics-per-event 2 --keep traffic"


def test_more_nodes_than_the_simulator_can_hold_are_refused(
    spark: Session, hamlet: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "memory_bytes", lambda: 1_000_000)
    job = Order(settings=of_protocol("magnet", {}), seed=3, protocol="magnet", engine="sim", fitness=False)
    with pytest.raises(UsageError, match="would take the simulator about"):
        execute(
            hamlet, job, tmp_path / "run", overwrite=False, session=nullcontext(spark), phase=lambda _: nullcontext()
        )
    assert list(tmp_path.iterdir()) == []

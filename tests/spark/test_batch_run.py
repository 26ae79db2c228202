"""The batch engine end to end on a small universe: its tables agree with each other and with nothing but the seed."""

from collections import Counter
from contextlib import nullcontext
from pathlib import Path

import pytest
from pyspark.sql import functions as F

from ropewalk.engines.batch.run import simulate
from ropewalk.engines.contract import KEEPS
from ropewalk.engines.job import Job, Outcome, run_of
from ropewalk.errors import InputError, RunError
from ropewalk.experiments.run import execute
from ropewalk.protocols.stan.settings import Settings
from ropewalk.tables.frames import problems_of, read_table, write_table
from ropewalk.tables.schema import CONNECTIONS, CRASHES, LINKS, OVERLAYS, RUNS, SUBSCRIPTIONS, VIEWS
from ropewalk.tables.session import Session
from ropewalk.tables.store import Manifest, Store, drafted
from ropewalk.workloads.grid import SETS
from ropewalk.workloads.write import write_workload

SETTINGS = Settings(rounds=2, ttl=3)


@pytest.fixture(scope="module")
def universe(spark: Session, tmp_path_factory: pytest.TempPathFactory) -> Store:
    path = tmp_path_factory.mktemp("batch") / "universe"
    manifest = Manifest(name="fig6", made_by="a test", seed=1, settings={})
    with drafted(path, manifest) as draft:
        write_workload(draft, SETS["fig6"].subscriptions(spark, 1), source="grid", rule="generated")
    return Store.open(path)


def run(spark: Session, universe: Store, job: Job, out: Path) -> tuple[Outcome, Store]:
    manifest = Manifest(name=run_of(universe, job), made_by="a test", seed=job.seed, settings={})
    with drafted(out, manifest) as draft:
        outcome = simulate(spark, universe, job, draft, lambda _: nullcontext())
    return outcome, Store.open(out)


@pytest.fixture(scope="module")
def kept(spark: Session, universe: Store, tmp_path_factory: pytest.TempPathFactory) -> tuple[Outcome, Store]:
    job = Job(settings=SETTINGS, seed=1, keep=frozenset(KEEPS))
    return run(spark, universe, job, tmp_path_factory.mktemp("batch") / "kept")


def test_a_run_is_sound(spark: Session, kept: tuple[Outcome, Store]) -> None:
    outcome, store = kept
    assert problems_of(spark, store.path) == []
    assert store.manifest.digest == outcome.digest
    assert (outcome.nodes, outcome.topics) == (100, 16)
    row = read_table(spark, store, RUNS).first()
    assert row is not None
    assert (row["run"], row["universe"], row["digest"]) == (outcome.run, "fig6", outcome.digest)


def test_views_count_what_the_links_say(spark: Session, kept: tuple[Outcome, Store]) -> None:
    _, store = kept
    links = read_table(spark, store, LINKS)
    out = links.groupBy("stage", "node").agg(F.count("*").alias("lvs"), F.countDistinct("neighbour").alias("pvs"))
    held = links.groupBy("stage", F.col("neighbour").alias("node")).agg(F.countDistinct("node").alias("in_links"))
    both = links.select("stage", "node", "neighbour").union(links.select("stage", "neighbour", "node"))
    either = both.groupBy("stage", "node").agg(F.countDistinct("neighbour").alias("connections"))
    expected = out.join(held, ["stage", "node"], "full").join(either, ["stage", "node"], "full").fillna(0)
    columns = ["stage", "node", "lvs", "pvs", "connections", "in_links"]
    views = read_table(spark, store, VIEWS).select(columns)
    assert views.count() == 100 * 3
    assert sorted(views.collect()) == sorted(expected.select(columns).collect())


def test_connections_are_the_links_both_ways_once(spark: Session, kept: tuple[Outcome, Store]) -> None:
    _, store = kept
    links = read_table(spark, store, LINKS)
    pair = (F.least("node", "neighbour").alias("a"), F.greatest("node", "neighbour").alias("b"))
    expected = links.groupBy("run", "stage", *pair).agg(F.count("*").alias("links"))
    connections = read_table(spark, store, CONNECTIONS)
    assert connections.filter("a >= b").count() == 0
    assert connections.exceptAll(expected).count() == expected.exceptAll(connections).count() == 0


def test_overlays_have_the_topics_subscribers_and_constant_links(
    spark: Session, universe: Store, kept: tuple[Outcome, Store]
) -> None:
    _, store = kept
    overlays = read_table(spark, store, OVERLAYS)
    subscribers = read_table(spark, universe, SUBSCRIPTIONS).groupBy("topic").agg(F.count("*").alias("members"))
    assert overlays.select("topic", "members").distinct().exceptAll(subscribers).count() == 0
    assert overlays.groupBy("topic").agg(F.countDistinct("links").alias("n")).filter("n > 1").count() == 0
    assert sorted(row[0] for row in overlays.select("stage").distinct().collect()) == ["final", "initial", "round 1"]


def test_links_stay_within_the_topic(spark: Session, universe: Store, kept: tuple[Outcome, Store]) -> None:
    _, store = kept
    links = read_table(spark, store, LINKS)
    subscriptions = read_table(spark, universe, SUBSCRIPTIONS)
    assert links.join(subscriptions, ["node", "topic"], "left_anti").count() == 0
    neighbours = links.select(F.col("neighbour").alias("node"), "topic")
    assert neighbours.join(subscriptions, ["node", "topic"], "left_anti").count() == 0
    assert links.filter("node = neighbour").count() == 0


@pytest.mark.thorough
@pytest.mark.parametrize("partitions", [1, 7])
def test_the_layout_changes_nothing(
    spark: Session, universe: Store, kept: tuple[Outcome, Store], tmp_path: Path, partitions: int
) -> None:
    job = Job(settings=SETTINGS, seed=1, keep=frozenset(KEEPS), partitions=partitions)
    outcome, again = run(spark, universe, job, tmp_path / "out")
    assert outcome.digest == kept[0].digest
    assert again.manifest.tables == kept[1].manifest.tables


@pytest.mark.thorough
def test_another_seed_is_another_history(
    spark: Session, universe: Store, kept: tuple[Outcome, Store], tmp_path: Path
) -> None:
    outcome, _ = run(spark, universe, Job(settings=SETTINGS, seed=2), tmp_path / "out")
    assert outcome.digest != kept[0].digest
    assert outcome.run != kept[0].run


def test_no_rounds_leave_the_overlays_as_they_were(spark: Session, universe: Store, tmp_path: Path) -> None:
    _, store = run(spark, universe, Job(settings=Settings(rounds=0), seed=1), tmp_path / "out")
    views = read_table(spark, store, VIEWS).drop("run")
    before, after = (views.filter(F.col("stage") == stage).drop("stage") for stage in ("initial", "final"))
    assert before.count() == 100
    assert sorted(before.collect()) == sorted(after.collect())


def test_a_subscription_that_is_there_twice_is_said_so(spark: Session, tmp_path: Path) -> None:
    pairs = spark.createDataFrame([(1, 5), (1, 5), (2, 5)], "node long, topic long")
    with drafted(tmp_path / "universe", Manifest(name="twice", made_by="a test", seed=1, settings={})) as draft:
        write_table(draft, SUBSCRIPTIONS, pairs, unique=True)
    with pytest.raises(InputError, match="1 rows or more that are there twice"):
        run(spark, Store.open(tmp_path / "universe"), Job(settings=SETTINGS, seed=1), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_overlays_need_not_be_examined(
    spark: Session, universe: Store, kept: tuple[Outcome, Store], tmp_path: Path
) -> None:
    outcome, store = run(spark, universe, Job(settings=SETTINGS, seed=1, fitness=False), tmp_path / "out")
    assert outcome.digest == kept[0].digest
    overlays = read_table(spark, store, OVERLAYS)
    assert overlays.filter("weak is not null or clustering is not null or diameter is not null").count() == 0
    assert overlays.filter("members is null or links is null").count() == 0


def test_messages_are_counted_by_stage_and_ids_on_request(
    spark: Session, universe: Store, kept: tuple[Outcome, Store], tmp_path: Path
) -> None:
    """Nothing is lost here, so every walk is ttl + 1 messages and a reply."""
    by_round = read_table(spark, kept[1], OVERLAYS).filter("members > 1")
    walks = F.col("members") * (SETTINGS.ttl + 2)
    assert by_round.filter((F.col("stage") == "initial") & (F.col("messages") != 0)).count() == 0
    assert by_round.filter((F.col("stage") != "initial") & (F.col("messages") != walks)).count() == 0
    assert by_round.filter((F.col("stage") != "initial") & (F.col("ids") <= F.col("messages"))).count() == 0
    _, store = run(spark, universe, Job(settings=SETTINGS, seed=1), tmp_path / "out")
    at_once = read_table(spark, store, OVERLAYS).filter("members > 1 and stage = 'final'")
    assert at_once.filter(F.col("messages") != SETTINGS.rounds * walks).count() == 0
    assert at_once.filter("ids is not null").count() == 0


@pytest.mark.thorough
def test_under_churn_only_those_that_are_there_are_counted(spark: Session, universe: Store, tmp_path: Path) -> None:
    settings = Settings(rounds=4, churn=0.3)
    _, store = run(spark, universe, Job(settings=settings, seed=1, keep=frozenset(KEEPS)), tmp_path / "out")
    assert problems_of(spark, store.path) == []
    counts = {row["stage"]: row["count"] for row in read_table(spark, store, VIEWS).groupBy("stage").count().collect()}
    assert counts["initial"] == counts["round 1"] == 100
    assert all(10 < counts[stage] < 95 for stage in ("round 2", "round 3", "final"))


def test_to_know_everything_is_to_hold_the_best(spark: Session, universe: Store, tmp_path: Path) -> None:
    pvs = {}
    for knowledge in ("walks", "everything"):
        settings = Settings(rounds=8, knowledge=knowledge)
        _, store = run(spark, universe, Job(settings=settings, seed=1), tmp_path / knowledge)
        final = read_table(spark, store, VIEWS).filter("stage = 'final'")
        (pvs[knowledge],) = final.agg(F.avg("pvs")).collect()[0]
    assert pvs["everything"] <= pvs["walks"]


@pytest.mark.thorough
def test_crashes_leave_what_they_should(spark: Session, kept: tuple[Outcome, Store]) -> None:
    """Sets of the crashed are nested; both ways an event reaches no less than one way; a tenth is a tenth."""
    crashes = read_table(spark, kept[1], CRASHES)
    cases = {row["crash"] for row in crashes.select("crash").distinct().collect()}
    assert cases == {f"{how} {share}%" for how in ("random", "targeted") for share in (10, 20, 30)}
    assert {row["stage"] for row in crashes.select("stage").distinct().collect()} == {"initial", "final"}
    assert crashes.filter("one_way > two_way + 1e-9 or two_way > 1 or one_way <= 0 or bound < 0").count() == 0
    whole = read_table(spark, kept[1], OVERLAYS).filter("stage = 'final'").agg(F.sum("members")).collect()[0][0]
    final = crashes.filter("stage = 'final'").groupBy("crash").agg(F.sum("survivors").alias("left")).collect()
    left = {row["crash"]: row["left"] / whole for row in final}
    for how in ("random", "targeted"):
        assert left[f"{how} 10%"] > left[f"{how} 20%"] > left[f"{how} 30%"]
    assert left["random 10%"] == pytest.approx(0.9, abs=0.06)
    assert left["targeted 10%"] < left["random 10%"]  # the best connected follow the most topics


def test_where_everybody_is_gone_there_is_nothing_to_keep(spark: Session, universe: Store, tmp_path: Path) -> None:
    job = Job(settings=Settings(rounds=2, churn=1.0), seed=1)
    out = tmp_path / "deserted"
    with pytest.raises(RunError, match="no node is there at stage final"):
        execute(universe, job, out, overwrite=False, session=nullcontext(spark), phase=lambda _: nullcontext())
    assert not out.exists()


def test_a_share_of_those_who_are_there_crash(spark: Session, universe: Store, tmp_path: Path) -> None:
    """Under churn the absent can neither be hit nor count: a targeted crash hits exactly the best connected present."""
    job = Job(settings=Settings(rounds=3, churn=0.4), seed=1, keep=frozenset({"crashes"}))
    _, store = run(spark, universe, job, tmp_path / "churned")
    final = read_table(spark, store, VIEWS).filter("stage = 'final'").collect()
    assert 10 < len(final) < 90
    followed = Counter(row["node"] for row in read_table(spark, universe, SUBSCRIPTIONS).collect())
    best_connected = [row["node"] for row in sorted(final, key=lambda row: (-row["connections"], row["node"]))]
    crashes = read_table(spark, store, CRASHES).filter("stage = 'final'")
    survivors = {row[0]: row[1] for row in crashes.groupBy("crash").agg(F.sum("survivors")).collect()}
    for share in (10, 20, 30):
        hit = round(share / 100 * len(final))
        assert survivors[f"targeted {share}%"] == sum(followed[node] for node in best_connected[hit:])

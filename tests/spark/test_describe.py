"""What is said of a universe, against the same computed the long way; and nothing depends on the layout."""

from collections.abc import Iterator
from contextlib import nullcontext
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyspark.sql import DataFrame
from scipy.stats import pearsonr

from ropewalk.errors import InputError
from ropewalk.experiments.describe import Description, describe
from ropewalk.tables.session import Session
from ropewalk.tables.store import Manifest, Store, drafted
from ropewalk.universes.correlation import node_correlation, topic_correlation
from ropewalk.universes.distributions import subscribers_per_topic, subscriptions_per_node
from ropewalk.universes.interests import Interests, gather, pairs_of
from ropewalk.universes.overlap import measure_overlap, overlap_of
from ropewalk.universes.rewire import rewired
from ropewalk.workloads.grid import SETS
from ropewalk.workloads.write import write_workload

# Node 1 follows everything, topic 40 is followed by all but one, topic 50 by one node only.
FOLLOWED = {
    1: (10, 20, 30, 40, 50),
    2: (10, 20, 40),
    3: (10, 20, 40),
    4: (30, 40),
    5: (30,),
    6: (10, 30, 40),
}
PAIRS = [(node, topic) for node, topics in FOLLOWED.items() for topic in topics]


def frame_of(spark: Session, pairs: list[tuple[int, int]]) -> DataFrame:
    return spark.createDataFrame(pairs, "node long, topic long")


def matrix_of(pairs: list[tuple[int, int]]) -> np.ndarray:
    """Nodes down, topics across."""
    nodes, topics = (sorted(set(column)) for column in zip(*pairs, strict=True))
    return np.array([[(node, topic) in set(pairs) for topic in topics] for node in nodes], float)


@pytest.fixture(scope="module")
def interests(spark: Session) -> Iterator[Interests]:
    found = gather(frame_of(spark, PAIRS))
    yield found
    found.unpersist()


@pytest.fixture(scope="module")
def random_pairs() -> list[tuple[int, int]]:
    random = np.random.default_rng(1)
    taken = random.random((40, 25)) < random.random((40, 1)) * 0.6
    taken[:, 0] = True
    return [(int(node) * 7, int(topic) * 3) for node, topic in zip(*np.nonzero(taken), strict=True)]


def test_interests_are_gathered_and_counted(interests: Interests) -> None:
    assert (interests.node_count, interests.topic_count, interests.subscription_count) == (6, 5, len(PAIRS))
    assert {row["node"]: tuple(row["topics"]) for row in interests.nodes.collect()} == FOLLOWED
    assert sorted(tuple(row) for row in pairs_of(interests.nodes).collect()) == PAIRS
    per_topic, per_node = subscribers_per_topic(interests), subscriptions_per_node(interests)
    assert dict(zip(per_topic.values.tolist(), per_topic.counts.tolist(), strict=True)) == {1: 1, 3: 1, 4: 2, 5: 1}
    assert dict(zip(per_node.values.tolist(), per_node.counts.tolist(), strict=True)) == {1: 1, 2: 1, 3: 3, 5: 1}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "no subscriptions"),
        ([(1, 10), (1, 10)], "1 rows that are there twice"),
        ([(1, None), (1, 2)], "without a topic"),
        ([(None, 10), (1, 2)], "without a node"),
    ],
)
def test_unusable_subscriptions_are_refused(spark: Session, rows: list[Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        gather(frame_of(spark, rows))


def test_topics_correlate_as_pearson_says(spark: Session, random_pairs: list[tuple[int, int]]) -> None:
    found = topic_correlation(gather(frame_of(spark, random_pairs)), 1)
    columns = matrix_of(random_pairs).T[1:]  # the first topic is followed by all
    expected = [pearsonr(a, b).statistic for a, b in combinations(columns, 2)]
    assert found.document["without_variance"] == 1
    assert found.document["pairs"] == len(expected)
    assert found.document["exact"] is True
    assert found.document["mean"] == {"value": pytest.approx(np.mean(expected)), "standard_error": 0.0}
    assert found.document["mean_absolute"]["value"] == pytest.approx(np.mean(np.abs(expected)))
    assert found.document["quantiles"]["p95"] == pytest.approx(np.quantile(expected, 0.95))
    assert found.document["above"]["0.1"]["value"] == pytest.approx(np.mean(np.array(expected) > 0.1))
    upper = found.matrix[np.triu_indices_from(found.matrix, 1)]
    assert np.sort(upper) == pytest.approx(np.sort(expected))


def test_nodes_correlate_significantly_as_the_t_test_says(spark: Session, random_pairs: list[tuple[int, int]]) -> None:
    found = node_correlation(gather(frame_of(spark, random_pairs)), 1)
    rows = [row for row in matrix_of(random_pairs) if row.min() != row.max()]
    tests = [pearsonr(a, b) for a, b in combinations(rows, 2)]
    assert found["pairs"] == len(tests)
    assert found["mean"] == pytest.approx(np.mean([test.statistic for test in tests]))
    for level in (90, 95, 98, 99):
        expected = np.mean([test.pvalue <= 1 - level / 100 for test in tests])
        assert found["significant"][str(level)] == {"value": pytest.approx(expected), "standard_error": 0.0}


def test_a_node_that_follows_everything_is_left_out(interests: Interests) -> None:
    found = node_correlation(interests, 1)
    assert found["without_variance"] == 1
    assert found["pairs"] == 10


@pytest.mark.thorough
def test_samples_are_drawn_by_the_seed_and_say_how_sure_they_are(spark: Session) -> None:
    grid = [(int(node), int(topic)) for node, topic in zip(*SETS["fig6"].pairs(np.arange(100), 1), strict=True)]
    whole = gather(frame_of(spark, grid))
    exact = node_correlation(whole, 1)["significant"]["90"]["value"]
    samples = [node_correlation(whole, seed, compared=40) for seed in (1, 2)]
    assert samples[0] != samples[1]
    for sample in samples:
        share = sample["significant"]["90"]
        assert (sample["nodes"], sample["of"], sample["exact"]) == (40, 100, False)
        assert 0 < share["standard_error"] < 0.1
        assert share["value"] == pytest.approx(exact, abs=4 * share["standard_error"])
    topics = topic_correlation(whole, 1, compared=8).document
    assert (topics["topics"], topics["of"]) == (8, 16)
    assert topics["mean"]["standard_error"] > 0


def exact_overlap() -> tuple[float, float]:
    """J and J' over every subscription and every other subscriber of its topic."""
    whole, without, weights = [], [], []
    for node, topic in PAIRS:
        others = [other for other, topics in FOLLOWED.items() if topic in topics and other != node]
        for other in others:
            both, either = set(FOLLOWED[node]) & set(FOLLOWED[other]), set(FOLLOWED[node]) | set(FOLLOWED[other])
            whole.append(len(both) / len(either))
            without.append(len(both - {topic}) / max(len(either - {topic}), 1))
            weights.append(1 / len(others))
    return float(np.average(whole, weights=weights)), float(np.average(without, weights=weights))


def test_overlap_is_the_mean_similarity_of_two_who_share_a_topic(interests: Interests) -> None:
    found = overlap_of(interests, interests.nodes, len(PAIRS) - 1, seed=1, draws=20_000)
    whole, without = exact_overlap()
    assert found.draws == 20_000
    assert found.whole.value == pytest.approx(whole, abs=5 * found.whole.standard_error)
    assert found.without_topic.value == pytest.approx(without, abs=5 * found.without_topic.standard_error)
    assert 0 < found.whole.standard_error < 0.005


def test_nothing_overlaps_where_no_topic_is_shared(spark: Session) -> None:
    alone = gather(frame_of(spark, [(1, 10), (2, 20), (3, 30)]))
    assert measure_overlap(alone, subscribers_per_topic(alone), 1) == {"asked": 100_000, "draws": 0}


@pytest.mark.parametrize("pairs", [[(1, 10)], [(1, 10), (2, 10)], [(1, 10), (1, 20)]], ids=["one", "topic", "node"])
def test_the_smallest_universes_have_nothing_to_correlate(spark: Session, pairs: list[tuple[int, int]]) -> None:
    whole = gather(frame_of(spark, pairs))
    topics = topic_correlation(whole, 1)
    assert topics.document["pairs"] == 0
    assert "mean" not in topics.document
    assert node_correlation(whole, 1)["pairs"] == 0
    found = measure_overlap(whole, subscribers_per_topic(whole), 1, draws=10)
    assert found["draws"] == (10 if len({node for node, _ in pairs}) > 1 else 0)


def test_rewiring_keeps_every_nodes_and_every_topics_number(
    spark: Session, random_pairs: list[tuple[int, int]]
) -> None:
    nodes = gather(frame_of(spark, random_pairs)).nodes
    again = sorted(tuple(row) for row in pairs_of(rewired(nodes, len(random_pairs), 1, group=100)).collect())
    assert again != random_pairs
    assert len(set(again)) == len(random_pairs)
    for column in (0, 1):
        assert sorted(pair[column] for pair in again) == sorted(pair[column] for pair in random_pairs)
    for row in rewired(nodes, len(random_pairs), 1, group=100).collect():
        assert row["topics"] == sorted(row["topics"])


@pytest.mark.thorough
def test_rewiring_undoes_correlation(spark: Session) -> None:
    """Ten groups of ten nodes that follow the same three topics: wholly alike before, hardly after."""
    cliques = [(node, 3 * (node // 10) + topic) for node in range(100) for topic in range(3)]
    whole = gather(frame_of(spark, cliques))
    found = measure_overlap(whole, subscribers_per_topic(whole), 1, draws=2_000)
    assert found["J"]["value"] == found["J'"]["value"] == 1.0
    assert found["J0"]["value"] < 0.3
    assert found["J0'"]["value"] < 0.1
    assert found["J/J0"]["value"] == pytest.approx(1 / found["J0"]["value"])


@pytest.fixture(scope="module")
def universe(spark: Session, tmp_path_factory: pytest.TempPathFactory) -> Store:
    path = tmp_path_factory.mktemp("describe") / "universe"
    with drafted(path, Manifest(name="fig6", made_by="a test", seed=1, settings={})) as draft:
        write_workload(draft, SETS["fig6"].subscriptions(spark, 1), source="grid", rule="generated")
    return Store.open(path)


def described(spark: Session, universe: Store) -> Description:
    return describe(universe, 1, draws=1_000, session=nullcontext(spark), phase=lambda _: nullcontext())


@pytest.mark.long
@pytest.mark.timeout(300)
def test_the_layout_changes_nothing(spark: Session, universe: Store) -> None:
    before = spark.conf.get("spark.sql.shuffle.partitions") or "4"
    try:
        found = []
        for partitions in ("1", "2", "7"):
            spark.conf.set("spark.sql.shuffle.partitions", partitions)
            found.append(described(spark, universe).document)
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", before)
    assert found[0] == found[1] == found[2]


def test_a_store_that_lost_rows_is_refused(spark: Session, universe: Store, tmp_path: Path) -> None:
    universe = Store(universe.path, Manifest.read(universe.path / "manifest.json"))
    tally = universe.manifest.tables["subscriptions"]
    universe.manifest.tables["subscriptions"] = type(tally)(tally.rows + 5, tally.digest)
    with pytest.raises(InputError, match="but its manifest says"):
        described(spark, universe)

"""Universes cut out of a trace, against a plain statement of the method; and the partitioning changes nothing."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from portions import portions
from ropewalk.arrays.chance import permuted, stream
from ropewalk.arrays.hashing import mixed_long
from ropewalk.cli.main import main
from ropewalk.errors import UsageError
from ropewalk.ids import identify
from ropewalk.seeds import chance, pick
from ropewalk.tables.frames import problems_of, read_table
from ropewalk.tables.schema import FILTERS, NAMES, SUBSCRIPTIONS, UNIVERSES
from ropewalk.tables.session import Session
from ropewalk.tables.store import Store
from ropewalk.universes.sample import ALL, Candidate, Cut, Sampler, median_of

SEED = 5
Pairs = set[tuple[int, int]]


def trace() -> Pairs:
    """Users who follow each other: 60 of them, some popular."""
    names = [identify(f"user-{number}") for number in range(60)]
    return {
        (node, names[pick(chance(1, "followed", number, turn), 60) ** 2 // 60])
        for number, node in enumerate(names)
        for turn in range(1 + number % 7)
    }


def cut_plainly(pairs: Pairs, cut: Cut, candidate: int) -> Pairs:
    topics = sorted({topic for _, topic in pairs})
    state = np.uint64(mixed_long(np.int64(candidate), stream(SEED, "seed topic")))
    wanted = cut.seeds or len(topics)
    chosen = {topic for rank, topic in enumerate(topics) if permuted(rank, len(topics), state) < wanted}
    users = {node for node, topic in pairs if topic in chosen}
    if cut.rule == "livejournal":
        chosen |= users & set(topics)
    if cut.rule == "wikipedia":
        for node in users:
            own = sorted(topic for follower, topic in pairs if follower == node)
            chosen.add(own[pick(chance(SEED, "random topic", node, candidate), len(own))])
    nodes = {node for node, topic in pairs if topic in chosen} if cut.population == "closed" else users
    inside = {(node, topic) for node, topic in pairs if node in nodes and topic in chosen}
    counted = inside if cut.prune_count == "inside" else pairs
    subscribers = {topic: sum(topic == other for _, other in counted) for topic in topics}
    return {(node, topic) for node, topic in inside if subscribers[topic] >= cut.least}


@pytest.fixture(scope="module")
def stored(spark: Session):
    frame = spark.createDataFrame(sorted(trace()), "node long, topic long").repartition(3).persist()
    yield frame
    frame.unpersist()


READINGS: list[tuple[Any, Any, Any]] = [
    ("wikipedia", "seeds", "inside"),
    ("livejournal", "seeds", "trace"),
    ("wikipedia", "closed", "trace"),
    ("livejournal", "closed", "inside"),
    ("random-topics", "seeds", "inside"),
]
CUTS = [
    Cut(rule=rule, seeds=8, population=population, prune_count=prune_count, candidates=3, min_subscribers=4)
    for rule, population, prune_count in READINGS
]


@pytest.mark.parametrize("cut", portions(CUTS, 1, 2), ids=lambda cut: f"{cut.rule}-{cut.population}-{cut.prune_count}")
def test_every_reading_is_what_it_says(spark: Session, stored, cut: Cut) -> None:
    sampler = Sampler(stored, cut, SEED)
    found = sampler.candidates()
    for candidate in found:
        expected = cut_plainly(trace(), cut, candidate.number)
        assert candidate == Candidate(
            candidate.number, len({node for node, _ in expected}), len({topic for _, topic in expected}), len(expected)
        )
    last = {(row["node"], row["topic"]) for row in sampler.subscriptions(2).collect()}
    assert last == cut_plainly(trace(), cut, 2)
    sampler.unpersist()


@pytest.mark.long
def test_more_candidates_than_a_mask_has_bits(spark: Session, stored) -> None:
    cut = Cut(rule="livejournal", seeds=5, candidates=66, min_subscribers=2)
    sampler = Sampler(stored, cut, SEED)
    found = sampler.candidates()
    assert [candidate.number for candidate in found] == list(range(66))
    for number in (0, 63, 64, 65):
        expected = cut_plainly(trace(), cut, number)
        assert found[number].subscriptions == len(expected)
    assert {(row["node"], row["topic"]) for row in sampler.subscriptions(65).collect()} == cut_plainly(trace(), cut, 65)
    sampler.unpersist()


def test_the_median_is_the_lower_of_the_middle() -> None:
    sizes = [Candidate(0, 10, 5, 9), Candidate(1, 10, 1, 9), Candidate(2, 0, 0, 0), Candidate(3, 10, 9, 9)]
    assert median_of(sizes).number == 1
    assert median_of(sizes[:3]).number == 1
    assert median_of(sizes[:1]).number == 0


def test_more_seeds_than_topics_are_refused(stored) -> None:
    with pytest.raises(UsageError, match="seeds is 1000, but the trace has"):
        Sampler(stored, Cut(rule="wikipedia", seeds=1000), SEED)


@pytest.mark.thorough
def test_the_verb(spark: Session, elsewhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"user-{number}" for number in range(60)]
    called = {identify(name): name for name in names}
    Path("trace.csv").write_text("".join(f"{called[node]},{called[topic]}\n" for node, topic in sorted(trace())))
    assert main(["ingest", "edges", "trace.csv", "--out", "trace"]) == 0
    capsys.readouterr()
    words = [
        "universe",
        "trace",
        "--rule",
        "livejournal",
        "--seeds",
        "8",
        "--candidates",
        "5",
        "--min-subscribers",
        "4",
    ]
    assert main([*words, "--seed", str(SEED), "--out", "u", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    cut = Cut(rule="livejournal", seeds=8, candidates=5, min_subscribers=4)
    store = Store.open(Path("u"))
    pairs = {(row["node"], row["topic"]) for row in read_table(spark, store, SUBSCRIPTIONS).collect()}
    assert pairs == cut_plainly(trace(), cut, said["candidate"])
    assert len(said["candidates"]) == 5
    universes = {row["universe"]: row for row in read_table(spark, store, UNIVERSES).collect()}
    assert len(universes) == 5
    assert universes[said["universe"]]["nodes"] == said["nodes"] == len({node for node, _ in pairs})
    assert {row["name"] for row in read_table(spark, store, NAMES).collect() if row["kind"] == "node"} == {
        called[node] for node, _ in pairs
    }
    assert problems_of(spark, Path("u")) == []
    assert main([*words, "--seed", str(SEED), "--out", "v", "--json", "--min-subscribers", "999"]) == 3
    assert "the median candidate is empty: no topic has 999 subscribers left" in capsys.readouterr().err
    assert main(["universe", "trace", "--rule", "wikipedia", "--seeds", "many", "--out", "v"]) == 2
    assert "seeds is 'many', but must be a number of topics from 1, or `all`." in capsys.readouterr().err


@pytest.mark.thorough
def test_filters_stay_with_their_nodes(spark: Session, elsewhere: Path) -> None:
    assert main(["generate", "stock-quotes", "--nodes", "60", "--stocks", "20", "--out", "quotes"]) == 0
    words = ["--rule", "random-topics", "--seeds", "3", "--candidates", "1", "--out", "u"]
    assert main(["universe", "quotes", *words]) == 0
    store = Store.open(Path("u"))
    nodes = {row["node"] for row in read_table(spark, store, SUBSCRIPTIONS).collect()}
    assert {row["node"] for row in read_table(spark, store, FILTERS).collect()} == nodes
    assert 0 < len(nodes) < 60


def test_all_topics_as_seeds(stored) -> None:
    sampler = Sampler(stored, Cut(rule="random-topics", seeds=ALL, candidates=1), SEED)
    (only,) = sampler.candidates()
    assert only.subscriptions == len(trace())
    sampler.unpersist()

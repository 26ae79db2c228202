import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ropewalk.papers.lab import Lab
from ropewalk.papers.stan.improvement import improvement
from ropewalk.papers.stan.universes import grid_universe, journal_run
from ropewalk.tables.frames import read_table
from ropewalk.tables.schema import SUBSCRIPTIONS
from ropewalk.tables.session import Session

SIZE = (60, 12)


class Heard:
    """What a lab was busy with."""

    def __init__(self) -> None:
        self.phases: list[str] = []

    @contextmanager
    def phase(self, what: str) -> Iterator[None]:
        self.phases.append(what)
        yield


def a_lab(spark: Session, folder: Path, data: Path | None = None) -> tuple[Lab, Heard]:
    heard = Heard()
    return Lab(spark=spark, folder=folder, phase=heard.phase, data=data), heard


@pytest.mark.thorough
def test_what_was_made_or_run_once_is_not_made_or_run_again(spark: Session, tmp_path: Path) -> None:
    lab, heard = a_lab(spark, tmp_path)
    universe = grid_universe(lab, "fig6", SIZE, 1)
    first = journal_run(lab, universe, 1, {"rounds"})
    so_far = len(heard.phases)
    assert grid_universe(lab, "fig6", SIZE, 1) is universe
    assert journal_run(lab, universe, 1) is first  # it kept more than is asked for
    assert journal_run(lab, universe, 1, {"rounds"}) is first
    assert len(heard.phases) == so_far
    assert heard.phases[0] == "set fig6, 60 x 12: generate grid"
    more = journal_run(lab, universe, 1, {"connections"})
    assert more.keep == {"rounds", "connections"}
    assert more.document["digest"] == first.document["digest"]
    assert journal_run(lab, universe, 2).document["run"] != first.document["run"]
    assert lab.seeds(3) == range(1, 4)


@pytest.mark.thorough
def test_a_rewired_universe_keeps_how_many_and_loses_which(spark: Session, tmp_path: Path) -> None:
    lab, _ = a_lab(spark, tmp_path)
    universe = grid_universe(lab, "fig6", SIZE, 1)
    rewired = lab.rewired(universe)
    assert (rewired.nodes, rewired.topics, rewired.subscriptions) == (
        universe.nodes, universe.topics, universe.subscriptions,
    )  # fmt: skip
    before, after = (read_table(spark, of.store, SUBSCRIPTIONS) for of in (universe, rewired))
    for column in SUBSCRIPTIONS.columns:
        counts = [{row[0]: row[1] for row in of.groupBy(column).count().collect()} for of in (before, after)]
        assert counts[0] == counts[1]
    assert before.exceptAll(after).count() > 0


@pytest.mark.long
def test_who_gains_how_much_whatever_the_partitions(spark: Session, tmp_path: Path) -> None:
    lab, _ = a_lab(spark, tmp_path)
    universe = grid_universe(lab, "fig6", SIZE, 1)
    runs = [journal_run(lab, universe, seed) for seed in (1, 2)]
    usual = spark.conf.get("spark.sql.shuffle.partitions") or "4"
    found = []
    try:
        for partitions in ("1", "2", "7"):
            spark.conf.set("spark.sql.shuffle.partitions", partitions)
            found.append(improvement(lab, universe, runs))
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", usual)
    assert found[0] == found[1] == found[2]
    numbers, scatter = found[0].numbers, found[0].scatter
    assert numbers["runs"] == 2
    assert numbers["nodes"] == len(scatter) == 60
    several = sum(decile["nodes"] for decile in numbers["deciles"])
    assert 0 < several < 60
    assert numbers["follow_one_topic"] == pytest.approx(1 - several / 60)
    assert numbers["gains"] * 60 == pytest.approx(numbers["gains_of_those_with_several"] * several)
    means = [sum(run.mean("pvs", stage) for run in runs) / 2 for stage in ("initial", "final")]
    assert [numbers["ipvs"], numbers["fpvs"]] == pytest.approx(means)
    assert numbers["gains"] == sum(after < before for before, after in scatter) / 60
    assert numbers["gains_much"] == sum(after < 0.6 * before for before, after in scatter) / 60
    assert numbers["loses"] == sum(after > before for before, after in scatter) / 60


@pytest.mark.long
def test_universes_are_cut_from_traces_that_are_there(spark: Session, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    lines = [f"{node} {node % 2} {2 + node % 3} 5" for node in range(120)]
    with gzip.open(data / "gowalla.txt.gz", "wt") as file:
        file.write("\n".join(lines))
    lab, heard = a_lab(spark, tmp_path / "lab", data)
    assert lab.cut("youtube", 2, 3) is None
    universe = lab.cut("gowalla", 2, 3)
    assert universe is not None
    assert universe.store.manifest.tables["universes"].rows == 3
    assert universe.nodes > 30
    assert lab.cut("gowalla", 2, 3) is universe
    assert sum("gowalla" in phase.lower() and "read" in phase for phase in heard.phases) == 1
    assert lab.lacking("gowalla") == ()
    assert lab.lacking("gowalla", "youtube") == (
        "Left out, as the traces are not there (--data): YouTube groups.",
    )  # fmt: skip


def test_without_a_folder_there_are_no_traces(spark: Session, tmp_path: Path) -> None:
    lab, heard = a_lab(spark, tmp_path)
    assert lab.cut("gowalla", 2, 3) is None
    assert heard.phases == []

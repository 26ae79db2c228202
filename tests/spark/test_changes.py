"""Measures that compare two stages, or two distributions, on rows small enough to count by hand."""

from collections.abc import Callable
from itertools import pairwise
from statistics import pstdev

import pytest
from pyspark.sql import DataFrame

from ropewalk.measures import physical
from ropewalk.measures.degrees import degrees
from ropewalk.measures.distributions import changes, ks
from ropewalk.measures.improvement import improvement
from ropewalk.measures.physical import physical_graph
from ropewalk.tables.frames import struct_of
from ropewalk.tables.schema import CONNECTIONS, MEASURES, OVERLAYS, VIEWS
from ropewalk.tables.session import Session

Values = dict[tuple[str, str], tuple[float, float | None]]
BOTH = "initial to final"


def values(frame: DataFrame) -> Values:
    assert frame.dtypes == [(field.name, field.dataType.simpleString()) for field in struct_of(MEASURES)]
    rows = frame.collect()
    found = {(row["measure"], row["group"]): (row["value"], row["spread"]) for row in rows}
    assert len(found) == len(rows)
    return found


def views(spark: Session, before: list[int], after: list[int], holders: list[int] | None = None) -> DataFrame:
    """Nodes with these PVS at first and at last."""
    rows = [
        ("r", stage, node, pvs, pvs, pvs, (holders or sizes)[node])
        for stage, sizes in (("initial", before), ("final", after))
        for node, pvs in enumerate(sizes)
    ]
    return spark.createDataFrame(rows, struct_of(VIEWS))


def overlays(spark: Session, rows: list[tuple[str, int, float, int]]) -> DataFrame:
    """Overlays of (stage, topic, clustering, diameter)."""
    full = [
        ("r", stage, topic, 9, 9, 1, 1, clustering, diameter, 0, diameter, 0, 0)
        for stage, topic, clustering, diameter in rows
    ]
    return spark.createDataFrame(full, struct_of(OVERLAYS))


def test_improvement_of_all_nodes(spark: Session) -> None:
    found = values(improvement(views(spark, [10, 10, 20, 1, 0], [5, 6, 5, 2, 3])))  # gains 0.5, 0.4, 0.75, -1, none
    assert found["improvement.mean", "all"] == pytest.approx((0.1625, pstdev([0.5, 0.4, 0.75, -1])))
    assert found["improvement.above_40", "all"] == (0.5, None)  # 40 % itself is not above
    assert found["improvement.negative", "all"] == (0.25, None)
    assert found["improvement.nodes", "all"] == (4.0, None)
    assert found["improvement.initial", "all"][0] == 10.25
    assert found["improvement.final", "all"][0] == 4.5
    assert found["improvement.p0", "all"] == (-1.0, None)
    assert found["improvement.p50", "all"][0] == pytest.approx(0.45)
    assert found["improvement.p100", "all"] == (0.75, None)


def test_deciles_part_values_and_never_equal_ones(spark: Session) -> None:
    before = [*range(1, 21), *[21] * 10]  # percentiles 10 to 60 are 3.9, 6.8, 9.7, 12.6, 15.5, 18.4, and then 21
    found = values(improvement(views(spark, before, [2] * 30)))
    sizes = [found.get(("improvement.nodes", f"decile {tenth}"), (0.0, None))[0] for tenth in range(1, 11)]
    assert sizes == [3, 3, 3, 3, 3, 3, 12, 0, 0, 0]
    assert found["improvement.initial", "decile 1"][0] == 2.0
    assert found["improvement.final", "decile 1"] == (2.0, 0.0)
    assert found["improvement.mean", "decile 1"][0] == pytest.approx((-1 + 0 + 1 / 3) / 3)
    assert found["improvement.negative", "decile 1"][0] == pytest.approx(1 / 3)
    assert found["improvement.negative", "decile 2"] == (0.0, None)
    assert ("improvement.p50", "decile 1") not in found


def test_nodes_that_miss_a_stage_and_other_stages_are_left_out(spark: Session) -> None:
    rows = [("r", stage, node, 1, pvs, 1, 1) for stage, node, pvs in (("initial", 1, 4), ("final", 1, 3))]
    strays = [("r", "round 1", 1, 1, 1, 1, 1), ("r", "initial", 2, 1, 9, 1, 1), ("r", "final", 3, 1, 9, 1, 1)]
    found = values(improvement(spark.createDataFrame(rows + strays, struct_of(VIEWS))))
    assert found["improvement.nodes", "all"] == (1.0, None)
    assert found["improvement.mean", "all"] == (0.25, 0.0)


def test_degrees(spark: Session) -> None:
    found = values(degrees(views(spark, [2, 4, 6, 40], [2, 4, 5, 10], holders=[0, 2, 5, 5])))
    assert found["degrees.ks", "initial"] == (0.5, None)  # up to 5: all holders, but only half of the views
    assert found["degrees.ks", "final"] == (0.25, None)
    assert found["degrees.pvs.max_ratio", BOTH] == (0.25, None)
    assert found["degrees.pvs.p10_ratio", BOTH] == (1.0, None)
    assert found["degrees.pvs.p50_ratio", BOTH] == (0.9, None)
    assert found["degrees.in_links.max_ratio", BOTH] == (1.0, None)
    assert ("degrees.ks", BOTH) not in found


def test_a_ratio_to_nothing_is_left_out(spark: Session) -> None:
    found = values(degrees(views(spark, [1, 1], [1, 1], holders=[0, 0])))
    assert ("degrees.in_links.max_ratio", BOTH) not in found
    assert found["degrees.ks", "final"] == (1.0, None)


def test_distances_between_stages(spark: Session) -> None:
    before = [("initial", topic, topic / 10, 3) for topic in range(4)]
    after = [("final", topic, topic / 10 + 0.1, 3 + (topic == 3)) for topic in range(4)]
    strays = [("round 1", 1, 0.9, 9)]
    found = values(ks(overlays(spark, before + after + strays)))
    assert found == {
        ("overlay.clustering.ks", BOTH): (0.25, None),
        ("overlay.diameter.ks", BOTH): (0.25, None),
    }


def test_samples_of_different_size_in_equal_shares_do_not_differ(spark: Session) -> None:
    few = [("initial", topic, 0.0, topic % 3) for topic in range(3)]
    many = [("final", topic, 0.0, topic % 3) for topic in range(21)]
    assert values(ks(overlays(spark, few + many), ["diameter"])) == {("overlay.diameter.ks", BOTH): (0.0, None)}


def test_without_a_second_stage_there_is_no_distance(spark: Session) -> None:
    only = overlays(spark, [("initial", 1, 0.5, 3)])
    assert values(ks(only)) == values(changes(only)) == {}


def test_changes_of_overlays_one_by_one(spark: Session) -> None:
    before = [("initial", topic, 0.5, 5) for topic in range(5)]
    after = [("final", topic, 0.25, diameter) for topic, diameter in enumerate([4, 5, 6, 8])]  # topic 4 is gone
    found = values(changes(overlays(spark, before + after)))
    assert found["overlay.diameter.change", BOTH] == (0.75, pytest.approx(1.479, abs=1e-3))
    assert found["overlay.diameter.within_1", BOTH] == (0.75, None)
    assert found["overlay.diameter.least_change", BOTH] == (-1.0, None)
    assert found["overlay.diameter.most_change", BOTH] == (3.0, None)
    assert found["overlay.clustering.change", BOTH] == (-0.25, 0.0)


@pytest.mark.parametrize("measure", [improvement, degrees, ks, changes])
def test_measures_do_not_feel_the_partitions(spark: Session, measure: Callable[[DataFrame], DataFrame]) -> None:
    if measure in (improvement, degrees):
        frame = views(spark, [7 + node % 31 for node in range(300)], [5 + node % 17 for node in range(300)])
    else:
        stages = ("initial", "final")
        rows = [(s, t, 1 / (3 + t % 89 + len(s)), t % (3 + len(s))) for s in stages for t in range(200)]
        frame = overlays(spark, rows)
    found = [values(measure(frame.repartition(partitions))) for partitions in (1, 2, 7)]
    assert found[0]
    assert all(one == other for one, other in pairwise(found))


def test_the_physical_graph_is_that_of_all_connections(spark: Session) -> None:
    """A triangle with a tail, and two nodes apart."""
    pairs = [(1, 2), (1, 3), (2, 3), (3, 4), (8, 9)]
    rows = [("r", "final", a, b, 1) for a, b in pairs] + [("r", "initial", 1, 2, 1)]
    found = values(physical_graph(spark.createDataFrame(rows, struct_of(CONNECTIONS)).repartition(3)))
    assert found["physical.components", "final"] == (2.0, None)
    assert found["physical.largest_component", "final"] == (4.0, None)
    assert found["physical.clustering", "final"][0] == pytest.approx((1 + 1 + 1 / 3) / 6)
    assert found["physical.diameter", "final"] == found["physical.diameter_at_most", "final"] == (2.0, None)
    assert found["physical.diameter", "initial"] == (1.0, None)


def test_a_physical_graph_too_large_for_one_task_is_left_out(spark: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(physical, "MOST", 2)
    rows = [("r", "initial", 1, 2, 1), *(("r", "final", 1, other, 1) for other in (2, 3, 4))]
    found = values(physical_graph(spark.createDataFrame(rows, struct_of(CONNECTIONS))))
    assert {stage for _, stage in found} == {"initial"}

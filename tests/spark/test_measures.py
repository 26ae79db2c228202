from decimal import Decimal
from statistics import pstdev

import pytest

from ropewalk.measures.delivery import delivery
from ropewalk.measures.fitness import fitness
from ropewalk.measures.holdings import holdings
from ropewalk.measures.resilience import resilience
from ropewalk.measures.sent import sent
from ropewalk.measures.summary import summary
from ropewalk.measures.traffic import traffic
from ropewalk.tables.frames import struct_of
from ropewalk.tables.schema import CRASHES, DELIVERIES, MEASURES, OVERLAYS, PUBLICATIONS, TRAFFIC, VIEWS
from ropewalk.tables.session import Session

#        run  stage     node lvs pvs connections in_links
VIEW_ROWS = [
    ("r", "initial", 1, 4, 4, 5, 1),
    ("r", "initial", 2, 6, 4, 7, 3),
    ("r", "final", 1, 4, 2, 3, 1),
    ("r", "final", 2, 6, 3, 4, 3),
]
#           run  stage    topic members links weak strong clustering diameter in_degree_0 at_most messages ids
OVERLAY_ROWS = [
    ("r", "initial", 1, 10, 30, 1, 1, 0.2, 3, 0, 3, 0, 0),
    ("r", "initial", 2, 20, 60, 1, 1, 0.1, 5, 0, 5, 0, 0),
    ("r", "final", 1, 10, 30, 1, 3, 0.3, 3, 2, 3, 70, 700),
    ("r", "final", 2, 20, 60, 2, 2, 0.1, 6, 1, 8, 140, None),
]


def values(frame) -> dict[tuple[str, str], tuple[float, float | None]]:
    assert frame.dtypes == [(name, {"long": "bigint"}.get(type_, type_)) for name, type_ in MEASURES.columns.items()]
    return {(row["measure"], row["group"]): (row["value"], row["spread"]) for row in frame.collect()}


def test_holdings(spark: Session) -> None:
    found = values(holdings(spark.createDataFrame(VIEW_ROWS, struct_of(VIEWS))))
    assert found["lvs.mean", "initial"] == found["lvs.mean", "final"] == (5.0, 1.0)
    assert found["pvs.mean", "final"] == (2.5, 0.5)
    assert found["pvs.p0", "final"] == (2.0, None)
    assert found["pvs.p50", "final"] == (2.5, None)
    assert found["pvs.p100", "final"] == found["pvs.max", "final"] == (3.0, None)
    assert found["connections.max", "initial"] == (7.0, None)
    assert found["in_links.mean", "initial"] == (2.0, 1.0)
    assert len(found) == 4 * 2 * 103


def test_fitness(spark: Session) -> None:
    found = values(fitness(spark.createDataFrame(OVERLAY_ROWS, struct_of(OVERLAYS))))
    assert found["overlay.weakly_connected", "initial"] == (1.0, None)
    assert found["overlay.weakly_connected", "final"] == (0.5, None)
    assert found["overlay.strongly_connected", "final"] == (0.0, None)
    assert found["overlay.held_by_nobody", "final"] == (3.0, None)
    assert list(found["overlay.clustering", "final"]) == pytest.approx([0.2, 0.1])
    assert found["overlay.diameter", "initial"] == found["overlay.diameter_at_most", "initial"] == (4.0, 1.0)
    assert found["overlay.diameter", "final"] == (4.5, 1.5)
    assert found["overlay.diameter_at_most", "final"] == (5.5, 2.5)


def test_traffic(spark: Session) -> None:
    found = values(traffic(spark.createDataFrame(OVERLAY_ROWS, struct_of(OVERLAYS))))
    assert found["traffic.messages", "final"] == (210.0, None)
    assert found["traffic.ids", "final"] == (700.0, None)
    uncounted = [(*row[:-1], None) for row in OVERLAY_ROWS]
    found = values(traffic(spark.createDataFrame(uncounted, struct_of(OVERLAYS))))
    assert set(found) == {("traffic.messages", "initial"), ("traffic.messages", "final")}


def test_resilience(spark: Session) -> None:
    crashed = "random 10%"
    rows = [
        ("r", "final", 1, crashed, 9, 1.0, 1.0, 0.0),
        ("r", "final", 2, crashed, 18, 0.5, 1.0, 0.01),
        ("r", "initial", 1, crashed, 9, 0.0, 0.25, 0.0),
    ]
    found = values(resilience(spark.createDataFrame(rows, struct_of(CRASHES))))
    assert found["reach.one_way", "final, random 10%"] == (0.75, 0.25)
    assert found["reach.all_one_way", "final, random 10%"] == (0.5, None)
    assert found["reach.all_two_way", "final, random 10%"] == (1.0, None)
    assert found["reach.two_way", "initial, random 10%"] == (0.25, 0.0)


def test_the_summary_is_the_document_the_design_promises(spark: Session) -> None:
    measured = holdings(spark.createDataFrame(VIEW_ROWS, struct_of(VIEWS)))
    measured = measured.union(fitness(spark.createDataFrame(OVERLAY_ROWS, struct_of(OVERLAYS))))
    rows = [(row["measure"], row["group"], row["value"]) for row in measured.collect()]
    document = summary(rows, "initial", "final", ["initial", "final"])
    assert document["lvs"]["mean"] == 5.0
    assert document["lvs"]["max"] == 6.0
    assert document["pvs"]["initial"] == {"mean": 4.0, "p50": 4.0, "p99": 4.0, "max": 4.0}
    assert document["pvs"]["by_round"] == [4.0, 2.5]
    assert document["connections"]["final"]["mean"] == 3.5
    assert document["fitness"]["final"]["held_by_nobody"] == 3.0
    assert "by_round" not in summary(rows, "initial", "final", [])["pvs"]


@pytest.mark.parametrize("partitions", [1, 2, 7])
def test_sums_do_not_feel_the_partitions(spark: Session, partitions: int) -> None:
    """A plain average of doubles differs here in its last digits from layout to layout."""
    rows = [("r", "final", topic, 9, 9, 1, 1, 1 / (topic + 3), topic % 7, 0, 9, 0, 0) for topic in range(500)]
    frame = spark.createDataFrame(rows, struct_of(OVERLAYS)).repartition(partitions)
    found = values(fitness(frame))
    clustering = [round(row[7], 9) for row in rows]
    mean = sum(map(Decimal, map(str, clustering))) / 500
    assert found["overlay.clustering", "final"][0] == float(mean)
    assert found["overlay.clustering", "final"][1] == pytest.approx(pstdev(clustering), rel=1e-6)
    assert found["overlay.clustering", "final"] == values(fitness(frame.coalesce(1)))["overlay.clustering", "final"]


def test_messages_and_bytes_by_kind(spark: Session) -> None:
    rows = [("r", 1, "walk", 30.0, 4, 200), ("r", 2, "walk", 60.0, 5, 300), ("r", 1, "keep-alive", 30.0, 1, 40)]
    found = values(sent(spark.createDataFrame(rows, struct_of(TRAFFIC))))
    assert found == {
        ("sent.messages", "walk"): (9.0, None),
        ("sent.bytes", "walk"): (500.0, None),
        ("sent.messages", "keep-alive"): (1.0, None),
        ("sent.bytes", "keep-alive"): (40.0, None),
    }


def test_delivery(spark: Session) -> None:
    published = [("r", 1, 7, [5], 9, 10.0, None), ("r", 2, 7, [5, 6], 9, 20.0, None)]
    #             run event node hops at copies owed
    delivered = [
        ("r", 1, 8, 1, 10.5, 1, True),
        ("r", 1, 9, 2, 11.5, 2, True),
        ("r", 2, 8, 3, 21.0, 1, True),
        ("r", 2, 9, 9, 99.0, 1, False),
    ]
    found = values(
        delivery(
            spark.createDataFrame(delivered, struct_of(DELIVERIES)),
            spark.createDataFrame(published, struct_of(PUBLICATIONS)),
        )
    )
    assert found["delivery.count", "final"] == (4.0, None)
    assert found["delivery.copies", "final"] == (1.0, None)
    assert found["hops.mean", "final"][0] == 2.0
    assert found["hops.p100", "final"] == (3.0, None)
    assert found["latency.mean", "final"][0] == 1.0
    assert (found["latency.p0", "final"], found["latency.p50", "final"]) == ((0.5, None), (1.0, None))


def test_where_nothing_was_owed_deliveries_are_counted_and_nothing_is_said_about_how_late_they_were(
    spark: Session,
) -> None:
    found = values(
        delivery(
            spark.createDataFrame([("r", 1, 8, 1, 10.5, 2, False)], struct_of(DELIVERIES)),
            spark.createDataFrame([("r", 1, 7, [5], 9, 10.0, None)], struct_of(PUBLICATIONS)),
        )
    )
    assert found.pop(("delivery.count", "final")) == (1.0, None)
    assert found.pop(("delivery.copies", "final")) == (1.0, None)
    assert all(value is None for value, _ in found.values())

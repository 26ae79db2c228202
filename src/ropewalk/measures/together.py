"""Everything that is measured of one run, from the tables it has."""

from collections.abc import Callable
from functools import partial

from pyspark.sql import DataFrame, Row

from ropewalk.measures.degrees import degrees
from ropewalk.measures.delivery import delivery
from ropewalk.measures.distributions import changes, ks
from ropewalk.measures.fitness import fitness
from ropewalk.measures.holdings import holdings
from ropewalk.measures.improvement import improvement
from ropewalk.measures.physical import physical_graph
from ropewalk.measures.relays import relays
from ropewalk.measures.resilience import resilience
from ropewalk.measures.routing import routing
from ropewalk.measures.sent import sent
from ropewalk.measures.spreads import spreads
from ropewalk.measures.traffic import traffic
from ropewalk.measures.trees import trees
from ropewalk.tables.session import Session, at_once

Measure = Callable[[DataFrame], DataFrame]
ALWAYS: dict[str, tuple[Measure, ...]] = {
    "views": (holdings, improvement, degrees),
    "overlays": (traffic,),
    "trees": (trees,),
    "relays": (relays,),
    "routing": (routing,),
    "spreads": (spreads,),
}
EXAMINED: dict[str, tuple[Measure, ...]] = {"overlays": (fitness, ks, changes)}
KEPT: dict[str, tuple[Measure, ...]] = {
    "crashes": (resilience,),
    "connections": (physical_graph,),
    "traffic": (sent,),
}


OF_TWO: dict[tuple[str, str], Callable[[DataFrame, DataFrame], DataFrame]] = {("deliveries", "publications"): delivery}


def measured(spark: Session, tables: dict[str, DataFrame], *, examined: bool) -> list[Row]:
    """All rows of `measures`; those of overlays only if they were examined, others only if their table was kept.

    Some hundred for each stage. One query for all of them would take longer: Spark plans it anew after every step.
    """
    wanted = [ALWAYS, KEPT, *([EXAMINED] if examined else [])]
    calls = [
        partial(_rows, measure, tables[table])
        for each in wanted
        for table, measures in each.items()
        if table in tables
        for measure in measures
    ]
    calls += [
        partial(_rows, partial(measure, tables[one]), tables[other])
        for (one, other), measure in OF_TWO.items()
        if one in tables
    ]
    rows = [row for found in at_once(spark, calls) for row in found]
    return sorted(rows, key=lambda row: (row["measure"], row["group"]))


def _rows(measure: Measure, table: DataFrame) -> list[Row]:
    return measure(table).collect()

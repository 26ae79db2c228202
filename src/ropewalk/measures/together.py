"""Everything that is measured of one run, from the tables it has."""

from collections.abc import Iterator
from functools import reduce

from pyspark.sql import DataFrame

from ropewalk.measures.degrees import degrees
from ropewalk.measures.distributions import changes, ks
from ropewalk.measures.fitness import fitness
from ropewalk.measures.holdings import holdings
from ropewalk.measures.improvement import improvement
from ropewalk.measures.physical import physical_graph
from ropewalk.measures.resilience import resilience
from ropewalk.measures.traffic import traffic


def measured(tables: dict[str, DataFrame], *, examined: bool) -> DataFrame:
    """All measures of a run; those of overlays only if they were examined, others only if their table was kept."""
    return reduce(DataFrame.unionByName, _each(tables, examined))


def _each(tables: dict[str, DataFrame], examined: bool) -> Iterator[DataFrame]:
    views, overlays = tables["views"], tables["overlays"]
    yield from (holdings(views), improvement(views), degrees(views), traffic(overlays))
    if examined:
        yield from (fitness(overlays), ks(overlays), changes(overlays))
    if "crashes" in tables:
        yield resilience(tables["crashes"])
    if "connections" in tables:
        yield physical_graph(tables["connections"])

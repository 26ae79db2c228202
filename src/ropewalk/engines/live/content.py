"""One run of real nodes that want cells, on a stored universe: tables as the other engines', from what nodes say of themselves."""

from dataclasses import replace

from pyspark.sql import SparkSession

from ropewalk.engines.contents import contents_in
from ropewalk.engines.contract import Phase
from ropewalk.engines.job import Order, Outcome
from ropewalk.engines.live.rings import ended_of
from ropewalk.engines.live.run import of_cluster
from ropewalk.engines.routed import stored
from ropewalk.engines.wanting import drawn_for, wanting_of
from ropewalk.tables.store import Draft, Store


def simulate(spark: SparkSession, universe: Store, job: Order, draft: Draft, phase: Phase) -> Outcome:
    """Run a universe's nodes on this machine and write their tables into a draft."""
    with phase("read the universe"):
        contents = contents_in(spark, universe, job.settings.space)
        wanting = wanting_of(contents)
    events = drawn_for(contents, wanting, job) if job.events else []
    told = replace(job, settings=replace(job.settings, space=""))  # nodes are told cells, already cut
    collected = of_cluster(wanting.members, {}, told, phase, events, wanting.filters)
    with phase("write the tables"):
        return stored(spark, universe, job, draft, wanting, ended_of(collected, job))

"""One run of real nodes on rings, on a stored universe: tables of trees and nodes, as the other engines', from what nodes say of themselves."""

from pyspark.sql import SparkSession

from ropewalk.engines.contract import FINAL, Phase
from ropewalk.engines.job import Order, Outcome
from ropewalk.engines.live.collected import Collected
from ropewalk.engines.live.run import of_cluster, rows_of, say_names
from ropewalk.engines.standings import Ended, following_in, stored
from ropewalk.errors import RunError
from ropewalk.tables.store import Draft, Store


def simulate(spark: SparkSession, universe: Store, job: Order, draft: Draft, phase: Phase) -> Outcome:
    """Run a universe's nodes on this machine and write their tables into a draft."""
    with phase("read the universe"):
        following = following_in(spark, universe)
        say_names(spark, universe, job)
    collected = of_cluster(following.members, {}, job, phase)
    with phase("write the tables"):
        return stored(spark, universe, job, draft, following, ended_of(collected, job))


def ended_of(collected: Collected, job: Order) -> Ended:
    """How it has ended."""
    final, period = collected.stages.get(FINAL), job.settings.period
    if final is None or not final.standings:
        raise RunError("no node is there at the end, so nothing is kept; have fewer killed, or more nodes.")
    ended = Ended(standings=final.standings, open=final.open, sent=collected.sent(), at=final.at)
    if job.events:
        ended.events = collected.outcome(period)
        ended.published, ended.delivered = rows_of(collected, collected.owed_to(period))
    return ended

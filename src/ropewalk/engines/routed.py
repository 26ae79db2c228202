"""What nodes that want cells leave behind, as tables: the same whether they ran in the simulator or on sockets.

There is one stage, the final one: tables that nodes have made and repaired themselves.
"""

from hashlib import blake2b
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from ropewalk.engines.contract import FINAL
from ropewalk.engines.job import Order, Outcome, of_run, run_of, runs_row
from ropewalk.engines.played import event_tables, traffic_table
from ropewalk.engines.standings import Ended, as_table
from ropewalk.engines.wanting import Wanting
from ropewalk.protocols.kato.standing import Standing
from ropewalk.tables.frames import write_tables
from ropewalk.tables.schema import ROUTING, RUNS, TRAFFIC, VIEWS
from ropewalk.tables.store import Draft, Store


def stored(spark: SparkSession, universe: Store, job: Order, draft: Draft, wanting: Wanting, ended: Ended) -> Outcome:
    """Write how a run has ended into a draft."""
    standings: dict[int, Standing] = ended.standings
    outcome = Outcome(
        run=run_of(universe, job),
        digest=_digest(standings),
        nodes=len({node for nodes in wanting.members.values() for node in nodes}),
        topics=len(wanting.members),
        subscriptions=sum(map(len, wanting.members.values())),
        events=ended.events,
    )
    draft.manifest.digest = outcome.digest
    rows = [(VIEWS, _views(standings, ended.open)), (ROUTING, _routing(standings))]
    if "traffic" in job.keep:
        rows.append((TRAFFIC, traffic_table([(ended.sent, ended.at)])))
    rows += event_tables(ended.published, ended.delivered)
    tables = [(RUNS, runs_row(spark, outcome, job, universe))]
    tables += [(table, of_run(outcome, table, spark.createDataFrame(found))) for table, found in rows]
    outcome.tables |= write_tables(draft, tables)
    return outcome


def _views(standings: dict[int, Standing], links: dict[int, int]) -> pa.Table:
    """It has no links of topics, so logical ones are the physical ones."""
    rows = [
        (FINAL, node, len(each.held), len(each.held), links[node], each.holders + each.ring)
        for node, each in standings.items()
    ]
    return as_table(VIEWS, rows)


def _routing(standings: dict[int, Standing]) -> pa.Table:
    def row(node: int, each: Standing) -> tuple[Any, ...]:
        known = {
            name: getattr(each, name) for name in ROUTING.columns if name not in ("run", "stage", "node", "unwanted")
        }
        of = known | {"stage": FINAL, "node": node, "unwanted": each.by_cell + each.by_bits}
        return tuple(of[name] for name in ROUTING.columns if name != "run")

    return as_table(ROUTING, [row(node, each) for node, each in standings.items()])


def _digest(standings: dict[int, Standing]) -> str:
    """One hash for who links to whom."""
    hashed = blake2b(digest_size=8)
    for node in sorted(standings):
        hashed.update(repr((node, sorted(standings[node].held), standings[node].primary)).encode())
    return hashed.hexdigest()

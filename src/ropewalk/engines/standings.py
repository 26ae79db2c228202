"""What nodes on rings leave behind, as tables: the same whether they ran in the simulator or on sockets.

There is one stage, the final one: what trees cost that nodes have grown and repaired themselves. Links that a node holds are its
successor and its fingers, on all its rings.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql import SparkSession

from ropewalk.engines.contract import FINAL
from ropewalk.engines.job import Order, Outcome, of_run, run_of, runs_row
from ropewalk.engines.played import Delivery, Publication, Sent, event_tables, followers_in, members_of, traffic_table
from ropewalk.protocols.trees.standing import Standing
from ropewalk.tables.frames import read_table, write_tables
from ropewalk.tables.schema import RELAYS, RUNS, TOPICS, TRAFFIC, TREES, VIEWS, Table
from ropewalk.tables.store import Draft, Store

USUAL_RATE = 1.0  # where nobody says how much is published on a topic
TYPES = {"string": pa.string(), "long": pa.int64(), "double": pa.float64(), "boolean": pa.bool_()}


@dataclass(frozen=True, slots=True)
class Following:
    """Who follows what in a universe, and how much is published on it, if the universe says so."""

    members: dict[int, list[int]]  # by topic
    rates: dict[int, float]

    @property
    def nodes(self) -> int:
        """All who follow anything."""
        return len({node for nodes in self.members.values() for node in nodes})

    @property
    def subscriptions(self) -> int:
        """Of all of them."""
        return sum(map(len, self.members.values()))


@dataclass(slots=True, kw_only=True)
class Ended:
    """How a run has ended."""

    standings: dict[int, Any]  # of all nodes that are there, as their protocol tells them
    open: dict[int, int]  # node -> links that are open
    sent: Sent
    at: float
    events: dict[str, Any] = field(default_factory=dict)  # what became of them: keys of the run's document
    published: list[Publication] | None = None  # None: nobody was asked to
    delivered: list[Delivery] = field(default_factory=list)


class Tree(NamedTuple):
    """One topic's tree as it stands: who is on it, and how many links each is from the root."""

    depths: dict[int, int]
    children: dict[int, int]
    root: int | None


def following_in(spark: SparkSession, universe: Store) -> Following:
    """What a stored universe says."""
    followed = followers_in(members_of(spark, universe))
    rates: dict[int, float] = {}
    if TOPICS.name in universe.manifest.tables:
        rates = {row.topic: row.rate for row in read_table(spark, universe, TOPICS).collect() if row.rate is not None}
    return Following(followed, rates)


def stored(
    spark: SparkSession, universe: Store, job: Order, draft: Draft, following: Following, ended: Ended
) -> Outcome:
    """Write how a run has ended into a draft."""
    standings = ended.standings
    trees = {topic: tree_of(topic, standings) for topic in following.members}
    outcome = Outcome(
        run=run_of(universe, job),
        digest=_digest(standings, trees),
        nodes=following.nodes,
        topics=len(following.members),
        subscriptions=following.subscriptions,
        events=ended.events,
    )
    draft.manifest.digest = outcome.digest
    rows = [
        (VIEWS, _views(standings, ended.open)),
        (TREES, as_table(TREES, list(_trees(standings, trees, following.rates)))),
        (RELAYS, _relays(standings, trees, following.rates)),
    ]
    if "traffic" in job.keep:
        rows.append((TRAFFIC, traffic_table([(ended.sent, ended.at)])))
    rows += event_tables(ended.published, ended.delivered)
    tables = [(RUNS, runs_row(spark, outcome, job, universe))]
    tables += [(table, of_run(outcome, table, spark.createDataFrame(found))) for table, found in rows]
    outcome.tables |= write_tables(draft, tables)
    return outcome


def tree_of(topic: int, standings: Mapping[int, Standing]) -> Tree:
    """The tree along which a topic's events come down; who has lost its parent is not on it."""
    children: dict[int, list[int]] = {}
    root = None
    for id_, standing in standings.items():
        parent = standing.parents.get(topic)
        if topic in standing.roots:
            root = id_
        elif parent is not None:
            children.setdefault(parent, []).append(id_)
    depths = {} if root is None else {root: 0}
    reached = list(depths)
    for id_ in reached:  # which grows meanwhile
        for child in children.get(id_, ()):
            depths[child] = depths[id_] + 1
            reached.append(child)
    return Tree(depths, {id_: len(children.get(id_, ())) for id_ in depths}, root)


def _views(standings: dict[int, Standing], links: dict[int, int]) -> pa.Table:
    holders: dict[int, int] = {}
    for standing in standings.values():
        for other in set(standing.held):
            holders[other] = holders.get(other, 0) + 1
    rows = [
        (FINAL, id_, len(standing.held), len(set(standing.held)), links[id_], holders.get(id_, 0))
        for id_, standing in standings.items()
    ]
    return as_table(VIEWS, rows)


def _trees(
    standings: dict[int, Standing], trees: dict[int, Tree], rates: dict[int, float]
) -> Iterator[tuple[Any, ...]]:
    """Where a way in began, nobody remembers: neither grafts nor strays are known."""
    followers: dict[int, list[int]] = {}
    for id_, standing in standings.items():
        for topic in standing.follows:
            followers.setdefault(topic, []).append(id_)
    for topic, tree in trees.items():
        members = followers.get(topic, [])
        if tree.root is None or not members:
            continue
        there = [tree.depths[id_] for id_ in members if id_ in tree.depths]
        relays = sum(topic not in standings[id_].follows for id_ in tree.depths)
        strange = topic not in standings[tree.root].follows
        hops = sum(there) / len(there) if there else 0.0
        depth = max(tree.depths.values())
        rate = rates.get(topic, USUAL_RATE)
        yield FINAL, topic, len(members), len(tree.depths), relays, strange, depth, hops, rate, None, None


def _relays(standings: dict[int, Standing], trees: dict[int, Tree], rates: dict[int, float]) -> pa.Table:
    loads = dict.fromkeys(standings, 0.0)
    children = dict.fromkeys(standings, 0)
    for topic, tree in trees.items():
        for id_, count in tree.children.items():
            children[id_] += count
            loads[id_] += rates.get(topic, USUAL_RATE) * (topic not in standings[id_].follows)
    return as_table(RELAYS, [(FINAL, id_, loads[id_], children[id_]) for id_ in standings])


def as_table(table: Table, rows: list[tuple[Any, ...]]) -> pa.Table:
    """Rows in the order of the table's columns, without the run."""
    names = [name for name in table.columns if name != "run"]
    arrays = [pa.array([row[at] for row in rows], TYPES[table.columns[name]]) for at, name in enumerate(names)]
    return pa.table(arrays, names)


def _digest(standings: dict[int, Standing], trees: dict[int, Tree]) -> str:
    """One hash for who holds whom, and all trees."""
    hashed = blake2b(digest_size=8)
    for id_ in sorted(standings):
        hashed.update(repr((id_, sorted(standings[id_].held))).encode())
    for topic in sorted(trees):
        hashed.update(repr((topic, sorted(trees[topic].depths.items()))).encode())
    return hashed.hexdigest()

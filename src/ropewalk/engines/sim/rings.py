"""One run of nodes on rings in the simulator, on a stored universe: tables of trees and nodes, as the batch engine's, from messages and timers.

There is one stage, the final one: what trees cost that nodes have grown and repaired themselves. Links that a node holds are its
successor and its fingers, on all its rings.
"""

from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql import SparkSession

from ropewalk.engines.contract import FINAL, Phase
from ropewalk.engines.job import Order, Outcome, of_run, run_of, runs_row
from ropewalk.engines.played import event_tables, members_of, traffic_table
from ropewalk.engines.publishing import stretch
from ropewalk.engines.sim import timed
from ropewalk.engines.sim.deliveries import Deliveries
from ropewalk.engines.sim.deliveries import outcome as outcome_of
from ropewalk.engines.sim.invariants.ring_order import rings_of
from ropewalk.engines.sim.network import Loss, Network, Rule, WideArea
from ropewalk.engines.sim.population import Population
from ropewalk.engines.sim.publishing import publications
from ropewalk.engines.sim.record import Traffic
from ropewalk.engines.sim.rows import rows_of_events
from ropewalk.engines.sim.simulator import Observer, Simulator
from ropewalk.errors import RunError
from ropewalk.protocols.catalogue import PROTOCOLS
from ropewalk.protocols.magnet.node import Node as MagnetNode
from ropewalk.protocols.scribe.node import Node as ScribeNode
from ropewalk.protocols.trees.branches import Trees
from ropewalk.tables.frames import write_tables
from ropewalk.tables.schema import RELAYS, RUNS, TRAFFIC, TREES, VIEWS, Table
from ropewalk.tables.store import Draft, Store

Members = dict[int, list[int]]


class Tree(NamedTuple):
    """One topic's tree as it stands: who is on it, and how many links each is from the root."""

    depths: dict[int, int]
    children: dict[int, int]
    root: int | None


def simulate(spark: SparkSession, universe: Store, job: Order, draft: Draft, phase: Phase) -> Outcome:
    """Run a protocol on a universe and write its tables into a draft."""
    with phase("read the universe"):
        members = members_of(spark, universe)
        offsets, ids = members.offsets.tolist(), members.ids.tolist()
        followed = {topic: ids[offsets[at] : offsets[at + 1]] for at, topic in enumerate(members.topics.tolist())}
    traffic, deliveries = Traffic(), Deliveries() if job.events else None
    population = played(followed, job, phase, traffic, deliveries)
    if not population.simulator.processes:
        raise RunError("no node is there at the end, so nothing is kept; use less churn, or more nodes.")
    nodes = {
        id_: each.node for id_, each in population.simulator.processes.items() if isinstance(each.node, ScribeNode)
    }
    trees = {topic: tree_of(topic, nodes) for topic in population.members}
    outcome = Outcome(
        run=run_of(universe, job),
        digest=_digest(nodes, trees),
        nodes=len(population.contacts),
        topics=len(followed),
        subscriptions=len(ids),
        events=outcome_of(deliveries, population) if deliveries is not None else {},
    )
    draft.manifest.digest = outcome.digest
    with phase("write the tables"):
        rows = [(VIEWS, _views(nodes, population)), (TREES, _trees(nodes, trees)), (RELAYS, _relays(nodes, trees))]
        if "traffic" in job.keep:
            rows.append((TRAFFIC, traffic_table([(traffic.by_node, population.simulator.now)])))
        if deliveries is not None:
            owed = {(each.event.id, node.me.id) for each, node in deliveries.ledger.due(population)}
            rows += event_tables(*rows_of_events(deliveries, owed))
        tables = [(RUNS, runs_row(spark, outcome, job, universe))]
        tables += [(table, of_run(outcome, table, spark.createDataFrame(found))) for table, found in rows]
        outcome.tables |= write_tables(draft, tables)
    return outcome


def played(followed: Members, job: Order, phase: Phase, traffic: Traffic, deliveries: Deliveries | None) -> Population:
    """Let nodes join one after the other, then let periods pass."""
    settings, seed = job.settings, job.seed
    observers: list[Observer] = [traffic, *([deliveries] if deliveries is not None else [])]
    rules: list[Rule] = [*([Loss(seed, settings.loss)] if settings.loss else []), WideArea(seed)]
    population = Population(
        Simulator(Network(rules), observers), followed, settings, seed, {}, PROTOCOLS[job.protocol].make
    )
    with phase("let all nodes join"):
        timed.begin(population, {})
    traffic.clear()  # what it takes to set the stage is not part of the play
    between = stretch(settings.period, settings.rounds)
    acts = publications(population, job.events, job.topics_per_event, *between) if job.events else []
    playing = timed.play(population, acts)
    for turn in range(1, settings.rounds + 1):
        with phase(f"round {turn} of {settings.rounds}"):
            next(playing)
    return population


def tree_of(topic: int, nodes: Mapping[int, ScribeNode]) -> Tree:
    """The tree along which a topic's events come down; who has lost its parent is not on it."""
    above: dict[int, int] = {}
    root = None
    for id_, node in nodes.items():
        branch = grown_by(node).by_topic.get(topic)
        if branch is None:
            continue
        if grown_by(node).ways.is_root(topic):
            root = id_
        elif branch.parent is not None:
            above[id_] = branch.parent.id
    children: dict[int, list[int]] = {}
    for child, parent in above.items():
        children.setdefault(parent, []).append(child)
    depths = {} if root is None else {root: 0}
    reached = list(depths)
    for id_ in reached:  # which grows meanwhile
        for child in children.get(id_, ()):
            depths[child] = depths[id_] + 1
            reached.append(child)
    return Tree(depths, {id_: len(children.get(id_, ())) for id_ in depths}, root)


def grown_by(node: ScribeNode) -> Trees:
    """The trees that events come down."""
    return node.grown if isinstance(node, MagnetNode) else node.trees


def _views(nodes: dict[int, ScribeNode], population: Population) -> pa.Table:
    held = {id_: set(_held(node)) for id_, node in nodes.items()}
    holders: dict[int, int] = {}
    for others in held.values():
        for other in others:
            holders[other] = holders.get(other, 0) + 1
    processes = population.simulator.processes
    rows = [
        (FINAL, id_, len(list(_held(node))), len(held[id_]), len(processes[id_].linked), holders.get(id_, 0))
        for id_, node in nodes.items()
    ]
    return _table(VIEWS, rows)


def _held(node: ScribeNode) -> Iterator[int]:
    for ring in rings_of(node):
        for seat in (*ring.successors[:1], *ring.fingers.values()):
            yield seat.contact.id


def _trees(nodes: dict[int, ScribeNode], trees: dict[int, Tree]) -> pa.Table:
    rows = []
    for topic, tree in trees.items():
        followers = [id_ for id_, node in nodes.items() if node.follows(topic)]
        if tree.root is None or not followers:
            continue
        on_it = [tree.depths[id_] for id_ in followers if id_ in tree.depths]
        relays = sum(not nodes[id_].follows(topic) for id_ in tree.depths)
        strange = not nodes[tree.root].follows(topic)
        hops = sum(on_it) / len(on_it) if on_it else 0.0
        rows.append(
            (
                FINAL,
                topic,
                len(followers),
                len(tree.depths),
                relays,
                strange,
                max(tree.depths.values()),
                hops,
                1.0,
                0,
                0,
            )
        )
    return _table(TREES, rows)


def _relays(nodes: dict[int, ScribeNode], trees: dict[int, Tree]) -> pa.Table:
    loads = dict.fromkeys(nodes, 0.0)
    children = dict.fromkeys(nodes, 0)
    for topic, tree in trees.items():
        for id_, count in tree.children.items():
            children[id_] += count
            loads[id_] += not nodes[id_].follows(topic)
    return _table(RELAYS, [(FINAL, id_, loads[id_], children[id_]) for id_ in nodes])


TYPES = {"string": pa.string(), "long": pa.int64(), "double": pa.float64(), "boolean": pa.bool_()}


def _table(table: Table, rows: list[tuple[Any, ...]]) -> pa.Table:
    """Rows in the order of the table's columns, without the run."""
    names = [name for name in table.columns if name != "run"]
    arrays = [pa.array([row[at] for row in rows], TYPES[table.columns[name]]) for at, name in enumerate(names)]
    return pa.table(arrays, names)


def _digest(nodes: dict[int, ScribeNode], trees: dict[int, Tree]) -> str:
    """One hash for who holds whom, and all trees."""
    hashed = blake2b(digest_size=8)
    for id_ in sorted(nodes):
        hashed.update(repr((id_, sorted(_held(nodes[id_])))).encode())
    for topic in sorted(trees):
        hashed.update(repr((topic, sorted(trees[topic].depths.items()))).encode())
    return hashed.hexdigest()

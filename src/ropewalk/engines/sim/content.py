"""One run of nodes that want cells in the simulator, on a stored universe: tables as the batch engine's, from messages and timers."""

from pyspark.sql import SparkSession

from ropewalk.engines.contents import contents_in
from ropewalk.engines.contract import Phase
from ropewalk.engines.job import Order, Outcome
from ropewalk.engines.routed import stored
from ropewalk.engines.sim.deliveries import Deliveries
from ropewalk.engines.sim.publishing import acts_of
from ropewalk.engines.sim.record import Traffic
from ropewalk.engines.sim.rings import ended_of, played
from ropewalk.engines.sim.room import refuse_beyond
from ropewalk.engines.wanting import by_cell, drawn_for, wanting_of
from ropewalk.errors import RunError
from ropewalk.protocols.kato.node import Node
from ropewalk.tables.store import Draft, Store

NODE_BYTES, SUBSCRIPTION_BYTES = 150_000, 10_000  # ours: measured


def simulate(spark: SparkSession, universe: Store, job: Order, draft: Draft, phase: Phase) -> Outcome:
    """Run it on a universe and write its tables into a draft."""
    with phase("read the universe"):
        contents = contents_in(spark, universe, job.settings.space)
        nodes, subscriptions = contents.interests.node_ids.size, contents.interests.nodes.size
        refuse_beyond(universe, NODE_BYTES * nodes + SUBSCRIPTION_BYTES * subscriptions)
        wanting = wanting_of(contents)
    acts = acts_of(drawn_for(contents, wanting, job), job.seed) if job.events else []
    traffic, deliveries = Traffic(), Deliveries() if job.events else None
    population = played(wanting.members, job, phase, traffic, deliveries, acts, by_cell(wanting))
    if not population.simulator.processes:
        raise RunError("no node is there at the end, so nothing is kept; use less churn, or more nodes.")
    processes = population.simulator.processes
    standings = {id_: each.node.standing() for id_, each in processes.items() if isinstance(each.node, Node)}
    ended = ended_of(population, traffic, deliveries, standings)
    with phase("write the tables"):
        return stored(spark, universe, job, draft, wanting, ended)

"""No conductor: every node walks by timers of its own, messages take time, and nodes come and go at any moment."""

from collections.abc import Iterator

from ropewalk.engines.contract import Views
from ropewalk.engines.sim.network import Network
from ropewalk.engines.sim.population import Act, Population
from ropewalk.protocols.dht.runs import OfRuns
from ropewalk.protocols.stan.settings import RETURN
from ropewalk.seeds import chance, unit

APART = 0.1  # ours, seconds: from one who joins a ring to the next; a newcomer's questions are answered by then


def begin(population: Population, initial: Views) -> None:
    """Have everybody subscribe before the first second, over a perfect network: what is examined starts from there.

    With a manager that makes views itself nodes come one after the other, in an order by chance, and each is told of one
    that is there.
    """
    simulator, seed = population.simulator, population.seed
    network, simulator.network = simulator.network, Network()
    if isinstance(population.settings, OfRuns):
        _one_by_one(population)
        simulator.network = network
        return
    population.start(population.contacts)
    if population.settings.manager == "scamp":
        for topic, members in population.members.items():
            order = {node: chance(seed, "arrival", topic, node) for node in members}
            arrived: list[int] = []
            for node in sorted(members, key=lambda node: (order[node], node)):
                contact = chance(seed, "contact", topic, node)
                population.subscribe(node, topic, [arrived[contact % len(arrived)]] if arrived else [])
                population.settle()
                arrived.append(node)
    else:
        for node, topics in population.follows.items():
            for topic in topics:
                population.subscribe(node, topic, initial[topic][node])
        population.settle()
    simulator.network = network


def _one_by_one(population: Population) -> None:
    """Everybody takes its place on a ring, and follows what it follows, before the next comes; the last at the first second."""
    simulator = population.simulator
    order = {node: chance(population.seed, "arrival", node) for node in population.contacts}
    simulator.now = -APART * len(order)
    for node in sorted(order, key=lambda node: (order[node], node)):
        population.start([node])
        for topic in population.follows[node]:
            population.subscribe(node, topic, [])
        simulator.run(until=simulator.now + APART)
    simulator.run(until=0.0)


def play(population: Population, acts: list[Act] | None = None) -> Iterator[int]:
    """Let period after period pass; the number of those that are over. What is to happen to nodes happens in between."""
    settings, simulator = population.settings, population.simulator
    planned = sorted(acts or [], key=lambda act: act.at)
    for turn in range(settings.rounds):
        end = (turn + 1) * settings.period
        due = [act for act in planned if turn * settings.period <= act.at < end]
        for act in sorted([*due, *churned(population, turn)], key=lambda act: act.at):
            simulator.run(until=act.at)
            population.perform(act)
        simulator.run(until=end)
        yield turn + 1


def churned(population: Population, turn: int) -> list[Act]:
    """Who comes and goes in a period, and when: by the chances that the batch engine uses between rounds."""
    settings, seed = population.settings, population.seed
    acts: list[Act] = []
    if not settings.churn:
        return acts
    for node in population.contacts:
        drawn = chance(seed, "churn", node, turn)
        at = (turn + unit(chance(seed, "moment", node, turn))) * settings.period
        if not population.is_there(node):
            if drawn < int(RETURN * 2**63):
                acts.append(Act(at, node, "join"))
        elif drawn < int(settings.churn * 2**63):
            acts.append(Act(at, node, "crash" if drawn < int(settings.churn / 2 * 2**63) else "leave"))
    return acts

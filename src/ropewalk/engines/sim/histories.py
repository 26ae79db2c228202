"""A history of nodes with timers that find each other themselves: who follows what, what the network does, what happens to nodes."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ropewalk.engines.sim import timed
from ropewalk.engines.sim.invariants.contract import Invariant
from ropewalk.engines.sim.invariants.watch import Watch, invariants_of
from ropewalk.engines.sim.network import Network, Rule
from ropewalk.engines.sim.population import Act, Filters, Population
from ropewalk.engines.sim.simulator import Observer, Simulator
from ropewalk.engines.sim.swarm import Early, Members, told
from ropewalk.protocols.catalogue import PROTOCOLS


@dataclass(frozen=True, slots=True)
class Scenario:
    """A history that is yet to happen."""

    seed: int
    protocol: str
    settings: Any  # of the protocol
    followed: Members
    rules: list[Rule]
    acts: list[Act]
    filters: Filters = field(default_factory=dict)  # what nodes want of topics, if not all

    def __str__(self) -> str:
        nodes = {node for nodes in self.followed.values() for node in nodes}
        faults = [type(rule.rule if isinstance(rule, Early) else rule).__name__ for rule in self.rules]
        return (
            f"seed {self.seed}: {self.protocol}, {len(nodes)} nodes, {len(self.followed)} topics,"
            f" {self.settings.rounds} periods; {', '.join(faults)}; {told(self.acts)}"
        )


def play(
    scenario: Scenario, invariants: list[Invariant] | None = None, observers: Iterable[Observer] = ()
) -> Population:
    """Let it happen; the first invariant that does not hold ends it."""
    watch = Watch(invariants_of(scenario.protocol) if invariants is None else invariants)
    simulator = Simulator(Network(scenario.rules), [watch, *observers])
    make = PROTOCOLS[scenario.protocol].make
    population = Population(
        simulator, scenario.followed, scenario.settings, scenario.seed, {}, make, dict(scenario.filters)
    )
    timed.begin(population, {})
    for _ in timed.play(population, scenario.acts):
        pass
    simulator.drain()
    watch.at_rest(population)
    return population

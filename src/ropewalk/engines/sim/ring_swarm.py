"""Histories of nodes on rings, made up by chance: what `swarm` is for StaN, this is for Scribe and Magnet.

Who follows what, what the network does and what happens to nodes is drawn as there. Nobody lies: a ring believes what it is told.
All faults end some periods before the history does; then rings and trees must be whole again, and every event must have reached
whoever it is owed to.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from ropewalk.engines.sim import timed
from ropewalk.engines.sim.invariants.contract import Invariant
from ropewalk.engines.sim.invariants.watch import Watch, invariants_of
from ropewalk.engines.sim.network import Network, Rule
from ropewalk.engines.sim.population import Act, Population
from ropewalk.engines.sim.simulator import Observer, Simulator
from ropewalk.engines.sim.swarm import PERIOD, Draw, Early, Members, events_of, followed_by, rules_of, told, troubles_of
from ropewalk.protocols.catalogue import PROTOCOLS
from ropewalk.protocols.magnet.settings import Settings as MagnetSettings
from ropewalk.protocols.scribe.settings import Settings as ScribeSettings

QUIET = 16  # periods without faults at the end


@dataclass(frozen=True, slots=True)
class Scenario:
    """A history that is yet to happen."""

    seed: int
    protocol: str
    settings: ScribeSettings | MagnetSettings
    followed: Members
    rules: list[Rule]
    acts: list[Act]

    def __str__(self) -> str:
        nodes = {node for nodes in self.followed.values() for node in nodes}
        faults = [type(rule.rule if isinstance(rule, Early) else rule).__name__ for rule in self.rules]
        return (
            f"seed {self.seed}: {self.protocol}, {len(nodes)} nodes, {len(self.followed)} topics,"
            f" {self.settings.rounds} periods; {', '.join(faults)}; {told(self.acts)}"
        )


def scenario(seed: int) -> Scenario:
    """What a seed stands for."""
    draw = Draw(seed)
    rounds = draw.whole("rounds", 24, 32)
    protocol = draw.one("protocol", ("scribe", "magnet", "magnet", "magnet"))
    settings: ScribeSettings | MagnetSettings = ScribeSettings(rounds=rounds, period=PERIOD)
    if protocol == "magnet":
        settings = MagnetSettings(
            rounds=rounds,
            period=PERIOD,
            samples=draw.whole("samples", 1, 12),
            degree=draw.between("degree", 4.0, 19.0),
            placement=draw.one("placement", ("similar", "similar", "hashed")),
            choice=draw.one("choice", ("similar", "first")),
            grafting=draw.one("grafting", ("printed", "strict")),
        )
    followed = followed_by(draw)
    nodes = sorted({node for held in followed.values() for node in held})
    end, last = (rounds - QUIET) * PERIOD, (rounds - QUIET / 2) * PERIOD
    return Scenario(
        seed=seed,
        protocol=protocol,
        settings=settings,
        followed=followed,
        rules=rules_of(draw, nodes, settings, end),
        acts=[*troubles_of(draw, nodes, followed, settings, end), *events_of(draw, nodes, followed, settings, last)],
    )


def play(
    scenario: Scenario, invariants: list[Invariant] | None = None, observers: Iterable[Observer] = ()
) -> Population:
    """Let it happen; the first invariant that does not hold ends it."""
    watch = Watch(invariants_of(scenario.protocol) if invariants is None else invariants)
    simulator = Simulator(Network(scenario.rules), [watch, *observers])
    make = PROTOCOLS[scenario.protocol].make
    population = Population(simulator, scenario.followed, scenario.settings, scenario.seed, {}, make)
    timed.begin(population, {})
    for _ in timed.play(population, scenario.acts):
        pass
    simulator.drain()
    watch.at_rest(population)
    return population

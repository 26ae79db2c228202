"""Small populations in the simulator, for tests: who follows what, on which network, with which faults, watched or not."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ropewalk.engines.contract import Views
from ropewalk.engines.sim import rounds, timed
from ropewalk.engines.sim.invariants.contract import Invariant
from ropewalk.engines.sim.invariants.watch import Watch, invariants_of
from ropewalk.engines.sim.network import Network, Rule
from ropewalk.engines.sim.population import Act, Population
from ropewalk.engines.sim.simulator import Observer, Simulator
from ropewalk.protocols.catalogue import PROTOCOLS, Make
from ropewalk.protocols.contract import Level
from ropewalk.protocols.stan.settings import NAME, Settings
from ropewalk.seeds import chance, pick

PERIOD = 10.0
TIMED = Settings(schedule="timed", period=PERIOD, rounds=8, ttl=3, connectivity=0.9)


def members(nodes: int, topics: int, seed: int, share: float = 0.5) -> dict[int, list[int]]:
    """Topics 1, 2, ..., each followed by about this share of nodes, at least by two. Ids are far from small."""
    ids = [chance(seed, "id", number) for number in range(nodes)]
    return {
        topic: sorted(
            node for place, node in enumerate(ids) if place < 2 or chance(seed, "follows", topic, node) < share * 2**63
        )
        for topic in range(1, topics + 1)
    }


def given_views(followed: dict[int, list[int]], settings: Settings, seed: int) -> Views:
    """A view of the topic's fan-out for every member, drawn by chance."""
    views: Views = {}
    for topic, nodes in followed.items():
        views[topic] = {}
        for node in nodes:
            others = [other for other in nodes if other != node]
            found: dict[int, None] = {}
            size, draw = settings.fan_out(len(nodes)), 0
            while len(found) < size:
                found[others[pick(chance(seed, "given", topic, node, draw), len(others))]] = None
                draw += 1
            views[topic][node] = list(found)
    return views


@dataclass
class Town:
    """A population that is ready to play."""

    settings: Settings = TIMED
    nodes: int = 20
    topics: int = 3
    seed: int = 1
    rules: Sequence[Rule] = ()
    acts: Iterable[Act] = ()
    levels: dict[int, Level] = field(default_factory=dict)
    invariants: list[Invariant] | None = None  # None: all that go with the protocol
    observers: list[Observer] = field(default_factory=list)
    followed: dict[int, list[int]] = field(default_factory=dict)
    protocol: str = NAME
    make: Make | None = None  # None: as the catalogue says

    def __post_init__(self) -> None:
        self.followed = self.followed or members(self.nodes, self.topics, self.seed)
        self.watch = Watch(invariants_of(self.protocol) if self.invariants is None else self.invariants)
        self.simulator = Simulator(Network(self.rules), [self.watch, *self.observers])
        make = self.make or PROTOCOLS[self.protocol].make
        self.population = Population(self.simulator, self.followed, self.settings, self.seed, self.levels, make)
        how = timed if self.settings.schedule == "timed" else rounds
        how.begin(self.population, given_views(self.followed, self.settings, self.seed))

    def play(self) -> "Town":
        """All rounds."""
        if self.settings.schedule == "timed":
            for _ in timed.play(self.population, list(self.acts)):
                pass
        else:
            for _ in rounds.play(self.population):
                pass
        return self

    def at_rest(self) -> None:
        """Let everything arrive, and see that it is in order."""
        self.simulator.drain()
        self.watch.at_rest(self.population)

    @property
    def ids(self) -> list[int]:
        return list(self.population.contacts)

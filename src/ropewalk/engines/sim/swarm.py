"""Histories made up by chance: a seed chooses who follows what, settings, faults and events, and every invariant is on.

What is promised depends on what goes wrong, so faults are drawn to match: without a manager that repairs overlays nobody
goes. All faults end some periods before the history does; then everything must be in order again, and every event must
have reached whoever it is owed to.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from ropewalk.engines.contract import Views
from ropewalk.engines.sim import timed
from ropewalk.engines.sim.invariants.contract import Invariant
from ropewalk.engines.sim.invariants.everybody_gets_it import EverybodyGetsIt
from ropewalk.engines.sim.invariants.watch import Watch, all_invariants
from ropewalk.engines.sim.liars import Babbler, Liar, Pretender, Silent, Teaser, everywhere, lying
from ropewalk.engines.sim.network import (
    Delays,
    Duplication,
    Latency,
    Loss,
    Network,
    OneWayCut,
    Partition,
    Reordering,
    Rule,
    SlowLink,
    SlowNode,
    WideArea,
    Window,
)
from ropewalk.engines.sim.population import Act, Population
from ropewalk.engines.sim.simulator import Observer, Simulator
from ropewalk.protocols.catalogue import stan_with
from ropewalk.protocols.contract import Event, Level, Message
from ropewalk.protocols.dht.runs import OfRuns
from ropewalk.protocols.discovery.settings import Settings as DiscoverySettings
from ropewalk.protocols.dissemination.settings import Settings as EventSettings
from ropewalk.protocols.sampling.contract import ManagerName
from ropewalk.protocols.stan.settings import Settings
from ropewalk.seeds import chance, pick, unit

T = TypeVar("T")
PERIOD = 10.0
LEAST = 2  # followers of a topic
QUIET = 10  # periods without faults at the end
Lie = Literal["poison", "pretend", "babble", "tease", "hush"]
LIES: dict[Lie, type[Liar]] = {
    "poison": Liar,
    "pretend": Pretender,
    "babble": Babbler,
    "tease": Teaser,
    "hush": Silent,
}
Members = dict[int, list[int]]  # topic -> who follows it


class Draw:
    """Choices of one seed, each by a name of its own."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def share(self, what: str, *labels: int) -> float:
        """A number in [0, 1)."""
        return unit(chance(self.seed, what, *labels))

    def happens(self, what: str, probability: float, *labels: int) -> bool:
        """Whether it does."""
        return self.share(what, *labels) < probability

    def between(self, what: str, low: float, high: float, *labels: int) -> float:
        """A number in [low, high)."""
        return low + (high - low) * self.share(what, *labels)

    def whole(self, what: str, low: int, high: int, *labels: int) -> int:
        """A whole number from low to high."""
        return low + pick(chance(self.seed, what, *labels), high - low + 1)

    def one(self, what: str, among: Sequence[T], *labels: int) -> T:
        """One of them."""
        return among[pick(chance(self.seed, what, *labels), len(among))]


@dataclass(frozen=True, slots=True)
class Early:
    """A rule that holds until some moment."""

    rule: Rule
    until: float

    @property
    def overtaking(self) -> bool:
        """Whether messages may overtake each other."""
        return getattr(self.rule, "overtaking", False)

    def judge(self, sender: int, receiver: int, message: Message, now: float, delays: Delays) -> Delays:
        """See `network.Rule`."""
        return self.rule.judge(sender, receiver, message, now, delays) if now < self.until else delays


@dataclass(frozen=True, slots=True)
class Scenario:
    """A history that is yet to happen."""

    seed: int
    settings: Settings
    followed: Members
    rules: list[Rule]
    acts: list[Act]
    liars: tuple[int, ...]
    lie: Lie
    levels: dict[int, Level]
    of_events: EventSettings
    of_discovery: DiscoverySettings

    def __str__(self) -> str:
        settings, nodes = self.settings, {node for nodes in self.followed.values() for node in nodes}
        faults = [type(rule.rule if isinstance(rule, Early) else rule).__name__ for rule in self.rules]
        return (
            f"seed {self.seed}: {len(nodes)} nodes, {len(self.followed)} topics, {settings.rounds} periods,"
            f" {settings.manager}, {settings.weight} weights{f', shared {settings.shared}' if settings.shared else ''}"
            f"{', discovery' if settings.discover else ''};"
            f" {', '.join(faults)}; {told(self.acts)}{f'; {len(self.liars)} who {self.lie}' if self.liars else ''}"
        )


def scenario(seed: int) -> Scenario:
    """What a seed stands for."""
    draw = Draw(seed)
    managers: tuple[ManagerName, ...] = ("given", "scamp", "scamp", "cyclon")
    manager = draw.one("manager", managers)
    rounds = draw.whole("rounds", 16, 24)
    settings = Settings(
        schedule="timed",
        period=PERIOD,
        rounds=rounds,
        manager=manager,
        ttl=draw.whole("ttl", 1, 6),
        connectivity=draw.one("connectivity", (0.9, 0.99, 0.999)),
        weight=draw.one("weight", ("printed", "pair", "keyed")),
        shared=draw.one("shared", (0, 0, 2, 4)),
        learn=manager != "given" or draw.happens("learn", 0.5),
        fanout="two-way" if manager == "scamp" and draw.happens("two-way", 0.5) else "printed",
        snoop=draw.happens("snoop", 0.3),
        adaptive=draw.happens("adaptive", 0.3),
        discover=manager == "scamp" and draw.happens("discover", 0.5),
    )
    followed = followed_by(draw)
    nodes = sorted({node for held in followed.values() for node in held})
    end = (rounds - QUIET) * PERIOD
    last = (rounds - QUIET / 2) * PERIOD
    liars, lie = _liars(draw, nodes, settings)
    honest = [node for node in nodes if node not in liars]
    return Scenario(
        seed=seed,
        settings=settings,
        followed=followed,
        rules=rules_of(draw, nodes, settings, end),
        acts=[*troubles_of(draw, honest, followed, settings, end), *events_of(draw, honest, followed, settings, last)],
        liars=liars,
        lie=lie,
        levels=_levels(draw, followed),
        of_events=_of_events(draw),
        of_discovery=_of_discovery(draw),
    )


def play(
    scenario: Scenario, invariants: list[Invariant] | None = None, observers: Iterable[Observer] = ()
) -> Population:
    """Let it happen; the first invariant that does not hold ends it."""
    watch = Watch(_promised(scenario) if invariants is None else invariants)
    simulator = Simulator(Network(scenario.rules), [watch, *observers])
    honest = stan_with(scenario.of_events, scenario.of_discovery)
    naming = everywhere(scenario.liars) if scenario.lie == "poison" else None
    make = lying(scenario.liars, naming, LIES[scenario.lie], honest)
    population = Population(simulator, scenario.followed, scenario.settings, scenario.seed, scenario.levels, make)
    timed.begin(population, _views(scenario))
    for _ in timed.play(population, scenario.acts):
        pass
    simulator.drain()
    watch.at_rest(population)
    return population


def _promised(scenario: Scenario) -> list[Invariant]:
    """Everything, but that everybody gets what liars keep to themselves: how much is lost by that is measured."""
    silenced = scenario.liars and LIES[scenario.lie].withheld
    return [each for each in all_invariants() if not (silenced and isinstance(each, EverybodyGetsIt))]


# Who follows what


def followed_by(draw: Draw) -> Members:
    """One of several shapes: alike, skewed, in groups, with a node that follows everything, or very small."""
    shape = draw.one("shape", ("even", "skewed", "groups", "hub", "tiny"))
    count = draw.whole("nodes", 3, 5) if shape == "tiny" else draw.whole("nodes", 8, 22)
    topics = draw.whole("topics", 1, 5)
    ids = [chance(draw.seed, "id", number) for number in range(count)]
    followed: Members = {}
    for number in range(topics):
        topic = chance(draw.seed, "topic", number)
        share = {"even": 0.5, "skewed": 0.9 / (number + 1), "groups": 0.1, "hub": 0.4, "tiny": 0.8}[shape]
        followed[topic] = sorted(
            node
            for place, node in enumerate(ids)
            if place < LEAST
            or (shape == "groups" and place % topics == number)
            or draw.happens("follows", share, topic, node)
        )
    return followed


def _levels(draw: Draw, followed: Members) -> dict[int, Level]:
    return {
        topic: Level(period=PERIOD * draw.between("pace", 0.5, 2.0, topic))
        for topic in followed
        if draw.happens("level", 0.1, topic)
    }


def _views(scenario: Scenario) -> Views:
    """A view of the topic's fan-out for every member, by chance."""
    draw = Draw(scenario.seed)
    views: Views = {}
    for topic, nodes in scenario.followed.items():
        views[topic] = {}
        size = scenario.settings.fan_out(len(nodes))
        for node in nodes:
            others = [other for other in nodes if other != node]
            views[topic][node] = sorted(others, key=lambda other: draw.share("view", topic, node, other))[:size]
    return views


# What goes wrong


def rules_of(draw: Draw, nodes: list[int], settings: Settings | OfRuns, end: float) -> list[Rule]:
    """What the network does."""
    seed = draw.seed
    repaired = settings.manager != "given"
    kinds: list[tuple[str, float, Callable[[], Rule]]] = [
        ("loss", 0.6, lambda: Early(Loss(seed, draw.between("how lossy", 0.01, 0.2)), end)),
        ("doubling", 0.4, lambda: Early(Duplication(seed, draw.between("how doubled", 0.01, 0.2)), end)),
        ("reordering", 0.3, lambda: Early(Reordering(seed, 0.1, draw.between("how late", 0.1, PERIOD / 2)), end)),
        ("slow node", 0.2, lambda: SlowNode(_window(draw, "slow", end), draw.one("slow one", nodes), 2.0)),
        ("slow link", 0.2, lambda: SlowLink(_window(draw, "slow link", end), frozenset(nodes[:2]), PERIOD / 2)),
        ("cut", 0.2 * repaired, lambda: OneWayCut(_window(draw, "cut", end), nodes[0], nodes[-1])),
        ("partition", 0.3 * repaired, lambda: Partition(_window(draw, "apart", end), _side(draw, nodes))),
    ]
    rules = [make() for what, probability, make in kinds if draw.happens(what, probability)]
    near: Rule = Latency(seed, 0.05, draw.between("jitter", 0.0, 0.2))
    return [*rules, WideArea(seed) if draw.happens("wide", 0.5) else near]


def _window(draw: Draw, what: str, end: float) -> Window:
    """At most as long as it takes to give each other up: what lasts longer only discovery repairs."""
    begin = draw.between(f"{what} from", 0.0, end / 2)
    return Window(begin, min(end, begin + draw.between(f"{what} for", 1.0, 3 * PERIOD)))


def _side(draw: Draw, nodes: list[int]) -> frozenset[int]:
    return frozenset(node for node in nodes if draw.happens("side", 0.5, node))


def troubles_of(draw: Draw, nodes: list[int], followed: Members, settings: Settings | OfRuns, end: float) -> list[Act]:
    """Nodes that crash, leave, freeze, come back or change their mind."""
    acts: list[Act] = []
    trouble = draw.between("trouble", 0.0, 0.5) if settings.manager != "given" else 0.0
    for node in nodes:
        if not draw.happens("troubled", trouble, node):
            continue
        begin = draw.between("when", 0.5 * PERIOD, 0.7 * end, node)
        back = begin + draw.between("back after", 0.1, 2 * PERIOD, node)
        mine = [topic for topic in followed if node in followed[topic]]
        match draw.one("what", ("crash", "leave", "freeze", "unsubscribe", "subscribe"), node):
            case "freeze":
                acts.append(Act(begin, node, "freeze", seconds=draw.between("frozen", 1.0, 3 * PERIOD, node)))
            case "unsubscribe":
                topic = draw.one("which", mine, node)
                acts.append(Act(begin, node, "unsubscribe", topic))
                if draw.happens("again", 0.5, node):
                    acts.append(Act(back, node, "subscribe", topic))
            case "subscribe":
                acts.append(Act(begin, node, "subscribe", draw.one("which", list(followed), node)))
            case "crash" | "leave" as what:
                acts.append(Act(begin, node, what))
                if draw.happens("returns", 0.7, node):
                    acts.append(Act(back, node, "restart"))
    return acts


def _liars(draw: Draw, nodes: list[int], settings: Settings) -> tuple[tuple[int, ...], Lie]:
    """A few, where overlays are repaired: what a topic's overlay is worth when most are liars is measured, not promised."""
    if settings.manager == "given":
        return (), "poison"
    if draw.happens("liars", 0.15):
        return tuple(node for node in nodes[3:] if draw.happens("liar", 0.1, node)), "poison"
    liars = tuple(node for node in nodes[3:] if draw.happens("liar", 0.2, node))
    if draw.happens("silent liars", 0.06):  # seldom: of these histories delivery is not promised
        return liars, draw.one("silence", ("tease", "hush"))
    if draw.happens("other liars", 0.4):
        return liars, "pretend" if settings.discover and draw.happens("pretend", 0.7) else "babble"
    return (), "poison"


# How long things are remembered


def _of_events(draw: Draw) -> EventSettings:
    """Sometimes shorter than a history, but longer than faults last: what is older than that cannot be promised."""
    usual = EventSettings()
    large = 0 if draw.happens("all large", 0.3) else usual.large
    if not draw.happens("short memory", 0.3):
        return replace(usual, large=large)
    keep = PERIOD * draw.between("keep", 10.0, 14.0)
    return replace(usual, keep=keep, seen=keep + PERIOD * draw.between("seen", 1.0, 4.0), large=large)


def _of_discovery(draw: Draw) -> DiscoverySettings:
    if not draw.happens("short leases", 0.3):
        return DiscoverySettings()
    refresh = PERIOD * draw.between("refresh", 1.0, 4.0)
    return DiscoverySettings(refresh=refresh, lease=refresh * draw.between("lease", 2.0, 4.0))


# What is published


def events_of(draw: Draw, nodes: list[int], followed: Members, settings: Settings | OfRuns, last: float) -> list[Act]:
    """From the third period on until some before the end, on one or more topics; where nodes find others, on any."""
    acts: list[Act] = []
    for number in range(draw.whole("events", 0, 30)):
        publisher = draw.one("publisher", nodes, number)
        mine = [topic for topic in followed if publisher in followed[topic]]
        anywhere = settings.discover and draw.happens("anywhere", 0.3, number)
        among = list(followed) if anywhere else mine
        drawn = sorted(among, key=lambda topic: draw.share("event topic", number, topic))
        topics = tuple(drawn[: draw.whole("topics per event", 1, 3, number)])
        if topics:
            event = Event(
                chance(draw.seed, "event", number), publisher, topics, b"x" * draw.whole("size", 0, 99, number)
            )
            acts.append(Act(draw.between("published", 3.5 * PERIOD, last, number), publisher, "publish", event=event))
    return acts


def told(acts: Iterable[Act]) -> str:
    """What happens, and how often."""
    counts: dict[str, int] = {}
    for act in acts:
        counts[act.what] = counts.get(act.what, 0) + 1
    return ", ".join(f"{what} {count}" for what, count in sorted(counts.items()))

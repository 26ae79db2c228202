"""Towns with liars in them: who follows what, who lies, whom they are after, and what they get.

Every node follows half of the topics, by chance. Liars that grind their ids form teams, each with one honest victim: as many
as a view has places, so that one team could fill it. They follow what their victim follows.
"""

from dataclasses import dataclass
from typing import Literal, get_args

from ropewalk.engines.contract import Views
from ropewalk.engines.publishing import SETTLED
from ropewalk.engines.sim import timed
from ropewalk.engines.sim.deliveries import Deliveries, Published
from ropewalk.engines.sim.liars import Absorber, Besieger, Liar, Silent, Teaser, among_followers, ground, lying
from ropewalk.engines.sim.network import Network, WideArea
from ropewalk.engines.sim.population import Population
from ropewalk.engines.sim.publishing import publications
from ropewalk.engines.sim.simulator import Simulator
from ropewalk.protocols.contract import Node
from ropewalk.protocols.stan.settings import Settings
from ropewalk.seeds import chance, unit

Attack = Literal["poison", "absorb", "grind", "silent", "tease", "siege"]
ATTACKS: tuple[Attack, ...] = get_args(Attack)
KINDS: dict[Attack, type[Liar]] = {
    "poison": Liar,
    "absorb": Absorber,
    "grind": Liar,
    "silent": Silent,
    "tease": Teaser,
    "siege": Besieger,
}
BY_CHANCE: tuple[Attack, ...] = ("poison", "absorb")  # whose ids are as they come; those of all others are ground
FOLLOWS = 0.5  # of all topics
TRIES = 1000  # for every id that is ground
QUIET = 2.0  # periods from the last event to the end: what does not come is offered once per period


@dataclass(frozen=True, slots=True)
class Plot:
    """A town, and who is up to what in it."""

    seed: int
    attack: Attack
    settings: Settings
    followed: dict[int, list[int]]
    liars: dict[int, None]
    victims: dict[int, None]  # of those that grind their ids


Pair = tuple[int, int]
"""An honest node, and a topic that it follows."""
Around = dict[Pair, dict[int, None]]
"""With whom each exchanges events: whom it holds, and who holds it."""


@dataclass(frozen=True, slots=True)
class Captured:
    """What liars hold of some pairs' neighbourhoods. All are shares."""

    places: float  # of their views that liars hold
    fair: float  # what they would hold if views were drawn from all followers
    mostly: float  # pairs that have more liars than others in their view
    taken: float  # pairs whose view holds nobody but liars
    eclipsed: float  # pairs that have no honest neighbour in either direction


@dataclass(frozen=True, slots=True)
class Outcome:
    """What has become of honest nodes."""

    honest: Captured
    victims: Captured | None
    cut_off: float  # share of pairs outside of the largest part of their topic that holds together without liars
    missed: float  # share of the deliveries owed to honest nodes by honest publishers
    starved: float  # share of those that were missed although publisher and node are connected without liars at the end
    frames: float  # that carry an event, for each delivery
    connections: float  # of an honest node, to whomever


def plotted(
    attack: Attack, share: float, nodes: int, topics: int, settings: Settings, seed: int, *, everywhere: bool = False
) -> Plot:
    """A town of which this share are liars, who may follow every topic. The honest are the same whatever the others are up to."""
    count = round(share * nodes)
    interests = {chance(seed, "id", number): _interests(seed, number, topics) for number in range(nodes - count)}
    team = max(1, settings.fan_out(round(FOLLOWS * nodes)))
    marks = sorted(interests, key=lambda node: chance(seed, "victim", node))
    liars: dict[int, None] = {}
    victims: dict[int, None] = {}
    for number in range(count):
        if attack in BY_CHANCE:
            liar, followed = chance(seed, "liar", number), _interests(seed, nodes + number, topics)
        else:
            victim = marks[number // team]
            liar, followed = ground(settings.weight, victim, TRIES, seed, number), interests[victim]
            victims[victim] = None
        liars[liar] = None
        interests[liar] = list(range(1, topics + 1)) if everywhere else followed
    members = {topic: sorted(node for node in interests if topic in interests[node]) for topic in range(1, topics + 1)}
    return Plot(seed, attack, settings, members, liars, victims)


def play(plot: Plot, events: int) -> Outcome:
    """Let it happen, with events published by honest nodes."""
    settings, deliveries = plot.settings, Deliveries()
    simulator = Simulator(Network([WideArea(plot.seed)]), [deliveries])
    naming = among_followers(plot.followed, plot.liars, settings.weight)
    make = lying(plot.liars, naming, KINDS[plot.attack])
    population = Population(simulator, plot.followed, settings, plot.seed, {}, make)
    timed.begin(population, _views(plot))
    begin, end = (SETTLED + 0.1) * settings.period, (settings.rounds - QUIET) * settings.period
    acts = publications(population, events, 1, begin, end)
    for _ in timed.play(population, [act for act in acts if act.node not in plot.liars]):
        pass
    simulator.drain()
    return outcome(plot, population, deliveries)


def outcome(plot: Plot, population: Population, deliveries: Deliveries) -> Outcome:
    """What has become of it."""
    around = _around(plot, population)
    victims = {pair: others for pair, others in around.items() if pair[0] in plot.victims}
    owed = [(event, node) for event, node in deliveries.ledger.due(population) if node.me.id not in plot.liars]
    missed = [(event, node) for event, node in owed if node not in event.delivered]
    parts = _parts(plot, around)
    delivered = sum(len(each.delivered) for each in deliveries.ledger.published.values())
    linked: dict[int, dict[int, None]] = {}
    for (node, _), others in around.items():
        linked.setdefault(node, {}).update(others)
    return Outcome(
        honest=_captured(plot, population, around),
        victims=_captured(plot, population, victims) if victims else None,
        cut_off=_cut_off(parts),
        missed=_share(len(missed), len(owed)),
        starved=_share(sum(_connected(parts, event, node) for event, node in missed), len(owed)),
        frames=_share(deliveries.frames, delivered),
        connections=_share(sum(len(others) for others in linked.values()), len(linked)),
    )


def _captured(plot: Plot, population: Population, around: Around) -> Captured:
    views = {(node, topic): population.stan(node).held()[topic] for node, topic in around}
    theirs = {pair: sum(contact.id in plot.liars for contact in view) for pair, view in views.items()}
    fair = {
        topic: _share(sum(node in plot.liars for node in nodes), len(nodes) - 1)
        for topic, nodes in plot.followed.items()
    }
    places, pairs = sum(len(view) for view in views.values()), len(views)
    return Captured(
        places=_share(sum(theirs.values()), places),
        fair=_share(sum(fair[topic] * len(view) for (_, topic), view in views.items()), places),
        mostly=_share(sum(2 * theirs[pair] > len(view) for pair, view in views.items()), pairs),
        taken=_share(sum(theirs[pair] == len(view) for pair, view in views.items()), pairs),
        eclipsed=_share(sum(all(other in plot.liars for other in others) for others in around.values()), pairs),
    )


def _interests(seed: int, number: int, topics: int) -> list[int]:
    """At least one."""
    drawn = {topic: unit(chance(seed, "follows", number, topic)) for topic in range(1, topics + 1)}
    return [topic for topic in drawn if drawn[topic] < FOLLOWS] or [min(drawn, key=lambda topic: drawn[topic])]


def _views(plot: Plot) -> Views:
    """For every member as many others as the topic's fan-out, by chance."""
    views: Views = {}
    for topic, nodes in plot.followed.items():
        size = plot.settings.fan_out(len(nodes))
        views[topic] = {}
        for node in nodes:
            drawn = {other: chance(plot.seed, "view", topic, node, other) for other in nodes if other != node}
            views[topic][node] = sorted(drawn, key=lambda other: drawn[other])[:size]
    return views


def _around(plot: Plot, population: Population) -> Around:
    found: Around = {}
    for topic, nodes in population.members.items():
        for node in nodes:
            if node not in plot.liars:
                found[node, topic] = dict.fromkeys(population.stan(node).neighbours.around(topic) or ())
    return found


def _parts(plot: Plot, around: Around) -> dict[Pair, int]:
    """What of each topic holds together without liars: a node that stands for the part that a pair is in."""
    found: dict[Pair, int] = {}
    for topic, nodes in plot.followed.items():
        left = {node: None for node in nodes if node not in plot.liars}
        while left:
            reached = [left.popitem()[0]]
            for node in reached:  # which grows meanwhile
                found[node, topic] = reached[0]
                near = [other for other in around[node, topic] if other in left]
                for other in near:
                    del left[other]
                reached += near
    return found


def _cut_off(parts: dict[Pair, int]) -> float:
    sizes: dict[int, dict[int, int]] = {}
    for (_, topic), part in parts.items():
        of_topic = sizes.setdefault(topic, {})
        of_topic[part] = of_topic.get(part, 0) + 1
    return _share(len(parts) - sum(max(of_topic.values()) for of_topic in sizes.values()), len(parts))


def _connected(parts: dict[Pair, int], published: Published, node: Node) -> bool:
    by = published.event.publisher
    pairs = [((by, topic), (node.me.id, topic)) for topic in published.event.topics]
    return any(one in parts and parts[one] == parts.get(other) for one, other in pairs)


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0

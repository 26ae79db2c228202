"""Magnet, sections 3.1 and 3.2: what a node knows of who follows its topics, and what it takes to sit down (footnote 2).

Both are about messages, so nodes play in the simulator, on universes that are made up.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import log2
from statistics import median
from typing import NamedTuple

from ropewalk.engines.played import followers_in
from ropewalk.engines.sim import timed
from ropewalk.engines.sim.network import Latency, Network
from ropewalk.engines.sim.population import Act, Population
from ropewalk.engines.sim.simulator import Observer, Process, Simulator
from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.papers.lab import Lab
from ropewalk.papers.magnet.sweeps import MAGNET
from ropewalk.protocols.catalogue import PROTOCOLS
from ropewalk.protocols.contract import Send
from ropewalk.protocols.magnet.node import Node
from ropewalk.protocols.magnet.settings import NAME, Settings
from ropewalk.seeds import chance
from ropewalk.workloads.multi_modal import MultiModal

DELAY = 0.05  # seconds that a message takes: so time is counted in messages, one after the other
SETTLED = 6  # periods until everybody has heard of everything
SIZES: dict[Scale, tuple[int, ...]] = {"small": (32, 64, 128), "paper": (32, 64, 128, 256, 512, 1024)}
FOLLOWED: dict[Scale, tuple[int, ...]] = {"small": (4, 8, 16), "paper": (4, 8, 16, 32)}
CATEGORIES = 8
USUAL = 8  # topics that a node follows
COMERS = 10  # nodes that go, and come back one after the other
LONGEST = 60.0  # seconds that one of them is waited for
FITS = 1.5
SLOW = 200  # messages one after the other, which is a period: who takes longer has waited for a heartbeat
MOSTLY = 0.9  # of all moments: samples take a while up and down the tree
VIEWED: dict[Scale, tuple[int, ...]] = {"small": (100,), "paper": (100, 1000)}
MOMENTS = 20  # at which views are looked at, within a period
OF_FINGERS = ("stroll", "met")  # kinds of message by which fingers are found, once a node sits


def _population(
    lab: Lab, nodes: int, followed: int, topics: int, seed: int, observers: tuple[Observer, ...] = ()
) -> Population:
    """All of a universe's nodes, on their rings and trees."""
    model = MultiModal(nodes=nodes, topics=topics, categories=CATEGORIES, subscriptions_per_node=followed)
    universe = lab.made(f"MULTI-MODAL, {nodes} nodes, {followed} topics each", model, seed)
    known = followers_in(lab.members(universe))
    settings = Settings(gather=0.0, rounds=SETTLED)
    simulator = Simulator(Network([Latency(seed, DELAY)]), observers)
    population = Population(simulator, known, settings, seed, {}, PROTOCOLS[NAME].make)
    with lab.phase(f"{universe.title}: sit down"):
        timed.begin(population, {})
        for _ in timed.play(population):
            pass
    return population


def _magnet(population: Population, node: int) -> Node:
    found = population.node(node)
    assert isinstance(found, Node)
    return found


# What a node knows


def measure_views(lab: Lab, scale: Scale) -> Measured:
    """Whom every node knows of on each of its topics, at some moments of a period after views have settled."""
    return Measured({f"{nodes} nodes": _viewed(lab, nodes) for nodes in VIEWED[scale]})


def _viewed(lab: Lab, nodes: int) -> Numbers:
    population = _population(lab, nodes, USUAL, 8 * USUAL, lab.seed)
    simulator = population.simulator
    known = owed = 0
    equal: dict[int, int] = {}
    shared = {topic: members for topic, members in population.members.items() if len(members) > 1}
    for _ in range(MOMENTS):
        simulator.run(until=simulator.now + population.settings.period / MOMENTS)
        for topic, members in shared.items():
            views = {node: _magnet(population, node).membership.views.get(topic, ()) for node in members}
            owed += len(members)
            known += sum(any(each.seat.contact.id != node for each in view) for node, view in views.items())
            sampled = {frozenset(each.seat.contact.id for each in view) for view in views.values()}
            equal[topic] = equal.get(topic, 0) + (len(sampled) == 1)
    return {
        "topics": len(shared),
        "views": owed,
        "with_a_co_subscriber": known,
        "equal": sum(equal.values()) / (MOMENTS * len(shared)),
        "never_equal": sum(not moments for moments in equal.values()),
    }


def checks_views(numbers: Numbers) -> list[Check]:
    """Nobody is without, and all views of a topic become the same."""
    checks = []
    for size, found in numbers.items():
        held = f"{size}: {found['with_a_co_subscriber']:,} of {found['views']:,} views hold another follower"
        checks.append(Check(held, found["with_a_co_subscriber"] == found["views"]))
        same = f"{size}: all views of a topic are the same at {100 * found['equal']:.0f} % of all moments"
        checks.append(Check(same, found["equal"] >= MOSTLY and found["never_equal"] == 0))
    return checks


def draw_views(measured: Measured) -> list[Panel]:
    """Both shares."""
    return [
        Panel(
            title="What nodes know of who follows their topics",
            x="0: views with another follower, 1: moments at which all views of a topic are the same",
            y="share",
            reading="A round of samples takes as long as messages take up and down the tree; in between views differ.",
            curves=[
                Curve(
                    size, [(0.0, found["with_a_co_subscriber"] / found["views"]), (1.0, found["equal"])], "points", at
                )
                for at, (size, found) in enumerate(measured.numbers.items())
            ],
        )
    ]


# What it takes to sit down


@dataclass(slots=True)
class Errand(Observer):
    """Counts messages on behalf of one node: from it, to it, or handed on for it."""

    of: int = -1  # nobody
    by_kind: dict[str, int] = field(default_factory=dict)

    def sent(self, sender: Process, send: Send, now: float, copies: int) -> None:  # noqa: ARG002
        """See `Observer`."""
        message = send.message
        seeker, target = getattr(message, "seeker", None), getattr(message, "target", None)
        named = [sender.node.me, send.to, *([seeker] if seeker is not None else []), getattr(target, "contact", None)]
        if any(contact is not None and contact.id == self.of for contact in named):
            self.by_kind[message.kind] = self.by_kind.get(message.kind, 0) + 1


class Seating(NamedTuple):
    """What it took one node to sit down, and to be on all its trees: messages, and how many came one after the other.

    One that was not there within LONGEST counts as if it had come then.
    """

    messages: float
    latency: float
    messages_with_trees: float
    latency_with_trees: float


def _seatings(lab: Lab, nodes: int, followed: int, seed: int) -> Iterator[Seating]:
    """Some go, and come back one after the other."""
    errand = Errand()
    population = _population(lab, nodes, followed, CATEGORIES * FOLLOWED["paper"][-1], seed, (errand,))
    comers = sorted(population.contacts, key=lambda node: chance(seed, "comer", node))[:COMERS]
    for node in comers[: len(population.contacts) // 2]:
        population.perform(Act(0.0, node, "leave"))
        _pass(population, population.settings.period)
        errand.of, errand.by_kind = node, {}
        yield _seated(population, node, errand)
        errand.of = -1


def _seated(population: Population, node: int, errand: Errand) -> Seating:
    simulator = population.simulator
    begun = simulator.now
    population.perform(Act(begun, node, "join"))
    seated: tuple[float, float] | None = None
    while simulator.now < begun + LONGEST:
        _pass(population, DELAY)
        machine = _magnet(population, node)
        so_far = float(_messages(errand)), (simulator.now - begun) / DELAY
        if seated is None and machine.skewed.place is not None:
            seated = so_far
        if seated is not None and machine.awaited() == (0, 0):
            return Seating(*seated, *so_far)
    return Seating(*(seated or so_far), *so_far)


def _messages(errand: Errand) -> int:
    return sum(count for kind, count in errand.by_kind.items() if kind not in OF_FINGERS)


def _pass(population: Population, seconds: float) -> None:
    population.simulator.run(until=population.simulator.now + seconds)


def measure_rejoin(lab: Lab, scale: Scale) -> Measured:
    """More nodes, then more topics."""
    cases = [("nodes", nodes, USUAL) for nodes in SIZES[scale]]
    cases += [("topics", SIZES[scale][2], followed) for followed in FOLLOWED[scale]]
    found: dict[str, dict[str, float]] = {}
    known: dict[tuple[int, int], list[Seating]] = {}
    for of, nodes, followed in cases:
        if (nodes, followed) not in known:
            known[nodes, followed] = list(_seatings(lab, nodes, followed, lab.seed))
        taken = known[nodes, followed]
        found[f"{of} {nodes if of == 'nodes' else followed}"] = {
            "nodes": nodes,
            "topics": followed,
            **{name: median(getattr(each, name) for each in taken) for name in Seating._fields},
            "slowest": max(each.latency_with_trees for each in taken),
        }
    return Measured(found)


def checks_rejoin(numbers: Numbers) -> list[Check]:
    """From the first to the last of a sweep, neither grows by more than what is claimed, and half as much again."""
    checks = []
    for of in ("nodes", "topics"):
        swept = [each for name, each in numbers.items() if name.startswith(of)]
        first, last = swept[0], swept[-1]
        for name in Seating._fields:
            claimed = _claimed(last, name) / _claimed(first, name)
            grown = last[name] / first[name]
            what = f"{name.replace('_', ' ')} by {grown:.2f}, where {claimed:.2f} is claimed"
            checks.append(Check(f"from {first[of]} to {last[of]} {of}: {what}", grown <= FITS * claimed))
    slowest = max(case["slowest"] for case in numbers.values())
    return [*checks, Check(f"nobody took longer than {slowest:.0f} messages one after the other", slowest < SLOW)]


def _claimed(case: dict[str, float], name: str) -> float:
    return log2(case["nodes"]) * (case["topics"] if name.startswith("messages") else 1)


def draw_rejoin(measured: Measured) -> list[Panel]:
    """Messages and latency, by nodes and by topics."""
    return [
        Panel(
            title=f"Sitting down, by {of}",
            x=of,
            y=y,
            reading="With trees: until it is on the trees of all its topics.",
            curves=[
                Curve(name.replace("_", " "), [(each[of], each[name]) for each in swept], "line", at)
                for at, name in enumerate(names)
            ],
            log_x=True,
        )
        for of, swept in _sweeps(measured.numbers)
        for y, names in (
            ("messages", ("messages", "messages_with_trees")),
            ("messages one after the other", ("latency", "latency_with_trees")),
        )
    ]


def _sweeps(numbers: Numbers) -> list[tuple[str, list[dict[str, float]]]]:
    return [(of, [each for name, each in numbers.items() if name.startswith(of)]) for of in ("nodes", "topics")]


REJOIN = Claim(
    id="M-C5",
    sentence="Sitting down anew takes a time that grows with the logarithm of the nodes, and messages with that times the topics.",
    paper=MAGNET,
    place="section 3.2, footnote 2",
    published="latency O(log N), messages O(t log N)",
    tolerance="in the median, from the smallest to the largest, at most 1.5 times what is claimed; nobody waits for a heartbeat",
    measure=measure_rejoin,
    checks=checks_rejoin,
    draw=draw_rejoin,
    caveat="Counted until the node sits, and until it is on all its trees; a link that is opened takes as long as a message."
    " The walks by which it then chooses fingers are left out, as in the paper.",
)
VIEWS = Claim(
    id="M-C7",
    sentence="Every node knows another follower of each of its topics, and all followers of a topic know the same.",
    paper=MAGNET,
    place="section 3.1",
    published="at least one, the same in steady state",
    tolerance=f"none without; at {100 * MOSTLY:.0f} % of all moments the same, and for no topic never",
    measure=measure_views,
    checks=checks_views,
    draw=draw_views,
)

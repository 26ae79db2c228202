"""Rivals on the same overlays, network and faults: who gets events, and at what cost. Their invariants are on."""

from dataclasses import replace
from typing import Any

import pytest

from ropewalk.engines.sim.deliveries import Deliveries, outcome
from ropewalk.engines.sim.invariants.watch import BrokenError, invariants_of
from ropewalk.engines.sim.network import Loss, Rule, WideArea, drawn
from ropewalk.engines.sim.population import Act
from ropewalk.engines.sim.publishing import publications
from ropewalk.engines.sim.record import Trace
from ropewalk.engines.sim.simulator import Observer
from ropewalk.errors import UsageError
from ropewalk.protocols.baselines.gossipsub import cache
from ropewalk.protocols.baselines.gossipsub.cache import Seen
from ropewalk.protocols.baselines.gossipsub.mesh import Meshes
from ropewalk.protocols.baselines.gossipsub.neighbours import Neighbours
from ropewalk.protocols.baselines.gossipsub.node import Node
from ropewalk.protocols.baselines.gossipsub.settings import Settings
from ropewalk.protocols.catalogue import PROTOCOLS, Make
from ropewalk.protocols.contract import Event
from towns import PERIOD, TIMED, Town, given_views, members

RIVALS = ("flood", "gossipsub")
SETTINGS = replace(TIMED, rounds=8, connectivity=0.99)
BEGIN, END = 3 * PERIOD + 1, 6 * PERIOD  # of publishing
USUAL = Settings()

each_rival = pytest.mark.parametrize("protocol", RIVALS)


def town_of(protocol: str, *, lossless: bool = True, watching: tuple[Observer, ...] = (), **more) -> Town:
    rules = [*more.pop("rules", ()), WideArea(1)]
    invariants = invariants_of(protocol, lossless=lossless)
    usual: dict[str, Any] = {"settings": SETTINGS, "nodes": 44}
    return Town(**usual | more, protocol=protocol, rules=rules, invariants=invariants, observers=list(watching))


def played(
    protocol: str, events: int = 40, per_event: int = 1, acts: list[Act] | None = None, **more
) -> tuple[Town, Deliveries]:
    """A town in which events are published after three periods."""
    deliveries = Deliveries()
    town = town_of(protocol, watching=(deliveries,), **more)
    town.acts = [*(acts or []), *publications(town.population, events, per_event, BEGIN, END)]
    town.play().at_rest()
    return town, deliveries


def gossipsub(**chosen) -> Make:
    return lambda me, _settings, seed, _former: Node(me, Settings(**chosen), seed)


def machines(town: Town) -> list[Node]:
    found = [process.node for process in town.simulator.processes.values()]
    assert all(isinstance(node, Node) for node in found)
    return found  # type: ignore[return-value]


# Without faults


@each_rival
def test_without_faults_everybody_gets_everything(protocol: str) -> None:
    town, deliveries = played(protocol)
    found = outcome(deliveries, town.population)
    assert found["expected"] > 800
    assert found["delivered"] == found["expected"]


@pytest.mark.parametrize("per_event", [1, 2])
def test_a_flood_crosses_every_link_of_a_topic_both_ways_but_the_one_it_came_over(per_event: int) -> None:
    """Each node sends as often as it has neighbours, but one: with views of nine, and some of them mutual, 15 a delivery."""
    town, deliveries = played("flood", per_event=per_event)
    around = {
        topic: len({frozenset((node, other)) for node, view in views.items() for other in view})
        for topic, views in given_views(town.followed, SETTINGS, 1).items()
    }
    events = [each.event for each in deliveries.ledger.published.values()]
    expected = sum(2 * around[t] - (len(town.followed[t]) - 1) for event in events for t in event.topics)
    assert deliveries.frames == expected
    if per_event == 1:
        view = SETTINGS.fan_out(22)
        assert 1.5 * view < outcome(deliveries, town.population)["frames_per_delivery"] < 2 * view - 1


def test_meshes_settle_within_their_bounds_and_events_cost_what_they_have() -> None:
    town, deliveries = played("gossipsub", nodes=120, topics=2, events=20)
    sizes = [len(mesh) for node in machines(town) for mesh in node.meshes.by_topic.values()]
    assert min(sizes) >= USUAL.fewest
    assert max(sizes) <= USUAL.most
    mean = sum(sizes) / len(sizes)
    assert USUAL.degree < mean < 8  # whoever grafts is taken in, so it is above D
    frames = outcome(deliveries, town.population)["frames_per_delivery"]
    assert mean - 1 - 0.2 < frames < mean - 1 + 0.6  # all but one of the mesh; and some asked while it was on its way


def test_meshes_are_made_in_the_first_seconds_and_then_left_alone() -> None:
    town = town_of("gossipsub")
    assert all(not mesh for node in machines(town) for mesh in node.meshes.by_topic.values())
    town.simulator.run(PERIOD)
    before = town.population.views()
    town.simulator.run(4 * PERIOD)
    assert town.population.views() == before
    assert all(USUAL.fewest <= len(mesh) <= USUAL.most for held in before.values() for mesh in held.values())


@each_rival
def test_an_event_on_two_topics_costs_twice(protocol: str) -> None:
    """Nothing is shared: with everybody on both topics StaN sends as much as for one."""
    followed = members(30, 2, 1, share=1.0)
    frames = []
    for per_event in (1, 2):
        _, deliveries = played(protocol, events=20, per_event=per_event, followed=followed)
        frames.append(deliveries.frames)
    assert frames[1] / frames[0] == pytest.approx(2.0, rel=0.05)


@each_rival
def test_one_connection_serves_all_topics(protocol: str) -> None:
    town = town_of(protocol, followed=members(20, 5, 1, share=1.0), nodes=20)
    town.simulator.run(2 * PERIOD)
    assert all(len(process.linked) <= 19 for process in town.simulator.processes.values())


@pytest.mark.parametrize("manager", ["given", "scamp", "cyclon"])
def test_nothing_is_aligned_under_a_flood_whoever_manages_views(manager) -> None:
    """Managers ask who is better as well; if that were the same on all topics, Cyclon alone would align them."""

    def distinct(town: Town) -> int:
        held: dict[int, set[int]] = {}
        for views in town.population.views().values():
            for node, view in views.items():
                held.setdefault(node, set()).update(view)
        return sum(map(len, held.values()))

    settings = replace(SETTINGS, manager=manager, connectivity=0.9)
    town = Town(settings=settings, followed=members(40, 5, 1, share=1.0), protocol="flood", invariants=[])
    before = distinct(town)
    town.play()
    assert 0.9 * before < distinct(town) < 1.1 * before


@each_rival
def test_the_same_seed_is_the_same_history(protocol: str) -> None:
    def digest(seed: int) -> str:
        trace = Trace()
        town = town_of(protocol, watching=(trace,), seed=seed, nodes=20, rules=[Loss(1, 0.05)], lossless=False)
        town.acts = publications(town.population, 10, 1, BEGIN, END)
        town.play()
        return trace.digest

    assert digest(1) == digest(1) != digest(2)


# Faults


@each_rival
def test_with_a_tenth_of_all_messages_lost(protocol: str) -> None:
    """Meshes and gossip miss nothing here; a flood, which repairs nothing, is saved by having many more links than it needs."""
    town, deliveries = played(protocol, rules=[Loss(1, 0.1)], lossless=False)
    found = outcome(deliveries, town.population)
    assert found["missed"] <= (0 if protocol == "gossipsub" else 0.001 * found["expected"])


class EventLoss:
    """Of what carries events, and nothing else, this share is lost."""

    def __init__(self, probability: float) -> None:
        self.probability = probability

    def judge(self, sender, receiver, message, now, delays):
        lost = message.kind == "publication" and drawn(1, "lost", sender, receiver, message, now) < self.probability
        return [] if lost else delays


def test_what_the_mesh_lost_is_asked_for() -> None:
    rules: list[Rule] = [EventLoss(0.6)]
    missed = []
    for lazy in (0, USUAL.lazy):
        town, deliveries = played("gossipsub", rules=rules, lossless=False, make=gossipsub(lazy=lazy))
        missed.append(outcome(deliveries, town.population)["missed"])
    assert missed[0] > 20
    assert missed[1] == 0


@each_rival
@pytest.mark.parametrize("what", ["crash", "leave"])
def test_a_tenth_goes_at_once(protocol: str, what) -> None:
    """Those who stay get everything: the invariant asks them at rest."""
    followed = members(44, 3, 1)
    nodes = sorted({node for held in followed.values() for node in held})
    acts = [Act(4 * PERIOD, node, what) for node in nodes[::10]]
    town, deliveries = played(protocol, acts=acts, followed=followed)
    assert outcome(deliveries, town.population)["missed"] == 0
    assert not any(set(mesh) & set(nodes[::10]) for held in town.population.views().values() for mesh in held.values())


@each_rival
def test_nodes_come_and_go(protocol: str) -> None:
    """Whoever comes back is handed others, and gets what is published three periods later."""
    followed = members(30, 3, 1)
    nodes = sorted({node for held in followed.values() for node in held})
    acts = []
    for place, node in enumerate(nodes[::3]):
        begin = PERIOD * (1 + place / 10)
        acts += [Act(begin, node, ("crash", "leave")[place % 2]), Act(begin + PERIOD / 2, node, "restart")]
    settings = replace(SETTINGS, rounds=10, manager="scamp" if protocol == "flood" else "given")
    deliveries = Deliveries()
    town = town_of(protocol, watching=(deliveries,), followed=followed, settings=settings)
    town.acts = [*acts, *publications(town.population, 40, 1, 6 * PERIOD, 8 * PERIOD)]
    town.play().at_rest()
    found = outcome(deliveries, town.population)
    assert found["expected"] == found["delivered"] > 400
    if protocol == "gossipsub":
        held = [len(mesh) for node in machines(town) for mesh in node.meshes.by_topic.values()]
        assert min(held) >= USUAL.fewest


# Unsubscribing, and publishing without being subscribed


class To(Observer):
    """Frames with events to one node, and when."""

    def __init__(self, node: int) -> None:
        self.node = node
        self.times: list[float] = []

    def sent(self, sender, send, now: float, copies: int) -> None:
        if send.to.id == self.node and hasattr(send.message, "event"):
            self.times.append(now)


@each_rival
def test_whoever_unsubscribes_is_sent_nothing_more(protocol: str) -> None:
    followed = members(30, 1, 1, share=1.0)
    node = followed[1][5]
    until = 4.5 * PERIOD
    to, deliveries = To(node), Deliveries()
    town = town_of(protocol, watching=(deliveries, to), followed=followed)
    others = [each for each in publications(town.population, 60, 1, BEGIN, END) if each.node != node]
    town.acts = [Act(until, node, "unsubscribe", 1), *others]
    town.play().at_rest()
    machine = town.population.node(node)
    got = [each.at for each in deliveries.ledger.published.values() if machine in each.delivered]
    assert len(got) > 10
    assert max(got) < until
    assert max(to.times) < until + 0.5  # what was on its way when it said so
    if protocol == "gossipsub":
        town.simulator.run(town.simulator.now + 2 * USUAL.fanout_ttl)
        assert not town.simulator.processes[node].linked  # nobody has anything in common with it any more


def test_publishing_on_a_topic_that_is_not_followed() -> None:
    """gossipsub turns to neighbours that follow it, and remembers them for a minute; a flood has nowhere to begin."""
    followed = members(40, 2, 1)
    publisher = next(node for node in followed[1] if node not in followed[2])
    event = Event(77, publisher, (2,), b"")
    for protocol in RIVALS:
        deliveries = Deliveries()
        town = town_of(protocol, watching=(deliveries,), followed=followed, lossless=protocol == "gossipsub")
        town.acts = [Act(BEGIN, publisher, "publish", event=event)]
        town.play().at_rest()
        assert len(deliveries.ledger.published[77].delivered) == (len(followed[2]) if protocol == "gossipsub" else 0)
        if protocol == "gossipsub":
            fanout = town.population.node(publisher).meshes.fanouts[2]  # type: ignore[attr-defined]
            assert 1 <= len(fanout.members) <= USUAL.degree
            town.simulator.run(BEGIN + USUAL.fanout_ttl + 2)
            assert not town.population.node(publisher).meshes.fanouts  # type: ignore[attr-defined]


# What makes these tests worth something


@pytest.mark.parametrize(
    ("owner", "method", "caught_by"),
    [
        (Meshes, "forget", "mesh links"),
        (Meshes, "pruned", "meshes agree"),
        (Neighbours, "_strike", "mesh links"),
        (Seen, "add", "at most once"),
        (cache.Cache, "shift", "gossipsub bounded"),
    ],
)
def test_a_bug_is_caught(monkeypatch: pytest.MonkeyPatch, owner: type, method: str, caught_by: str) -> None:
    """Each of these methods is made to do nothing."""
    monkeypatch.setattr(cache, "MOST_KEPT", 100_000)
    monkeypatch.setattr("ropewalk.protocols.baselines.gossipsub.settings.MOST_KEPT", 20)
    followed = members(30, 2, 1)
    node = followed[1][5]
    acts = [
        Act(4 * PERIOD, node, "unsubscribe", 1),
        Act(4 * PERIOD + 5, node, "subscribe", 1),
        Act(5 * PERIOD, followed[1][7], "crash"),
    ]
    make = gossipsub(most=7)
    monkeypatch.setattr(owner, method, lambda *_: None)
    with pytest.raises(BrokenError, match=caught_by):
        played("gossipsub", acts=acts, followed=followed, make=make)


def test_every_protocol_has_invariants() -> None:
    simulated = [name for name, entry in PROTOCOLS.items() if "sim" in entry.engines]
    assert len(simulated) >= 3
    for protocol in simulated:
        names = [each.name for each in invariants_of(protocol)]
        assert {"no self link", "only followers", "at most once", "everybody gets it"} <= set(names)
    with pytest.raises(UsageError, match="no invariants are known of protocol 'rumour'"):
        invariants_of("rumour")

"""Nodes that link by what they want, in the simulator: tables are those of who knows all, in whatever order they come and go."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ropewalk.engines.sim import timed
from ropewalk.engines.sim.invariants import one_group
from ropewalk.engines.sim.invariants.connected import weak_components
from ropewalk.engines.sim.invariants.watch import Watch, invariants_of
from ropewalk.engines.sim.network import Delays, Latency, Loss, Network, Rule, WideArea
from ropewalk.engines.sim.population import Act, Filters, Population
from ropewalk.engines.sim.simulator import Simulator
from ropewalk.engines.sim.swarm import Early
from ropewalk.protocols.catalogue import PROTOCOLS
from ropewalk.protocols.content.filters import Filter, Range
from ropewalk.protocols.contract import Contact, Event, Join, Message, Subscribe
from ropewalk.protocols.kato import alike, groups
from ropewalk.protocols.kato.node import Node
from ropewalk.protocols.kato.profiles import Looker
from ropewalk.protocols.kato.settings import Settings
from ropewalk.protocols.kato.tables import chosen
from ropewalk.seeds import chance, pick

PERIOD = 10.0
CELLS = [chance(1, "cell", number) for number in range(12)]
BY_CELLS = Settings(cover="cells", rounds=12, period=PERIOD)


def wanted_by(nodes: int, each: int) -> dict[int, list[int]]:
    """Cells, each node wanting so many that lie beside each other."""
    found: dict[int, list[int]] = {cell: [] for cell in CELLS}
    for number in range(nodes):
        first = pick(chance(2, "first", number), len(CELLS))
        for step in range(1 + pick(chance(2, "size", number), each)):
            found[CELLS[(first + step) % len(CELLS)]].append(chance(2, "node", number))
    return {cell: sorted(set(members)) for cell, members in found.items() if members}


def town(
    followed: dict[int, list[int]],
    chosen_settings: Settings = BY_CELLS,
    rules: list[Rule] | None = None,
    acts: list[Act] | None = None,
    filters: Filters | None = None,
) -> Population:
    watch = Watch(invariants_of("kato"))
    network = Network([*(rules or []), WideArea(1)])
    population = Population(
        Simulator(network, [watch]), followed, chosen_settings, 1, {}, PROTOCOLS["kato"].make, filters
    )
    timed.begin(population, {})
    for _ in timed.play(population, acts):
        pass
    population.simulator.drain()
    watch.at_rest(population)
    return population


def nodes_of(population: Population) -> list[Node]:
    return [each.node for each in population.simulator.processes.values() if isinstance(each.node, Node)]


def is_ideal(node: Node, primaries: list[Node]) -> bool:
    looker = Looker(node.neighbours.profile, node.settings)
    ideal = chosen(looker, [looker.sees(other.neighbours.profile) for other in primaries])
    return ideal.all().keys() == node.neighbours.table.all().keys()


@pytest.mark.parametrize("cover", ["cells", "bits"])
def test_tables_become_those_of_who_knows_everybody(cover) -> None:
    found = nodes_of(town(wanted_by(60, 5), Settings(cover=cover, rounds=8, period=PERIOD, hashes=1)))
    primaries = [node for node in found if node.alike.is_primary]
    assert 30 < len(primaries) < 60
    assert all(is_ideal(node, primaries) for node in primaries)
    assert all(not node.neighbours.table.all() for node in found if not node.alike.is_primary)


def test_who_keeps_all_links_has_more_of_them() -> None:
    best, every = (
        sum(len(node.neighbours.table.all()) for node in nodes_of(town(wanted_by(40, 5), each)))
        for each in (BY_CELLS, Settings(cover="cells", keeping="all", rounds=8, period=PERIOD))
    )
    assert best < every


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sets(st.integers(0, 5), min_size=1), min_size=2, max_size=10), st.randoms(use_true_random=False))
def test_in_whatever_order_nodes_come_all_who_want_a_cell_are_linked(wants, order) -> None:
    simulator = Simulator(Network([Latency(1, 0.05)]))
    comers = list(enumerate(wants))
    order.shuffle(comers)
    here: list[Contact] = []
    for number, cells in comers:
        me = Contact(chance(3, "node", number))
        simulator.start(Node(me, BY_CELLS, 1))
        simulator.tell(me.id, Join((order.choice(here),) if here else ()))
        for cell in sorted(cells):
            simulator.tell(me.id, Subscribe(CELLS[cell], ()))
        here.append(me)
        simulator.run(until=simulator.now + order.choice((0.0, 0.3, 5.0)))
    simulator.run(until=simulator.now + 4 * PERIOD)
    for cell in range(6):
        held = {
            node.me.id: [other.id for other in (node.near(CELLS[cell]) or {}).values()]
            for node in (process.node for process in simulator.processes.values())
            if isinstance(node, Node) and node.follows(CELLS[cell])
        }
        assert weak_components(held) <= 1


def test_when_a_primary_crashes_who_came_next_has_its_links() -> None:
    followed: dict[int, list[int]] = {CELLS[0]: [], CELLS[1]: [], CELLS[2]: []}
    nodes = [chance(2, "node", number) for number in range(9)]
    for place, node in enumerate(nodes):
        followed[CELLS[0]].append(node)
        followed[CELLS[1 + place % 2]].append(node)
    before = town(followed)
    groups = {node.alike.primary.id: [each for _, each in node.alike.ranked] for node in nodes_of(before)}
    assert sorted(map(len, groups.values())) == [4, 5]
    first, second = next(iter(groups.values()))[:2]
    after = town(followed, acts=[Act(45.0, first, "crash")])
    assert {node.alike.primary.id for node in nodes_of(after)} == {*groups, second} - {first}


def test_a_town_in_which_nodes_come_and_go_and_messages_are_lost_misses_nothing() -> None:
    followed = wanted_by(60, 5)
    nodes = sorted({node for members in followed.values() for node in members})
    rounds, end = 26, 10 * PERIOD
    acts = []
    for turn in range(10):
        node = nodes[pick(chance(4, "victim", turn), len(nodes))]
        acts += [Act(turn * PERIOD + 1, node, "crash"), Act(turn * PERIOD + 14, node, "restart")]
    for number in range(60):
        cell = CELLS[pick(chance(4, "cell", number), len(CELLS))]
        publisher = followed[cell][pick(chance(4, "publisher", number), len(followed[cell]))]
        event = Event(chance(4, "event", number), publisher, (cell,), b"x")
        acts.append(Act(30 + 2.5 * number, publisher, "publish", event=event))
    settled = Settings(cover="cells", rounds=rounds, period=PERIOD)
    # every invariant is on, that everybody gets it among them
    found = nodes_of(town(followed, settled, [Early(Loss(1, 0.05), end)], acts))
    assert len(found) == len(nodes)


def test_a_group_that_is_full_becomes_two_that_are_linked(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (alike, groups, one_group):
        monkeypatch.setattr(module, "MOST_ALIKE", 4)
    nodes = [chance(2, "node", number) for number in range(11)]
    events = [Event(number, node, (CELLS[0],), b"x") for number, node in enumerate(nodes)]
    acts = [Act(40.0 + event.id, event.publisher, "publish", event=event) for event in events]
    found = nodes_of(town({CELLS[0]: nodes}, acts=acts))  # nothing is missed
    assert max(len(node.alike.orders) for node in found) == 4
    assert sum(node.alike.is_primary for node in found) >= 3


def test_a_question_for_a_group_that_was_lost_is_asked_again() -> None:
    class Deaf(Latency):
        def judge(self, sender: int, receiver: int, message: Message, now: float, delays: Delays) -> Delays:
            usual = super().judge(sender, receiver, message, now, delays)
            return [] if now < 35.0 and message.kind == "enrol" else usual

    found = nodes_of(town(wanted_by(12, 2), rules=[Deaf(1, 0.01)]))
    assert any(not node.alike.is_alone for node in found)


def test_who_changes_its_mind_gets_what_it_wants_by_then() -> None:
    wide, narrow = Filter((("price", Range(0.0, 9.0)),)), Filter((("price", Range(5.0, 6.0)),))
    nodes = [chance(2, "node", number) for number in range(6)]
    followed = {CELLS[0]: nodes[:4], CELLS[1]: nodes[2:]}
    filters: Filters = {(node, CELLS[0]): (wide if node == nodes[0] else narrow,) for node in nodes[:4]}
    event = Event(77, nodes[0], (CELLS[0],), b"", (("price", 7.0),))
    acts = [
        Act(32.0, nodes[5], "subscribe", CELLS[0]),
        Act(33.0, nodes[1], "unsubscribe", CELLS[0]),
        Act(75.0, nodes[4], "publish", event=event),
    ]
    found = {node.me.id: node for node in nodes_of(town(followed, acts=acts, filters=filters))}
    assert [found[node].standing().by_cell for node in nodes] == [0, 0, 1, 1, 0, 0]
    assert found[nodes[5]].neighbours.profile.cells == tuple(sorted(CELLS[:2]))
    assert not found[nodes[1]].topics

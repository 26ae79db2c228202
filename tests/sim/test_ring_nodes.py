"""Rings of nodes: links are those of the batch model, or like them; what falls apart grows together; places never run out."""

from itertools import pairwise
from statistics import mean

import pytest

from portions import portions
from ropewalk.engines.sim import timed
from ropewalk.engines.sim.invariants.watch import Watch, invariants_of
from ropewalk.engines.sim.network import Loss, Network, Partition, Rule, WideArea, Window
from ropewalk.engines.sim.population import Act, Population
from ropewalk.engines.sim.simulator import Simulator
from ropewalk.engines.sim.swarm import Early
from ropewalk.engines.standings import tree_of
from ropewalk.protocols.catalogue import PROTOCOLS
from ropewalk.protocols.contract import Contact, Event
from ropewalk.protocols.dht.places import Seat, is_within, key_of, place_of, turn
from ropewalk.protocols.dht.ring import Ring
from ropewalk.protocols.dht.settings import Settings as RingSettings
from ropewalk.protocols.links import Links
from ropewalk.protocols.magnet.messages import Seated
from ropewalk.protocols.magnet.node import Node as MagnetNode
from ropewalk.protocols.magnet.settings import Settings as MagnetSettings
from ropewalk.protocols.magnet.settings import strawman
from ropewalk.protocols.scribe.node import Node as ScribeNode
from ropewalk.protocols.scribe.settings import Settings as ScribeSettings
from ropewalk.seeds import chance

TOPICS = [chance(1, "topic", number) for number in range(4)]


def town(
    size: int,
    protocol: str,
    settings: ScribeSettings | MagnetSettings,
    rules: list[Rule] | None = None,
    acts: list[Act] | None = None,
    *,
    watched: bool = True,
) -> Population:
    """So many nodes, each of which follows one of four topics, after all rounds."""
    nodes = [chance(1, "node", number) for number in range(size)]
    followed = {topic: nodes[place :: len(TOPICS)] for place, topic in enumerate(TOPICS)}
    watch = Watch(invariants_of(protocol) if watched else [])
    population = Population(
        Simulator(Network(rules or []), [watch]), followed, settings, 1, {}, PROTOCOLS[protocol].make
    )
    timed.begin(population, {})
    for _ in timed.play(population, acts):
        pass
    population.simulator.drain()
    watch.at_rest(population)
    return population


def nodes_of(population: Population) -> list[ScribeNode]:
    return [each.node for each in population.simulator.processes.values() if isinstance(each.node, ScribeNode)]


def test_fingers_of_chord_are_who_sits_first_from_each_power_of_two_on() -> None:
    nodes = nodes_of(town(60, "scribe", ScribeSettings(rounds=10)))
    ids = sorted(node.me.id for node in nodes)
    for node in nodes:
        wanted = {
            next((other for other in ids if other >= start), ids[0])
            for start in ((node.me.id + (1 << bit)) % 2**63 for bit in range(63))
        } - {node.me.id}
        ring = node.control.ring
        assert set(ring.fingers) | {ring.successors[0].contact.id} == wanted


def test_medians_by_walks_halve_the_population_as_exact_ones_do() -> None:
    settings = strawman(MagnetSettings(rounds=18, degree=10))
    found = nodes_of(town(64, "magnet", settings, watched=False))
    nodes = [node for node in found if isinstance(node, MagnetNode)]
    places = sorted(node.skewed.place or b"" for node in nodes)
    shares, counts = [], []
    for node in nodes:
        here = node.skewed.place
        assert here is not None
        edges = [edge.place for edge in node.oscar.edges]
        assert all(turn(here, nearer) < turn(here, farther) for farther, nearer in pairwise(edges))
        counts.append(len(edges))
        before = [sum(is_within(here, place, edge) for place in places) / len(places) for edge in edges[:2]]
        shares.append(before)
    assert 0.4 < mean(share[0] for share in shares) < 0.6  # exact: a half, then a quarter
    assert 0.15 < mean(share[1] for share in shares) < 0.35
    assert 5 < mean(counts) < 9  # exact: 6
    assert 2.5 < mean(len(node.skewed.fingers) for node in nodes) < 4.5  # exact: 4, less where two are the same


def test_what_a_partition_has_parted_is_one_ring_again() -> None:
    nodes = [chance(1, "node", number) for number in range(24)]
    apart = Partition(Window(20.0, 120.0), frozenset(nodes[::2]))
    event = Event(7, nodes[0], (TOPICS[0],), b"hello")
    acts = [Act(60.0, nodes[0], "publish", event=event)]  # to those on its side at first, to the others later
    for protocol, settings in (("scribe", ScribeSettings(rounds=30)), ("magnet", MagnetSettings(rounds=30))):
        town(24, protocol, settings, [apart], acts)


def test_a_home_that_crashes_with_an_event_loses_nothing() -> None:
    population = town(20, "scribe", ScribeSettings(rounds=1), watched=False)
    (home,) = [node.me.id for node in nodes_of(population) if node.trees.ways.is_root(TOPICS[0])]
    nodes = [node for node in population.contacts if node != home]
    acts = []
    for number in range(20):
        event = Event(100 + number, nodes[number % len(nodes)], (TOPICS[0],), b"x")
        acts.append(Act(50.0 + number / 100, event.publisher, "publish", event=event))
    town(20, "scribe", ScribeSettings(rounds=20), acts=[*acts, Act(50.1, home, "crash")])


@pytest.mark.thorough
@pytest.mark.parametrize("protocol", portions(["scribe", "magnet"], 1))
def test_back_on_its_trees_within_six_periods_under_churn_and_loss(protocol: str) -> None:
    """And whoever stays misses nothing that is published after that, nor before."""
    settings: ScribeSettings | MagnetSettings = ScribeSettings(rounds=30)
    if protocol == "magnet":
        settings = MagnetSettings(rounds=30)
    nodes = [chance(1, "node", number) for number in range(60)]
    acts = []
    for number in range(24):  # more than one of a hundred in each of the first 24 periods: crash, and come back
        at = 10.0 * number + 3
        acts += [Act(at, nodes[number * 2], "crash"), Act(at + 15, nodes[number * 2], "restart")]
    for number in range(60):
        event = Event(200 + number, nodes[-1 - number % 10], (TOPICS[number % 4],), b"x")
        acts.append(Act(40.0 + 3 * number, event.publisher, "publish", event=event))
    town(60, protocol, settings, [Early(Loss(1, 0.05), 240.0), WideArea(1)], acts)


def test_who_is_expected_is_the_next_successor_and_only_once() -> None:
    ring = Ring(1, Contact(1), Links(), RingSettings())
    ring.sit(place_of(1 << 40), [Seat(Contact(2), place_of(1 << 41))], 0.0)
    ring.expect(Seat(Contact(3), place_of(3 << 39)))
    assert [seat.contact.id for seat in ring.successors] == [3, 2]
    ring.expect(Seat(Contact(3), place_of(5 << 38)))  # the same, nearer
    assert [seat.contact.id for seat in ring.successors] == [3, 2]


def test_where_there_is_no_room_the_next_most_similar_is_asked() -> None:
    population = town(12, "magnet", MagnetSettings(rounds=4), watched=False)
    newcomer, *others = [
        node for node in nodes_of(population) if isinstance(node, MagnetNode) and node.follows(TOPICS[0])
    ]
    placing, now = newcomer.placing, population.simulator.now
    newcomer.skewed.stand_up(now)
    placing.begin(now)
    for topic in list(placing.queried):
        placing.answered(topic, now)
    first = placing.beside
    assert first is not None
    placing.seated(first, Seated(placing.turn, b"", b"", ()), now)  # no room
    assert placing.beside is not None
    assert placing.beside != first
    assert {first, placing.beside} <= {node.me for node in others}


# Trees, while nothing goes wrong


def unrooted(population: Population) -> list[tuple[int, int]]:
    """Who follows a topic, and comes to no root from parent to parent."""
    standings = {node.me.id: node.standing() for node in nodes_of(population)}
    trees = {topic: tree_of(topic, standings) for topic in population.members}
    return [(topic, node) for topic in trees for node in population.there(topic) if node not in trees[topic].depths]


def depth(population: Population) -> float:
    """Links from the root, in the mean."""
    standings = {node.me.id: node.standing() for node in nodes_of(population)}
    depths = {topic: tree_of(topic, standings).depths for topic in population.members}
    return mean(depths[topic][node] for topic, nodes in population.members.items() for node in nodes)


OF_TREES = {
    "scribe": ("scribe", ScribeSettings(rounds=14)),
    "as printed": ("magnet", MagnetSettings(rounds=14)),
    "strict": ("magnet", MagnetSettings(rounds=14, grafting="strict")),
}


@pytest.mark.parametrize("of", list(OF_TREES))
def test_who_comes_in_peace_is_below_a_root_at_once_and_stays_so(of: str) -> None:
    """Although homes move whenever somebody comes, and what was a root has to find a parent."""
    protocol, settings = OF_TREES[of]
    nodes = [chance(3, "node", number) for number in range(60)]
    followed = {topic: nodes[place :: len(TOPICS)] for place, topic in enumerate(TOPICS)}
    make = PROTOCOLS[protocol].make
    population = Population(Simulator(Network([WideArea(1)])), followed, settings, 1, {}, make)
    timed.begin(population, {})
    assert unrooted(population) == []
    for _ in timed.play(population):
        lost = unrooted(population)  # who has just asked another to be its parent is lost until that has heard of it
        population.simulator.run(until=population.simulator.now + 0.5)
        assert set(lost).isdisjoint(unrooted(population))


@pytest.mark.long
def test_trees_are_not_deeper_for_homes_that_have_moved() -> None:
    printed, strict = (
        town(60, "magnet", MagnetSettings(rounds=14, grafting=grafting)) for grafting in ("printed", "strict")
    )
    assert depth(printed) < 1.5 * depth(strict)


def test_who_left_and_comes_back_at_once_has_its_neighbours_at_once() -> None:
    population = town(20, "scribe", ScribeSettings(rounds=2), watched=False)
    back = nodes_of(population)[7].me.id
    population.perform(Act(0.0, back, "leave"))
    population.simulator.run(until=population.simulator.now + 1.0)
    population.perform(Act(0.0, back, "join"))
    population.simulator.run(until=population.simulator.now + 1.0)  # a tenth of a period
    ids = sorted(node.me.id for node in nodes_of(population))
    (node,) = [node for node in nodes_of(population) if node.me.id == back]
    at = ids.index(back)
    assert node.control.ring.predecessor is not None
    assert node.control.ring.predecessor.contact.id == ids[at - 1]
    (before,) = [each for each in nodes_of(population) if each.me.id == ids[at - 1]]
    assert before.control.ring.successors[0].contact.id == back


@pytest.mark.parametrize("of", ["scribe", "magnet"])
def test_what_a_home_publishes_before_it_leaves_is_there_at_once(of: str) -> None:
    follower = chance(3, "node", 0)
    comers = (chance(3, "node", number) for number in range(1, 100))
    key = key_of(TOPICS[0])
    home = next(node for node in comers if is_within(place_of(follower), key, place_of(node)))
    followed = {TOPICS[0]: [follower], TOPICS[1]: [home]}
    settings = ScribeSettings() if of == "scribe" else MagnetSettings()
    population = Population(Simulator(Network([WideArea(1)])), followed, settings, 1, {}, PROTOCOLS[of].make)

    def wait(seconds: float) -> None:
        population.simulator.run(until=population.simulator.now + seconds)

    population.start([follower])
    population.subscribe(follower, TOPICS[0], ())
    wait(12.0)
    population.start([home])
    population.perform(Act(0.0, home, "publish", event=Event(7, home, (TOPICS[0],), b"x")))
    wait(0.0)
    (comer,) = [node for node in nodes_of(population) if node.me.id == home]
    while comer.events.submitted:
        wait(0.05)
    population.perform(Act(0.0, home, "leave"))
    wait(1.0)  # a tenth of a period
    (left,) = nodes_of(population)
    assert 7 in left.events.delivered


def test_who_comes_at_the_same_time_as_everybody_else_sits_within_seconds() -> None:
    """Nobody sits yet on the skewed ring who could be asked for a place."""
    nodes = [chance(5, "node", number) for number in range(12)]
    settings = MagnetSettings(gather=0.5)
    population = Population(
        Simulator(Network([WideArea(1)])), {TOPICS[0]: nodes}, settings, 1, {}, PROTOCOLS["magnet"].make
    )
    for node in nodes:
        population.start([node])
        population.simulator.run(until=population.simulator.now + 0.01)
    population.simulator.run(until=6.0)
    found = [node for node in nodes_of(population) if isinstance(node, MagnetNode)]
    assert all(node.skewed.place is not None for node in found)
    assert sum(not node.skewed.successors for node in found) == 0


def test_who_follows_something_only_after_it_sat_down_moves_to_its_kind_at_the_next_heartbeat() -> None:
    population = town(24, "magnet", MagnetSettings(rounds=4), watched=False)
    late = chance(6, "node", 0)
    population.contacts[late] = Contact(late)
    population.follows[late] = {}
    population.start([late])
    population.simulator.run(until=population.simulator.now + 5.0)
    (node,) = [node for node in nodes_of(population) if node.me.id == late]
    assert isinstance(node, MagnetNode)
    assert node.skewed.place == node.placing.hashed
    population.perform(Act(0.0, late, "subscribe", topic=TOPICS[1]))
    population.simulator.run(until=population.simulator.now + 2 * 10.0)
    before = node.skewed.predecessor
    assert before is not None
    assert before.contact.id in population.members[TOPICS[1]]

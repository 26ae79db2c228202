"""What holds for the nodes of every protocol in the catalogue, in each of its variants."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import fields, replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ropewalk.engines.live.wire import KINDS, MOST_ID, MOST_SECONDS, Codec, Numbers, Topics, WireError, fresh_topics
from ropewalk.engines.sim.invariants.bounded import Bounded
from ropewalk.engines.sim.invariants.caches_bounded import CachesBounded
from ropewalk.engines.sim.invariants.contract import Moment
from ropewalk.engines.sim.invariants.gossipsub_bounds import GossipsubBounds
from ropewalk.engines.sim.invariants.link_counts import LinkCounts
from ropewalk.engines.sim.invariants.mesh_links import MeshLinks
from ropewalk.engines.sim.invariants.no_self_link import NoSelfLink
from ropewalk.engines.sim.invariants.view_bounds import ViewBounds
from ropewalk.engines.sim.invariants.watch import invariants_of
from ropewalk.engines.sim.network import Duplication, Latency, Loss, Network, Reordering, Rule
from ropewalk.engines.sim.record import Trace
from ropewalk.engines.sim.simulator import Observer, Simulator
from ropewalk.protocols.catalogue import PROTOCOLS, Entry
from ropewalk.protocols.contract import (
    Connect,
    Contact,
    Deliver,
    Disconnect,
    Effect,
    Event,
    Input,
    Join,
    Leave,
    LinkDown,
    LinkUp,
    Node,
    Publish,
    Received,
    Send,
    SetTimer,
    Subscribe,
    TimerFired,
    Unsubscribe,
    size_of,
)

SIMULATED = {name: entry for name, entry in PROTOCOLS.items() if "sim" in entry.engines}
VARIANTS = [(entry, variant) for entry in SIMULATED.values() for variant in entry.variants]
NAMES = [f"{entry.name} {variant}" for entry, variant in VARIANTS]
TOPICS = (11, 12)
NODES = [Contact(1000 * number) for number in range(1, 9)]
MINUTES = 10 * 60.0
# those that need to know nothing but the node as it is
OF_ONE_MOMENT = (ViewBounds, NoSelfLink, LinkCounts, Bounded, CachesBounded, GossipsubBounds, MeshLinks)
TACITURN = ("gossipsub",)  # when nothing happens they say nothing

each = pytest.mark.parametrize(("entry", "variant"), VARIANTS, ids=NAMES)


def town(entry: Entry, variant: str, rules: list[Rule] | None = None, *observers) -> Simulator:
    """Eight nodes that follow two topics, each introduced by two that are there."""
    simulator = Simulator(Network([*(rules or []), Latency(1, 0.05)]), observers)
    for place, contact in enumerate(NODES):
        simulator.start(entry.variants[variant](contact, 7))
        for topic in TOPICS:
            simulator.tell(contact.id, Subscribe(topic, tuple(NODES[max(0, place - 2) : place])), after=place)
    return simulator


class Effects(Observer):
    """Everything that nodes wanted done."""

    def __init__(self) -> None:
        self.by_node: dict[int, list[Effect]] = {}

    def handled(self, process, event: Input, effects: list[Effect], now: float) -> None:
        self.by_node.setdefault(process.contact.id, []).extend(effects)


@each
def test_the_same_seed_is_the_same_history(entry: Entry, variant: str) -> None:
    traces = []
    for _ in range(2):
        trace = Trace()
        town(entry, variant, [Loss(3, 0.1)], trace).run(MINUTES)
        traces.append(trace.digest)
    assert traces[0] == traces[1]


@each
def test_nodes_talk_and_never_to_themselves(entry: Entry, variant: str) -> None:
    effects = Effects()
    town(entry, variant, [], effects).run(MINUTES)
    for node, wanted in effects.by_node.items():
        assert any(isinstance(effect, Send) for effect in wanted)
        for effect in wanted:
            match effect:
                case Send(to, message):
                    assert to.id != node
                    assert isinstance(message, entry.messages)
                    assert size_of(message) < 2**16
                case Connect(contact) | Disconnect(contact, _):
                    assert contact.id != node
                case SetTimer(delay, _):
                    assert delay >= 0


@each
def test_a_copy_of_a_node_goes_on_as_the_node(entry: Entry, variant: str) -> None:
    simulator = town(entry, variant)
    simulator.run(MINUTES / 2)
    node = simulator.processes[NODES[3].id].node
    copy = deepcopy(node)

    class Both(Observer):
        def handled(self, process, event: Input, effects: list[Effect], now: float) -> None:
            if process.node is node:
                assert copy.handle(event, now) == effects

    simulator.observers = (Both(),)
    simulator.run(MINUTES)


def events(simulator: Simulator, publishers: Sequence[Contact]) -> list[Event]:
    """An event of each on every topic, one second after the other, while all are there."""
    published = []
    for number, contact in enumerate(publishers):
        for topic in TOPICS:
            published.append(Event(100 * number + topic, contact.id, (topic,), b"news"))
            simulator.tell(contact.id, Publish(published[-1]), after=number)
    return published


@each
def test_everybody_gets_every_event_once_and_nobody_else_does(entry: Entry, variant: str) -> None:
    effects = Effects()
    simulator = town(entry, variant, [], effects)
    simulator.run(MINUTES)
    stranger = Contact(9000)  # it follows something else, and is linked all the same
    simulator.start(entry.variants[variant](stranger, 7))
    simulator.tell(stranger.id, Subscribe(13, (NODES[0],)))
    simulator.run(MINUTES + 60)
    published = events(simulator, NODES)
    simulator.run(2 * MINUTES)
    for contact in NODES:
        got = [effect.event.id for effect in effects.by_node[contact.id] if isinstance(effect, Deliver)]
        assert sorted(got) == sorted(event.id for event in published if event.publisher != contact.id)
    assert not any(isinstance(effect, Deliver) for effect in effects.by_node[stranger.id])


@pytest.mark.thorough
@each
@pytest.mark.parametrize("rules", [[Loss(1, 0.3)], [Duplication(1, 0.3)], [Reordering(1, 0.3, 60.0)]])
def test_lost_doubled_and_overtaken_messages_stop_nobody(entry: Entry, variant: str, rules: list[Rule]) -> None:
    effects = Effects()
    simulator = town(entry, variant, rules, effects)
    simulator.run(MINUTES)
    effects.by_node.clear()
    if entry.name in TACITURN:
        events(simulator, NODES)
    simulator.run(2 * MINUTES)
    talking = [node for node, wanted in effects.by_node.items() if any(isinstance(each, Send) for each in wanted)]
    assert len(talking) > len(NODES) / 2  # who lost all its first contacts has nobody to talk to


@each
def test_whoever_leaves_says_so_to_all_and_may_come_back(entry: Entry, variant: str) -> None:
    effects = Effects()
    simulator = town(entry, variant, [], effects)
    simulator.run(MINUTES)
    leaver = NODES[2]
    linked = list(simulator.processes[leaver.id].linked)
    effects.by_node.clear()
    simulator.tell(leaver.id, Leave())
    simulator.run(MINUTES)
    wanted = effects.by_node[leaver.id]
    assert sorted(effect.contact.id for effect in wanted if isinstance(effect, Disconnect)) == sorted(linked)
    assert not any(isinstance(effect, SetTimer | Connect) for effect in wanted)
    simulator.stop(leaver.id)
    simulator.run(2 * MINUTES)
    simulator.start(entry.variants[variant](leaver, 7))
    for topic in TOPICS:
        simulator.tell(leaver.id, Subscribe(topic, (NODES[0],)))
    simulator.run(3 * MINUTES)
    assert any(isinstance(effect, Send) for effect in effects.by_node[leaver.id])


@each
def test_commands_that_change_nothing_do_nothing(entry: Entry, variant: str) -> None:
    node = entry.variants[variant](NODES[0], 7)
    assert node.handle(Unsubscribe(5), 0.0) == []
    node.handle(Subscribe(5, ()), 0.0)
    assert node.handle(Subscribe(5, ()), 1.0) == []


IDS = st.sampled_from([contact.id for contact in NODES]) | st.integers(-(2**63), 2**64)
CONTACTS = st.builds(Contact, IDS, st.sampled_from(["", "somewhere"]))
st.register_type_strategy(Contact, CONTACTS)
EVENT_TOPICS = st.sampled_from([TOPICS, TOPICS[:1], (999,), ()]) | st.lists(st.integers(0, 99), max_size=80).map(tuple)
EVENTS = st.builds(
    Event, st.sampled_from([1, 2, 3]) | st.integers(0, 2**63 - 1), IDS, EVENT_TOPICS, st.binary(max_size=9)
)
st.register_type_strategy(Event, EVENTS)


NEAR_THE_TRUTH = {  # what gets a message past the first check
    "topic": st.sampled_from(TOPICS),
    "topics": st.sampled_from([TOPICS, TOPICS[:1]]),
    "offers": st.lists(st.tuples(st.sampled_from([1, 2, 3, 2**62]), st.just(TOPICS)), max_size=600).map(tuple),
    "hop": st.integers(0, 6),
    "hops": st.integers(-1, 3),
}


def hostile(entry: Entry, data):
    """Any message, some of whose fields are what the victim expects."""
    message = data.draw(st.one_of([st.from_type(kind) for kind in entry.messages]))
    named = [field.name for field in fields(message)]
    for name, likely in NEAR_THE_TRUTH.items():
        if name in named and data.draw(st.booleans()):
            message = replace(message, **{name: data.draw(likely)})
    return message


@pytest.mark.thorough
@each
@given(data=st.data())
@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow])
def test_hostile_messages_are_survived(entry: Entry, variant: str, data) -> None:
    """Whatever a message says, and whoever sends it, nobody fails, answers without end, or links with itself."""
    simulator = town(entry, variant)
    simulator.run(60.0)
    victim = NODES[1]
    node: Node = simulator.processes[victim.id].node
    node.handle(Join((NODES[0],)), simulator.now)
    node.handle(Publish(Event(1, victim.id, TOPICS, b"known")), simulator.now)
    for _ in range(5):
        message = hostile(entry, data)
        sender = data.draw(st.sampled_from(NODES) | CONTACTS)
        if sender.id == victim.id:
            continue
        last = data.draw(st.sampled_from([LinkDown(sender, "failed"), Received(sender, message)]))
        for event in (Received(sender, message), LinkUp(sender), Received(sender, message), last):
            effects = node.handle(event, simulator.now)
            assert len(effects) < 1000
            for effect in effects:
                assert not (isinstance(effect, Send | Connect) and _target(effect).id == victim.id)
                assert not isinstance(effect, Send) or size_of(effect.message) < 2**16
        for invariant in invariants_of(entry.name):
            if isinstance(invariant, OF_ONE_MOMENT):
                assert invariant.after(Moment(node, last, simulator.now)) is None
    for timer in [effect.timer for effect in node.handle(Subscribe(99, ()), 60.0) if isinstance(effect, SetTimer)]:
        node.handle(TimerFired(timer), 61.0)
    simulator.run(120.0)


def _target(effect: Send | Connect) -> Contact:
    return effect.to if isinstance(effect, Send) else effect.contact


class OnTheWire(Observer):
    """Sends every message through bytes, as live nodes do, on links of their own."""

    def __init__(self, entry: Entry) -> None:
        self.codec = Codec(entry.messages)
        self.links: dict[tuple[int, int], tuple[Numbers, Topics]] = {}
        self.kinds: set[str] = set()

    def sent(self, sender, send: Send, now: float, copies: int) -> None:
        numbers, topics = self.links.setdefault((sender.contact.id, send.to.id), (Numbers(), Topics()))
        number, body = self.codec.encode(send.message, numbers)
        fresh = fresh_topics(numbers)
        if fresh is not None:
            topics.learn(fresh)
        back = self.codec.decode(number, body, topics)
        assert back == send.message
        assert type(back) is type(send.message)
        self.kinds.add(send.message.kind)


@each
def test_messages_come_back_from_the_wire_as_they_went(entry: Entry, variant: str) -> None:
    wire = OnTheWire(entry)
    simulator = town(entry, variant, [], wire)
    simulator.run(MINUTES / 2)
    for place, node in enumerate(NODES):
        event = Event(500 + place, node.id, (TOPICS[place % 2],), b"said")
        simulator.tell(node.id, Publish(event))
    simulator.tell(NODES[0].id, Unsubscribe(TOPICS[0]))
    simulator.tell(NODES[1].id, Leave())
    simulator.run(MINUTES)
    assert len(wire.kinds) >= 2


class Heard(Observer):
    """Some messages of each kind that one node has received, and from whom."""

    def __init__(self, node: Contact) -> None:
        self.node = node
        self.by_kind: dict[type, list[Received]] = {}

    def handled(self, process, event: Input, effects: list[Effect], now: float) -> None:
        if process.contact == self.node and isinstance(event, Received):
            known = self.by_kind.setdefault(type(event.message), [])
            if len(known) < 3:
                known.append(event)


class Readable(Observer):
    """Everything that is said must come through the wire."""

    def __init__(self, entry: Entry) -> None:
        self.codec = Codec(entry.messages)

    def wired(self, message):
        numbers, topics = Numbers(), Topics()
        number, body = self.codec.encode(message, numbers)
        topics.by_number = list(numbers.by_topic)
        return self.codec.decode(number, body, topics)

    def sent(self, sender, send: Send, now: float, copies: int) -> None:
        assert self.wired(send.message) == send.message


def at_the_edge(message, fresh: int):
    """The same with one number that can hardly be said, and so hardly be counted on; an event in it is another."""
    named = [field.name for field in fields(message)]
    if "event" in named and isinstance(message.event, Event):
        message = replace(message, event=replace(message.event, id=fresh))
    for name in named:
        value = getattr(message, name)
        if type(value) is int and name != "topic":
            yield from (replace(message, **{name: edge}) for edge in (MOST_ID, MOST_ID - 1, 2**62))
        elif type(value) is float:
            yield replace(message, **{name: MOST_SECONDS})


@pytest.mark.thorough
@each
def test_whoever_is_told_what_may_be_said_says_nothing_that_may_not(entry: Entry, variant: str) -> None:
    """Else who passes on what a liar says is cut off for it."""
    victim = NODES[4]
    heard, readable = Heard(victim), Readable(entry)
    simulator = town(entry, variant, [], heard)
    simulator.run(MINUTES / 2)
    events(simulator, NODES)
    simulator.run(MINUTES)
    simulator.observers = (readable,)
    told = 0
    for received in [each for found in heard.by_kind.values() for each in found]:
        for message in at_the_edge(received.message, 5000 + told):
            told += 1
            simulator.tell(victim.id, Received(received.sender, readable.wired(message)))
            simulator.run(simulator.now + 0.5)
    assert told > 5
    simulator.run(simulator.now + 60.0)


@pytest.mark.parametrize("entry", SIMULATED.values(), ids=list(SIMULATED))
def test_every_kind_of_message_has_a_number_of_its_own(entry: Entry) -> None:
    kinds = [message.kind for message in entry.messages]
    assert set(kinds) <= KINDS.keys()
    assert len(set(KINDS.values())) == len(KINDS)
    assert all(32 <= KINDS[kind] < 256 for kind in kinds)


@pytest.mark.parametrize("entry", SIMULATED.values(), ids=list(SIMULATED))
@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_any_message_comes_back_as_it_went_or_is_refused(entry: Entry, data) -> None:
    message = hostile(entry, data)
    codec, numbers, topics = Codec(entry.messages), Numbers(), Topics()
    try:
        number, body = codec.encode(message, numbers)
        topics.by_number = list(numbers.by_topic)
        back = codec.decode(number, body, topics)
    except WireError:
        return
    assert back == message

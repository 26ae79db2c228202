"""Nodes that come, go and are killed for a quarter of an hour, with events all the time: nothing grows that should not.

`ROPEWALK_SOAK=120` has it last two minutes, to work on it: in less, what is remembered of events is not yet as much as it will be.
"""

import asyncio
import ctypes
import gc
import json
import math
import os
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

import pytest

from alive import Node, Options, alive_for
from holdings import containers, within
from ropewalk.engines.live.connection import Connection
from ropewalk.engines.live.driver import Driver
from ropewalk.engines.live.endings import Ending
from ropewalk.engines.live.options import LIVE, LIVE_EVENTS
from ropewalk.engines.live.outgoing import DRAWN
from ropewalk.engines.live.transport import Transport
from ropewalk.errors import RopewalkError
from ropewalk.protocols.discovery.settings import MOST_DOUBTED as MOST_UNPROVEN
from ropewalk.protocols.discovery.settings import MOST_NAMED, MOST_SERVING
from ropewalk.protocols.discovery.settings import Settings as Discovery
from ropewalk.protocols.sampling.scamp.node import MOST_REQUESTS
from ropewalk.protocols.stan.neighbours import MOST_DOUBTED

SECONDS = float(os.environ.get("ROPEWALK_SOAK", "900"))
WARM = 1 / 3  # of the time, until which caches fill
STAY, TRANSIENT = 6, 6  # nodes that are there all the time, and those that come and go
# How many publish, and how many events a second they do together: so many that one thing that is kept of each would be seen, and that all of it takes
# less than half of a processor; by so many that one who waits for a member to take it leaves no gap that it would have to make up for at once
TALKERS, PACE = 32, 80.0
TOPICS = tuple(f"topic {number}" for number in range(8))
PERIOD = 2.0  # seconds: many rounds in little time
LIFE = (1.0, 8.0)  # seconds
# Where who has long been gone may be named for longer, and how often at the most. What docs/bounds.md says of all of these is that the oldest,
# or the farthest, make room for others; leases are forgotten after seven minutes
DISCOVERY, FOLLOWED = "driver.machine.finding.discovery", 4  # topics of each node
ROUTES, BUCKETS = Discovery(), 16  # that are not empty: far fewer than there are bits, among some hundred nodes
NAMED_FOR_LONGER = {
    "driver.machine.walks.neighbours.doubted": MOST_DOUBTED,
    "driver.machine.walks.topics[].manager.seen[]": FOLLOWED * MOST_REQUESTS,
    "driver.machine.finding.proofs.doubted[]": MOST_UNPROVEN,
    f"{DISCOVERY}.leases.tags_of": len(TOPICS) * MOST_SERVING,
    f"{DISCOVERY}.leases.by_tag[]": len(TOPICS) * MOST_SERVING,
    f"{DISCOVERY}.leases.by_tag[][].contact": len(TOPICS) * MOST_SERVING,
    f"{DISCOVERY}.routes.buckets[]": BUCKETS * ROUTES.bucket,
    f"{DISCOVERY}.routes.buckets[][].contact": BUCKETS * ROUTES.bucket,
    f"{DISCOVERY}.served[].others[]": FOLLOWED * (ROUTES.replicas + 1) * MOST_NAMED,
    f"{DISCOVERY}.served[].left_at": FOLLOWED * ROUTES.replicas,
    f"{DISCOVERY}.served[].left_at[]": FOLLOWED * ROUTES.replicas,
    f"{DISCOVERY}.served[].places[]": FOLLOWED * ROUTES.replicas,
}
MOST_MORE = 100  # things that containers of one kind may hold besides, where no bound says otherwise
NODES_AT = {"driver.machine.finding.proofs.doubted", "driver.machine.walks.topics[].manager.seen"}  # hold the above
# what nodes hold of events follows how many come: at the most some seconds of them, with all nodes that are there
EVENTS_AT, MOST_OF_EVENTS = "driver.machine.saying.events.", 1.5 * PACE * 20.0 * (STAY + TRANSIENT)
# Of events, too, but of few of them: those that are advertised are waited for, at the most some seconds long; ids for a node's own are drawn ahead
MOST_AHEAD = {"driver._timers": 5.0 * PACE, "_publishing.outgoing._ids": DRAWN}
NUMBER = 8  # bytes at the beginning of what is said
# Seconds after which who is gone is named nowhere but where a bound says so: as long as ids of events are. But as long as leases name it others seek
# it again, in vain: so few may be under way anywhere else, where it would be many hundred if nobody were forgotten
FORGOTTEN, SOUGHT = 60.0, 32
PATIENCE = 60.0  # seconds, for what is still on its way
SAMPLED = 64  # how often, after it is warm
QUARTER = SAMPLED // 4
# what may be more in the last quarter than in the first after it was warm: nodes that come and go are not always as many. Were something kept of
# everything that was, there would be twice as much. How much waits for events follows how busy the machine is: timers were seen to be half as many again
MOST = {"rss": 0.05, "objects": 0.05, "descriptors": 0.15, "tasks": 0.2, "timers": 0.75, "connections": 0.15}
# What of each event that was published, and of each node that went, may be left over all the time: less than one object would be that is kept of each
MOST_OF_AN_EVENT = {"rss": 100.0, "objects": 1.0}
MOST_OF_A_NODE = {"rss": 6000.0, "objects": 20.0}
SURE = 2.0  # standard errors: by so much a slope must be above that. What is kept of events is kept by several nodes at once
FULL = 2.0  # times as long as ids are remembered: memory grows until these, and what they leave free, are as many as they will be
LEAST = {"rss": 4e6, "objects": 12_000, "descriptors": 12, "tasks": 12, "timers": 60, "connections": 12}


@dataclass
class Sample:
    rss: int  # bytes, but for what the allocator keeps for later
    objects: int  # of Python's
    descriptors: int
    tasks: int
    timers: int
    connections: int
    at: float  # seconds


@dataclass
class Staying:
    """A node that is there all the time."""

    node: Node
    topics: frozenset[str]
    since: float
    # what was said and has not come, by number: it must; and it was handed to somebody who may have been killed since
    owed: set[int] = field(default_factory=set)
    hoped: set[int] = field(default_factory=set)

    def got(self, number: int) -> None:
        self.owed.discard(number)
        self.hoped.discard(number)


class Town:
    """Nodes of one process."""

    def __init__(self) -> None:
        self.random = Random(1)
        self.nodes: list[Node] = []
        self.staying: dict[int, Staying] = {}  # by id
        self.gone: dict[int, float] = {}  # nodes, and when they went
        self.quiet, self.over = asyncio.Event(), asyncio.Event()  # nobody is to talk any more; nobody to be there
        self.came = self.left = self.killed = self.said = self.published = self.got = self.failed = 0
        self.owed = self.hoped = 0  # to those who stay, so far
        self.timers_left = 0  # of drivers that have stopped

    @asynccontextmanager
    async def one(self) -> AsyncIterator[tuple[Node, Staying]]:
        bootstrap = [each.address for each in self.nodes[:2]]
        node = await Node(bootstrap=bootstrap, options=Options(settings=SETTINGS, events=EVENTS)).start()
        about = Staying(node, frozenset(self.random.sample(TOPICS, FOLLOWED)), _now())
        reading = asyncio.create_task(self._read(about))
        self.nodes.append(node)
        self.came += 1
        try:
            yield node, about
        finally:
            self.nodes.remove(node)
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
            await node.leave()
            self.failed += node.driver.failed
            self.timers_left += len(node.driver._timers)
            self.gone[node.identity.id] = _now()

    async def _read(self, about: Staying) -> None:
        async with about.node.subscribe(*about.topics, buffer=4096) as events:
            async for event in events:
                self.got += 1
                about.got(int.from_bytes(event.payload[:NUMBER], "big"))

    async def stay(self) -> None:
        async with self.one() as (node, about):
            self.staying[node.identity.id] = about
            await self.over.wait()

    async def come_and_go(self) -> None:
        while not self.over.is_set():
            async with self.one() as (node, _):
                with suppress(TimeoutError):
                    async with asyncio.timeout(self.random.uniform(*LIFE)):
                        await self.over.wait()
                if self.random.random() < 0.5:
                    self.left += 1
                else:
                    self.killed += 1
                    kill(node)

    async def talk(self) -> None:
        """At a pace that does not depend on how busy the machine is: what nodes keep of events would follow it."""
        due = _now()
        while True:
            due += TALKERS / PACE
            await asyncio.sleep(max(0.0, due - _now()))
            if self.quiet.is_set():
                return
            node, topics = self.random.choice(self.nodes), self.random.sample(TOPICS, 2)
            number, self.said = self.said, self.said + 1
            hoping = self._owe(node, frozenset(topics), number)
            size = self.random.choice((NUMBER, 100, 2000))
            try:
                await node.publish(number.to_bytes(NUMBER, "big") + bytes(size - NUMBER), topics)
                self.published += 1
                self.hoped += len(hoping)
            except RopewalkError:  # it was told so: it is not in a topic that it does not follow
                for each in hoping:
                    each.hoped.discard(number)

    def _owe(self, publisher: Node, topics: frozenset[str], number: int) -> list[Staying]:
        """What one of those who stay says on a topic that it follows the others are owed; of other topics it is told who may get it."""
        by = self.staying.get(publisher.identity.id)
        hoping: list[Staying] = []
        if by is None:
            return hoping
        for each in self.staying.values():
            if _now() - each.since < 3 * PERIOD:
                continue
            if each.topics & topics & by.topics:
                self.owed += 1
                each.owed.add(number)
            elif each.topics & topics:
                each.hoped.add(number)
                hoping.append(each)
        return hoping

    def missed(self) -> int:
        """How much of what is owed has not come."""
        return sum(len(each.owed) for each in self.staying.values())

    def hoped_in_vain(self) -> int:
        """How much has not come of what those had who may have been killed since."""
        return sum(len(each.hoped) for each in self.staying.values())

    def look(self, held: Counter[str], named: Counter[str]) -> None:
        """Add to what one of those who stay holds at the most, by where, and see how often who has long been gone is named there."""
        long_gone = {node for node, at in self.gone.items() if _now() - at > FORGOTTEN}
        most: Counter[str] = Counter()
        for each in self.staying.values():
            here: Counter[str] = Counter()
            gone: Counter[str] = Counter()
            for where, container in containers(each.node):
                here[where] += len(container)
                gone[where] += sum(isinstance(one, int) and one in long_gone for one in within(container))
            most |= here
            named |= gone
        held += most


def _now() -> float:
    return asyncio.get_running_loop().time()


def kill(node: Node) -> None:
    """As if its process had died: no word to anybody, all sockets shut."""
    node.driver.stop()
    for connection in list(node.transport.links.values()):
        connection.abort(Ending("failed", "reset"))


SETTINGS = replace(LIVE, period=PERIOD)
EVENTS = replace(LIVE_EVENTS, keep=20.0, seen=60.0)  # so that what is kept is soon as much as it will be


def _trim() -> None:
    """Have the allocator give back what nobody uses: it is no growth, and as much as the worst moment took. (tracemalloc would not do: it grows itself.)"""
    with suppress(OSError, AttributeError):  # another C library than glibc
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def sample(town: Town) -> Sample:
    gc.collect()
    _trim()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return Sample(
        rss=pages * os.sysconf("SC_PAGE_SIZE"),
        objects=len(gc.get_objects()),
        descriptors=len(list(Path("/proc/self/fd").iterdir())),
        tasks=len(asyncio.all_tasks()),
        timers=sum(len(each.driver._timers) for each in town.nodes),
        connections=sum(isinstance(each, Connection) for each in gc.get_objects()),
        at=_now(),
    )


async def _soak(town: Town, held: tuple[Counter[str], Counter[str]], named: Counter[str]) -> list[Sample]:
    """What is held is added up over the first quarter of all looks, and over the last: to keep it all would be growth."""
    found: list[Sample] = []
    async with asyncio.TaskGroup() as group:
        group.create_task(town.stay())
        while not town.nodes:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        for work in [town.stay] * (STAY - 1) + [town.come_and_go] * TRANSIENT:
            group.create_task(work())
        talking = [group.create_task(town.talk()) for _ in range(TALKERS)]
        await asyncio.sleep(WARM * SECONDS)
        for _ in range(SAMPLED):
            await asyncio.sleep((1 - WARM) * SECONDS / SAMPLED)
            found.append(sample(town))
            town.look(
                held[0] if len(found) <= QUARTER else held[1] if len(found) > SAMPLED - QUARTER else Counter(), named
            )
        town.quiet.set()
        await asyncio.wait(talking)
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                while town.missed() or town.hoped_in_vain():  # noqa: ASYNC110
                    await asyncio.sleep(0.1)
        town.over.set()
    return found


def _left() -> dict[str, int]:
    """What is there of nodes, whether anybody uses it or not."""
    gc.collect()
    kinds = Counter(type(each) for each in gc.get_objects())
    there = {kind.__name__: kinds[kind] for kind in (Connection, Transport, Driver, Node)}
    return there | {"tasks": len(asyncio.all_tasks()), "descriptors": len(list(Path("/proc/self/fd").iterdir()))}


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _dot(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def _without(values: list[float], others: list[float]) -> list[float]:
    """What of them does not follow the others, by least squares."""
    mean, centre = _mean(values), _mean(others)
    others = [each - centre for each in others]
    share = _dot(values, others) / (_dot(others, others) or 1.0)
    return [value - mean - share * other for value, other in zip(values, others, strict=True)]


def _series(found: list[Sample], name: str) -> list[float]:
    """Of memory and objects what is not there because timers are, which come and go by thousands, with what they wait for, and are looked at themselves."""
    values = [float(getattr(each, name)) for each in found]
    if name not in MOST_OF_AN_EVENT:
        return values
    mean, timers = _mean(values), [float(each.timers) for each in found]
    return [mean + each for each in _without(values, timers)]


def _growth(found: list[Sample], name: str) -> tuple[float, float]:
    """How much more there is at the end than at the beginning, by least squares, and the standard error of that."""
    times = _without([each.at for each in found], [float(each.timers) for each in found])
    values = _series(found, name)
    slope, rest = _dot(times, values) / _dot(times, times), _without(values, times)
    error = math.sqrt(_dot(rest, rest) / (len(found) - 3) / _dot(times, times))
    seconds = found[-1].at - found[0].at
    return slope * seconds, error * seconds


@pytest.mark.long
@pytest.mark.timeout(SECONDS + 300)
@alive_for(SECONDS + 240)
async def test_nothing_grows_while_nodes_come_and_go(capsys: pytest.CaptureFixture[str]) -> None:
    async with Node() as one, Node(bootstrap=[one.address]) as other:
        await other.joined.wait()  # the loop opens what it keeps for itself
    before_all = _left()
    town = Town()
    held, named = (Counter[str](), Counter[str]()), Counter[str]()
    found = await _soak(town, held, named)
    series = {name: _series(found, name) for name in MOST}
    means = {name: (_mean(values[:QUARTER]), _mean(values[-QUARTER:])) for name, values in series.items()}
    counts = ("came", "left", "killed", "published", "got", "failed", "owed", "hoped")
    about = {name: getattr(town, name) for name in counts}
    about |= {"missed": town.missed(), "hoped in vain": town.hoped_in_vain()}
    things = {where: (held[0][where] / QUARTER, held[1][where] / QUARTER) for where in sorted(held[1])}
    more = {where: ends for where, ends in things.items() if ends[1] - ends[0] > max(MOST_MORE, 0.25 * ends[0])}
    with capsys.disabled():
        ends = {name: [round(each) for each in ends] for name, ends in means.items()}
        told = {
            "who has long been gone": {where: often for where, often in sorted(named.items()) if often},
            "more": more,
        }
        grown = {name: _growth(found, name) for name in MOST_OF_AN_EVENT}
        print("\n" + json.dumps({"seconds": SECONDS} | about | ends | told | {"grown": grown}))
    assert town.failed == 0
    assert town.killed > SECONDS / 10
    assert town.left > SECONDS / 10
    assert town.published > 0.9 * PACE * SECONDS
    assert town.owed > town.published / 4
    assert town.missed() == 0
    assert town.hoped_in_vain() <= town.hoped / 100  # all who had taken it must have been killed
    assert town.timers_left == 0
    for name, (first, last) in means.items():
        assert last - first < max(LEAST[name], MOST[name] * first), (name, first, last)
    share = (found[-1].at - found[0].at) / SECONDS
    for name, (more_of_it, error) in grown.items():
        if name == "objects" or FULL * EVENTS.seen <= WARM * SECONDS:
            surely = more_of_it - SURE * error
            assert surely < MOST_OF_AN_EVENT[name] * town.published * share, (name, more_of_it, error)
            assert surely < MOST_OF_A_NODE[name] * (town.left + town.killed) * share, (name, more_of_it, error)
    assert (
        NAMED_FOR_LONGER.keys() <= held[0].keys() | held[1].keys()
    )  # what a node holds is looked at, under these names
    assert {where: often for where, often in named.items() if often > NAMED_FOR_LONGER.get(where, SOUGHT)} == {}
    of_events = {where for where in more if where.startswith(EVENTS_AT)}
    assert {where: more[where] for where in of_events if more[where][1] > MOST_OF_EVENTS} == {}
    assert {where: more[where] for where in more.keys() & MOST_AHEAD if more[where][1] > MOST_AHEAD[where]} == {}
    seen_to = of_events | NAMED_FOR_LONGER.keys() | NODES_AT | MOST_AHEAD.keys()
    assert {where: more[where] for where in more.keys() - seen_to} == {}
    del town
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE):
            while _left() != before_all:  # noqa: ASYNC110
                await asyncio.sleep(0.5)
    assert _left() == before_all


@pytest.mark.parametrize(("name", "each"), [("rss", 100.0), ("objects", 1.0)])
def test_what_is_kept_of_every_event_is_noticed(name: str, each: float) -> None:
    """However much there is besides, and however often that is more or less."""
    random, events = Random(1), PACE * 600
    for kept in (0.0, 2 * each):
        found = []
        for place in range(SAMPLED):
            timers = random.randrange(1000, 9000)
            more = kept * events * place / SAMPLED
            sample_ = Sample(0, 0, 150, 66, timers, 120, 600 * place / SAMPLED)
            noise = random.gauss(0, 60 * each * SAMPLED)
            setattr(sample_, name, 140e3 * each + 8 * each * timers + noise + more)
            found.append(sample_)
        grown, error = _growth(found, name)
        assert (grown - SURE * error < each * events) == (not kept), (grown, error)

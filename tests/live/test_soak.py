"""Nodes that come, go and are killed for a quarter of an hour, with events all the time: nothing grows that should not.

`ROPEWALK_SOAK=60` has it last a minute, to work on it.
"""

import asyncio
import ctypes
import gc
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random

import pytest

from alive import Node, Options, alive_for
from ropewalk.engines.live.connection import Connection
from ropewalk.engines.live.endings import Ending
from ropewalk.engines.live.options import LIVE, LIVE_EVENTS
from ropewalk.errors import RopewalkError

SECONDS = float(os.environ.get("ROPEWALK_SOAK", "900"))
WARM = 1 / 3  # of the time, until which caches fill
STAY, TRANSIENT = 6, 6  # nodes that are there all the time, and those that come and go
TALKERS, PACE = 4, 10.0  # how many publish, and how many events a second they do together
TOPICS = tuple(f"topic {number}" for number in range(8))
PERIOD = 2.0  # seconds: many rounds in little time
LIFE = (1.0, 8.0)  # seconds
SAMPLED = 64  # how often, after it is warm
# what may be more in the last quarter than in the first after it was warm: nodes that come and go are not always as many
MOST = {"rss": 0.05, "objects": 0.05, "descriptors": 0.25, "tasks": 0.25, "timers": 0.25, "connections": 0.25}
LEAST = {"rss": 4e6, "objects": 20_000, "descriptors": 12, "tasks": 12, "timers": 60, "connections": 12}


@dataclass
class Sample:
    rss: int  # bytes, but for what the allocator keeps for later
    objects: int  # of Python's
    descriptors: int
    tasks: int
    timers: int
    connections: int


class Town:
    """Nodes of one process."""

    def __init__(self) -> None:
        self.random = Random(1)
        self.nodes: list[Node] = []
        self.came = self.left = self.killed = self.published = self.got = self.failed = 0

    @asynccontextmanager
    async def one(self) -> AsyncIterator[Node]:
        bootstrap = [each.address for each in self.nodes[:2]]
        node = await Node(bootstrap=bootstrap, options=Options(settings=SETTINGS, events=EVENTS)).start()
        reading = asyncio.create_task(self._read(node))
        self.nodes.append(node)
        self.came += 1
        try:
            yield node
        finally:
            self.nodes.remove(node)
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
            await node.leave()
            self.failed += node.driver.failed

    async def _read(self, node: Node) -> None:
        async with node.subscribe(*self.random.sample(TOPICS, 4), buffer=4096) as events:
            async for _ in events:
                self.got += 1

    async def stay(self) -> None:
        async with self.one():
            await asyncio.Event().wait()

    async def come_and_go(self) -> None:
        while True:
            async with self.one() as node:
                await asyncio.sleep(self.random.uniform(*LIFE))
                if self.random.random() < 0.5:
                    self.left += 1
                else:
                    self.killed += 1
                    kill(node)

    async def talk(self) -> None:
        """At a pace that does not depend on how busy the machine is: what nodes keep of events would follow it."""
        due = asyncio.get_running_loop().time()
        while True:
            due += TALKERS / PACE
            await asyncio.sleep(max(0.0, due - asyncio.get_running_loop().time()))
            node = self.random.choice(self.nodes)
            with suppress(RopewalkError):
                await node.publish(bytes(self.random.choice((10, 100, 2000))), self.random.sample(TOPICS, 2))
                self.published += 1


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
    )


async def _soak(town: Town) -> list[Sample]:
    found = []
    async with asyncio.TaskGroup() as group:
        first = group.create_task(town.stay())
        while not town.nodes:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        working = [first, *(group.create_task(town.stay()) for _ in range(STAY - 1))]
        working += [group.create_task(town.come_and_go()) for _ in range(TRANSIENT)]
        working += [group.create_task(town.talk()) for _ in range(TALKERS)]
        await asyncio.sleep(WARM * SECONDS)
        for _ in range(SAMPLED):
            await asyncio.sleep((1 - WARM) * SECONDS / SAMPLED)
            found.append(sample(town))
        for task in working:
            task.cancel()
    return found


def _mean(found: list[Sample], name: str) -> float:
    return float(sum(getattr(each, name) for each in found) / len(found))


@pytest.mark.long
@pytest.mark.timeout(SECONDS + 300)
@alive_for(SECONDS + 240)
async def test_nothing_grows_while_nodes_come_and_go(capsys: pytest.CaptureFixture[str]) -> None:
    town = Town()
    found = await _soak(town)
    quarter = SAMPLED // 4
    before, after = found[:quarter], found[-quarter:]
    means = {name: (_mean(before, name), _mean(after, name)) for name in asdict(found[0])}
    about = {name: getattr(town, name) for name in ("came", "left", "killed", "published", "got", "failed")}
    with capsys.disabled():
        print(
            "\n"
            + json.dumps(
                {"seconds": SECONDS} | about | {name: [round(each) for each in ends] for name, ends in means.items()}
            )
        )
    assert town.failed == 0
    assert town.killed > SECONDS / 10
    assert town.left > SECONDS / 10
    assert town.got > town.published > 0.9 * PACE * SECONDS
    for name, (first, last) in means.items():
        assert last - first < max(LEAST[name], MOST[name] * first), (name, first, last)

"""A node in a process of its own that is attacked from another, and what those who keep the rules see of it meanwhile."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict

from ropewalk.engines.live.api import Node

ATTACKERS, WEIGHED = (Path(__file__).parent / name for name in ("attackers.py", "weighed.py"))
TOPIC = "attacked"
BEFORE, AFTER = 20, 20  # events before the attack, and after it
PAUSE = 0.05  # seconds from one event of who keeps the rules to the next, and from one look at the node's process to the next
NEXT = 1.0  # seconds from when a newcomer has gone until the next one comes
HONEST = 2  # who publishes and who reads: they call the node
PATIENCE = 60.0  # seconds: for anything that those who keep the rules wait for

Found = TypedDict(  # of the attackers of a kind: how many got how far, and how they ended (attackers.ENDS)
    "Found",
    {
        "tried": int,
        "connected": int,
        "let in": int,
        "begun": int,
        "never connected": int,
        "turned away": int,
        "refused": int,
        "hung up on": int,
        "timed out": int,
        "never began": int,
        "left": int,
        "whys": dict[str, int],
        "sent": int,
        "waited": float,
    },
)


@dataclass
class Weight:
    """What the node takes when nobody is there but those who keep the rules."""

    resident: int  # bytes, but for what the allocator keeps for later
    blocks: int  # of memory, in which Python keeps what is small: an object, or a part of one
    delivered: int  # events that have come so far


@dataclass
class Attacked:
    """The node's process, and what can be seen of it."""

    process: subprocess.Popen[bytes]
    address: str
    metrics: int
    weighed: Path  # where it writes down what it takes
    descriptors: list[int] = field(default_factory=list)  # as time went by
    before: int = 0  # bytes that it took when the attack began

    def _about(self, what: str) -> Path:
        return Path(f"/proc/{self.process.pid}") / what

    def begin(self) -> None:
        """What it takes from now on counts."""
        pages = int(self._about("statm").read_text().split()[1])
        self.before = pages * os.sysconf("SC_PAGE_SIZE")
        with suppress(OSError):  # where that is not permitted, the most that it has ever taken counts
            self._about("clear_refs").write_text("5")
        self.look()

    def look(self) -> None:
        self.descriptors.append(len(list(self._about("fd").iterdir())))

    @property
    def grown(self) -> int:
        """Bytes at the most, from before the attack: as the system has seen it, at every moment."""
        (most,) = re.findall(r"VmHWM:\s+(\d+) kB", self._about("status").read_text())
        return 1024 * int(most) - self.before

    async def weigh(self, callers: int) -> Weight:
        """What it takes, once nobody is there but so many who keep the rules."""
        async with asyncio.timeout(PATIENCE):
            while (page := await asyncio.to_thread(self.page)) and _number("callers", page) != callers:  # noqa: ASYNC110
                await asyncio.sleep(PAUSE)
        before = self._weights()
        self.process.send_signal(signal.SIGUSR1)
        await until(lambda: len(self._weights()) > len(before))
        return Weight(**json.loads(self._weights()[-1]), delivered=_number("delivered_total", page))

    def _weights(self) -> list[str]:
        return [line for line in self.weighed.read_text().splitlines(keepends=True) if line.endswith("\n")]

    def page(self) -> str:
        """What it says of itself."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics}/metrics", timeout=20) as page:
            text: str = page.read().decode()
            return text


@dataclass
class Siege:
    """What has come of an attack."""

    node: Attacked
    done: dict[str, Found]
    page: str  # what the node has counted, as it shows it
    grown: int  # bytes
    lasted: float  # seconds
    delays: list[float]  # seconds from when something was to be published meanwhile until it came, ordered
    newcomers: list[float]  # seconds that each took that came meanwhile, until it got what was published from then on
    former: str = ""  # what the node had counted before
    weights: list[Weight] = field(default_factory=list)  # after a first wave, if there was one, and at the end

    @property
    def counted(self) -> Counter[str]:
        """Who was turned away or cut off, by why."""
        before, after = (
            Counter(
                {why: int(count) for why, count in re.findall(r'ropewalk_limited_total\{why="([^"]+)"\} (\d+)', page)}
            )
            for page in (self.former, self.page)
        )
        return after - before

    @property
    def held_up(self) -> int:
        """Links that had to wait."""
        return _number("held_up_total", self.page)

    @property
    def passed_over(self) -> int:
        """Neighbours for whom nobody waited any more."""
        return _number("passed_over_total", self.page)


@asynccontextmanager
async def attacked(folder: Path) -> AsyncIterator[Attacked]:
    """A node that follows the topic."""
    words = ["node", "--listen", "127.0.0.1:0", "--subscribe", TOPIC, "--metrics", "0"]
    out, err, weighed = folder / "out", folder / "err", folder / "weighed"
    weighed.touch()
    with out.open("wb") as to_out, err.open("wb") as to_err:
        process = subprocess.Popen(  # noqa: ASYNC220
            [sys.executable, str(WEIGHED), str(weighed), *words], stdout=to_out, stderr=to_err
        )
    try:
        async with asyncio.timeout(30):
            while not (shown := re.search(r"127\.0\.0\.1:(\d+)/metrics", err.read_text())):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        yield Attacked(process, json.loads(out.read_text())["address"], int(shown[1]), weighed)
        assert process.poll() is None, err.read_text()[-2000:]
        assert "Traceback" not in err.read_text()
    finally:
        process.kill()
        await asyncio.to_thread(process.wait)


async def attack(address: str, count: int, *kinds: str) -> dict[str, Found]:
    """So many attackers from a process of their own; how far those of each kind got."""
    words = [sys.executable, str(ATTACKERS), address, str(count), "7", *kinds]
    process = await asyncio.create_subprocess_exec(*words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        out, err = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    assert process.returncode == 0, err.decode()[-2000:]
    done: dict[str, Found] = json.loads(out.decode().splitlines()[-1])
    return done


class Honest:
    """Those who keep the rules: one publishes, one reads, and one comes in the middle of it. None can be called: there is no other way between them."""

    def __init__(self, node: Attacked, publisher: Node) -> None:
        self.node, self.publisher = node, publisher
        self.loop = asyncio.get_running_loop()
        self.published: dict[bytes, float] = {}  # by payload: when it was to be
        self.came: dict[bytes, float] = {}

    async def read(self, reader: Node) -> None:
        async with reader.subscribe(TOPIC, buffer=100_000) as events:
            async for event in events:
                self.came.setdefault(event.payload, self.loop.time())

    async def publish(self) -> bytes:
        payload = b"%d" % len(self.published)
        self.published[payload] = self.loop.time()
        await self.publisher.publish(payload, [TOPIC])
        return payload

    async def publish_while(self, other: "asyncio.Task[Any]") -> None:
        """Again and again, until something else is done."""
        while not other.done():
            await self.publish()
            await asyncio.sleep(PAUSE)

    async def publish_and_hear(self) -> None:
        payload = await self.publish()
        await until(lambda: payload in self.came)

    async def come(self, attacking: "asyncio.Task[dict[str, Found]]") -> list[float]:
        """One newcomer after the other as long as the attack lasts: how long each took."""
        callers, took = _number("callers", await asyncio.to_thread(self.node.page)), []
        while not attacking.done() and _number("callers", await asyncio.to_thread(self.node.page)) <= callers:  # noqa: ASYNC110
            await asyncio.sleep(PAUSE)
        while not attacking.done():
            took.append(await self._newcomer())
            await asyncio.sleep(NEXT)
        return took

    async def _newcomer(self) -> float:
        """Seconds until it has something that was published after it had joined."""
        begun = self.loop.time()
        async with Node(None, [self.node.address]) as newcomer, newcomer.subscribe(TOPIC, buffer=100_000) as events:
            await newcomer.joined.wait()
            joined = self.loop.time()
            async for event in events:
                if self.published.get(event.payload, joined) > joined:
                    break
            return self.loop.time() - begun

    def missing(self) -> list[bytes]:
        return [payload for payload in self.published if payload not in self.came]


def _number(name: str, page: str) -> int:
    return int(re.findall(rf"ropewalk_{name} (\d+)", page)[0])


async def besieged(folder: Path, count: int, *kinds: str, first: int = 0) -> Siege:
    """The node afterwards, and what was done to it. All who keep the rules have got everything.

    A first wave of so many, if any, is there to fill what has bounds: what the node takes after it is what it may take in the end.
    """
    async with (
        attacked(folder) as node,
        Node(None, [node.address]) as publisher,
        Node(None, [node.address]) as reader,
        publisher.subscribe(TOPIC, buffer=1, when_full="drop-oldest"),  # it need not hear what it says
        asyncio.TaskGroup() as group,
    ):
        honest, loop = Honest(node, publisher), asyncio.get_running_loop()
        reading = group.create_task(honest.read(reader))
        for _ in range(BEFORE):
            await honest.publish_and_hear()
        node.begin()
        looking = group.create_task(_look(node))
        weights = []
        if first:
            await honest.publish_while(group.create_task(attack(node.address, first, *kinds)))
            await until(lambda: not honest.missing())
            weights.append(await node.weigh(HONEST))
        former = await asyncio.to_thread(node.page)
        begun, already = loop.time(), len(honest.published)
        attacking = group.create_task(attack(node.address, count, *kinds))
        coming = group.create_task(honest.come(attacking))
        await honest.publish_while(attacking)
        lasted, meanwhile = loop.time() - begun, list(honest.published)[already:]
        for _ in range(AFTER):  # what is still on its way goes before
            await honest.publish_and_hear()
        async with asyncio.timeout(PATIENCE):
            await honest.publish_while(coming)
        try:
            await until(lambda: not honest.missing())
        except TimeoutError:
            missing, ends = honest.missing(), (publisher.transport.endings, reader.transport.endings)
            page = await asyncio.to_thread(node.page)
            lost = f"{len(missing)} of {len(honest.published)} are missing ({missing[:20]})"
            raise AssertionError(f"{lost}; {ends}; {reader.gate.counts}; {attacking.result()}\n{page}") from None
        weights.append(await node.weigh(HONEST))
        reading.cancel()
        looking.cancel()
        node.look()
        page = await asyncio.to_thread(node.page)
        assert "ropewalk_failures_total 0" in page
        assert publisher.address == reader.address == ""
        delays = sorted(honest.came[each] - honest.published[each] for each in meanwhile)
        return Siege(node, attacking.result(), page, node.grown, lasted, delays, coming.result(), former, weights)


async def _look(node: Attacked) -> None:
    while True:
        node.look()
        await asyncio.sleep(PAUSE)


async def until(condition: Callable[[], bool]) -> None:
    """As long as those who keep the rules are patient."""
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110  any condition
            await asyncio.sleep(0.02)

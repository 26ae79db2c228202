"""A real node in a process of its own, attacked by hundreds of connections from another, while two who keep the rules talk through it."""

import asyncio
import json
import os
import re
import subprocess
import sys
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from alive import alive_for
from ropewalk.engines.live.api import Node

ATTACKERS = Path(__file__).parent / "attackers.py"
TOPIC = "attacked"
PAUSE = 0.05  # seconds from one event of who keeps the rules to the next
SOME, MANY = 400, 10_000  # connections
MOST_GROWN = 160 * 1_048_576  # bytes: what the node may come to take besides, of which 64 MiB are events that it keeps
MOST_DESCRIPTORS = 900


@dataclass
class Attacked:
    """The node's process, and what can be seen of it."""

    process: subprocess.Popen[bytes]
    address: str
    metrics: int
    sizes: list[tuple[int, int]] = field(default_factory=list)  # bytes and descriptors, as time went by

    def measure(self) -> None:
        about = Path(f"/proc/{self.process.pid}")
        pages = int((about / "statm").read_text().split()[1])
        self.sizes.append((pages * os.sysconf("SC_PAGE_SIZE"), len(list((about / "fd").iterdir()))))

    def counted(self) -> dict[str, int]:
        """Who was turned away or cut off, by why."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics}/metrics", timeout=20) as page:
            text = page.read().decode()
        assert "ropewalk_failures_total 0" in text
        found = re.findall(r'ropewalk_limited_total\{why="([^"]+)"\} (\d+)', text)
        return {why: int(count) for why, count in found}


@asynccontextmanager
async def attacked(folder: Path) -> AsyncIterator[Attacked]:
    words = ["node", "--listen", "127.0.0.1:0", "--subscribe", TOPIC, "--metrics", "0"]
    out, err = folder / "out", folder / "err"
    with out.open("wb") as to_out, err.open("wb") as to_err:
        process = subprocess.Popen([sys.executable, "-m", "ropewalk", *words], stdout=to_out, stderr=to_err)  # noqa: ASYNC220
    try:
        async with asyncio.timeout(30):
            while not (shown := re.search(r"127\.0\.0\.1:(\d+)/metrics", err.read_text())):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        yield Attacked(process, json.loads(out.read_text())["address"], int(shown[1]))
        assert process.poll() is None, err.read_text()[-2000:]
        assert "Traceback" not in err.read_text()
    finally:
        process.kill()
        await asyncio.to_thread(process.wait)


async def _attack(node: Attacked, count: int, *kinds: str) -> dict[str, int]:
    words = [sys.executable, str(ATTACKERS), node.address, str(count), "7", *kinds]
    process = await asyncio.create_subprocess_exec(*words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        out, err = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    assert process.returncode == 0, err.decode()[-2000:]
    done: dict[str, int] = json.loads(out.decode().splitlines()[-1])
    return done


async def _besieged(folder: Path, count: int, *kinds: str) -> tuple[Attacked, dict[str, int], dict[str, int]]:
    """The node afterwards, what was done to it, and what it has counted. All who keep the rules have got everything."""
    async with (
        attacked(folder) as node,
        Node(None, [node.address]) as publisher,
        Node(None, [node.address]) as reader,  # neither can be called: there is no other way between them
        reader.subscribe(TOPIC, buffer=100_000) as events,
        publisher.subscribe(TOPIC, buffer=1, when_full="drop-oldest"),  # it need not hear what it says
    ):
        sent: dict[str, None] = {}
        got: dict[str, None] = {}

        async def read() -> None:
            async for event in events:
                got[event.id] = None

        reading = asyncio.create_task(read())
        first = await publisher.publish(b"is anybody there?", [TOPIC])
        await _until(lambda: first in got)
        for _ in range(20):
            node.measure()
            sent[await publisher.publish(b"before", [TOPIC])] = None
        attack = asyncio.create_task(_attack(node, count, *kinds))
        while not attack.done():
            sent[await publisher.publish(b"meanwhile", [TOPIC])] = None
            node.measure()
            await asyncio.sleep(PAUSE)
        for _ in range(20):  # what is still on its way goes before
            sent[after := await publisher.publish(b"afterwards", [TOPIC])] = None
            await _until(lambda each=after: each in got)
        await _until(lambda: sent.keys() <= got.keys())
        reading.cancel()
        node.measure()
        counted = await asyncio.to_thread(node.counted)
        assert publisher.address == reader.address == ""
        return node, await attack, counted


async def _until(condition) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110  any condition
            await asyncio.sleep(0.02)


def _holds_out(node: Attacked, done: dict[str, int], counted: dict[str, int], count: int) -> None:
    assert sum(done.values()) >= 0.98 * count
    before = node.sizes[19][0]
    assert max(size for size, _ in node.sizes) - before < MOST_GROWN
    assert max(descriptors for _, descriptors in node.sizes) < MOST_DESCRIPTORS
    assert node.sizes[-1][1] < node.sizes[19][1] + 40  # all of them are let go
    for why in ("TLS took too long", "no TLS", "hung up before TLS", "wrong proof", "garbled", "no proof in time"):
        assert counted[why] > 0, (why, counted)
    floods = counted.get("flood of announce", 0) + counted.get("flood of keep-alive", 0)
    assert floods > 0, counted


@pytest.mark.thorough
@alive_for(110)
async def test_a_node_among_hundreds_that_mean_harm_serves_who_keeps_the_rules(tmp_path: Path) -> None:
    _holds_out(*await _besieged(tmp_path, SOME), SOME)


@pytest.mark.long
@pytest.mark.timeout(1800)
@alive_for(1700)
async def test_a_node_among_ten_thousand_that_mean_harm_serves_who_keeps_the_rules(tmp_path: Path) -> None:
    node, done, counted = await _besieged(tmp_path, MANY)
    _holds_out(node, done, counted, MANY)
    sizes = [size for size, _ in node.sizes]
    print(json.dumps({"connections": done, "counted": counted, "most_bytes": max(sizes), "before": sizes[19]}))


@alive_for(110)
async def test_who_floods_with_events_is_slowed_down_and_not_cut_off_and_nobody_else_loses_any(tmp_path: Path) -> None:
    node, done, counted = await _besieged(tmp_path, 3, "flood_of_events")
    assert done == {"flood_of_events": 3}
    assert not [why for why in counted if why.startswith("flood")]
    assert max(size for size, _ in node.sizes) - node.sizes[19][0] < MOST_GROWN


def test_attackers_attack_nobody_elsewhere() -> None:
    done = subprocess.run(
        [sys.executable, str(ATTACKERS), "192.0.2.1:7", "1", "1"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "is not of this machine" in done.stderr

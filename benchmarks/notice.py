"""How soon is a neighbour noticed to be gone: killed (SIGKILL) beside a bare asyncio TLS connection, and frozen (SIGSTOP)?

    .venv/bin/python benchmarks/notice.py [--killed 100] [--frozen 12]

Every neighbour is a process of its own, and meets its end at another moment of the second between two words that it lives. The last line of standard output is one JSON document, in seconds. Exit code 1 if a node takes
more than 5 times as long as the bare connection to notice a death (95th percentile), or 3 s for one that is frozen.
"""

import argparse
import asyncio
import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable

from ropewalk.engines.live.api import Node
from ropewalk.engines.live.endings import Ending
from ropewalk.engines.live.identity import Identity, contexts
from ropewalk.engines.live.loops import run
from ropewalk.protocols.contract import Contact

MOST_TIMES, MOST_FROZEN = 5.0, 3.0
HEARTBEAT = 1.0  # seconds, as usual
NODE = [sys.executable, "-m", "ropewalk", "node", "--bootstrap"]
BARE = """
import asyncio, ssl, sys
async def main(port):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    reader, _ = await asyncio.open_connection("127.0.0.1", port, ssl=context)
    await reader.read()
asyncio.run(main(int(sys.argv[1])))
"""  # who is at the other end of a bare connection


class Bare(asyncio.Protocol):
    """Tells when it is up, and when it is lost."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self.tell = tell

    def connection_made(self, transport: asyncio.BaseTransport) -> None:  # noqa: ARG002  asyncio says so
        """It is there."""
        self.tell("up")

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  likewise
        """It is gone."""
        self.tell("down")


async def one(words: list[str], told: "asyncio.Queue[tuple[str, float]]", number: int, after: float) -> float:
    """Start a neighbour, have something happen to it so long after it is linked, and wait until it is noticed; after how long."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: ASYNC220  it takes a moment
    try:
        await _next(told, "up")
        await asyncio.sleep(after)
        begun = time.perf_counter()
        os.kill(process.pid, number)
        return await _next(told, "down") - begun
    finally:
        process.kill()
        await asyncio.to_thread(process.wait)


async def _next(told: "asyncio.Queue[tuple[str, float]]", what: str) -> float:
    async with asyncio.timeout(60):
        while True:
            found, at = await told.get()
            if found == what:
                return at


async def of_node(number: int, after: float) -> float:
    """How long a live node takes."""
    told: asyncio.Queue[tuple[str, float]] = asyncio.Queue()
    async with Node() as node:
        up, down = node.transport.up, node.transport.down

        def came(contact: Contact) -> None:
            told.put_nowait(("up", time.perf_counter()))
            up(contact)

        def went(contact: Contact, ending: Ending) -> None:
            told.put_nowait(("down", time.perf_counter()))
            down(contact, ending)

        node.transport.up, node.transport.down = came, went
        return await one([*NODE, node.address], told, number, after)


async def of_bare(number: int, after: float) -> float:
    """How long asyncio alone takes."""
    told: asyncio.Queue[tuple[str, float]] = asyncio.Queue()
    served = contexts(Identity.fresh(), None)[0]
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: Bare(lambda what: told.put_nowait((what, time.perf_counter()))), "127.0.0.1", 0, ssl=served
    )
    port = server.sockets[0].getsockname()[1]
    try:
        return await one([sys.executable, "-c", BARE, str(port)], told, number, after)
    finally:
        server.close()


def share(values: list[float], part: float) -> float:
    """The value that this share does not exceed."""
    return round(sorted(values)[min(len(values) - 1, math.ceil(part * len(values)) - 1)], 5)


def _moments(count: int) -> list[float]:
    """Seconds after it is linked: when it has nothing more to say, spread over a heartbeat."""
    return [0.2 + HEARTBEAT * turn / count for turn in range(count)]


async def measured(killed: int, frozen: int) -> dict[str, object]:
    """Both in turns, so that both meet the same machine."""
    node: list[float] = []
    bare: list[float] = []
    for after in _moments(killed):
        bare.append(await of_bare(signal.SIGKILL, after))
        node.append(await of_node(signal.SIGKILL, after))
    stopped = [await of_node(signal.SIGSTOP, after) for after in _moments(frozen)]
    found = {"killed": node, "killed, bare asyncio TLS": bare, "frozen": stopped}
    return {
        what: {"p50": share(values, 0.5), "p95": share(values, 0.95), "most": share(values, 1.0), "runs": len(values)}
        for what, values in found.items()
    }


def main() -> int:
    """Measure and judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--killed", type=int, default=100)
    parser.add_argument("--frozen", type=int, default=12)
    asked = parser.parse_args()
    found: dict[str, dict[str, float]] = run(measured(asked.killed, asked.frozen))  # type: ignore[arg-type]
    times = found["killed"]["p95"] / found["killed, bare asyncio TLS"]["p95"]
    holds = times <= MOST_TIMES and found["frozen"]["p95"] <= MOST_FROZEN
    print(json.dumps(found | {"times the bare p95": round(times, 2), "holds": holds}))
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())

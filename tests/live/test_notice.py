"""How soon a real process that is frozen is noticed."""

import asyncio
import os
import signal
import subprocess
import sys

from alive import Node, alive_for, eventually

MOST = 3.0  # seconds, at the usual heartbeat


@alive_for(60)
async def test_a_process_that_is_frozen_is_noticed_within_three_seconds() -> None:
    async with Node() as node:
        downs: list[tuple[float, str]] = []
        loop, down = asyncio.get_running_loop(), node.transport.down

        def went(contact, ending) -> None:
            downs.append((loop.time(), ending.why))
            down(contact, ending)

        node.transport.down = went
        words = [sys.executable, "-m", "ropewalk", "node", "--bootstrap", node.address]
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: ASYNC220
        try:
            await eventually(lambda: node.transport.links, seconds=30)
            begun = loop.time()
            os.kill(process.pid, signal.SIGSTOP)
            await eventually(lambda: downs)
            assert downs[0][1] == "frozen"
            assert downs[0][0] - begun < MOST
        finally:
            process.kill()
            await asyncio.to_thread(process.wait)

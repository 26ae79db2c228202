"""A process that runs some nodes of a cluster, and does what it is told on standard input: a line of JSON each, answered by one.

python -m ropewalk.engines.live.worker
"""

import asyncio
import json
import logging
import os
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from ropewalk.engines.live.api import Node
from ropewalk.engines.live.loops import run
from ropewalk.engines.live.options import LIVE_EVENTS, Options
from ropewalk.engines.live.subscriptions import Subscription
from ropewalk.engines.live.telemetry import Telemetry
from ropewalk.engines.live.wants import filter_of
from ropewalk.errors import RopewalkError
from ropewalk.protocols.catalogue import PROTOCOLS
from ropewalk.protocols.contract import Contact, Lasting

LONGEST = 64 * 1_048_576  # ours, bytes: of a line
log = logging.getLogger(__name__)


class Worker:
    """Its nodes, by the number that they have in the cluster."""

    def __init__(self) -> None:
        self.nodes: dict[int, Node] = {}
        self.telemetry: dict[int, Telemetry] = {}
        self._reading: set[asyncio.Task[None]] = set()
        self.verbs: dict[str, Callable[[dict[str, Any]], Awaitable[Any]]] = {
            "start": self.start,
            "follow": self.follow,
            "resume": self.resume,
            "publish": self.publish,
            "stage": self.stage,
            "state": self.state,
            "leave": self.leave,
        }

    async def start(self, told: dict[str, Any]) -> list[Any]:
        """Start a node; who and where it is."""
        options = Options(
            identity=Path(told["identity"]),
            advertise=told.get("advertise"),
            call_from=told.get("call_from"),
            protocol=told["protocol"],
            settings=PROTOCOLS[told["protocol"]].settings(**told["settings"]),
            heartbeat=told["heartbeat"],
            events=LIVE_EVENTS,
        )
        node = Node(told["listen"], told["bootstrap"], options)
        self.telemetry[told["number"]] = Telemetry(node, Path(told["telemetry"]), told["life"])
        self.nodes[told["number"]] = await node.start()
        if told["watched"]:
            self.telemetry[told["number"]].watch()
        if told["paused"]:
            node.driver.pause()
        return [node.identity.id, node.address]

    async def follow(self, told: dict[str, Any]) -> None:
        """Have a node follow topics, with these to begin with."""
        contacts = {int(topic): tuple(Contact(*each) for each in known) for topic, known in told["topics"].items()}
        node = self.nodes[told["number"]]
        filters = tuple(map(filter_of, told["filters"]))
        events = node.follow(dict.fromkeys(contacts, ""), contacts, when_full="drop-oldest", filters=filters)
        task = asyncio.create_task(_read(events))
        self._reading.add(task)
        task.add_done_callback(self._reading.discard)

    async def resume(self, _: dict[str, Any]) -> None:
        """Let messages in that were held back."""
        for node in self.nodes.values():
            node.driver.resume()

    async def publish(self, told: dict[str, Any]) -> str:
        """Have a node publish; nothing, or why it could not."""
        topics = dict.fromkeys(told["topics"], "")
        try:
            content = tuple((name, value) for name, value in told["content"])
            await self.nodes[told["number"]].publish_on(bytes(told["size"]), topics, content, alone=True)
        except RopewalkError as error:
            return str(error)
        return ""

    async def stage(self, told: dict[str, Any]) -> None:
        """Have all nodes say what they hold."""
        for telemetry in self.telemetry.values():
            telemetry.stage(told["name"])

    async def state(self, _: dict[str, Any]) -> list[int]:
        """What nodes wait for before they are among others, and on how many topics they are alone."""
        machines = [node.driver.machine for node in self.nodes.values()]
        states = [machine.awaited() for machine in machines if isinstance(machine, Lasting)]
        return [sum(coming for coming, _ in states), sum(alone for _, alone in states)]

    async def leave(self, _: dict[str, Any]) -> None:
        """Have all nodes leave."""
        await asyncio.gather(*(node.leave() for node in self.nodes.values()))
        for telemetry in self.telemetry.values():
            await telemetry.close()

    async def answer(self, line: bytes, write: Callable[[bytes], None]) -> None:
        """Do what a line says, and say what came of it."""
        told = json.loads(line)
        try:
            answer = {"number": told["turn"], "answer": await self.verbs[told["do"]](told)}
        except Exception as error:  # whoever asked waits for an answer
            log.exception("%s failed", told["do"])
            answer = {"number": told["turn"], "error": f"{type(error).__name__}: {error}"}
        write(json.dumps(answer).encode() + b"\n")


async def _read(events: Subscription) -> None:
    async for _ in events:
        pass


async def work() -> None:
    """Until it is told to leave, or whoever told it is gone."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LONGEST)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
    out = sys.stdout.buffer

    def write(answer: bytes) -> None:
        with suppress(BrokenPipeError):  # nobody waits for it any more
            out.write(answer)
            out.flush()

    worker = Worker()
    answering: set[asyncio.Task[None]] = set()
    while line := await reader.readline():
        task = asyncio.create_task(worker.answer(line, write))
        answering.add(task)
        task.add_done_callback(answering.discard)
        if json.loads(line)["do"] == "leave":
            await task
            return
    os._exit(1)  # whoever told it is gone, and there is nobody to say good-bye to


if __name__ == "__main__":
    logging.basicConfig(level=logging.ERROR, stream=sys.stderr)
    run(work())

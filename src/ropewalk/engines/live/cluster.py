"""The nodes of a universe as real nodes on this machine: started, subscribed, loaded with events, and made to fail.

Nodes run in processes of their own: several in each, or one in each where they are to be killed or frozen. All that they do
is in their telemetry, which is read when everything is over.
"""

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ropewalk.engines.contract import FINAL, INITIAL, Views, stage_after
from ropewalk.engines.live.faults import Fault
from ropewalk.engines.live.handshake import HEARTBEAT
from ropewalk.engines.live.proxy import Proxy, inside
from ropewalk.engines.live.wants import as_json
from ropewalk.engines.live.worker import LONGEST
from ropewalk.engines.publishing import PAYLOAD_BYTES, Drawn
from ropewalk.errors import RunError
from ropewalk.protocols.content.filters import Filter
from ropewalk.protocols.contract import Contact
from ropewalk.protocols.dht.runs import OfRuns
from ropewalk.protocols.stan.settings import NAME, Settings
from ropewalk.seeds import chance, pick

PORT = 7000  # where a node listens that has an address of its own
SEEDS = 3  # ours: nodes that a newcomer is told of, whatever they follow
SETTLING = 120.0  # ours, seconds: until all links that views ask for are up
LEAVING = 30.0  # ours, seconds: until all have said good-bye
AT_ONCE = 8  # ours: nodes that are started at a time


@dataclass(slots=True)
class Life:
    """A node from one start to its end."""

    node: int  # in the universe
    number: int
    life: int
    telemetry: Path
    contact: Contact | None = None  # once it runs
    ended_at: float | None = None  # in seconds since 1970; None if it runs to the end
    politely: bool = False  # whether it said good-bye then


@dataclass(eq=False)
class Worker:
    """A process that runs some nodes."""

    process: asyncio.subprocess.Process
    lives: dict[int, Life] = field(default_factory=dict)  # by node
    frozen: bool = False
    turn: int = 0
    asked: dict[int, asyncio.Future[Any]] = field(default_factory=dict)
    listening: asyncio.Task[None] | None = None

    async def ask(self, do: str, **told: Any) -> Any:
        """Have it do something; what came of it."""
        self.turn += 1
        future = self.asked[self.turn] = asyncio.get_running_loop().create_future()
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps({"do": do, "turn": self.turn, **told}).encode() + b"\n")
            await self.process.stdin.drain()
        except OSError:
            raise RunError("a process with nodes in it has died.") from None
        return await future

    async def listen(self) -> None:
        """Take in what it answers, until it is gone."""
        assert self.process.stdout is not None
        while line := await self.process.stdout.readline():
            said = json.loads(line)
            future = self.asked.pop(said["number"])
            if not future.done():
                if "error" in said:
                    future.set_exception(RunError(said["error"]))
                else:
                    future.set_result(said["answer"])
        for future in self.asked.values():
            if not future.done():
                future.set_exception(RunError("a process with nodes in it has died."))


class Cluster:
    """All nodes of a universe."""

    def __init__(
        self,
        members: dict[int, list[int]],
        settings: Settings | OfRuns,
        seed: int,
        folder: Path,
        *,
        protocol: str = NAME,
        processes: int | None = 2,  # None: one for each node
        cuttable: bool = False,  # whether some can be parted from others
        heartbeat: float = HEARTBEAT,
        filters: dict[int, tuple[Filter, ...]] | None = None,  # by node: what of its topics, if not all
        telemetry: Path | None = None,  # where somebody looks on, so that nodes say more, and sooner; None: nobody does
    ) -> None:
        self.members, self.settings, self.seed, self.folder = members, settings, seed, folder
        self.filters, self.telemetry = filters or {}, telemetry
        self.processes, self.heartbeat, self.protocol = processes, heartbeat, protocol
        self.follows: dict[int, list[int]] = {}
        for topic, nodes in members.items():
            for node in nodes:
                self.follows.setdefault(node, []).append(topic)
        self.nodes = sorted(self.follows)
        self.lives: list[Life] = []
        self.running: dict[int, Life] = {}  # by node
        self.workers: dict[int, Worker] = {}  # by node
        self.spawned: list[Worker] = []  # all that ever were
        self.cuts: list[set[int]] = []  # numbers of nodes that are parted from all others
        self.places: dict[int, str] = {}  # where nodes are called, if there is a proxy
        self.proxy = Proxy() if cuttable else None
        self.unpublished: list[str] = []  # why events could not be published
        self._others: list[asyncio.Task[None]] = []  # events and faults; what goes wrong with them ends the run

    async def __aenter__(self) -> Self:
        """None runs yet."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """All leave; nothing is left behind, whatever has happened."""
        try:
            if error is None:
                await self._leave_all()
        finally:
            await self._clear()

    async def begin(self, views: Views) -> None:
        """Have all nodes run, and follow what they follow, with these as first neighbours where they are given."""
        count = len(self.nodes) if self.processes is None else min(self.processes, len(self.nodes))
        workers = [await self._spawn_worker() for _ in range(count)]
        if isinstance(self.settings, OfRuns):
            await self._seat_all(workers)
            return
        await self._start_all(workers)
        await self._follow_all(views)

    async def play(self, events: list[Drawn], faults: list[Fault]) -> None:
        """Period after period: publish, let things go wrong, and look at what nodes hold."""
        period, rounds = self.settings.period, self.settings.rounds
        begun = asyncio.get_running_loop().time()
        plan: list[tuple[float, Any]] = [(each.at, each) for each in events]
        plan += [(fault.at * period, fault) for fault in faults]
        plan += [(turn * period, stage_after(turn, rounds)) for turn in range(1, rounds + 1)]
        await self.stage(INITIAL)
        for at, what in sorted(plan, key=lambda each: each[0]):
            await asyncio.sleep(max(0.0, begun + at - asyncio.get_running_loop().time()))
            if isinstance(what, Drawn):
                self._spawn(self._publish(what))
            elif isinstance(what, Fault):
                self._spawn(self._break(what))
            else:
                if what == FINAL:
                    await asyncio.gather(*self._others)
                await self.stage(what)

    async def stage(self, name: str) -> None:
        """Have all nodes say what they hold, but those that are frozen."""
        workers = [worker for worker in self._workers() if not worker.frozen]
        answers = await asyncio.gather(*(worker.ask("stage", name=name) for worker in workers), return_exceptions=True)
        for worker, answer in zip(workers, answers, strict=True):
            if isinstance(answer, BaseException) and worker in self._workers():  # else it was killed meanwhile
                raise answer

    # Coming

    async def _start_all(self, workers: list[Worker]) -> None:
        for lot in self._lots():
            await asyncio.gather(
                *(self._start(self.nodes[at], workers[at % len(workers)], self._seeds(at), 0) for at in lot)
            )

    async def _seat_all(self, workers: list[Worker]) -> None:
        """Where a node sits depends on who sits already, and on what it follows: some sit down, and then the next."""

        async def seat(at: int) -> None:
            await self._start(self.nodes[at], workers[at % len(workers)], self._seeds(at), 0)
            await self._follow(self.nodes[at], {})

        for lot in self._lots():
            await asyncio.gather(*map(seat, lot))
            await self._settle(time.monotonic() + SETTLING, lambda coming, _: coming)

    def _lots(self) -> Iterator[range]:
        """The numbers of nodes that start together: the first alone, so that there is somebody."""
        yield range(1)
        for first in range(1, len(self.nodes), AT_ONCE):
            yield range(first, min(first + AT_ONCE, len(self.nodes)))

    async def _start(self, node: int, worker: Worker, seeds: list[str], life: int) -> None:
        number = self.nodes.index(node)
        born = Life(node, number, life, (self.telemetry or self.folder) / f"{number}.jsonl")
        self.lives.append(born)
        listen = "127.0.0.1:0"
        if self.proxy is not None:
            listen = f"{inside(number)}:{PORT}"
            if node not in self.places:
                self.places[node] = await self.proxy.stand_for(number, PORT)
        told = {
            "listen": listen,
            "advertise": self.places.get(node),
            "call_from": inside(number) if self.proxy is not None else None,
            "bootstrap": seeds,
            "identity": str(self.folder / f"identity-{number}"),
            "protocol": self.protocol,
            "settings": asdict(self.settings),
            "heartbeat": self.heartbeat,
            "telemetry": str(born.telemetry),
            "life": life,
            "watched": self.telemetry is not None,
            "paused": not self.settings.discover and not life,
        }
        id_, address = await worker.ask("start", number=number, **told)
        born.contact = Contact(id_, address)
        worker.lives[node] = born
        self.running[node], self.workers[node] = born, worker

    def _seeds(self, turn: int) -> list[str]:
        """Some that run, by chance."""
        running = [life.contact.address for life in self.running.values() if life.contact is not None]
        if not self.settings.discover or not running:
            return []
        drawn = [chance(self.seed, "seed", turn, draw) for draw in range(SEEDS)]
        return list(dict.fromkeys(running[pick(each, len(running))] for each in drawn))

    async def _follow_all(self, views: Views) -> None:
        """Some at a time: if all shook hands at once, what takes long would be taken for failures.

        Where they are told of each other, nobody listens before everybody follows: else early ones are told that others do not.
        """
        deadline = time.monotonic() + SETTLING
        for first in range(0, len(self.nodes), AT_ONCE):
            await asyncio.gather(*(self._follow(node, views) for node in self.nodes[first : first + AT_ONCE]))
            await self._settle(deadline, lambda coming, _: coming)
        if self.settings.discover:
            alone = sum(len(nodes) == 1 for nodes in self.members.values())
            await self._settle(deadline, lambda coming, lonely: coming + lonely - alone)
        else:
            await asyncio.gather(*(worker.ask("resume") for worker in self._workers()))

    async def _settle(self, deadline: float, left_of: Callable[[int, int], int]) -> None:
        """Until no link is to come any more."""
        while True:
            states: list[list[int]] = await asyncio.gather(*(worker.ask("state") for worker in self._workers()))
            left = left_of(sum(state[0] for state in states), sum(state[1] for state in states))
            if left <= 0:
                return
            if time.monotonic() > deadline:
                raise RunError(
                    f"after {SETTLING:.0f} s there are still {left} links to come, or places on trees; use fewer nodes, or a longer"
                    " period."
                )
            await asyncio.sleep(0.05)

    async def _follow(self, node: int, views: Views) -> None:
        known = {
            topic: [
                self.running[other].contact for other in views.get(topic, {}).get(node, ()) if other in self.running
            ]
            for topic in self.follows[node]
        }
        filters = [as_json(each) for each in self.filters.get(node, ())]
        await self.workers[node].ask("follow", number=self.running[node].number, topics=known, filters=filters)

    # Events and faults

    async def _publish(self, event: Drawn) -> None:
        worker, life = self.workers.get(event.publisher), self.running.get(event.publisher)
        if worker is None or life is None:
            return  # its publisher is away
        with suppress(RunError):  # or dies over it
            told = {"number": life.number, "topics": list(event.topics), "content": event.content}
            failed = await worker.ask("publish", size=PAYLOAD_BYTES, **told)
            if failed:
                self.unpublished.append(failed)

    async def _break(self, fault: Fault) -> None:
        lasts = fault.lasts * self.settings.period
        victims = fault.victims(sorted(self.running), self.seed)
        match fault.kind:
            case "kill":
                await asyncio.gather(*(self._kill(node) for node in victims))
            case "freeze":
                frozen = [self.workers[node] for node in victims if node in self.workers]
                for worker in frozen:
                    worker.frozen = True
                    worker.process.send_signal(signal.SIGSTOP)
                await asyncio.sleep(lasts)
                for worker in frozen:
                    with suppress(ProcessLookupError):  # it may have been killed meanwhile
                        worker.process.send_signal(signal.SIGCONT)
                    worker.frozen = False
            case "partition":
                assert self.proxy is not None
                apart = {self.nodes.index(node) for node in victims}
                self.cuts.append(apart)
                self.proxy.is_cut = self._is_cut
                await asyncio.sleep(lasts)
                self.cuts.remove(apart)
            case "restart":
                for node in victims:
                    await self._restart(node)

    def _is_cut(self, source: int, to: int) -> bool:
        return any((source in apart) != (to in apart) for apart in self.cuts)

    async def _kill(self, node: int) -> None:
        if node not in self.running:
            return  # it is about to be back, or was killed already
        worker, life = self.workers.pop(node), self.running.pop(node)
        worker.process.kill()
        await worker.process.wait()
        life.ended_at = time.time()

    async def _restart(self, node: int) -> None:
        if node not in self.running:
            return
        worker, life = self.workers.pop(node), self.running.pop(node)
        life.ended_at, life.politely = time.time(), True
        await worker.ask("leave")
        await worker.process.wait()
        await self._start(node, await self._spawn_worker(), self._seeds(len(self.lives)), life.life + 1)
        await self._follow(node, {})

    # Going

    async def _leave_all(self) -> None:
        async with asyncio.timeout(LEAVING):
            await asyncio.gather(*(worker.ask("leave") for worker in self._workers()))
            await asyncio.gather(*(worker.process.wait() for worker in self._workers()))

    async def _clear(self) -> None:
        for task in self._others:
            task.cancel()
        await asyncio.gather(*self._others, return_exceptions=True)
        for worker in self.spawned:
            with suppress(ProcessLookupError):
                worker.process.kill()
            await worker.process.wait()
            if worker.listening is not None:
                await worker.listening
        if self.proxy is not None:
            await self.proxy.close()

    def _workers(self) -> list[Worker]:
        return list(dict.fromkeys(self.workers.values()))

    async def _spawn_worker(self) -> Worker:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "ropewalk.engines.live.worker",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=LONGEST,
            start_new_session=True,  # Ctrl-C is for whoever runs the cluster, who tells them
            env={**os.environ, "PYTHONHASHSEED": "0"},
        )
        worker = Worker(process)
        self.spawned.append(worker)
        worker.listening = asyncio.create_task(worker.listen())
        return worker

    def _spawn(self, work: Any) -> None:
        self._others.append(asyncio.create_task(work))


def processes_for(faults: Iterable[Fault], asked: int) -> int | None:
    """How many processes: one for each node, where nodes are to be killed, frozen or restarted."""
    return None if any(fault.kind != "partition" for fault in faults) else asked

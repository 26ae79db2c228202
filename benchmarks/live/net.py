"""One network in a process of its own: `net.py '{"network": ..., "seed": ...}'`; the last line is what was found, in JSON."""

import asyncio
import gc
import json
import os
import resource
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from statistics import mean, quantiles
from typing import Any, Protocol

from networks.crashes import HARD, is_whole, reach
from networks.naive import Naive
from networks.ours import Ours
from networks.world import A_SECOND, SIZE, UNHURRIED, Links, Planned, World, connections_of
from rooms import sampled, shares
from tally import HEAD

from ropewalk.engines.live.loops import run as run_on_loop

LOOK = 1.0  # seconds from one look at who is connected to the next
PROFILED = 0.01  # seconds of processor time from one look at which room is at work to the next
ENDS = frozenset({"hear", "publish"})
IDLE = 2.0  # seconds in which it is seen what doing nothing costs, at the least
QUIET = 15.0  # seconds without another delivery, after which those that are missing count as missed
WHOLE = 120.0  # seconds in which every overlay hangs together
MILLI, KIB = 1e3, 1024
ESTABLISHED = "01"  # in the system's table of sockets


class Network(Protocol):
    """Nodes in this process."""

    period: float  # seconds of a round; 0: nothing changes after the start

    async def start(self) -> None:
        """Until all are there."""

    def links(self) -> Links:
        """Who is neighbour of whom, by topic."""

    def connections(self) -> list[int]:
        """By node."""

    def frames(self) -> int:
        """With an event, so far."""

    def lost(self) -> dict[str, int]:
        """Connections that are no more, by why."""

    async def publish(self, node: int, payload: bytes, topics: tuple[int, ...]) -> None:
        """One event."""

    async def close(self) -> None:
        """End everything."""


def say(what: str) -> None:
    """On standard error."""
    print(f"          {what}", file=sys.stderr, flush=True)


class Watch:
    """When events came to whom."""

    def __init__(self) -> None:
        self.owed: dict[int, set[int]] = {}  # by event: to whom it has not come
        self.begun: dict[int, float] = {}
        self.ended: dict[int, float] = {}
        self.delivered = 0
        self.failed: list[str] = []

    def hear(self, node: int, payload: bytes) -> None:
        """An event has come to a node."""
        number = HEAD.unpack(payload[: HEAD.size])[1]
        if node in self.owed[number]:
            self.owed[number].remove(node)
            self.ended[number] = time.perf_counter()
            self.delivered += 1

    async def publish(
        self, network: Network, planned: list[Planned], idle: float, a_second: float = A_SECOND
    ) -> dict[str, Any]:
        """So many a second; what became of them. `idle`: what share of a core all else takes."""
        frames, delivered, cpu = network.frames(), self.delivered, time.process_time()
        since = time.perf_counter()
        publishing = []
        due = time.perf_counter()
        for event in planned:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            due += 1 / a_second
            self.owed[event.number], self.begun[event.number] = set(event.owed), time.perf_counter()
            payload = HEAD.pack(0, event.number, 0) + bytes(SIZE - HEAD.size)
            publishing.append(asyncio.create_task(self._one(network.publish(event.publisher, payload, event.topics))))
        await asyncio.wait(publishing)
        missed, cpu = await self._missed(planned), time.process_time() - cpu
        cpu = max(0.0, cpu - idle * (time.perf_counter() - since))
        taken = [self.ended[each.number] - self.begun[each.number] for each in planned if not self.owed[each.number]]
        cuts = quantiles(taken, n=100, method="inclusive") if len(taken) > 1 else [0.0] * 99
        made = self.delivered - delivered
        return {
            "owed": sum(len(each.owed) for each in planned), "missed": missed, "deliveries": made,
            "frames_per_delivery": (network.frames() - frames) / max(1, made),
            "to_all_p50_ms": MILLI * cuts[49], "to_all_p99_ms": MILLI * cuts[98], "failed": self.failed[:3],
            "cpu_ms_per_event": MILLI * cpu / len(planned),
        }  # fmt: skip

    async def _one(self, publishing: Coroutine[Any, Any, None]) -> None:
        try:
            await publishing
        except Exception as error:  # noqa: BLE001  it is told with the rest
            self.failed.append(str(error))

    async def _missed(self, planned: list[Planned]) -> int:
        def left() -> int:
            return sum(len(self.owed[each.number]) for each in planned)

        seen, since = -1, time.monotonic()
        while (now := left()) and time.monotonic() - since < QUIET:
            if now != seen:
                seen, since = now, time.monotonic()
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.5)  # copies that are still on their way count as frames
        return left()


def _resident() -> float:
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def _sockets() -> int:
    """Established ends of TCP connections that this process has, as the system counts them."""
    own = set()
    for descriptor in Path("/proc/self/fd").iterdir():
        try:
            own.add(str(descriptor.readlink()))
        except OSError:
            continue  # it was that of the list itself
    rows = [line.split() for line in Path("/proc/self/net/tcp").read_text().splitlines()[1:]]
    return sum(row[3] == ESTABLISHED and f"socket:[{row[9]}]" in own for row in rows)


def _made(told: dict[str, Any], world: World, hear: Callable[[int, bytes], None]) -> Network:
    if told["network"] == "naive":
        return Naive(world, hear, told["degree"], told["seed"])
    return Ours(world, hear, told["network"])


async def main(told: dict[str, Any]) -> dict[str, Any]:
    """Start, settle, count, publish."""
    world, watch = World(told["seed"], told["nodes"]), Watch()
    nodes = told["nodes"]
    before = _resident()
    begun = time.perf_counter()
    network = _made(told, world, watch.hear)
    await network.start()
    while not is_whole(world, network.links()):
        if time.perf_counter() - begun > WHOLE:
            raise TimeoutError("overlays do not hang together")
        await asyncio.sleep(0.05)
    started = time.perf_counter() - begun
    say(f"started after {started:.1f} s; {mean(network.connections()):.1f} connections a node")
    await asyncio.sleep(told["rounds"] * network.period)
    rooms: dict[str, dict[str, float]] = {}
    with sampled(PROFILED, ENDS) as looks:
        quiet = await _looked_at(network, max(IDLE, told["rounds"] * network.period), nodes)
    rooms["idle"] = shares(looks, quiet["idle_cpu_share"])
    counted, links = network.connections(), network.links()
    resident = _resident() - before
    idle = quiet["idle_cpu_share"]
    one = await watch.publish(network, world.events(told["single"], 1), idle)
    triple = world.events(told["triple"], 3)
    with sampled(PROFILED, ENDS) as looks:
        begun, cpu = time.perf_counter(), time.process_time()
        three = await watch.publish(network, triple, idle)
    rooms["three_topics"] = shares(looks, (time.process_time() - cpu) / (time.perf_counter() - begun))
    again = await watch.publish(network, world.again(triple), idle, UNHURRIED)
    after = _resident() - before
    await network.close()
    return quiet | {
        "connections_p99": quantiles(counted, n=100, method="inclusive")[98],
        "linked_mean": mean(connections_of(links, nodes)),
        "links_per_topic": 2 * mean(len(links[topic]) / max(1, len(members)) for topic, members in enumerate(world.members)),
        "reach_after_crash": reach(world, links), "reach_after_hard_crash": reach(world, links, HARD),
        "lost_links": network.lost(),
        "kib_per_node": resident / KIB / nodes, "kib_per_node_with_events": after / KIB / nodes, "start_s": started,
        "one_topic": one, "three_topics": three, "three_topics_unhurried": again,
        "rooms": rooms,
    }  # fmt: skip


async def _looked_at(network: Network, seconds: float, nodes: int) -> dict[str, float]:
    """Connections on average and at the most, by the network's own count and by the system's, and what doing nothing else costs.

    Over as long as it settled: nodes call each other now and then, so one moment says little.
    """
    begun, cpu = time.perf_counter(), time.process_time()
    counted, sockets = list[float](), list[float]()
    while (passed := time.perf_counter() - begun) < seconds:
        counted.append(mean(network.connections()))
        sockets.append(_sockets() / nodes)
        await asyncio.sleep(min(LOOK, seconds - passed))
    return {
        "connections_mean": mean(counted), "connections_most": max(counted), "sockets_mean": mean(sockets),
        "idle_cpu_share": (time.process_time() - cpu) / (time.perf_counter() - begun),
    }  # fmt: skip


if __name__ == "__main__":
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    print(json.dumps(run_on_loop(main(json.loads(sys.argv[1])))))

"""How many events a second does the simulator handle, beside a bare heap that only pops and pushes?

StaN's link management on set G, 3000 x 300, every node with timers of its own and messages that take 50 ms: an event is
one input handled by its node, with everything that follows from it. The baseline, in the same run, pops as many entries
from a heap of the same size and pushes one for each. Then the same on 30,000 x 300, where a node follows as many topics,
for as long of the nodes' own time: the first seconds of a period of 30, in which as many walk, tidy up and keep links alive
as in any other.
Memory is what the process grew by while all nodes subscribed. The last line is one JSON document.

    .venv/bin/python benchmarks/sim.py [--seconds 2] [--large 30000]
"""

import argparse
import gc
import json
import multiprocessing
import sys
import time
from dataclasses import asdict, dataclass
from heapq import heapify, heappop, heappush

from memory import processes_under
from universes import set_g

from ropewalk import ids
from ropewalk.engines.sim import timed
from ropewalk.engines.sim.network import Latency, Network
from ropewalk.engines.sim.population import Population
from ropewalk.engines.sim.simulator import Simulator
from ropewalk.engines.views import views_of
from ropewalk.protocols.stan import kernel
from ropewalk.protocols.stan.settings import Settings
from ropewalk.seeds import chance, unit
from ropewalk.workloads.grid import WORKSHOP

SEED = 1
TOPICS = 300
SETTINGS = Settings(overlay="erdos-renyi", connectivity=WORKSHOP, schedule="timed")


@dataclass(frozen=True, slots=True)
class Measured:
    """What one size came to."""

    nodes: int
    subscriptions: int
    links: int
    subscribe_seconds: float
    events: int
    events_per_s: float
    heapq_per_s: float
    bytes_per_node: float
    bytes_per_link: float


def measure(nodes: int, seconds: float) -> Measured:
    """Let all nodes subscribe, handle what happens in so many seconds of theirs, and then do as much on a bare heap."""
    members = set_g(nodes, TOPICS, SEED)
    overlays = kernel.initial(members, SETTINGS, SEED)
    initial = views_of(members, overlays)
    followed = {topic: list(views) for topic, views in initial.items()}
    gc.collect()
    before, started = resident(), time.monotonic()
    simulator = Simulator(Network([Latency(SEED, 0.05)]))
    population = Population(simulator, followed, SETTINGS, SEED, {})
    gc.disable()  # nothing is let go of yet, and there is more to look through every time
    timed.begin(population, initial)
    gc.enable()
    subscribed = time.monotonic() - started
    gc.collect()
    gc.freeze()  # what is there stays; looking through it again and again would be all that is measured
    grown = resident() - before
    say(f"{nodes} nodes: subscribed in {subscribed:.1f} s, {grown / 1e9:.2f} GB")
    handled, started = simulator.handled, time.process_time()
    simulator.run(until=seconds)
    done, took = simulator.handled - handled, time.process_time() - started
    say(f"{nodes} nodes: {done} events in {took:.1f} s")
    return Measured(
        nodes=nodes,
        subscriptions=int(members.ids.size),
        links=int(overlays.links.size),
        subscribe_seconds=round(subscribed, 1),
        events=done,
        events_per_s=round(done / took),
        heapq_per_s=round(bare(done, simulator.waiting)),
        bytes_per_node=round(grown / nodes),
        bytes_per_link=round(grown / overlays.links.size),
    )


def bare(events: int, waiting: int) -> float:
    """Entries a second through a heap of this size: one popped, one pushed."""
    queue = [(unit(chance(SEED, "bare", number)), number, None, None) for number in range(waiting)]
    heapify(queue)
    delays = [unit(chance(SEED, "delay", number)) for number in range(1024)]
    started = time.process_time()
    for number in range(waiting, waiting + events):
        at, _, process, event = heappop(queue)
        heappush(queue, (at + delays[number & 1023], number, process, event))
    return events / (time.process_time() - started)


def resident() -> int:
    """Bytes that this process holds."""
    own = multiprocessing.current_process().pid
    assert own is not None
    return processes_under(own)[own][1]


def apart(nodes: int, seconds: float) -> Measured:
    """Measure in a process of its own: memory that another size left behind would not be counted."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(measure, (nodes, seconds))


def say(sentence: str) -> None:
    """Tell how far it is."""
    print(sentence, file=sys.stderr, flush=True)


def main() -> None:
    """Both sizes, and how they compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--small", type=int, default=3000)
    parser.add_argument("--large", type=int, default=30_000)
    asked = parser.parse_args()
    small, large = apart(asked.small, asked.seconds), apart(asked.large, asked.seconds)
    document = {
        "events_per_s": small.events_per_s,
        "heapq_ratio": round(small.events_per_s / small.heapq_per_s, 4),
        "bytes_per_node": small.bytes_per_node,
        "bytes_per_link": small.bytes_per_link,
        "large_ratio": round(large.events_per_s / small.events_per_s, 3),
        "hash": "plain" if ids.mix_long is ids.plain_mix_long else "C",
        "python": sys.version.split()[0],
        "sizes": [asdict(small), asdict(large)],
    }
    print(json.dumps(document))


if __name__ == "__main__":
    main()

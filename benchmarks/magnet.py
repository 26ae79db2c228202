"""What does one configuration of Magnet cost in the batch model, and how does that grow with the nodes?

Magnet's usual universe (MULTI-MODAL: 1000 topics in ten categories, 50 subscriptions each), at 10,000 nodes and more. Each size in a process
of its own, on one thread, compiling left out: everybody sits down and chooses fingers (build), the trees of all topics grow,
and what they cost is summed up (trees), and beside it, in the same process, the same subscriptions are sorted by node and topic, which is n
log n and nothing else. Then the verb `simulate magnet` from stored subscriptions to stored tables, at the first size: that
is Magnet and its strawman, in Spark, on all cores. The last line is one JSON document.

    .venv/bin/python benchmarks/magnet.py [--nodes 10000 30000 100000]
"""

import argparse
import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from math import log2
from multiprocessing import get_context
from pathlib import Path
from typing import ParamSpec, TypeVar

import numpy as np

from ropewalk.engines.batch.rings import Plan, compile_kernels, simulate, tree_columns
from ropewalk.engines.batch.sweep import Point
from ropewalk.engines.contract import FINAL
from ropewalk.engines.job import Order
from ropewalk.protocols.magnet import kernel
from ropewalk.protocols.magnet.settings import NAME, Settings
from ropewalk.tables.machine import cores
from ropewalk.tables.session import opened
from ropewalk.tables.store import Manifest, Store, drafted
from ropewalk.workloads.multi_modal import MultiModal
from ropewalk.workloads.rates import Rates
from ropewalk.workloads.write import write_workload

P = ParamSpec("P")
T = TypeVar("T")

SEED = 1
SETTINGS = Settings()
NODES = (10_000, 30_000, 100_000)


@dataclass(frozen=True)
class Cost:
    """Seconds, and the most memory that the process held."""

    nodes: int
    subscriptions: int
    build: float
    trees: float
    sort: float
    memory: int
    relays_per_message: float
    hops: float

    @property
    def whole(self) -> float:
        """Build and trees."""
        return self.build + self.trees


def kernels_alone(nodes: int) -> Cost:
    """One configuration on one thread."""
    compile_kernels()
    point = Point(name="", model=MultiModal(nodes=nodes), rates=Rates(), plan=Plan(NAME, SETTINGS, SEED))
    interests = point.interests()
    started = time.thread_time()
    overlay = kernel.built(interests, SETTINGS, SEED)
    build = time.thread_time() - started
    topics = np.arange(interests.topic_ids.size, dtype=np.int32)
    started = time.thread_time()
    trees = kernel.trees_of(interests, overlay, SETTINGS, SEED, topics)
    columns = tree_columns(interests, topics, trees)
    relays = float(np.average(columns["relays"], weights=columns["rate"]))
    hops = float(np.average(columns["hops"], weights=columns["members"]))
    grown = time.thread_time() - started
    started = time.thread_time()
    np.lexsort((interests.nodes, np.random.default_rng(SEED).permutation(interests.nodes.size)))
    sort = time.thread_time() - started
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return Cost(nodes, int(interests.nodes.size), build, grown, sort, memory, relays, hops)


def verb(nodes: int, folder: Path) -> dict[str, float]:
    """Seconds that each phase of `simulate magnet` takes."""
    manifest = Manifest(name="benchmark", made_by="a benchmark", seed=SEED, settings={})
    phases: dict[str, float] = {}

    @contextmanager
    def phase(what: str) -> Iterator[None]:
        started = time.monotonic()
        yield
        phases[what] = round(time.monotonic() - started, 2)

    with opened() as spark:
        model = MultiModal(nodes=nodes)
        with drafted(folder / "universe", manifest) as draft:
            write_workload(draft, model.subscriptions(spark, SEED), source=model.name, rule="generated")
        job = Order(settings=SETTINGS, seed=SEED, protocol=NAME, fitness=False)
        with drafted(folder / "run", manifest) as draft:
            simulate(spark, Store.open(folder / "universe"), job, draft, phase)
    return phases


def apart(function: Callable[P, T], *told: P.args, **more: P.kwargs) -> T:
    """Call it in a process of its own: nothing is left over from what ran before."""
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        return process.submit(function, *told, **more).result()


def say(sentence: str) -> None:
    """Progress, for whoever waits."""
    print(sentence, file=sys.stderr, flush=True)


def n_log_n(nodes: int) -> float:
    """What is allowed to grow."""
    return nodes * log2(nodes)


def main() -> None:
    """Measure each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", nargs="+", type=int, default=list(NODES))
    asked = parser.parse_args()
    found = []
    for nodes in asked.nodes:
        cost = apart(kernels_alone, nodes)
        found.append(cost)
        say(
            f"{nodes} nodes, {cost.subscriptions} subscriptions: build {cost.build:.1f} s, trees {cost.trees:.1f} s,"
            f" a sort {cost.sort:.2f} s, {cost.memory / 1e9:.2f} GB; {cost.relays_per_message:.1f} relays a message"
        )
    with tempfile.TemporaryDirectory(prefix="ropewalk-benchmark-") as folder:
        phases = apart(verb, asked.nodes[0], Path(folder))
    say(f"verb: {sum(phases.values()):.1f} s: {phases}")
    first, last = found[0], found[-1]
    allowed = n_log_n(last.nodes) / n_log_n(first.nodes)
    growth = {
        part: getattr(last, part) / getattr(first, part) / allowed for part in ("build", "trees", "whole", "sort")
    }
    print(
        f"from {first.nodes} to {last.nodes} nodes, growth to that of n log n: "
        + str({k: round(v, 2) for k, v in growth.items()})
    )
    sizes = [
        {
            "nodes": cost.nodes,
            "subscriptions": cost.subscriptions,
            "build_seconds": round(cost.build, 2),
            "trees_seconds": round(cost.trees, 2),
            "sorts": round(cost.whole / cost.sort, 1),
            "memory_gb": round(cost.memory / 1e9, 2),
            "relays_per_message": round(cost.relays_per_message, 2),
            "hops": round(cost.hops, 2),
        }
        for cost in found
    ]
    print(json.dumps({"cores": cores(), "sizes": sizes, "growth": growth, "verb_phases": phases, "stage": FINAL}))


if __name__ == "__main__":
    main()

"""How much of the machine does the batch engine use, and how much goes to Spark?

Makes universes of three sizes and measures on each, every step in a process of its own: the kernels alone on one thread (initial overlays,
eight rounds, records for the buckets; then the count of what each node holds before and after), the same simulation
inside Spark, the whole job inside Spark (simulation and count, from topics dealt to parts to what every node holds), and
the verb `simulate --no-fitness` from stored subscriptions to stored tables. The ideal is the CPU time of the kernels on
one thread, shared by all cores with nothing lost: for the simulation without the count, for job and verb with it. Starting
Spark and compiling are left out. The last line is one JSON document.

    .venv/bin/python benchmarks/batch.py [--sizes small medium large]
"""

import argparse
import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import ParamSpec, Self, TypeVar

import numpy as np
import pyarrow.dataset as ds
from memory import processes_under
from pyspark import StorageLevel

from ropewalk.arrays.ranks import ranks_of
from ropewalk.engines.batch import buckets
from ropewalk.engines.batch.nodes import layout_of
from ropewalk.engines.batch.run import aligned, compile_all, counted, simulate, task_of
from ropewalk.engines.job import Job
from ropewalk.protocols.stan import kernel
from ropewalk.protocols.stan.settings import Settings
from ropewalk.tables.frames import read_table
from ropewalk.tables.machine import cores
from ropewalk.tables.schema import SUBSCRIPTIONS
from ropewalk.tables.session import Session, opened
from ropewalk.tables.store import Manifest, Store, drafted
from ropewalk.universes.pack import PAIRS_A_PART, gathered, pack
from ropewalk.workloads.trace_like import TraceLike
from ropewalk.workloads.write import write_workload

P = ParamSpec("P")
T = TypeVar("T")

SEED = 1
SETTINGS = Settings()
EVERY = 0.1  # seconds between looks at the memory
# Of StaN's Wikipedia kind: W1's nodes and topics with 30 million subscriptions, and two smaller ones of its shape.
SIZES = {
    "small": TraceLike(
        nodes=10_000, topics=1_000, mean_subscriptions=10.4, popularity_exponent=2.0, interest_exponent=1.7
    ),
    "medium": TraceLike(
        nodes=100_000, topics=20_000, mean_subscriptions=29.0, popularity_exponent=2.2, interest_exponent=1.7
    ),
    "large": TraceLike(
        nodes=760_000, topics=330_000, mean_subscriptions=39.2, popularity_exponent=2.3, interest_exponent=1.7
    ),
}


@dataclass(frozen=True)
class Alone:
    """CPU seconds of the kernels on one thread."""

    overlays: float
    rounds: float
    emit: float
    count: float
    walks: int
    links: int

    @property
    def simulation(self) -> float:
        """Without the count."""
        return self.overlays + self.rounds + self.emit

    @property
    def job(self) -> float:
        """With it."""
        return self.simulation + self.count


class Clock:
    """CPU time of this thread, by what it was spent on."""

    def __init__(self) -> None:
        self.spent = dict.fromkeys(("overlays", "rounds", "emit", "count"), 0.0)
        self._since = 0.0

    def start(self) -> None:
        """Leave out what came before."""
        self._since = time.thread_time()

    def lap(self, what: str) -> None:
        """Since the last lap it was this."""
        now = time.thread_time()
        self.spent[what] += now - self._since
        self._since = now


def kernels_alone(universe: Store) -> Alone:
    """Everything a run computes, without Spark, on one thread, part by part as tasks do it."""
    table = ds.dataset(universe.folder_of(SUBSCRIPTIONS)).to_table(["node", "topic"])
    nodes, topics = (table.column(name).to_numpy() for name in ("node", "topic"))
    node_ids = np.unique(nodes)
    layout = layout_of(node_ids, nodes.size, 2)
    ranks = ranks_of(node_ids, nodes)
    parts = max(1, nodes.size // PAIRS_A_PART)
    part_of = topics % parts
    order = np.argsort(part_of, kind="stable")
    bounds = np.searchsorted(part_of[order], np.arange(parts + 1))
    records: dict[tuple[str, int], list[tuple[buckets.Ints, buckets.Ints]]] = {}
    compile_all(Job(settings=SETTINGS, seed=SEED, fitness=False))
    clock, walks, links = Clock(), 0, 0
    for part in range(parts):
        chosen = order[bounds[part] : bounds[part + 1]]
        names, offsets, members_ranks, _ = gathered(topics[chosen], ranks[chosen])
        members = kernel.Members(names, offsets, node_ids[members_ranks])
        clock.start()
        overlays = kernel.initial(members, SETTINGS, SEED)
        clock.lap("overlays")
        for stage in ("initial", "final"):
            if stage == "final":
                for done in kernel.rounds(members, overlays, SETTINGS, SEED):
                    overlays = done.overlays
                clock.lap("rounds")
            head_starts, heads, other_starts, others = buckets.scattered(
                offsets, members_ranks, overlays.starts, overlays.links, layout.bucket_nodes, layout.buckets
            )
            clock.lap("emit")
            for bucket in np.flatnonzero(np.diff(head_starts)):
                record = (
                    heads[head_starts[bucket] : head_starts[bucket + 1]].copy(),
                    others[other_starts[bucket] : other_starts[bucket + 1]].copy(),
                )
                records.setdefault((stage, int(bucket)), []).append(record)
            clock.start()
        walks += members.ids.size * SETTINGS.rounds
        links += 2 * overlays.links.size
    for (_, bucket), found in records.items():
        first = bucket * layout.bucket_nodes
        own = min(layout.bucket_nodes, node_ids.size - first)
        heads, others = (np.concatenate(blobs) for blobs in zip(*found, strict=True))
        clock.start()
        buckets.counted(heads, others, first, own, node_ids.size)
        clock.lap("count")
    return Alone(**clock.spent, walks=walks, links=links)


def in_spark(spark: Session, universe: Store) -> tuple[float, float]:
    """Seconds that Spark takes from dealt parts to what the buckets would get, and to what every node holds."""
    packed = pack(read_table(spark, universe, SUBSCRIPTIONS))
    parts = packed.parts.persist(StorageLevel.DISK_ONLY)
    parts.write.format("noop").mode("overwrite").save()
    layout = layout_of(packed.ids, packed.subscription_count, 2)
    task = task_of(Job(settings=SETTINGS, seed=SEED, fitness=False), layout)
    simulation = aligned(replace(packed, parts=parts), task)
    seconds = []
    for frame in (simulation, counted(simulation, layout)):
        started = time.monotonic()
        frame.write.format("noop").mode("overwrite").save()
        seconds.append(time.monotonic() - started)
    parts.unpersist()
    return seconds[0], seconds[1]


def verb(spark: Session, universe: Store, out: Path) -> dict[str, float]:
    """Seconds that each phase of `simulate --no-fitness` takes, from subscriptions to stored tables."""
    job = Job(settings=SETTINGS, seed=SEED, fitness=False)
    phases: dict[str, float] = {}

    @contextmanager
    def phase(what: str) -> Iterator[None]:
        started = time.monotonic()
        yield
        phases[what] = round(time.monotonic() - started, 2)

    with drafted(out, Manifest(name="benchmark", made_by="a benchmark", seed=SEED, settings={})) as draft:
        simulate(spark, universe, job, draft, phase)
    return phases


class Memory:
    """The most memory that Java and the Python workers below it held together while the block ran."""

    def __enter__(self) -> Self:
        self.peak = self.java = 0
        self._done = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()
        return self

    def _watch(self) -> None:
        while not self._done.wait(EVERY):
            seen = processes_under(os.getpid())
            seen.pop(os.getpid(), None)  # the driver's own Python
            self.peak = max(self.peak, sum(size for _, size in seen.values()))
            self.java = max(self.java, sum(size for is_java, size in seen.values() if is_java))

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._watcher.join()


def made(model: TraceLike, out: Path) -> int:
    """Make a universe; how many subscriptions it has."""
    manifest = Manifest(name="benchmark", made_by="a benchmark", seed=SEED, settings={})
    with opened() as spark, drafted(out, manifest) as draft:
        write_workload(draft, model.subscriptions(spark, SEED), source="trace-like", rule="generated")
    return Store.open(out).manifest.tables[SUBSCRIPTIONS.name].rows


@dataclass(frozen=True)
class Inside:
    """Seconds inside Spark, and the memory it took."""

    simulation: float
    job: float
    verb: dict[str, float]
    memory: int
    java_memory: int


def inside(warm: Store, universe: Store, out: Path) -> Inside:
    """Everything that runs in Spark, in a session that has run something small before: starting is left out."""
    with opened() as spark:
        compile_all(Job(settings=SETTINGS, seed=SEED, fitness=False))
        in_spark(spark, warm)
        with Memory() as memory:
            simulation, job = in_spark(spark, universe)
            phases = verb(spark, universe, out)
    return Inside(simulation, job, phases, memory.peak, memory.java)


def apart(function: Callable[P, T], *told: P.args, **more: P.kwargs) -> T:
    """Call it in a process of its own, as users do: nothing is left over from what ran before."""
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        return process.submit(function, *told, **more).result()


def measure(model: TraceLike, warm: Store, folder: Path) -> dict[str, object]:
    """One size."""
    pairs = apart(made, model, folder / "universe")
    universe = Store.open(folder / "universe")
    say(f"{pairs} pairs made")
    alone = apart(kernels_alone, universe)
    say(f"alone: {alone}")
    found = apart(inside, warm, universe, folder / "run")
    simulation, job, phases = found.simulation, found.job, found.verb
    say(f"simulation: {simulation:.1f} s, ideal {alone.simulation / cores():.1f} s")
    say(f"job: {job:.1f} s, ideal {alone.job / cores():.1f} s")
    say(f"verb: {sum(phases.values()):.1f} s: {phases}")
    return {
        "pairs": pairs,
        "links": alone.links // 2,
        "kernel_walks_per_s": round(alone.walks / alone.rounds),
        "kernel_us_per_walk": round(1e6 * alone.rounds / alone.walks, 3),
        "simulation_seconds": round(simulation, 2),
        "simulation_ratio": round(alone.simulation / cores() / simulation, 3),
        "job_seconds": round(job, 2),
        "job_ratio": round(alone.job / cores() / job, 3),
        "verb_seconds": round(sum(phases.values()), 2),
        "verb_ratio": round(alone.job / cores() / sum(phases.values()), 3),
        "verb_phases": phases,
        "job_walks_per_s": round(alone.walks / job),
        "reduce_links_per_s": round(alone.links / alone.count),
        "peak_memory_gb": round(found.memory / 1e9, 2),
        "java_memory_gb": round(found.java_memory / 1e9, 2),
        "alone": {what: round(getattr(alone, what), 2) for what in ("overlays", "rounds", "emit", "count")},
    }


def say(sentence: str) -> None:
    """Progress, for whoever waits."""
    print(sentence, file=sys.stderr, flush=True)


def main() -> None:
    """Measure each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="+", choices=list(SIZES), default=list(SIZES))
    asked = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory(prefix="ropewalk-benchmark-") as top:
        apart(made, SIZES["small"], Path(top) / "warm")
        for size in asked.sizes:
            with tempfile.TemporaryDirectory(dir=top) as folder:
                found.append(measure(SIZES[size], Store.open(Path(top) / "warm"), Path(folder)))
            say(json.dumps(found[-1]))
    growth = found[-1]["kernel_us_per_walk"] / found[0]["kernel_us_per_walk"]
    print(f"cost per walk at the largest, to that at the smallest: {growth:.2f}")
    print(json.dumps({"cores": cores(), "sizes": found}))


if __name__ == "__main__":
    main()

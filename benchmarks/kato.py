"""What does the overlay by interests cost in the batch model, with everybody known to everybody, and how does that grow with the nodes?

Stock quotes as the claims have them (16 stocks by 64 price cells, one range each), at 4,000, 40,000 and 100,000 nodes; and with ranges of one
width, four each, where nearly nobody wants the same, so that ids do not run out. Each in a process of its own, on one thread, compiling left out:
ids and groups, links by bits and by cells, and events, as many as nodes up to 4,000; and beside it, in the same process, every wanted cell is sorted
by node and cell, which is n log n and nothing else. The last line is one JSON document.

    .venv/bin/python benchmarks/kato.py [--nodes 4000 40000 100000]
"""

import argparse
import json
import resource
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from math import log2
from multiprocessing import get_context
from typing import Any

import numpy as np

from ropewalk.engines.batch.content import compile_kernels
from ropewalk.engines.batch.content_sweep import ContentPoint
from ropewalk.engines.contents import drawn
from ropewalk.papers.kato.sweeps import quotes
from ropewalk.protocols.kato.kernel.links import linked
from ropewalk.protocols.kato.kernel.profiles import profiled
from ropewalk.protocols.kato.kernel.spread import meshed, spread
from ropewalk.protocols.kato.settings import Settings

SEED = 1
NODES = (4000, 40_000, 100_000)
EVENTS = 4000
READINGS = {"bits": Settings(), "cells": Settings(cover="cells")}
WORKLOADS: dict[str, dict[str, Any]] = {
    "nested": {},
    "flat": {"ranges": "fixed", "filters_per_node": 4},
}


@dataclass(frozen=True)
class Cost:
    """Seconds, and the most memory that the process held."""

    workload: str
    reading: str
    nodes: int
    wanted: int
    primaries: int
    table: float
    ids: float
    links: float
    events: float
    sort: float
    memory: int

    @property
    def build(self) -> float:
        """Ids, groups and links."""
        return self.ids + self.links


def cost(workload: str, reading: str, nodes: int) -> Cost:
    """One configuration on one thread."""
    compile_kernels()
    settings = READINGS[reading]
    model = quotes(nodes, **WORKLOADS[workload])
    contents = ContentPoint(name="", model=model, settings=settings, seed=SEED, events=0).contents()
    started = time.thread_time()
    profiles = profiled(contents.interests, settings, SEED)
    identified = time.thread_time()
    links = linked(profiles, settings, 0, nodes)
    found = time.thread_time()
    mesh = meshed(nodes, links)
    published = drawn(contents, settings, min(nodes, EVENTS), SEED)
    spread(contents.interests, profiles, mesh, contents.wants, published, True)
    gone = time.thread_time()
    wanted = contents.interests.nodes.size
    np.lexsort((contents.interests.nodes, np.random.default_rng(SEED).permutation(wanted)))
    sort = time.thread_time() - gone
    primaries = int((profiles.primaries == np.arange(nodes)).sum())
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return Cost(
        workload, reading, nodes, int(wanted), primaries, links.others.size / primaries, identified - started,
        found - identified, gone - found, sort, memory,
    )  # fmt: skip


def main() -> None:
    """Measure, then say what it was."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, nargs="+", default=list(NODES))
    sizes = sorted(parser.parse_args().nodes)
    document: dict[str, Any] = {"runs": [], "growth": {}}
    for workload in WORKLOADS:
        for reading in READINGS:
            costs = []
            for nodes in sizes:
                with ProcessPoolExecutor(1, get_context("spawn")) as process:
                    one = process.submit(cost, workload, reading, nodes).result()
                print(
                    f"{workload}, links by {reading}, {nodes} nodes ({one.primaries} primaries, {one.table:.1f} links each): ids {one.ids:.2f} s,"
                    f" links {one.links:.2f} s, {min(nodes, EVENTS)} events {one.events:.2f} s, {one.memory / 1e9:.2f} GB;"
                    f" {one.build / one.sort:.1f} sorts",
                    file=sys.stderr,
                    flush=True,
                )
                costs.append(one)
                document["runs"].append(asdict(one) | {"sorts": one.build / one.sort})
            first, last = costs[0], costs[-1]
            ideal = last.nodes * log2(last.nodes) / (first.nodes * log2(first.nodes))
            document["growth"][f"{workload}, {reading}"] = {
                "from": first.nodes,
                "to": last.nodes,
                "build": last.build / first.build,
                "of_n_log_n": last.build / first.build / ideal,
                "of_the_sort": last.build / first.build / (last.sort / first.sort),
            }
    print(json.dumps(document))


if __name__ == "__main__":
    main()

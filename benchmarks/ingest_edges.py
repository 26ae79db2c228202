"""How fast is `ingest edges`, beside Spark's own CSV reader counting distinct rows of the same file?

The baseline reads, shuffles and counts. Ingest also hashes names to ids, writes `subscriptions` and `names`, reads them back
and checks them. Both run in one session, in turns; the last line is one JSON document.

    .venv/bin/python benchmarks/ingest_edges.py [--rows 10000000] [--turns 3] [--heap-gib 3]

Java's heap matters to the baseline, which keeps all distinct rows in it if it can; ingest does not need more than it gets.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import numpy as np

from ropewalk.experiments.ingest import ingest
from ropewalk.tables import session
from ropewalk.tables.session import Session, opened
from ropewalk.workloads.edges import Edges

TOPICS_PER_NODE = 20
CHUNK = 1_000_000


def write_file(path: Path, rows: int) -> None:
    """A trace of `rows` rows: some nodes and topics are far busier than others, and some rows are there twice."""
    chance = np.random.default_rng(1)
    nodes = max(1, rows // TOPICS_PER_NODE)
    with path.open("wb") as opened_file:
        for start in range(0, rows, CHUNK):
            count = min(CHUNK, rows - start)
            node = (nodes * chance.random(count) ** 1.5).astype(np.int64)
            topic = (nodes / 2 * chance.random(count) ** 3).astype(np.int64)
            lines = np.char.add(np.char.add(np.char.add("user-", node.astype(str)), ",topic-"), topic.astype(str))
            opened_file.write(("\n".join(lines.tolist()) + "\n").encode())


def timed(work: Callable[[], object]) -> float:
    """Seconds that some work takes."""
    started = time.monotonic()
    work()
    return time.monotonic() - started


def main() -> None:
    """Run both in turns and print rows per second, and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--heap-gib", type=float, default=session.LARGEST_HEAP / session.GIB)
    asked = parser.parse_args()
    session.LARGEST_HEAP = int(asked.heap_gib * session.GIB)
    with tempfile.TemporaryDirectory(prefix="ropewalk-benchmark-") as folder, opened() as spark:
        file = Path(folder) / "trace.csv"
        write_file(file, asked.rows)
        print(f"{asked.rows} rows, {file.stat().st_size / 2**20:.0f} MiB", file=sys.stderr)
        seconds = run(spark, file, asked.turns)
    speed = {name: asked.rows / statistics.median(each) for name, each in seconds.items()}
    document = {
        "rows": asked.rows,
        "heap_gib": asked.heap_gib,
        "seconds": seconds,
        "rows_per_second": {name: round(each) for name, each in speed.items()},
        "ratio": round(speed["ingest"] / speed["baseline"], 3),
    }
    print(f"ingest {speed['ingest']:,.0f} rows/s, baseline {speed['baseline']:,.0f} rows/s: {document['ratio']}")
    print(json.dumps(document))


def run(spark: Session, file: Path, turns: int) -> dict[str, list[float]]:
    """Seconds of each turn; a first turn on a small file warms both up and is not counted."""
    out = file.parent / "store"

    def count(path: Path) -> int:
        return spark.read.csv(f"file:{path}").distinct().count()

    def store(path: Path) -> None:
        ingest(
            Edges(),
            [path],
            out,
            max_reject_share=0.05,
            overwrite=True,
            session=nullcontext(spark),
            phase=lambda _: nullcontext(),
        )

    small = file.parent / "small.csv"
    write_file(small, 100_000)
    for work in (count, store):
        work(small)
    seconds: dict[str, list[float]] = {"baseline": [], "ingest": []}
    for turn in range(turns):
        seconds["baseline"].append(timed(lambda: count(file)))
        seconds["ingest"].append(timed(lambda: store(file)))
        print(f"turn {turn + 1}: {seconds['baseline'][-1]:.1f} s, {seconds['ingest'][-1]:.1f} s", file=sys.stderr)
    return seconds


if __name__ == "__main__":
    main()

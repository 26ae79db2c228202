"""Does reading a dump take more memory when the dump is larger?

Writes synthetic full-history dumps as .bz2, a small and a large one, ingests each by the command line, and watches the memory
of all its processes: the Java one, whose heap grows to its bound as it likes, and the Python ones, which read. Also
checks that no page is lost: pages read against pages written. The last line is one JSON document.

    .venv/bin/python benchmarks/dump_memory.py [--megabytes 100 1000]
"""

import argparse
import base64
import bz2
import json
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from memory import processes_under

HEAD = b'<mediawiki version="0.11"><siteinfo><namespaces><namespace key="0" /></namespaces></siteinfo>\n'
PAGES = 40  # in a stream of the archive
REVISIONS = 25  # of a page, on average
TEXT = 1500  # bytes of a revision, before they are written as text
EVERY = 0.2  # seconds between looks at the memory


def stream_of(number: int) -> bytes:
    """Some pages as one stream of an archive; streams one after the other are an archive. Text is hard to compress."""
    chance = np.random.default_rng(number)
    pages = []
    for page in range(PAGES):
        revisions = []
        for _ in range(1 + chance.poisson(REVISIONS - 1)):
            who = int(chance.integers(200_000) ** 2 // 200_000)
            contributor = (
                f"<username>User {who}</username><id>{who}</id>" if who % 4 else f"<ip>10.0.{who % 256}.1</ip>"
            )
            text = base64.b85encode(chance.bytes(TEXT)).translate(bytes.maketrans(b"<>&", b"()_")).decode()
            revisions.append(
                f"<revision><id>{who}</id><timestamp>2011-03-0{1 + who % 9}T00:00:00Z</timestamp>"
                f'<contributor>{contributor}</contributor><text xml:space="preserve">{text}</text></revision>\n'
            )
        title = f"Page {number * PAGES + page}"
        pages.append(f"<page><title>{title}</title><ns>0</ns><id>{page}</id>{''.join(revisions)}</page>\n")
    return bz2.compress("".join(pages).encode())


def write_dump(path: Path, megabytes: int) -> int:
    """A dump of about so many megabytes; the answer is how many pages it has."""
    streams = max(1, megabytes * 10**6 // len(stream_of(0)))
    with path.open("wb") as dump, ProcessPoolExecutor() as pool:
        dump.write(bz2.compress(HEAD))
        for packed in pool.map(stream_of, range(streams), chunksize=8):
            dump.write(packed)
        dump.write(bz2.compress(b"</mediawiki>\n"))
    return streams * PAGES


def ingest(path: Path, out: Path) -> dict[str, object]:
    """Ingest a dump by the command line; the answer is what it said, and the largest memory of its processes."""
    command = [sys.executable, "-m", "ropewalk", "ingest", "mediawiki-xml", str(path), "--out", str(out), "--json"]
    started = time.monotonic()
    peaks = {"java": 0, "python": 0}
    done = threading.Event()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as running:

        def watch() -> None:
            while not done.wait(EVERY):
                seen = processes_under(running.pid)
                java = max((size for is_java, size in seen.values() if is_java), default=0)  # a fork of it is no other
                python = sum(size for is_java, size in seen.values() if not is_java)
                peaks.update(java=max(peaks["java"], java), python=max(peaks["python"], python))

        watcher = threading.Thread(target=watch)
        watcher.start()
        assert running.stdout is not None
        said = running.stdout.read()
        done.set()
        watcher.join()
    found = json.loads(said)
    return {
        "megabytes": round(path.stat().st_size / 1e6),
        "seconds": round(time.monotonic() - started, 1),
        "revisions": found["read"],
        "pages": found["counts"]["pages"],
        "subscriptions": found["subscriptions"],
        "peak_mebibytes": {kind: round(peak / 2**20) for kind, peak in peaks.items()},
    }


def main() -> None:
    """Write and ingest dumps of each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, nargs="+", default=[100, 1000])
    asked = parser.parse_args()
    found = []
    for megabytes in asked.megabytes:
        with tempfile.TemporaryDirectory(prefix="ropewalk-benchmark-") as folder:
            dump = Path(folder) / "dump.xml.bz2"
            pages = write_dump(dump, megabytes)
            print(f"{megabytes} MB written, {pages} pages", file=sys.stderr, flush=True)
            found.append(ingest(dump, Path(folder) / "store"))
            assert found[-1]["pages"] == pages, f"{pages} pages were written, but {found[-1]['pages']} read"
            print(found[-1], file=sys.stderr, flush=True)
    first, last = found[0]["peak_mebibytes"], found[-1]["peak_mebibytes"]
    assert isinstance(first, dict)
    assert isinstance(last, dict)
    ratio = {kind: round(last[kind] / first[kind], 2) for kind in first}
    print(f"memory of the last to that of the first: {ratio}")
    print(json.dumps({"dumps": found, "ratio": ratio}))


if __name__ == "__main__":
    main()

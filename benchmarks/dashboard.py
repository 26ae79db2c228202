"""What does the dashboard take? make bench-dashboard

At the server: rows taken in a second, and a difference after one change beside everything. In a browser (the system's Chromium): drawing the
whole map anew beside the same lines on a bare canvas, and a key until it is answered and drawn.
"""

import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import msgspec

ROOT = Path(__file__).parent.parent
sys.path += [str(ROOT / "tests"), str(ROOT / "tests" / "browser")]

from browsing import Looking, chromium, dashboard  # noqa: E402
from ropewalk.dashboard.layout import places  # noqa: E402
from ropewalk.dashboard.picture import Picture  # noqa: E402
from ropewalk.dashboard.rows import Followed  # noqa: E402
from ropewalk.dashboard.watching import Watch  # noqa: E402
from written import crowd  # noqa: E402

SIZES = ((100, 1000), (500, 5000), (2000, 20_000))
BARE = """() => { const map = ropewalk.map, pen = document.createElement("canvas").getContext("2d");
  pen.canvas.width = map.canvas.width; pen.canvas.height = map.canvas.height;
  const ends = [...ropewalk.network.links.values()].map(([a, b]) => [...map.at(a), ...map.at(b)]);
  const times = [];
  for (let turn = 0; turn < 15; turn++) {
    const begun = performance.now();
    pen.clearRect(0, 0, pen.canvas.width, pen.canvas.height);
    pen.beginPath();
    for (const [ax, ay, bx, by] of ends) { pen.moveTo(ax, ay); pen.lineTo(bx, by); }
    pen.stroke();
    pen.getImageData(0, 0, 1, 1);
    times.push(performance.now() - begun);
  }
  return times; }"""
WHOLE = """() => { const map = ropewalk.map, times = [];
  for (let turn = 0; turn < 15; turn++) {
    const begun = performance.now();
    map.stale = true;
    map.draw(begun);
    map.canvas.getContext("2d").getImageData(0, 0, 1, 1);
    times.push(performance.now() - begun);
  }
  return times; }"""
KEYS = """async () => { const times = [];
  for (let turn = 0; turn < 24; turn++) {
    const begun = performance.now();
    ropewalk.map.canvas.dispatchEvent(new KeyboardEvent("keydown", { key: ["ArrowRight", "ArrowDown", "ArrowLeft", "+", "-"][turn % 5], cancelable: true }));
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    times.push(performance.now() - begun);
  }
  return times; }"""


def seconds(work: Any) -> float:
    """How long it takes."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def at_the_server(folder: Path) -> None:
    """Without any browser."""
    watch, picture = Watch([folder]), Picture()
    rows = watch.more()
    while watch.behind:
        rows += watch.more()
    took = seconds(lambda: [picture.take(row, name) for row, name in rows])
    print(f"  {len(rows) / took:,.0f} rows a second taken in")
    laying = seconds(lambda: places(list(picture.nodes), picture.weights()))
    everything = min(seconds(lambda: msgspec.json.encode(picture.since(0, 100))) for _ in range(5))
    version, node = picture.versions.now, next(iter(picture.nodes))
    picture.take(Followed(node=node, at=picture.now + 0.001, topic=119))
    difference = min(seconds(lambda: msgspec.json.encode(picture.since(version, 100))) for _ in range(5))
    print(
        f"  places in {1000 * laying:,.0f} ms; everything in {1000 * everything:.1f} ms, one change in {difference / everything:.3f} of that"
    )


def in_a_browser(browser: Any, folder: Path, links: int) -> None:
    """A page of a laptop's size."""
    with dashboard(folder) as url:
        looking = Looking(browser, url)
        looking.until(f"ropewalk.network.links.size === {links}")
        looking.until("ropewalk.map.frame === undefined")
        bare, whole, keys = median(looking.js(BARE)), median(looking.js(WHOLE)), median(looking.js(KEYS))
        print(
            f"  all drawn anew in {whole:.1f} ms, {whole / bare:.1f} times bare lines; a key answered and drawn in {keys:.0f} ms"
        )
        looking.close()


def main() -> None:
    """All sizes."""
    with chromium() as browser, tempfile.TemporaryDirectory() as place:
        for nodes, links in SIZES:
            print(f"{nodes} nodes, {links} connections")
            town = crowd(Path(place) / str(nodes), nodes, links)
            at_the_server(town.folder)
            in_a_browser(browser, town.folder, links)


if __name__ == "__main__":
    main()

"""What does the dashboard take? make bench-dashboard

At the server: rows taken in a second, and a difference after one change beside everything. In a browser (the system's Chromium): drawing the
whole map anew, a key and a change until they are drawn, each beside the same lines on a bare canvas (`tests/browser/drawing.py` has how many
times these they may take); and a key until the next frame. Exit code 1 if anything takes longer.
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
from drawing import MOST, ratios, times, too_slow  # noqa: E402
from ropewalk.dashboard.layout import places  # noqa: E402
from ropewalk.dashboard.picture import Picture  # noqa: E402
from ropewalk.dashboard.rows import Followed  # noqa: E402
from ropewalk.dashboard.watching import Watch  # noqa: E402
from written import crowd  # noqa: E402

JUDGED = 500  # nodes; where there are fewer, names take more time than lines, and both take little
SIZES = ((100, 1000), (500, 5000), (2000, 20_000))
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


def in_a_browser(browser: Any, folder: Path, links: int) -> dict[str, float]:
    """A page of a laptop's size; what is too slow there."""
    with dashboard(folder) as url:
        looking = Looking(browser, url)
        looking.until(f"ropewalk.network.links.size === {links}")
        looking.until("ropewalk.map.frame === undefined")
        found, keys = times(looking), median(looking.js(KEYS))
        found_ratios = ratios(found)
        bare = median(found["bare"])
        said = [f"{name} {found_ratios[name]:.1f} (at most {most:g})" for name, most in MOST.items()]
        print(
            f"  bare lines in {bare:.1f} ms; times that: {', '.join(said)}; a key answered and shown in {keys:.0f} ms"
        )
        looking.close()
    return too_slow(found_ratios)


def main() -> int:
    """All sizes; 1 if one of them is too slow."""
    slow: list[str] = []
    with chromium() as browser, tempfile.TemporaryDirectory() as place:
        for nodes, links in SIZES:
            print(f"{nodes} nodes, {links} connections")
            town = crowd(Path(place) / str(nodes), nodes, links)
            at_the_server(town.folder)
            found = in_a_browser(browser, town.folder, links)
            slow += [f"{name} with {nodes} nodes" for name in found if nodes >= JUDGED]
    print(f"too slow: {', '.join(slow)}" if slow else "it holds: nothing takes longer than it may beside bare lines")
    return bool(slow)


if __name__ == "__main__":
    sys.exit(main())

"""What it takes to draw, beside the same lines on a bare canvas, measured turn by turn in one page: what else the machine does hits both."""

from statistics import median

from browsing import Looking

# Times that the lines alone take: on a slow machine both are slow, and what the page adds to them is its own.
MOST = {
    "whole": 10.0,  # everything anew: all connections, an overlay, nodes, names
    "key": 10.0,  # a key, until what it did is drawn
    "change": 10.0,  # what is different, until that is taken in and drawn
}
TURNS = 15
TIMES = """(turns) => {
  const { map, network } = ropewalk, bare = document.createElement("canvas").getContext("2d"), pen = map.canvas.getContext("2d");
  [bare.canvas.width, bare.canvas.height] = [map.canvas.width, map.canvas.height];
  const ends = [...network.links.values()].map(([a, b]) => [...map.at(a), ...map.at(b)]);
  const draw = () => { map.draw(performance.now()); pen.getImageData(0, 0, 1, 1); };
  const keys = ["ArrowRight", "ArrowDown", "+", "ArrowLeft", "ArrowUp", "-", "Escape"];
  const works = {
    bare: () => {
      bare.clearRect(0, 0, bare.canvas.width, bare.canvas.height);
      bare.beginPath();
      for (const [ax, ay, bx, by] of ends) { bare.moveTo(ax, ay); bare.lineTo(bx, by); }
      bare.stroke();
      bare.getImageData(0, 0, 1, 1);
    },
    whole: () => { map.stale = true; draw(); },
    key: (turn) => { map.canvas.dispatchEvent(new KeyboardEvent("keydown", { key: keys[turn % keys.length], cancelable: true })); draw(); },
    change: (turn) => {
      const nodes = [...network.nodes.values()].slice(turn, turn + 10);
      const row = ({ id, name, x, y, state, why, follows, lvs, pvs, connections }) => [id, name, x, y, state, why, follows, lvs + 1, pvs, connections];
      network.take({ nodes: nodes.map((node) => [node.number, row(node)]), overlay: nodes.slice(1).map((node) => [nodes[0].number, node.number, 1]), totals: network.totals, about: network.about, at: network.at });
      draw();
    },
  };
  const times = Object.fromEntries(Object.keys(works).map((name) => [name, []]));
  for (let turn = -2; turn < turns; turn++)  // the first two are for who compiles
    for (const [name, work] of Object.entries(works)) {
      const begun = performance.now();
      work(turn + 2);
      if (turn >= 0) times[name].push(performance.now() - begun);
    }
  return times;
}"""


def times(looking: Looking, turns: int = TURNS) -> dict[str, list[float]]:
    """Milliseconds of each turn."""
    found: dict[str, list[float]] = looking.page.evaluate(TIMES, turns)
    return found


def ratios(found: dict[str, list[float]]) -> dict[str, float]:
    """How many times the bare lines of the same turn, as a rule."""
    return {
        name: median(time / bare for time, bare in zip(found[name], found["bare"], strict=True))
        for name in MOST
    }  # fmt: skip


def too_slow(found: dict[str, float]) -> dict[str, float]:
    """Ratios that are larger than they may be."""
    return {name: ratio for name, ratio in found.items() if ratio > MOST[name]}

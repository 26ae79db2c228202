"""StaN, Table 1: how large the universes of both traces are."""

from typing import Any

from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.papers.lab import Lab
from ropewalk.papers.stan.universes import CANDIDATES, STAN, like_trace
from ropewalk.universes.distributions import subscribers_per_topic
from ropewalk.workloads.trace_like import SETS

# name -> (seeds, or 0 for all), topics, nodes
PUBLISHED: dict[str, tuple[int, int, int]] = {
    "L0": (0, 28904, 301315), "L1": (0, 13652, 267230), "L2": (20000, 13129, 237612), "L3": (15000, 12608, 214642),
    "L4": (10000, 11674, 182828), "L5": (5000, 9331, 130577), "L6": (1000, 3215, 40407), "L7": (500, 1805, 23657),
    "L8": (100, 253, 4689), "W0": (0, 715710, 2015060), "W1": (100000, 328145, 761225), "W2": (50000, 245977, 497854),
    "W3": (20000, 162448, 277474), "W4": (10000, 114646, 175152), "W5": (5000, 77338, 108620),
    "W6": (1000, 26525, 33956), "W7": (100, 3858, 5957), "W8": (20, 576, 1381),
}  # fmt: skip
MADE: dict[Scale, tuple[str, ...]] = {
    "small": ("L7", "L8", "W7", "W8"),
    "paper": tuple(name for name in PUBLISHED if name[1] != "0"),
}
CUT = {"L6": 1000, "L7": 500, "L8": 100}  # what the public sample of LiveJournal is large enough for
POPULATIONS = {"small": ("closed",), "paper": ("closed", "seeds")}
PRUNED_BELOW = 30
MARGIN = 0.15
DECIDING = "closed"


def measure(lab: Lab, scale: Scale) -> Measured:
    """Made-up universes have the printed sizes; cut ones are compared by nodes per topic."""
    made = {}
    for name in MADE[scale]:
        universe = like_trace(lab, name, SETS[name].correlation, lab.seed)
        least = int(lab.described(universe, "popularity", subscribers_per_topic).values[0])
        made[name] = {"nodes": universe.nodes, "topics": universe.topics, "least_subscribers": least}
    cut: dict[str, dict[str, Any]] = {}
    for population in POPULATIONS[scale]:
        for name, seeds in CUT.items():
            found = lab.cut("livejournal", seeds, CANDIDATES[scale], population=population)
            if found is not None:
                sizes = {"nodes": found.nodes, "topics": found.topics, "nodes_per_topic": found.nodes / found.topics}
                per_seed = {"nodes_per_seed": found.nodes / seeds, "topics_per_seed": found.topics / seeds}
                cut.setdefault(population, {})[name] = sizes | per_seed
    return Measured({"made": made, "cut": cut}, left_out=lab.lacking("livejournal"))


def checks(numbers: Numbers) -> list[Check]:
    """Sizes to the node, ratios by tolerance."""
    made = numbers["made"]
    exact = [
        name
        for name, of in made.items()
        if (of["topics"], of["nodes"]) == PUBLISHED[name][1:] and of["least_subscribers"] >= PRUNED_BELOW
    ]
    found = [
        Check(
            f"{len(exact)} of {len(made)} made-up universes have the printed nodes and topics", len(exact) == len(made)
        )
    ]
    for name, of in numbers["cut"].get(DECIDING, {}).items():
        _, topics, nodes = PUBLISHED[name]
        said = (
            f"{name} cut from LiveJournal: {of['nodes_per_topic']:.1f} nodes per topic ({nodes / topics:.1f} published)"
        )
        found.append(Check(said, abs(of["nodes_per_topic"] * topics / nodes - 1) <= MARGIN))
    return found


def draw(measured: Measured) -> list[Panel]:
    """Nodes against topics."""
    curves = [
        Curve(
            f"published, {letter}",
            [(float(t), float(n)) for name, (_, t, n) in PUBLISHED.items() if name[0] == letter],
            "law",
            shade,
        )
        for shade, letter in enumerate("LW")
    ]
    made = [(float(of["topics"]), float(of["nodes"])) for of in measured.numbers["made"].values()]
    curves.append(Curve("made up", made, "points", 2))
    for population, of in measured.numbers["cut"].items():
        points = [(float(each["topics"]), float(each["nodes"])) for each in of.values()]
        curves.append(Curve(f"cut from LiveJournal, {population}", points, "points", 3))
    return [
        Panel(
            title="Sizes of universes",
            x="topics",
            y="nodes",
            reading="Made-up universes lie on the published lines by construction; cut ones only if the trace is like the paper's.",
            curves=curves,
            log_x=True,
            log_y=True,
        )
    ]


CLAIM = Claim(
    id="B-T1",
    sentence="Self-contained universes cut from both traces have the sizes of Table 1.",
    paper=STAN,
    place="Table 1, section 3.1",
    published={
        name: {"seeds": seeds or "all", "topics": topics, "nodes": nodes}
        for name, (seeds, topics, nodes) in PUBLISHED.items()
    },
    tolerance=f"trace-like universes have exactly the printed nodes and topics, and {PRUNED_BELOW} subscribers per topic or more; cut from"
    f" the public LiveJournal trace ({DECIDING} population), nodes per topic are within {MARGIN:.0%}",
    measure=measure,
    checks=checks,
    draw=draw,
    caveat="Sizes per seed are reported, not judged: the public sample has a sixth of the paper's users, and no list is longer than 100.",
    explanation="At few seeds the public trace is too thin: it has a sixth of the users.",
)

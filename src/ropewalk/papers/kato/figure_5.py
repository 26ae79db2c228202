"""Kato et al., Figure 5: tables and depth in networks that have grown by joins, beside those of who knows everybody."""

from functools import lru_cache

import numpy as np

from ropewalk.engines.batch.content import Heard, Overlay, routing_columns, run_here, spread_columns
from ropewalk.engines.batch.content_sweep import ContentPoint
from ropewalk.engines.contents import Contents, drawn
from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.papers.kato.figure_2 import FIT, growth_of
from ropewalk.papers.kato.growing import PRINTED, grown, links_of
from ropewalk.papers.kato.sweeps import EVENTS_EACH, KATO, quotes
from ropewalk.papers.lab import Lab
from ropewalk.papers.statistics import mean
from ropewalk.protocols.kato.kernel.profiles import profiled
from ropewalk.protocols.kato.kernel.spread import meshed, spread

SIZES: dict[Scale, tuple[int, ...]] = {"small": (64, 128, 256), "paper": (64, 128, 256, 512)}
SEEDS: dict[Scale, int] = {"small": 1, "paper": 1}
TABLES = ("covering", "covered", "neighbours", "ring")
GROWN, STATIC = "grown", "static"


def measure(lab: Lab, scale: Scale) -> Measured:
    """The same universes, grown by joins and linked by who knows everybody."""
    by_size: Numbers = {}
    for nodes in SIZES[scale]:
        found: dict[str, list[dict[str, float]]] = {GROWN: [], STATIC: []}
        for seed in lab.seeds(SEEDS[scale]):
            with lab.phase(f"stock quotes, {nodes} nodes join, seed {seed}"):
                both = both_of(nodes, seed, EVENTS_EACH[scale] * nodes)
            for name, numbers in both.items():
                found[name].append(numbers)
        by_size[str(nodes)] = {
            name: {of: mean([each[of] for each in repeated]) for of in repeated[0]} for name, repeated in found.items()
        }
    depths = [of[GROWN]["depth"] for of in by_size.values()]
    return Measured({"by_size": by_size, "growth": growth_of(SIZES[scale], depths)})


@lru_cache(maxsize=32)  # two claims look at the same
def both_of(nodes: int, seed: int, events: int) -> dict[str, dict[str, float]]:
    """Numbers of one universe, grown and static."""
    point = ContentPoint(name=f"{nodes} nodes", model=quotes(nodes), settings=PRINTED, seed=seed, events=events)
    found = grown(point)
    contents, links = found.contents, links_of(found)
    profiles = profiled(contents.interests, PRINTED, seed)
    overlay = Overlay(profiles, links, meshed(nodes, links))
    published = drawn(contents, PRINTED, events, seed)
    went = Heard(*spread(contents.interests, profiles, overlay.mesh, contents.wants, published, True))
    return {
        GROWN: _numbers(contents, overlay, went),
        STATIC: _numbers(contents, *run_here(contents, PRINTED, events, seed)),
    }


def _numbers(contents: Contents, overlay: Overlay, heard: Heard) -> dict[str, float]:
    columns, of_events = routing_columns(contents, overlay, heard), spread_columns(heard)
    summed = {name: float(np.sum(of_events[name])) for name in ("depth", "delivered", "wanted")}
    return {
        "table": mean([float(np.mean(columns[name].astype(np.float64))) for name in TABLES]) * len(TABLES),
        "depth": summed["depth"] / summed["delivered"],
        "missed": 1 - summed["delivered"] / summed["wanted"],
    }


def checks_tables(numbers: Numbers) -> list[Check]:
    """Larger, at every size."""
    return [
        Check(
            f"{nodes} nodes: {of[GROWN]['table']:.1f} links, {of[STATIC]['table']:.1f} static",
            of[GROWN]["table"] > of[STATIC]["table"],
        )
        for nodes, of in numbers["by_size"].items()
    ]


def checks_depth(numbers: Numbers) -> list[Check]:
    """Smaller, at every size, and still logarithmic."""
    fit = numbers["growth"]["logarithm"]
    return [
        *(
            Check(
                f"{nodes} nodes: {of[GROWN]['depth']:.3f} links deep, {of[STATIC]['depth']:.3f} static",
                of[GROWN]["depth"] < of[STATIC]["depth"],
            )
            for nodes, of in numbers["by_size"].items()
        ),
        Check(f"depth = {fit['start']:.2f} + {fit['rise']:.3f} ln n with R^2 {fit['r2']:.3f}", fit["r2"] >= FIT),
    ]


def _draw(measured: Measured, what: str, words: str, reading: str) -> list[Panel]:
    curves = [
        Curve(name, [(float(size), of[name][what]) for size, of in measured.numbers["by_size"].items()], "line", at)
        for at, name in enumerate((GROWN, STATIC))
    ]
    return [Panel(title=words.capitalize(), x="nodes", y=words, reading=reading, curves=curves, log_x=True)]


CAVEAT = (
    "Every message is played, up to 512 nodes (the paper's simulations go to 4000), each joining when those before it are settled; who"
    " wants what is as in Figure 2. What is missed is among the numbers."
)
TABLES_GROW = Claim(
    id="K-F5a",
    sentence="Where nodes join at random times tables are larger than static ones.",
    paper=KATO,
    place="Figure 5(a), section IV-B",
    published={"tables": "larger than static"},
    tolerance="larger at every size",
    measure=measure,
    checks=checks_tables,
    draw=lambda measured: _draw(measured, "table", "links in a routing table", "Grown lies above static."),
    caveat=CAVEAT,
)
DEPTH_SHRINKS = Claim(
    id="K-F5b",
    sentence="There the delivery depth is slightly smaller, and still grows with the logarithm of the number of nodes.",
    paper=KATO,
    place="Figure 5(b), section IV-B",
    published={"depth": "slightly smaller than static, logarithmic"},
    tolerance=f"smaller at every size, and a fit of a + b ln n explains R^2 >= {FIT}",
    measure=measure,
    checks=checks_depth,
    draw=lambda measured: _draw(measured, "depth", "links to who wants an event", "Grown lies below static."),
    caveat=CAVEAT,
)

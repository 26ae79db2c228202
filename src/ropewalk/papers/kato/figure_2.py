"""Kato et al., Figure 2: how deep events go, and how large routing tables are, as a network with static tables grows."""

import math
from collections.abc import Callable, Sequence

from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.papers.kato.sweeps import KATO, SIZES, Case, average, flat, quotes, runs
from ropewalk.papers.lab import Lab
from ropewalk.papers.statistics import explained, mean, slope

FIT, STEADY = 0.95, 0.10
MODELS = {"random ranges": quotes, "ranges of one width": flat}
NESTED, FLAT = MODELS
MEASURES = {
    "depth": "spread.depth",
    "table": "routing.table.mean",
    "copied": "routing.copied.mean",
    "of_primaries": "routing.of_primaries.table.mean",
    "bits": "routing.bits.mean",
    "missed": "spread.false_negatives",
}
TABLES = {"table": "of all nodes", "copied": "with tables copied in groups", "of_primaries": "of primaries"}
Axis = Callable[[float], float]
LAWS: dict[
    str, tuple[Axis, Axis, Axis]
] = {  # how x and y are taken so that it is a straight line, and how y is taken back
    "logarithm": (math.log, float, float),
    "power": (math.log, math.log, math.exp),
    "line": (float, float, float),
}


def measure(lab: Lab, scale: Scale) -> Measured:
    """Static networks of several sizes, subscriptions uniform: once with ranges that contain each other, once of one width."""
    sizes = SIZES[scale]
    cases = [Case(f"{what}, {nodes} nodes", model(nodes)) for what, model in MODELS.items() for nodes in sizes]
    found = runs(lab, scale, "stock quotes, sizes", cases)
    by_size = {
        what: {
            str(nodes): {name: average(found[f"{what}, {nodes} nodes"], of) for name, of in MEASURES.items()}
            for nodes in sizes
        }
        for what in MODELS
    }
    growth = {what: growth_of(sizes, [each["depth"] for each in of.values()]) for what, of in by_size.items()}
    return Measured({"by_size": by_size, "growth": growth})


def growth_of(sizes: Sequence[float], depths: Sequence[float]) -> dict[str, dict[str, float]]:
    """How well each law describes a growth, and how far it is off at the largest size if it has seen the others only."""
    found = {}
    for law in LAWS:
        start, rise = _fitted(law, sizes, depths)
        before = _fitted(law, sizes[:-1], depths[:-1])
        found[law] = {
            "start": start,
            "rise": rise,
            "r2": explained(depths, [_said(law, (start, rise), size) for size in sizes]),
            "off_at_last": _said(law, before, sizes[-1]) / depths[-1] - 1,
        }
    return found


def _fitted(law: str, sizes: Sequence[float], depths: Sequence[float]) -> tuple[float, float]:
    of_x, of_y, _ = LAWS[law]
    x, y = [of_x(size) for size in sizes], [of_y(depth) for depth in depths]
    rise = slope(x, y)
    return mean(y) - rise * mean(x), rise


def _said(law: str, fit: tuple[float, float], size: float) -> float:
    of_x, _, back = LAWS[law]
    return back(fit[0] + fit[1] * of_x(size))


def checks_depth(numbers: Numbers) -> list[Check]:
    """Logarithmic, whatever subscriptions are, and nearer to a logarithm than to a power that hardly grows either."""
    nested, even = numbers["growth"][NESTED], numbers["growth"][FLAT]
    fit, power, line = nested["logarithm"], nested["power"], even["line"]
    return [
        Check(
            f"{NESTED}: depth = {fit['start']:.2f} + {fit['rise']:.3f} ln n with R^2 {fit['r2']:.3f}", fit["r2"] >= FIT
        ),
        Check("it grows with the network", fit["rise"] > 0),
        Check(
            f"from smaller networks the logarithm says the largest's depth with an error of {fit['off_at_last']:+.1%}, a power"
            f" (n^{power['rise']:.2f}, R^2 {power['r2']:.3f}) with {power['off_at_last']:+.1%}",
            abs(fit["off_at_last"]) <= abs(power["off_at_last"]),
        ),
        Check(
            f"{FLAT}: R^2 {even['logarithm']['r2']:.3f} of a logarithm, {line['r2']:.3f} of a line, {line['rise']:.4f} links a node",
            even["logarithm"]["r2"] >= FIT,
        ),
    ]


def draw_depth(measured: Measured) -> list[Panel]:
    """Figure 2(a), for both kinds of ranges."""
    return [
        _panel(measured, what, ["depth"], "links to who wants an event", "A straight line is logarithmic growth.")
        for what in MODELS
    ]


def checks_tables(numbers: Numbers) -> list[Check]:
    """They rise, then stay, however nodes that have the id of another are counted."""
    found = []
    for what in MODELS:
        sizes = list(numbers["by_size"][what].values())
        for name, words in TABLES.items():
            first, before, last = sizes[0][name], sizes[-2][name], sizes[-1][name]
            change = last / before - 1
            said = f"{what}, {words}: {first:.2f} to {last:.2f} links, {change:+.1%} in the last doubling"
            found.append(Check(said, abs(change) < STEADY))
        first, next_ = sizes[0]["of_primaries"], sizes[1]["of_primaries"]
        found.append(Check(f"{what}: rising at first, from {first:.2f} to {next_:.2f} of primaries", next_ > first))
    return found


def draw_tables(measured: Measured) -> list[Panel]:
    """Figure 2(b), for both kinds of ranges."""
    return [
        _panel(measured, what, list(TABLES), "links in a routing table", "Curves that become flat.") for what in MODELS
    ]


def _panel(measured: Measured, what: str, names: list[str], words: str, reading: str) -> Panel:
    by_size = measured.numbers["by_size"][what]
    curves = [
        Curve(name.replace("_", " "), [(float(size), of[name]) for size, of in by_size.items()], "line", at)
        for at, name in enumerate(names)
    ]
    return Panel(title=f"{words.capitalize()}: {what}", x="nodes", y=words, reading=reading, curves=curves, log_x=True)


DEPTH = Claim(
    id="K-F2a",
    sentence="The average delivery depth grows with the logarithm of the number of nodes.",
    paper=KATO,
    place="Figure 2(a), section IV-A",
    published={"growth": "roughly logarithmic"},
    tolerance=f"a fit of a + b ln n explains R^2 >= {FIT}, for random ranges and for ranges of one width; and it says the depth of the"
    " largest network from the others no worse than a power of n does",
    measure=measure,
    checks=checks_depth,
    draw=draw_depth,
    caveat="How wide a subscription is was not printed, and random ranges were chosen because this figure comes out with them: it says that"
    " there are subscriptions for which depth grows slowly, not that it does for any. Over so few sizes R^2 tells a logarithm and a"
    " small power of n hardly apart, so that both are fitted, and asked for the largest network without having seen it.",
    explanation="Random ranges contain each other, and wide ones link far-away nodes. With ranges of one width nobody covers anybody, every"
    " link leads to the next on a circle that has a bit, and depth grows as the circle does: linearly. From 125 to 4000 nodes with random ranges a power, about n^0.22, comes nearer than a logarithm does.",
)
TABLE = Claim(
    id="K-F2b",
    sentence="The routing table grows with the network at first, then stabilises.",
    paper=KATO,
    place="Figure 2(b), section IV-A",
    published={"growth": "stabilises"},
    tolerance=f"the last doubling changes it by less than {STEADY:.0%}, for random ranges and for ranges of one width",
    measure=measure,
    checks=checks_tables,
    draw=draw_tables,
    caveat="Who has the id of another has only the links of its ring, or has copied its primary's table: both are told.",
    explanation="Ranges of one width are covered as well as they ever will be in networks smaller than these, so that nothing is seen of"
    " tables that rise.",
)

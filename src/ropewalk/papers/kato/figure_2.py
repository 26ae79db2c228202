"""Kato et al., Figure 2: how deep events go, and how large routing tables are, as a network with static tables grows."""

from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.papers.kato.sweeps import KATO, SIZES, Case, average, logarithmic, quotes, runs
from ropewalk.papers.lab import Lab

FIT, FLAT = 0.95, 0.10
MEASURES = {
    "depth": "spread.depth",
    "table": "routing.table.mean",
    "of_primaries": "routing.of_primaries.table.mean",
    "bits": "routing.bits.mean",
    "missed": "spread.false_negatives",
}


def measure(lab: Lab, scale: Scale) -> Measured:
    """Static networks of several sizes, subscriptions uniform."""
    cases = [Case(f"{nodes} nodes", quotes(nodes)) for nodes in SIZES[scale]]
    found = runs(lab, scale, "stock quotes, sizes", cases)
    by_size = {
        str(nodes): {name: average(found[f"{nodes} nodes"], measure) for name, measure in MEASURES.items()}
        for nodes in SIZES[scale]
    }
    start, slope, explained = logarithmic(list(SIZES[scale]), [each["depth"] for each in by_size.values()])
    return Measured({"by_size": by_size, "fit": {"start": start, "slope": slope, "r2": explained}})


def depth_checks(numbers: Numbers) -> list[Check]:
    """Logarithmic."""
    fit = numbers["fit"]
    return [
        Check(f"depth = {fit['start']:.2f} + {fit['slope']:.3f} ln n with R^2 {fit['r2']:.3f}", fit["r2"] >= FIT),
        Check("it grows with the network", fit["slope"] > 0),
    ]


def table_checks(numbers: Numbers) -> list[Check]:
    """It rises, then stays, whether nodes with an id that another has are counted with their rings, or not at all."""
    sizes = list(numbers["by_size"].values())
    found = []
    for name, words in (("table", "of all nodes"), ("of_primaries", "of primaries")):
        first, before, last = sizes[0][name], sizes[-2][name], sizes[-1][name]
        change = last / before - 1
        found.append(
            Check(
                f"{words} it is {first:.2f} to {last:.2f} links, {change:+.1%} in the last doubling", abs(change) < FLAT
            )
        )
    found.append(Check("it rises at first", sizes[1]["of_primaries"] > sizes[0]["of_primaries"]))
    return found


def _draw(measured: Measured, what: str, words: str, reading: str) -> list[Panel]:
    by_size = measured.numbers["by_size"]
    names = {"depth": ("depth",), "table": ("table", "of_primaries")}[what]
    curves = [
        Curve(name.replace("_", " "), [(float(size), of[name]) for size, of in by_size.items()], "line", at)
        for at, name in enumerate(names)
    ]
    return [Panel(title=words.capitalize(), x="nodes", y=words, reading=reading, curves=curves, log_x=True)]


DEPTH = Claim(
    id="K-F2a",
    sentence="The average delivery depth grows with the logarithm of the number of nodes.",
    paper=KATO,
    place="Figure 2(a), section IV-A",
    published={"growth": "roughly logarithmic"},
    tolerance=f"a fit of a + b ln n explains R^2 >= {FIT}",
    measure=measure,
    checks=depth_checks,
    draw=lambda measured: _draw(
        measured, "depth", "links to who wants an event", "A straight line is logarithmic growth."
    ),
    caveat="It holds for subscriptions whose ranges contain each other, as random ranges do; with ranges of one width there is nobody to"
    " cover anybody, all links lead to the next on a circle, and depth grows linearly.",
)
TABLE = Claim(
    id="K-F2b",
    sentence="The routing table grows with the network at first, then stabilises.",
    paper=KATO,
    place="Figure 2(b), section IV-A",
    published={"growth": "stabilises"},
    tolerance=f"the last doubling changes it by less than {FLAT:.0%}",
    measure=measure,
    checks=table_checks,
    draw=lambda measured: _draw(measured, "table", "links in a routing table", "Curves that become flat."),
    caveat="Who has the id of another has only the links of their ring; the more nodes, the more of them.",
)

"""Kato et al., Proposition 1: how large a routing table can get, by the rule of the text and by that of the proof."""

import numpy as np

from ropewalk.engines.batch.content import routing_columns, run_here
from ropewalk.engines.contents import Contents, contents_of_topics
from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.papers.kato.sweeps import KATO, LARGEST, Case, average, quotes, runs
from ropewalk.papers.lab import Lab
from ropewalk.protocols.kato.ids import places_of
from ropewalk.protocols.kato.settings import Neighbours, Settings

BITS, FEW_BITS = 1024, 64  # the paper's, and as few as there can be, so that more than half of them are set
PER_BIT = 4  # by the text's rule: 2 n covered and 2 n neighbours for n set bits
FILTERS: dict[int, dict[Scale, tuple[int, ...]]] = {
    BITS: {"small": (1, 16, 256), "paper": (1, 4, 16, 64, 256, 1000)},
    FEW_BITS: {"small": (1, 4, 16), "paper": (1, 2, 4, 8, 16)},
}
READINGS: tuple[Neighbours, ...] = ("text", "proof")
MEASURES = {
    "bits": "routing.bits.mean",
    "most_bits": "routing.bits.p100",
    "table": "routing.table.mean",
    "most": "routing.table.p100",
    "per_bit": "routing.links_per_bit",
    "incoming": "routing.incoming.p100",
}
INSIDE = 60  # bits that the one node of the worst universe has; the others have one of them each


def bound(bits: int) -> int:
    """2 d + c, with one covering link."""
    return 2 * bits + 1


def measure(lab: Lab, scale: Scale) -> Measured:
    """From ids with a few bits to full ones, long and short, in both readings; and a universe that is made to be bad."""
    nodes = LARGEST[scale] // 4
    places = {
        (bits, reading, filters): f"{bits} bits, {reading}, {filters} filters"
        for bits in FILTERS
        for reading in READINGS
        for filters in FILTERS[bits][scale]
    }
    cases = [
        Case(name, quotes(nodes, filters_per_node=filters), Settings(bits=bits, neighbours=reading), repetitions=1)
        for (bits, reading, filters), name in places.items()
    ]
    found = runs(lab, scale, "stock quotes, bounds", cases)
    by_bits = {
        str(bits): {
            reading: {
                str(filters): {
                    name: average(found[places[bits, reading, filters]], of) for name, of in MEASURES.items()
                }
                for filters in FILTERS[bits][scale]
            }
            for reading in READINGS
        }
        for bits in FILTERS
    }
    return Measured({"by_bits": by_bits, "worst": {reading: largest_of_worst(reading) for reading in READINGS}})


def largest_of_worst(reading: Neighbours) -> int:
    """The largest table of the worst universe."""
    contents, settings = worst(), Settings(bits=FEW_BITS, hashes=1, neighbours=reading)
    columns = routing_columns(contents, *run_here(contents, settings, 0, 1))
    picked = np.stack([columns[name] for name in ("covering", "covered", "neighbours")])
    return int(picked.sum(axis=0).max())


def worst() -> Contents:
    """One node has 60 bits of 64. For each of these one other node has it alone, and two have it and a bit beyond.

    So whatever the order of random ids is, nobody whom it meets on its way round adds more than one of its bits.
    """
    cell_of = {places_of(cell, FEW_BITS, 1)[0]: cell for cell in range(1, 100 * FEW_BITS)}
    inside = range(1, INSIDE + 1)
    wanted = [[*inside], *([place] for place in inside)]
    wanted += [[place, INSIDE + beyond] for place in inside for beyond in (1, 2)]
    pairs = [(node, cell_of[place]) for node, places in enumerate(wanted) for place in places]
    nodes, cells = (np.array(column, np.int64) for column in zip(*pairs, strict=True))
    return contents_of_topics(nodes, cells)


def checks(numbers: Numbers) -> list[Check]:
    """Which bound holds for which reading: on stock quotes, and in the worst universe."""
    found = []
    for bits in FILTERS:
        for reading in READINGS:
            of = numbers["by_bits"][str(bits)][reading].values()
            most, full = max(each["most"] for each in of), max(each["most_bits"] for each in of)
            said = f"d = {bits}, by the {reading}'s rule: at most {most:.0f} links of 2 d + c = {bound(bits)}, up to {full:.0f} bits set"
            found.append(Check(said, most <= bound(bits)))
    per_bit = max(each["per_bit"] for of in numbers["by_bits"].values() for each in of["text"].values())
    found.append(
        Check(
            f"by the text's rule at most {per_bit:.2f} covered and neighbour links for each bit that is set, of {PER_BIT}",
            per_bit <= PER_BIT,
        )
    )
    for reading, most in numbers["worst"].items():
        said = f"made to be bad, d = {FEW_BITS}, by the {reading}'s rule: {most} links of 2 d + c = {bound(FEW_BITS)}"
        found.append(Check(said, most <= bound(FEW_BITS)))
    return found


def draw(measured: Measured) -> list[Panel]:
    """The largest tables over how full ids are."""
    return [
        Panel(
            title=f"The largest routing table, d = {bits}",
            x="bits set",
            y="links",
            reading="The fuller ids are, the fewer links cover all of their bits.",
            curves=[
                Curve(reading, [(of["bits"], of["most"]) for of in by_reading[reading].values()], "line", at)
                for at, reading in enumerate(READINGS)
            ],
            log_x=True,
        )
        for bits, by_reading in measured.numbers["by_bits"].items()
    ]


CLAIM = Claim(
    id="K-P1",
    sentence="A routing table has at most 2 d + c entries.",
    paper=KATO,
    place="Proposition 1, section III-A",
    published={"bound": bound(BITS)},
    tolerance="2 d + c by both readings of the neighbour rule, and 4 n + c by the text's, on stock quotes and on a universe made to be bad",
    measure=measure,
    checks=checks,
    draw=draw,
    caveat="The proof counts 2 (d - n) neighbours, as if they were picked for bits that a node has not; the text picks them for those it"
    " has, so that 4 n + c is what its rule obeys. On stock quotes no bound is ever near, even with more than half of all bits set:"
    " full ids are covered by few links. Nodes that others hold are not counted by either; the most incoming links that any node has"
    " besides are among the numbers.",
    explanation="4 n + c is more than 2 d + c once n > d / 2: by the text's rule the proposition is false for a node that has most bits"
    " while others have few. By the proof's rule it holds always.",
)

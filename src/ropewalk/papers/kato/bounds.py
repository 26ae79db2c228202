"""Kato et al., Proposition 1: how large a routing table can get, by the rule of the text and by that of the proof."""

from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.papers.kato.sweeps import KATO, LARGEST, Case, average, quotes, runs
from ropewalk.papers.lab import Lab
from ropewalk.protocols.kato.settings import Settings

BITS = 1024
PRINTED = 2 * BITS + 1  # 2 d + c, with one covering link
PER_BIT = 4  # by the text's rule: 2 n covered and 2 n neighbours for n set bits
FILTERS: dict[Scale, tuple[int, ...]] = {"small": (1, 16, 256), "paper": (1, 4, 16, 64, 256, 1000)}
READINGS = {"text": Settings(), "proof": Settings(neighbours="proof")}


def measure(lab: Lab, scale: Scale) -> Measured:
    """From ids with a few bits to full ones, under both readings of whom neighbours are picked for."""
    nodes = LARGEST[scale] // 4
    cases = [
        Case(f"{reading}, {filters} filters", quotes(nodes, filters_per_node=filters), settings, repetitions=1)
        for reading, settings in READINGS.items()
        for filters in FILTERS[scale]
    ]
    found = runs(lab, scale, "stock quotes, bounds", cases)
    measures = {
        "bits": "routing.bits.mean",
        "table": "routing.table.mean",
        "most": "routing.table.p100",
        "per_bit": "routing.links_per_bit",
        "incoming": "routing.incoming.p100",
    }
    numbers = {
        reading: {
            str(filters): {name: average(found[f"{reading}, {filters} filters"], of) for name, of in measures.items()}
            for filters in FILTERS[scale]
        }
        for reading in READINGS
    }
    return Measured(numbers)


def checks(numbers: Numbers) -> list[Check]:
    """Which bound holds for which reading."""
    text, proof = (list(numbers[reading].values()) for reading in READINGS)
    most = {"text": max(each["most"] for each in text), "proof": max(each["most"] for each in proof)}
    per_bit = max(each["per_bit"] for each in text)
    return [
        Check(
            f"by the text's rule the largest table has {most['text']:.0f} links, of 2 d + c = {PRINTED}",
            most["text"] <= PRINTED,
        ),
        Check(f"by the proof's rule it has {most['proof']:.0f}", most["proof"] <= PRINTED),
        Check(
            f"by the text's rule a node has at most {per_bit:.2f} covered and neighbour links a bit, of 4",
            per_bit <= PER_BIT,
        ),
    ]


def draw(measured: Measured) -> list[Panel]:
    """The largest tables over how full ids are."""
    curves = [
        Curve(reading, [(of["bits"], of["most"]) for of in measured.numbers[reading].values()], "line", at)
        for at, reading in enumerate(READINGS)
    ]
    reading = "By the text's rule tables are largest where ids are sparse; by the proof's they are many times as large."
    return [
        Panel(title="The largest routing table", x="bits set", y="links", reading=reading, curves=curves, log_x=True)
    ]


CLAIM = Claim(
    id="K-P1",
    sentence="A routing table has at most 2 d + c entries.",
    paper=KATO,
    place="Proposition 1, section III-A",
    published={"bound": PRINTED},
    tolerance="both readings of the neighbour rule: which bound holds",
    measure=measure,
    checks=checks,
    draw=draw,
    caveat="The proof counts 2 (d - n) neighbours, as if they were picked for bits that a node has not; the text picks them for those it"
    " has, so 4 n + c is what its rule obeys, which is more than 2 d + c once n > d / 2. Nodes that others hold are not counted by"
    " either; the most incoming links that any node has besides are among the numbers.",
)

"""Kato et al., Figures 3 and 4: false positives and routing tables, the more skewed subscriptions are."""

from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.papers.kato.sweeps import KATO, LARGEST, Case, average, popular, quotes, runs
from ropewalk.papers.lab import Lab
from ropewalk.papers.magnet.sweeps import falls

EXPONENTS: dict[Scale, tuple[float, ...]] = {"small": (1.0, 2.0, 4.0), "paper": (1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0)}
LAWS = ("rank", "pdf")
MEASURES = {
    "false_positives": "spread.false_positives",
    "by_cell": "spread.false_positives.by_cell",
    "by_bits": "spread.false_positives.by_bits",
    "table": "routing.table.mean",
    "of_primaries": "routing.of_primaries.table.mean",
    "primaries": "routing.primaries",
}


def measure(lab: Lab, scale: Scale) -> Measured:
    """One large network, uniform and with popularity x^-a under two readings."""
    nodes = LARGEST[scale]
    laws = [(law, a) for law in LAWS for a in EXPONENTS[scale]]
    cases = [Case("uniform", quotes(nodes))]
    cases += [Case(f"{law} {a:g}", popular(nodes, a, law)) for law, a in laws]
    found = runs(lab, scale, "stock quotes, laws", cases)
    numbers = {case.name: {name: average(found[case.name], of) for name, of in MEASURES.items()} for case in cases}
    return Measured({"by_law": numbers, "exponents": list(EXPONENTS[scale])})


def _of(numbers: Numbers, law: str, name: str) -> list[float]:
    return [numbers["by_law"]["uniform"][name]] + [
        numbers["by_law"][f"{law} {a:g}"][name] for a in numbers["exponents"]
    ]


def _checks(numbers: Numbers, name: str, form: str) -> list[Check]:
    found = []
    for law in LAWS:
        values = _of(numbers, law, name)
        said = ", ".join(form.format(value) for value in values)
        found.append(Check(f"law {law}: {said} (uniform, then a = {numbers['exponents'][0]:g} and up)", falls(values)))
    return found


def _draw(measured: Measured, name: str, words: str, reading: str) -> list[Panel]:
    curves = [
        Curve(
            law, list(zip(measured.numbers["exponents"], _of(measured.numbers, law, name)[1:], strict=True)), "line", at
        )
        for at, law in enumerate(LAWS)
    ]
    return [Panel(title=words.capitalize(), x="exponent a", y=words, reading=reading, curves=curves)]


POSITIVES = Claim(
    id="K-F3",
    sentence="The ratio of false positives falls as subscriptions become more skewed.",
    paper=KATO,
    place="Figure 3, section IV-A",
    published={"growth": "falls with a"},
    tolerance="monotone over a from 1 to 4, below uniform",
    measure=measure,
    checks=lambda numbers: _checks(numbers, "false_positives", "{:.4f}"),
    draw=lambda measured: _draw(measured, "false_positives", "share of receipts that nobody wanted", "It falls."),
    caveat="A false positive is a node that an event reached though its exact filter does not match; the ratio is their share of all"
    " that events reached. Whole subscriptions are drawn by the law; if only the cell that they start from is, the share falls until"
    " what is left is the price of cells, which does not depend on a.",
)
TABLES = Claim(
    id="K-F4",
    sentence="The routing table shrinks as subscriptions become more skewed.",
    paper=KATO,
    place="Figure 4, section IV-A",
    published={"growth": "falls with a"},
    tolerance="monotone over a from 1 to 4, below uniform",
    measure=measure,
    checks=lambda numbers: _checks(numbers, "table", "{:.2f}"),
    draw=lambda measured: _draw(measured, "table", "links in a routing table", "It falls."),
    caveat="The more nodes want the same, the fewer ids there are, and who is not a primary has only the links of its ring.",
)

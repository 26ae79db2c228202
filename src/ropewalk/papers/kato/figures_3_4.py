"""Kato et al., Figures 3 and 4: false positives and routing tables, the more skewed subscriptions are."""

from ropewalk.papers.contract import Check, Claim, Measured, Numbers, Scale
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.papers.kato.sweeps import KATO, LARGEST, Case, average, equally_popular, popular, runs
from ropewalk.papers.lab import Lab
from ropewalk.papers.statistics import falls

EXPONENTS: dict[Scale, tuple[float, ...]] = {"small": (1.0, 2.0, 4.0), "paper": (1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0)}
LAWS = ("rank", "pdf")
UNIFORM = "uniform"
MEASURES = {
    "false_positives": "spread.false_positives",
    "by_cell": "spread.false_positives.by_cell",
    "by_bits": "spread.false_positives.by_bits",
    "table": "routing.table.mean",
    "copied": "routing.copied.mean",
    "of_primaries": "routing.of_primaries.table.mean",
    "primaries": "routing.primaries",
    "depth": "spread.depth",
}
# Ours: of uniform at most so much at the least exponent. By chance single runs there differ by 5 %, the mean of ten by 1.5 %.
NOTICEABLE = 0.95
READINGS = {
    "table": "who is no primary has the links of its ring",
    "copied": "everybody has copied its primary's table",
}


def measure(lab: Lab, scale: Scale) -> Measured:
    """One large network; the same subscriptions, alike popular and with popularity x^-a under two readings."""
    nodes = LARGEST[scale]
    laws = [(law, a) for law in LAWS for a in EXPONENTS[scale]]
    cases = [Case(UNIFORM, equally_popular(nodes))]
    cases += [Case(f"{law} {a:g}", popular(nodes, a, law)) for law, a in laws]
    found = runs(lab, scale, "stock quotes, laws", cases)
    numbers = {case.name: {name: average(found[case.name], of) for name, of in MEASURES.items()} for case in cases}
    return Measured({"by_law": numbers, "exponents": list(EXPONENTS[scale])})


def _of(numbers: Numbers, law: str, name: str) -> list[float]:
    return [numbers["by_law"][UNIFORM][name]] + [numbers["by_law"][f"{law} {a:g}"][name] for a in numbers["exponents"]]


def _listed(numbers: Numbers, law: str, name: str, form: str) -> str:
    return ", ".join(form.format(value) for value in _of(numbers, law, name))


def checks_positives(numbers: Numbers) -> list[Check]:
    """They fall."""
    since = f"uniform, then a = {numbers['exponents'][0]:g} and up"
    return [
        Check(
            f"law {law}: {_listed(numbers, law, 'false_positives', '{:.4f}')} ({since})",
            falls(_of(numbers, law, "false_positives")),
        )
        for law in LAWS
    ]


def draw_positives(measured: Measured) -> list[Panel]:
    """Figure 3."""
    return [_panel(measured, "false_positives", "share of receipts that nobody wanted", "It falls.")]


def checks_tables(numbers: Numbers) -> list[Check]:
    """They fall, whichever table who is no primary has; what becomes of depth is said beside it."""
    since = f"uniform, then a = {numbers['exponents'][0]:g} and up"
    found = []
    for law in LAWS:
        depths = f"at a depth of {_listed(numbers, law, 'depth', '{:.1f}')}"
        for name, words in READINGS.items():
            said = f"law {law}, {words}: {_listed(numbers, law, name, '{:.2f}')} links ({since}), {depths}"
            uniform, least, *_ = values = _of(numbers, law, name)
            found += [
                Check(said, falls(values)),
                Check(
                    f"law {law}, {words}: at the least exponent {least / uniform:.1%} of uniform",
                    least <= NOTICEABLE * uniform,
                ),
            ]
    return found


def draw_tables(measured: Measured) -> list[Panel]:
    """Figure 4 in both readings, and what becomes of depth."""
    panels = [_panel(measured, name, "links in a routing table", f"Here {words}.") for name, words in READINGS.items()]
    reading = "The more want the same, the longer their rings, which events go round link by link."
    return [*panels, _panel(measured, "depth", "links to who wants an event", reading)]


def _panel(measured: Measured, name: str, words: str, reading: str) -> Panel:
    exponents = measured.numbers["exponents"]
    curves = [
        Curve(law, list(zip(exponents, _of(measured.numbers, law, name)[1:], strict=True)), "line", at)
        for at, law in enumerate(LAWS)
    ]
    return Panel(title=words.capitalize(), x="exponent a", y=words, reading=reading, curves=curves)


POSITIVES = Claim(
    id="K-F3",
    sentence="The ratio of false positives falls as subscriptions become more skewed.",
    paper=KATO,
    place="Figure 3, section IV-A",
    published={"growth": "falls with a"},
    tolerance="monotone over a from 1 to 4, below uniform",
    measure=measure,
    checks=checks_positives,
    draw=draw_positives,
    caveat="A false positive is a node that an event reached though its exact filter does not match; the ratio is their share of all"
    " that events reached. Whole subscriptions are drawn by the law, and for the uniform one, too; if only the cell that they start"
    " from is, the share falls until what is left is the price of cells, which does not depend on a.",
)
TABLES = Claim(
    id="K-F4",
    sentence="The routing table shrinks as subscriptions become more skewed.",
    paper=KATO,
    place="Figure 4, section IV-A",
    published={"growth": "falls with a"},
    tolerance=f"monotone over a from 1 to 4, and at a = 1 at most {NOTICEABLE:.0%} of uniform, both where who is no primary has its"
    " ring's links alone and where it has copied its primary's table",
    measure=measure,
    checks=checks_tables,
    draw=draw_tables,
    caveat="Section III-C says that who finds its id taken copies that table; whether copies are counted in Figure 4 is not said. Where"
    " they are not, tables shrink since most nodes have two links, those of their ring, and depth pays for it: events go round rings"
    " of hundreds, link by link.",
    explanation="Copied tables are those of primaries. They shrink only where so few different subscriptions are left that a handful of"
    " links covers them; at a = 1 there are still hundreds.",
)

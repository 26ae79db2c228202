from dataclasses import replace

from ropewalk.papers.catalogue import CLAIMS
from ropewalk.papers.contract import Finding, Measured
from ropewalk.papers.drawing import Curve, Panel
from ropewalk.report.claims import documents, figure_of, render
from ropewalk.report.figures import panels_inline, panels_standalone

KINDS = ("line", "points", "steps", "law")
PANELS = [
    Panel(
        title=title,
        x="topics",
        y="share",
        reading="Read it so.",
        curves=[Curve(kind, [(1.0, 2.0), (3.0, 4.0)], kind, shade) for shade, kind in enumerate(KINDS)],  # type: ignore[arg-type]
        log_x=log,
        log_y=log,
    )
    for title, log in (("plain", False), ("logarithmic", True), ("third", False))
]
FOUND = [
    Finding(
        replace(claim, draw=lambda _: PANELS),
        Measured({"one <number>": 1.5}),
        "holds in part",
        "Does not: a < b.",
    )
    for claim in (CLAIMS["A-T2"], CLAIMS["B-F3/4"])
]


def test_figures_are_the_same_to_the_byte() -> None:
    assert panels_standalone(PANELS) == panels_standalone(PANELS)
    inline = panels_inline(PANELS)
    assert inline == panels_inline(PANELS)
    assert inline.startswith("<svg")
    assert "currentColor" in inline
    for panel in PANELS:
        assert panel.title in inline


def test_the_page_says_every_claim_with_its_verdict_and_needs_nothing_else() -> None:
    page = render(FOUND, "ropewalk reproduce A-T2")
    assert "0 holds, 2 holds in part, 0 does not hold, 0 not comparable" in page
    for finding in FOUND:
        assert finding.claim.sentence in page
        assert finding.claim.tolerance in page
        assert f'id="{finding.claim.id}"' in page
    assert "Does not: a &lt; b." in page
    assert "one &lt;number&gt;" in page
    assert "ropewalk reproduce A-T2" in page
    assert "src=" not in page
    assert "<script" not in page


def test_a_claim_s_figure_is_a_file_of_its_own() -> None:
    assert [figure_of(finding) for finding in FOUND] == ["figures/A-T2.svg", "figures/B-F3-4.svg"]
    assert [document["figure"] for document in documents(FOUND)] == ["figures/A-T2.svg", "figures/B-F3-4.svg"]

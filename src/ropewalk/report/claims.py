"""What came of the claims: one HTML page, one figure file per claim, and the same as JSON."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from ropewalk.papers.contract import Finding, Verdict
from ropewalk.report.figures import panels_inline, panels_standalone
from ropewalk.report.page import rendered, write_page

RESULTS, PAGE, FIGURES = "results.json", "report.html", "figures"
MARKS: dict[Verdict, str] = {"holds": "yes", "holds in part": "part", "does not hold": "no", "not comparable": "none"}


@dataclass(frozen=True, slots=True)
class Section:
    """A claim on the page."""

    document: dict[str, Any]
    figure: Markup
    readings: list[str]
    mark: str
    published: str
    measured: str


def write_results(out: Path, findings: Sequence[Finding], command: str) -> None:
    """Everything there is to say about these findings, into a folder, in place of what was said there before."""
    figures = {out / figure_of(finding) for finding in findings}
    for old in set((out / FIGURES).glob("*.svg")) - figures:
        old.unlink()
    for finding in findings:
        write_page(out / figure_of(finding), panels_standalone(finding.panels))
    write_page(out / PAGE, render(findings, command))
    write_page(out / RESULTS, json.dumps(documents(findings), indent=2) + "\n")


def documents(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """What results.json holds."""
    return [finding.document() | {"figure": figure_of(finding)} for finding in findings]


def figure_of(finding: Finding) -> str:
    """Where a claim's figure lies below the results."""
    return f"{FIGURES}/{finding.claim.id.replace('/', '-')}.svg"


def render(findings: Sequence[Finding], command: str) -> str:
    """The text of the page."""
    return rendered(
        "claims.html.j2",
        sections=[_section(finding) for finding in findings],
        counts={verdict: sum(finding.verdict == verdict for finding in findings) for verdict in MARKS},
        command=command,
    )


def _section(finding: Finding) -> Section:
    panels = finding.panels
    return Section(
        document=finding.document(),
        figure=panels_inline(panels),
        readings=list(dict.fromkeys(panel.reading for panel in panels)),
        mark=MARKS[finding.verdict],
        published=_said(finding.claim.published),
        measured=json.dumps(finding.measured.numbers, indent=1),
    )


def _said(published: Any) -> str:
    return published if isinstance(published, str) else json.dumps(published)

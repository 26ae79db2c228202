"""What a claim is: a sentence of a paper, what would have to come out, how it is measured, and what the verdict follows from.

A verdict is never written down. A claim's `checks` turn the measured numbers, and nothing else, into things that hold or
do not: if all do, the claim holds; if none does, it does not; else it holds in part; and where nothing could be checked it
is not comparable. Text that explains an outcome (`caveat`, `explanation`) changes none.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from ropewalk.papers.drawing import Panel
from ropewalk.papers.lab import Lab

Scale = Literal["small", "paper"]
SCALES: tuple[Scale, ...] = get_args(Scale)
"""small: minutes on two cores. paper: as many runs and as large as they were published."""

Verdict = Literal["holds", "holds in part", "does not hold", "not comparable"]
HOLDS: Verdict = "holds"
IN_PART: Verdict = "holds in part"
DOES_NOT: Verdict = "does not hold"
NOT_COMPARABLE: Verdict = "not comparable"

Numbers = dict[str, Any]
"""What was measured, as JSON has it: names, numbers, lists of them."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that the tolerance asks for, said with the number that was found, and whether it is so."""

    found: str
    holds: bool


@dataclass(frozen=True, slots=True)
class Measured:
    """What a claim's experiment came to. `curves` are for the figure alone: too long for a document."""

    numbers: Numbers
    curves: Mapping[str, Sequence[tuple[float, float]]] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()  # sentences: which part could not be measured here, and why


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One claim. The module of its figure or table makes it from functions that stand beside it."""

    id: str
    sentence: str
    paper: str
    place: str
    published: Any  # as JSON has it; None where only the shape of a figure is known
    tolerance: str
    measure: Callable[[Lab, Scale], Measured]
    checks: Callable[[Numbers], list[Check]]
    draw: Callable[[Measured], list[Panel]]
    caveat: str = ""  # what has to be known to read the verdict, whatever it is
    explanation: str = ""  # why it does not come out, where it does not


@dataclass(frozen=True, slots=True)
class Finding:
    """What became of a claim."""

    claim: Claim
    measured: Measured
    verdict: Verdict
    why: str

    @property
    def panels(self) -> list[Panel]:
        """The claim's figure."""
        return self.claim.draw(self.measured)

    def document(self) -> dict[str, Any]:
        """What `reproduce --json` prints of it."""
        claim = self.claim
        return {
            "id": claim.id,
            "claim": claim.sentence,
            "paper": claim.paper,
            "place": claim.place,
            "published": claim.published,
            "measured": self.measured.numbers,
            "tolerance": claim.tolerance,
            "verdict": self.verdict,
            "why": self.why,
        }


def find(claim: Claim, lab: Lab, scale: Scale) -> Finding:
    """Measure a claim and judge it."""
    measured = claim.measure(lab, scale)
    verdict, why = judged(claim, measured)
    return Finding(claim, measured, verdict, why)


def judged(claim: Claim, measured: Measured) -> tuple[Verdict, str]:
    """The verdict that follows from the numbers, and why."""
    checks = claim.checks(measured.numbers)
    verdict = verdict_of(checks)
    sentences = [_listed(checks)] if checks else []
    sentences += [claim.caveat, claim.explanation if verdict != HOLDS else "", *measured.left_out]
    return verdict, " ".join(sentence for sentence in sentences if sentence)


def verdict_of(checks: Sequence[Check]) -> Verdict:
    """All, none, some, or nothing to go by."""
    if not checks:
        return NOT_COMPARABLE
    kept = sum(check.holds for check in checks)
    if kept == len(checks):
        return HOLDS
    return IN_PART if kept else DOES_NOT


def _listed(checks: Sequence[Check]) -> str:
    kept = [check.found for check in checks if check.holds]
    broken = [check.found for check in checks if not check.holds]
    parts = [f"Holds: {'; '.join(kept)}." if kept else "", f"Does not: {'; '.join(broken)}." if broken else ""]
    return " ".join(part for part in parts if part)

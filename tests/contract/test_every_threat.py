"""What the threat model claims is shown somewhere: every test and experiment that it names is there."""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "threat-model.md").read_text()
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
EXPERIMENT = re.compile(r"`(benchmarks/\w+\.py)`")
NAMED = sorted(set(TEST.findall(TEXT)))


def claims(text: str) -> Iterator[str]:
    """Every item of a list, and every cell of a table that says that something cannot be done."""
    for line in text.splitlines():
        if line.startswith("- "):
            yield line.removeprefix("- ")
        elif line.startswith("|"):
            yield from (cell.strip() for cell in line.split("|") if re.match(r" *(no|must)\b", cell))


def unshown(text: str) -> list[str]:
    """Claims that name nothing that shows them, and do not say that nothing does."""
    return [
        claim
        for claim in claims(text)
        if not claim.startswith("**Not defended") and not TEST.search(claim) and not EXPERIMENT.search(claim)
    ]


def test_every_test_that_is_named_is_there() -> None:
    assert len(NAMED) > 40
    missing = [f"{path}::{name}" for path, name in NAMED if f"def {name}(" not in _text(path)]
    assert missing == []


def test_every_experiment_that_is_named_is_there() -> None:
    named = set(EXPERIMENT.findall(TEXT))
    assert {"benchmarks/liars.py", "benchmarks/notice.py"} <= named
    assert [each for each in named if not (ROOT / each).is_file()] == []


def test_every_claim_names_what_shows_it_or_says_that_nothing_does() -> None:
    assert len(list(claims(TEXT))) > 25
    assert unshown(TEXT) == []


def test_a_claim_that_nothing_shows_is_found() -> None:
    text = """
- Reads nothing.
- **Floods** of anything end it, whatever is Not defended.
- **Not defended**: all else.
- **Slow ones** are noticed: `benchmarks/notice.py`.
| who | open | closed |
|---|---|---|
| gets in | no | no: `tests/live/test_door.py::test_a` |
| nobody else | must be known | yes |
"""
    floods = "**Floods** of anything end it, whatever is Not defended."
    assert unshown(text) == ["Reads nothing.", floods, "no", "must be known"]


def _text(path: str) -> str:
    there = ROOT / path
    return there.read_text() if there.is_file() else ""

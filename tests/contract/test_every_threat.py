"""What the threat model claims is shown somewhere: every test and experiment that it names is there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "threat-model.md").read_text()
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", TEXT)))
CLAIMS = [line for line in TEXT.splitlines() if line.startswith("- **")]


def test_every_test_that_is_named_is_there() -> None:
    assert len(NAMED) > 30
    missing = [f"{path}::{name}" for path, name in NAMED if f"def {name}(" not in _text(path)]
    assert missing == []


def test_every_experiment_that_is_named_is_there() -> None:
    named = set(re.findall(r"`(benchmarks/\w+\.py)`", TEXT))
    assert {"benchmarks/liars.py", "benchmarks/notice.py"} <= named
    assert [each for each in named if not (ROOT / each).is_file()] == []


def test_every_claim_names_what_shows_it_or_says_that_nothing_does() -> None:
    assert len(CLAIMS) > 8
    assert [line for line in CLAIMS if "`tests/" not in line and "Not defended" not in line] == []


def _text(path: str) -> str:
    there = ROOT / path
    return there.read_text() if there.is_file() else ""

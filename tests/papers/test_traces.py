"""Public traces come out as documented, where they lie: in the folder ROPEWALK_DATA, by default shared/data beside the project."""

import json
import os
import re
import shlex
from pathlib import Path

import pytest

from ropewalk.cli.main import main
from ropewalk.tables.session import Session

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("ROPEWALK_DATA", ROOT.parent / "shared" / "data"))
ROW = re.compile(r"^\| [^|]+ \| `ropewalk (ingest [^`]+)` \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|$", re.MULTILINE)
DOCUMENTED = ROW.findall((ROOT / "docs" / "traces.md").read_text(encoding="utf-8"))


def test_the_document_lists_traces() -> None:
    assert len(DOCUMENTED) == 11


@pytest.mark.long
@pytest.mark.parametrize("row", DOCUMENTED, ids=lambda row: row[0].rpartition(" ")[2])
def test_a_trace_comes_out_as_documented(
    spark: Session, elsewhere: Path, capsys: pytest.CaptureFixture[str], row: tuple[str, str, str, str]
) -> None:
    command, *expected = row
    if not DATA.is_dir():
        pytest.skip(f"no public traces: {DATA} is not a folder (set ROPEWALK_DATA)")
    places = {path.name: str(path) for path in DATA.rglob("*") if path.is_file()}
    words = [places.get(word, word) for word in shlex.split(command)]
    assert main([*words, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert [f"{said[name]:,}" for name in ("nodes", "topics", "subscriptions")] == expected
    assert said["read"] == said["kept"] + said["duplicates"] + said["left_out"] + said["rejected"]
    assert said["rejected"] == 0

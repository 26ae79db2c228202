from pathlib import Path

import pytest

from ropewalk.errors import UsageError
from ropewalk.papers.lab import folder_of_traces
from ropewalk.papers.traces import TRACES, files_of

ROOT = Path(__file__).parents[2]


def test_files_are_found_wherever_they_lie_and_only_if_all_are_there(tmp_path: Path) -> None:
    github = TRACES["github"]
    assert files_of(github, tmp_path) is None
    (tmp_path / "deep" / "down").mkdir(parents=True)
    first, second = (tmp_path / place for place in ("data.mediumlarge.gz", "deep/down/data.medium.gz"))
    first.touch()
    assert files_of(github, tmp_path) is None
    second.touch()
    assert files_of(github, tmp_path) == [first, second]


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    assert folder_of_traces(None) is None
    assert folder_of_traces(tmp_path) == tmp_path
    with pytest.raises(UsageError, match="is not a folder; give one that holds traces"):
        folder_of_traces(tmp_path / "nothing")


@pytest.mark.parametrize("trace", TRACES.values(), ids=TRACES)
def test_traces_are_read_as_their_documentation_says(trace) -> None:
    said = (ROOT / "docs" / "traces.md").read_text(encoding="utf-8")
    assert f"`ropewalk ingest {trace.source.name} {' '.join(trace.files)} " in said

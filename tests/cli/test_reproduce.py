"""`ropewalk reproduce`: what it prints, writes and leaves with. Which claims hold is said in tests/papers."""

import json
from pathlib import Path

import pytest

from ropewalk.cli import reproduce
from ropewalk.cli.main import main
from ropewalk.errors import InputError
from ropewalk.papers.catalogue import CLAIMS
from ropewalk.papers.contract import Check, Finding, Measured, verdict_of
from ropewalk.tables.session import Session


def test_a_claim_that_holds(spark: Session, elsewhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "B-F2", "--seed", "3", "--out", "results", "--json"]) == 0
    out, err = capsys.readouterr()
    (found,) = json.loads(out)
    assert found["id"] == "B-F2"
    assert found["verdict"] == "holds"
    assert found["claim"] == CLAIMS["B-F2"].sentence
    assert set(found) >= {"published", "measured", "tolerance", "why", "figure", "paper", "place"}
    assert json.loads((elsewhere / "results" / "results.json").read_text()) == [found]
    assert (elsewhere / "results" / found["figure"]).read_text().startswith("<?xml")
    page = (elsewhere / "results" / "report.html").read_text()
    assert "ropewalk reproduce B-F2 --scale small --seed 3" in page
    assert found["claim"] in page
    assert "src=" not in page
    assert "ropewalk: B-F2 holds" in err.splitlines()
    assert main(["reproduce", "B-F2", "--out", "results"]) == 2
    assert "results has results already; choose another folder, or add --overwrite." in capsys.readouterr().err
    stale = elsewhere / "results" / "figures" / "A-T2.svg"
    stale.write_text("of results before")
    assert main(["reproduce", "B-F2", "--seed", "3", "--out", "results", "--overwrite"]) == 0
    assert not stale.exists()
    assert main(["reproduce", "B-F2", "--seed", "3"]) == 0
    assert "holds" in capsys.readouterr().out
    assert sorted(path.name for path in elsewhere.iterdir()) == ["results"]


@pytest.mark.parametrize(("outcomes", "code"), [([], 0), ([True], 0), ([True, False], 1), ([False], 1)])
def test_the_exit_code_says_whether_something_did_not_come_out(
    spark: Session, elsewhere: Path, monkeypatch: pytest.MonkeyPatch, outcomes: list[bool], code: int
) -> None:
    def found(claim, lab, scale):
        verdict = verdict_of([Check("something", holds) for holds in outcomes])
        return Finding(claim, Measured({"numbers": 1}), verdict, "because")

    monkeypatch.setattr(reproduce, "find", found)
    assert main(["reproduce", "A-T2"]) == code


def test_a_claim_that_fails_does_not_take_the_others_with_it(
    spark: Session, elsewhere: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def found(claim, lab, scale):
        if claim.id == "A-T2":
            raise InputError("a trace is empty.")
        return Finding(claim, Measured({"data": str(lab.data)}), "holds", "because")

    monkeypatch.setattr(reproduce, "find", found)
    monkeypatch.setattr(reproduce, "write_results", lambda *told: (elsewhere / "again").write_text(told[-1]))
    (elsewhere / "my traces").mkdir()
    assert main(["reproduce", "A-T2", "B-F2", "--data", "my traces", "--out", "results", "--json"]) == 4
    out, err = capsys.readouterr()
    assert [document["id"] for document in json.loads(out)] == ["B-F2"]
    assert "ropewalk: A-T2 could not be measured: a trace is empty." in err.splitlines()
    again = (elsewhere / "again").read_text()
    assert again == "ropewalk reproduce A-T2 B-F2 --scale small --seed 1 --data 'my traces'"


def test_an_unknown_claim_is_refused_with_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "A-T2", "Z-9"]) == 2
    err = capsys.readouterr().err
    assert "claim 'Z-9' is not known; choose from: A-F1, " in err
    assert main(["reproduce", "--data", "nowhere"]) == 2
    assert "nowhere is not a folder" in capsys.readouterr().err

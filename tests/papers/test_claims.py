"""Every claim at small scale, without traces: the verdicts that docs/papers reports, from one lab that all of them share."""

import json
from contextlib import nullcontext

import pytest

from ropewalk.papers.catalogue import CLAIMS
from ropewalk.papers.contract import Measured, find, judged
from ropewalk.papers.lab import Lab
from ropewalk.tables.session import Session

SMALL = {
    "A-F1": "holds in part",
    "A-T1": "holds",
    "A-T2": "holds",
    "A-F2": "holds",
    "A-F3": "holds in part",
    "A-T3": "holds",
    "A-S1": "holds",
    "A-P1": "holds",
    "A-P2": "holds",
    "B-T1": "holds",
    "B-F2": "holds",
    "B-F3/4": "holds",
    "B-F5": "not comparable",
    "B-F6a": "holds",
    "B-F6a-timed": "holds in part",
    "B-F7": "holds in part",
    "B-F8": "does not hold",
    "B-F9": "holds in part",
    "B-C1-weak": "holds",
    "B-C1-strong": "does not hold",
    "B-C1-weak-managed": "holds",
    "B-C1-strong-managed": "holds in part",
    "B-C1-repair": "holds",
    "B-C2": "holds",
    "B-W1": "holds",
    "B-D1": "holds",
    "B-D2": "holds",
    "B-D3": "holds",
    "B-O1": "holds",
    "B-P1": "holds",
    "B-P2": "holds",
    "B-S1": "holds",
    "M-F2": "holds",
    "M-F3a": "holds in part",
    "M-F3b": "holds",
    "M-F4a": "holds",
    "M-F4b": "holds",
    "M-F5": "holds in part",
    "M-F6": "holds",
    "M-F7": "holds",
    "M-F8a": "holds in part",
    "M-F8b": "holds",
    "M-W": "holds",
    "M-C1": "holds",
    "M-C2": "holds",
    "M-C3": "holds",
    "M-C4": "holds",
    "M-C5": "holds",
    "M-C6": "holds",
    "M-C7": "holds",
    "K-F2a": "holds in part",
    "K-F2b": "holds",
    "K-F3": "holds",
    "K-F4": "holds in part",
    "K-F5a": "holds",
    "K-F5b": "holds in part",
    "K-P1": "holds in part",
    "K-P2": "holds in part",
    "K-P3": "holds",
    "K-C1": "holds in part",
    "K-F6": "holds in part",
    "K-TW1": "holds in part",
    "K-F8": "holds in part",
    "K-F9": "holds",
    "K-F7/10": "holds",
}
# Real nodes, whose runs are never twice the same: where views end around the simulated ones is chance
LIVE = {"B-F6a-live": ("holds", "holds in part"), "B-F6b": ("holds",)}
# Seven seconds to minutes each: `make long` runs them, and the gate only rehearses them (tests/contract)
SLOW = {
    *("A-T2", "A-F2", "A-P2", "B-F8", "B-C1-weak", "B-C1-weak-managed", "B-C1-strong-managed", "B-C1-repair", "B-C2"),
    *("B-D2", "B-D3", "B-P1", "B-S1", "B-C1-strong", "B-F7", "B-F6a-timed", "A-T1", "A-S1", "M-C5", "B-F6a"),
    *("K-C1", "K-F5a", "K-F5b", "K-P3"),  # the last two look at what K-F5a and K-P2 do
    *("B-F9", "M-C7", "B-O1", "B-W1", "B-D1", "B-F3/4", "B-F5", "K-P1", "K-P2", "K-F2a", "K-F2b", "A-F3", "A-T3"),
    *("K-F7/10", "K-F4", "K-F3", "M-F3b", "B-T1", "A-P1", "K-TW1"),
}
PAPER = {"A-T1": "holds in part", "A-T2": "holds", "M-F7": "holds"}  # those that take minutes


@pytest.fixture(scope="session")
def lab(spark: Session, tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(spark=spark, folder=tmp_path_factory.mktemp("lab"), phase=lambda _: nullcontext())


def test_no_claim_is_forgotten() -> None:
    assert list(SMALL) == [claim for claim in CLAIMS if claim not in LIVE]
    assert LIVE.keys() <= CLAIMS.keys()
    assert SMALL.keys() >= SLOW


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "claim", [pytest.param(claim, marks=pytest.mark.long if claim in SLOW else pytest.mark.thorough) for claim in SMALL]
)
def test_small_scale(lab: Lab, claim: str) -> None:
    finding = find(CLAIMS[claim], lab, "small")
    assert finding.verdict == SMALL[claim], finding.why
    stored = Measured(json.loads(json.dumps(finding.measured.numbers)), left_out=finding.measured.left_out)
    assert judged(CLAIMS[claim], stored) == (finding.verdict, finding.why)  # from what JSON says alone
    for panel in finding.panels:
        assert panel.curves
        assert all(curve.points for curve in panel.curves)


@pytest.mark.long
@pytest.mark.parametrize("claim", LIVE)
def test_real_nodes(lab: Lab, claim: str) -> None:
    finding = find(CLAIMS[claim], lab, "small")
    assert finding.verdict in LIVE[claim], finding.why
    assert all(curve.points for panel in finding.panels for curve in panel.curves)


@pytest.mark.long
@pytest.mark.parametrize("claim", PAPER)
def test_paper_scale(lab: Lab, claim: str) -> None:
    finding = find(CLAIMS[claim], lab, "paper")
    assert finding.verdict == PAPER[claim], finding.why

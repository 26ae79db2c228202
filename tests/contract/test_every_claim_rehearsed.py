"""Every claim rehearsed at both scales, in a lab that makes and runs nothing: no hour of runs shall end in a slip."""

import json
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from ropewalk.papers.catalogue import CLAIMS
from ropewalk.papers.contract import SCALES, Claim, Scale, find
from ropewalk.papers.kato import bounds, completeness, joins, preparation, twitter
from ropewalk.papers.kato import figure_5 as kato_figure_5
from ropewalk.papers.lab import Lab, Run, Universe
from ropewalk.papers.magnet import figure_7
from ropewalk.papers.nodes import NodesRun, NodesStage
from ropewalk.papers.stan import (
    journal_figure_7,
    journal_figure_9,
    journal_figures_3_4,
    journal_scalability,
    workshop_figure_3,
)
from ropewalk.papers.stan.improvement import Improvement
from ropewalk.papers.traces import TRACES
from ropewalk.protocols.stan.kernel import Members
from ropewalk.universes.distributions import Distribution

SPREAD = Distribution(np.array([1, 2, 4, 8]), np.array([40, 20, 10, 5]))
FIT = {"exponent": 2.0, "standard_error": 0.1, "xmin": 1, "tail_share": 1.0}
SHARES = ("gains", "gains_of_those_with_several", "gains_much", "loses_above_lowest_decile")
DESCRIBED: dict[str, Any] = {
    "spread": (SPREAD, SPREAD),
    "popularity": SPREAD,
    "correlation of nodes": {"significant": {level: {"value": 0.5} for level in ("90", "95", "98", "99")}},
    "correlation of topics": SimpleNamespace(
        document={"mean_absolute": {"value": 0.1}, "quantiles": {"p1": 0.0, "p50": 0.1, "p99": 0.2}}
    ),
}
EVENTS = {"events": 9, "expected": 99, "delivered": 99, "missed": 0, "unwanted": 0, "frames_per_delivery": 1.1}
HELD = {"lvs": [9, 9], "pvs": [8, 9]}
FITNESS = {
    "weakly_connected": 1.0,
    "strongly_connected": 0.5,
    "held_by_nobody": 3.0,
    "diameter": 7.0,
    "clustering": 0.1,
}


class Values(dict[tuple[str, str], float]):
    """Any measure at any stage: it falls from round to round."""

    def __missing__(self, key: tuple[str, str]) -> float:
        _, stage = key
        turn = int(stage.removeprefix("round ")) if stage.startswith("round ") else 9 * ("final" in stage)
        return 100.0 / (1 + turn)

    def get(self, key: tuple[str, str], default: Any = None) -> float:
        return self[key]


@dataclass(slots=True)
class Rehearsal(Lab):
    """Hands out universes and runs that nobody made, whatever they would be made from."""

    asked: list[str] = field(default_factory=list)

    def made(self, title: str, model: Any, seed: int) -> Universe:
        self.asked.append(title)
        return Universe(title, cast("Any", None), model.nodes, model.topics, 5 * model.nodes)

    def cut(self, trace: str, seeds: int, candidates: int, **more: Any) -> Universe | None:
        if self.data is None:
            return None
        self.asked.append(trace)
        return Universe(f"{TRACES[trace].title}, {seeds} seeds", cast("Any", None), 10 * seeds + 99, seeds + 9, 9999)

    def rewired(self, universe: Universe) -> Universe:
        return Universe(f"{universe.title}, rewired", universe.store, *(universe.nodes, universe.topics, 9999))

    def run(self, universe: Universe, seed: int, **told: Any) -> Run:
        self.asked.append(f"{universe.title}, run {seed}")
        sizes = {"topics": universe.topics, "subscriptions": universe.subscriptions}
        traffic = {"messages": 700, "ids": 9000}
        document = sizes | {"fitness": {"initial": FITNESS, "final": FITNESS}, "traffic": traffic}
        return Run(document, Values(), cast("Any", None), frozenset())

    def nodes(self, universe: Universe, seed: int, **told: Any) -> NodesRun:
        self.asked.append(f"{universe.title}, nodes {seed}")
        stages = [NodesStage(9.0, 9.0 / (turn + 1), 9.0, 9, 9, 8, 1, 10) for turn in range(told["rounds"] + 1)]
        return NodesRun(universe.nodes, universe.subscriptions, stages, {"walk": (9, 99)}, EVENTS, HELD)

    def sweep(self, title: str, points: Any, tables: Any) -> dict[str, Any]:
        return {point.name: Values() for point in points}

    def content_sweep(self, title: str, points: Any, tables: Any) -> dict[str, Any]:
        self.asked += [point.name for point in points]
        return {point.name: Values() for point in points}

    def pairs(self, trace: str) -> Any:
        return None if self.data is None else (np.array([0, 1, 1]), np.array([0, 0, 1]))

    def members(self, universe: Universe) -> Members:
        self.asked.append(f"{universe.title}, members")
        return Members(np.array([1, 2]), np.array([0, 4, 8]), np.array([3, 5, 7, 9, 3, 5, 8, 9]))

    def described(self, universe: Universe, what: str, describe: Callable[..., Any]) -> Any:
        return DESCRIBED[what]

    def lacking(self, *traces: str) -> tuple[str, ...]:
        return () if self.data is not None else ("Left out.",)


@pytest.fixture
def rehearsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What reads stored tables or fits for long is played, too."""
    gain = Improvement(dict.fromkeys(SHARES, 0.5), [(2.0, 1.0)])
    monkeypatch.setattr(journal_figure_7, "improvement", lambda *_: gain)

    def distributions(lab: Lab, universe: Universe, run: Run) -> dict[str, Any]:
        cases = [(name, stage) for name in ("clustering", "diameter") for stage in ("initial", "final")]
        return {f"{universe.title}|{name}|{stage}": [(0.0, 1.0)] for name, stage in cases}

    monkeypatch.setattr(journal_figure_9, "_distributions", distributions)
    monkeypatch.setattr(workshop_figure_3, "_degrees", lambda *_: np.arange(1.0, 101.0))
    monkeypatch.setattr(journal_scalability, "SIZES", {"small": (10, 20), "paper": (10, 20, 30)})
    counts = np.arange(1, 9)
    monkeypatch.setattr(twitter, "followed", lambda *_: twitter.Followed(counts, counts, counts, counts, counts > 4))
    monkeypatch.setattr(bounds, "largest_of_worst", lambda _: 9)
    joined = dict.fromkeys(("bits", "steps", "most_steps", "fewest_bits", "messages", "printed"), 9.0)
    monkeypatch.setattr(joins, "joined", lambda *_: joined)
    monkeypatch.setattr(completeness, "played_by", lambda *_: {"expected": 9, "missed": 0, "unwanted": 0})
    of_networks = {"table": 9.0, "depth": 2.0, "missed": 0.0}
    monkeypatch.setattr(kato_figure_5, "both_of", lambda *_: dict.fromkeys(("grown", "static"), of_networks))
    rates = {f"#tag{tag:04d}": preparation.rate_of(tag) for tag in range(preparation.TAGS)}
    played = {"protected": 1, "above": 1, "cap": 8, "kept": 8}
    monkeypatch.setattr(preparation, "prepared", lambda *_: (played, {"by many": 1}, counts.tolist(), rates))
    for module in (journal_figures_3_4, figure_7):
        monkeypatch.setattr(module, "power_law", lambda _: FIT)


@pytest.mark.parametrize("data", [None, Path("traces")], ids=["without traces", "with traces"])
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("claim", CLAIMS.values(), ids=lambda claim: claim.id)
def test_a_claim_is_measured_judged_and_drawn(rehearsed: None, claim: Claim, scale: Scale, data: Path | None) -> None:
    lab = Rehearsal(spark=cast("Any", None), folder=Path(), phase=lambda _: nullcontext(), data=data)
    finding = find(claim, lab, scale)
    assert json.loads(json.dumps(finding.document()))["verdict"] == finding.verdict
    for panel in finding.panels:
        assert panel.curves
        assert all(curve.points for curve in panel.curves)
    if scale == "paper":
        small = Rehearsal(spark=cast("Any", None), folder=Path(), phase=lambda _: nullcontext(), data=data)
        find(claim, small, "small")
        assert set(small.asked) <= set(lab.asked)  # what is small is part of what was published

"""Histories made up by chance: some of them, those that once failed, and the tool that plays many more."""

import importlib.util
import multiprocessing.dummy
import subprocess
import sys
from functools import cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from portions import portions
from ropewalk.engines.sim.invariants.watch import BrokenError
from ropewalk.engines.sim.record import Trace
from ropewalk.engines.sim.swarm import LIES, Scenario, play, scenario
from ropewalk.protocols.discovery.settings import Settings as DiscoverySettings
from ropewalk.protocols.dissemination.settings import Settings as EventSettings

TOOL = Path(__file__).parents[2] / "tools" / "swarm"
MANY, AT_ONCE = 50, 10  # so few that they take about a minute; `make long` plays hundreds
FAILED_ONCE = {
    12: "a publisher that no longer follows, and has nobody to ask, is told so",
    17: "liars name those who do not follow",
    25: "a publisher that no longer follows, and has nobody to ask, is told so",
    29: "liars name those who do not follow",
    63: "a publisher that no longer follows, and has nobody to ask, is told so",
    91: "whoever advertises an event second may share another of its topics than the first",
    137: "discovery names for a lease who has followed before",
    376: "discovery names for a lease who has followed before",
    1450: "an event is gone with a publisher that leaves before anybody has it",
    1682: "an event is gone with a publisher that leaves before anybody has it",
    5335: "two that hold each other in views of one never hold a third that comes later",
    10096: "an answer may wait for a link while whom it names takes back that it serves",
    10316: "two that rank each other first take in a third that discovery names",
    10500: "while links that do not come up are tried again nothing else is late",
    20041: "who follows nothing any more still closes links that others open to it",
    20134: "a keep-alive that an announcement has overtaken is not believed",
}


def loaded() -> ModuleType:
    """The tool, which has no name that can be imported."""
    spec = importlib.util.spec_from_loader("swarm_tool", SourceFileLoader("swarm_tool", str(TOOL)))
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """It plays in this process: another would not know what is made to fail here."""
    found = loaded()
    monkeypatch.setattr(found, "multiprocessing", SimpleNamespace(get_context=lambda _how: multiprocessing.dummy))
    return found


@cache
def played(seed: int) -> str:
    """What went wrong, or nothing."""
    wrong: str = loaded().played(seed)[1]
    return wrong


@pytest.mark.parametrize("first", portions(range(0, MANY, AT_ONCE), 1, 2))
def test_some_histories(first: int) -> None:
    wrong = {seed: played(seed) for seed in range(first, first + AT_ONCE)}
    assert {seed: words for seed, words in wrong.items() if words} == {}


@pytest.mark.thorough
@pytest.mark.parametrize("seed", FAILED_ONCE, ids=lambda seed: f"{seed}: {FAILED_ONCE[seed]}")
def test_what_failed_once(seed: int) -> None:
    assert played(seed) == ""


@pytest.mark.parametrize("seed", [3, 12])
def test_a_seed_stands_for_one_scenario(seed: int) -> None:
    assert scenario(seed) == scenario(seed)
    assert repr(scenario(seed)) == repr(scenario(seed))
    assert repr(scenario(seed)) != repr(scenario(seed + 1))


@pytest.mark.parametrize("seed", [0, 1])
def test_a_scenario_is_one_history(seed: int) -> None:
    traces = Trace(), Trace(), Trace()
    for trace in traces[:2]:
        play(scenario(seed), observers=[trace])
    play(scenario(seed + 1), observers=[traces[2]])
    assert traces[0].digest == traces[1].digest != traces[2].digest


def test_they_are_of_all_kinds() -> None:
    """Else they would say little: every manager, every fault, everything that can happen to nodes."""
    many = [scenario(seed) for seed in range(MANY)]
    assert {each.settings.manager for each in many} == {"given", "scamp", "cyclon"}
    assert {each.settings.discover for each in many} == {True, False}
    acts = {"crash", "leave", "restart", "freeze", "subscribe", "unsubscribe", "publish"}
    assert {act.what for each in many for act in each.acts} == acts
    faults = "Loss Duplication Reordering SlowNode SlowLink OneWayCut Partition Latency WideArea"
    assert {type(getattr(rule, "rule", rule)).__name__ for each in many for rule in each.rules} == {*faults.split()}
    assert {each.lie for each in many if each.liars} == {*LIES}
    assert {each.of_events == EventSettings() for each in many} == {True, False}
    assert {each.of_events.large for each in many} == {0, EventSettings().large}
    assert {each.of_discovery == DiscoverySettings() for each in many if each.settings.discover} == {True, False}


def test_the_tool_lists_failing_seeds_with_how_to_replay_them(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(scenario: Scenario) -> None:
        if scenario.seed == 6:
            raise BrokenError("no orphan: at rest: somebody is alone.")
        if scenario.seed == 8:
            raise KeyError(13)

    monkeypatch.setitem(tool.SWARMS, "stan", (tool.SWARMS["stan"][0], fail))
    monkeypatch.setattr(sys, "argv", ["swarm", "5:9"])
    assert tool.main() == 1
    said = capsys.readouterr().out.splitlines()
    assert said[-1] == "4 seeds, 2 failed"
    assert said[said.index("seed 6: no orphan: at rest: somebody is alone.") + 1] == "  replay: make swarm SEEDS=6:7"
    (raised,) = [line for line in said if line.startswith("seed 8: ")]
    assert raised.startswith("seed 8: KeyError: 13 (fail, line ")
    assert said[said.index(raised) + 1] == "  replay: make swarm SEEDS=8:9"


def test_the_tool_says_what_a_single_seed_stands_for(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tool.swarm, "play", lambda _scenario: None)
    monkeypatch.setattr(sys, "argv", ["swarm", "5:6"])
    assert tool.main() == 0
    said = capsys.readouterr()
    assert said.err == f"{scenario(5)}\n"
    assert said.out == "1 seeds, 0 failed\n"


def test_the_tool_plays_in_processes_of_its_own() -> None:
    done = subprocess.run([sys.executable, TOOL, "5:7"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "2 seeds, 0 failed\n")


@pytest.mark.parametrize("arguments", [[], ["5"], ["5:x"], ["5:6:7"], ["5:6", "7:8"], ["6:5"], ["5:5"]])
def test_the_tool_says_how_it_is_used(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["swarm", *arguments])
    assert tool.main() == 2
    assert capsys.readouterr().err == (
        "say which seeds: make swarm SEEDS=FROM:TO, for instance 0:100, and OF=stan, rings or kato\n"
    )

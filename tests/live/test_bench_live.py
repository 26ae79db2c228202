"""`make bench-live` works from one end to the other, with few events; how fast anything is, is not asked here."""

import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BENCH = Path(__file__).parents[2] / "benchmarks" / "live"
RIVALS = ("zenoh", "nats", "mosquitto", "redis")


def measured(*told: str) -> dict[str, Any]:
    """The document on the last line."""
    command = [sys.executable, str(BENCH), "--events", "60", "--seconds", "0.2", "--repeat", "1", *told]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return document


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A module of the benchmark, by its name."""
    monkeypatch.syspath_prepend(str(BENCH))
    return importlib.import_module


def test_nodes_and_bare_frames_are_measured_in_the_same_run_and_nothing_is_lost() -> None:
    found = measured("--only", "one_to_one,bare,ropewalk")["one_to_one"]
    assert list(found) == ["bare", "ropewalk"]
    for system in found.values():
        (run,) = system["runs"]
        for size in ("100 B", "1 KB"):
            assert (run[size]["lost"], run[size]["lost_before"]) == (0, [])
            assert run[size]["events"] == 60
            assert system["best"][f"{size} deliveries/s"] == run[size]["deliveries_per_s"] > 0
            assert run[size]["latency"]["lost"] == 0
            assert 0 < system["best"][f"{size} p50_ms"] <= system["best"][f"{size} p99_ms"]
        assert system["of bare"].keys() == system["best"].keys()


@pytest.mark.long
def test_a_small_network_is_measured_beside_the_naive_one_of_equal_reach() -> None:
    found = measured("--only", "network,ropewalk", "--nodes", "12", "--rounds", "0", "--events", "12")["network"]
    ours, *naive = found["networks"].values()
    equal = ours["naive_of_equal_reach"]
    assert equal["reach"] >= ours["reach_after_crash"]
    assert {f"naive, degree {degree}" for degree in (6, equal["degree"])} < found["networks"].keys()
    assert [ours[part]["missed"] for part in ("one_topic", "three_topics", "three_topics_unhurried")] == [0, 0, 0]
    for network in (ours, *naive):
        assert network["one_topic"]["frames_per_delivery"] >= 1
        assert network["connections_mean"] <= network["connections_p99"] <= 11
    for each in naive:
        assert each["one_topic"]["missed"] == 0
        assert each["sockets_mean"] == each["connections_mean"]


@pytest.mark.thorough
@pytest.mark.parametrize("rival", RIVALS)
def test_a_rival_is_measured_or_it_is_said_why_not(rival: str) -> None:
    found = measured("--only", f"one_to_one,{rival}")["one_to_one"][rival]
    if "not measured" in found:
        assert "is not installed" in found["not measured"]
        pytest.skip(found["not measured"])
    (run,) = found["runs"]
    assert [(run[size]["lost"], run[size]["latency"]["lost"]) for size in ("100 B", "1 KB")] == [(0, 0), (0, 0)]


def test_what_comes_twice_does_not_make_up_for_what_is_lost(bench: Any) -> None:
    tally = bench("tally")
    heard = tally.Tally()
    heard.begin(3, 4, timed=False)
    sent, stragglers = tally.payloads(3, 4, 100), tally.payloads(2, 4, 100)
    for payload in (stragglers[3], sent[0], sent[1], sent[1], sent[2]):
        heard.hear(payload)
    assert heard.is_done
    assert heard.lost() == 1


def test_reach_is_what_survivors_get_of_what_they_are_owed(bench: Any) -> None:
    crashes = bench("networks.crashes")
    assert sorted(crashes.pieces([1, 2, 3, 4, 5], [(1, 2), (2, 3), (4, 5)])) == [2, 3]
    world = type("World", (), {"followed": [()] * 10, "members": [list(range(10))]})()
    chain = {0: {(node, node + 1) for node in range(9)}}
    everybody = {0: {(a, b) for a in range(10) for b in range(a + 1, 10)}}
    assert crashes.reach(world, everybody) == 1.0
    assert crashes.reach(world, chain, share=0.0) == 1.0
    assert crashes.reach(world, chain) < 0.7
    assert crashes.reach(world, {0: set()}) == 0.0


@pytest.mark.parametrize("told", [("--only", "nonsense"), ("--repeat", "0"), ("--nodes", "3")])
def test_what_makes_no_sense_is_refused_in_a_sentence(told: tuple[str, str]) -> None:
    done = subprocess.run([sys.executable, str(BENCH), *told], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert told[0] in done.stderr.splitlines()[-1]

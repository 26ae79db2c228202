"""`make bench-live` works from one end to the other, with few events; how fast anything is, is not asked here."""

import asyncio
import importlib
import json
import subprocess
import sys
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pytest

BENCH = Path(__file__).parents[2] / "benchmarks" / "live"
RIVALS = ("zenoh", "nats", "mosquitto", "redis")
KINDS = [f"{size}{turns} /s" for size in ("100 B", "1 KB") for turns in ("", ", a turn each")]


def measured(*told: str, seconds: float = 100) -> dict[str, Any]:
    """The document on the last line."""
    command = [sys.executable, str(BENCH), "--events", "60", "--seconds", "0.2", "--repeat", "1", *told]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds)
    document: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert done.returncode == (0 if document["holds"] else 1), done.stderr  # with few events anything may come out
    return document


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A module of the benchmark, by its name."""
    monkeypatch.syspath_prepend(str(BENCH))
    return importlib.import_module


def test_nodes_and_bare_frames_are_measured_in_the_same_run_and_nothing_is_lost() -> None:
    document = measured("--only", "one_to_one,bare,bare-parcels,ropewalk")
    found = document["one_to_one"]
    assert list(found) == ["bare", "bare-parcels", "ropewalk"]
    for system in found.values():
        (run,) = system["runs"]
        for size in ("100 B", "1 KB"):
            for rate, name in ((run[size], f"{size} /s"), (run[size]["turns"], f"{size}, a turn each /s")):
                assert (rate["events"], rate["lost"], rate["lost_before"]) == (60, 0, [])
                assert set(system["measures"][name].values()) == {rate["deliveries_per_s"]}
            assert run[size]["latency"]["lost"] == 0
            assert 0 < system["measures"][f"{size} p50"]["median"] <= system["measures"][f"{size} p99"]["median"]
        assert system["of bare"].keys() == system["measures"].keys()
    reached = document["targets"]["one_to_one"]
    assert list(reached) == [f"{kind} / 0.1 of bare" for kind in KINDS]
    assert document["holds"] == all(ratio >= 1 for ratio in reached.values())


def turn(rate: float, *, lost: int = 0) -> dict[str, Any]:
    """Of one system, as it is measured."""
    told = {"lost": lost, "lost_before": [], "deliveries_per_s": None if lost else rate, "connections": [1]}
    latency = {"lost": 0, "p50_ms": 1.0, "p99_ms": 2.0}
    return {size: told | {"turns": told, "latency": latency} for size in ("100 B", "1 KB")}


def test_what_counts_is_the_median_and_ratios_are_of_the_same_turn(bench: Any) -> None:
    fan = bench("fan")
    found: dict[str, Any] = {
        "bare": {"tls": True, "runs": [turn(100), turn(200), turn(400)]},
        "ropewalk": {"tls": True, "runs": [turn(5), turn(100), turn(80)]},
        "redis": {"tls": False, "runs": [{"failed": "it has failed"}, turn(90), turn(70, lost=1)]},
        "mosquitto": {"tls": False, "runs": [turn(70, lost=1)]},
    }
    fan.compare(found)
    assert found["ropewalk"]["measures"]["1 KB /s"] == {"median": 80, "least": 5, "most": 100}
    assert found["ropewalk"]["of bare"]["1 KB /s"] == {"median": 0.2, "least": 0.05, "most": 0.5}
    assert found["redis"]["of bare"]["1 KB /s"] == {"median": 0.45, "least": 0.45, "most": 0.45}
    assert found["mosquitto"]["measures"].keys() == {
        f"{size} {cut}" for size in ("100 B", "1 KB") for cut in ("p50", "p99")
    }
    assert found["redis"]["of nodes"]["1 KB /s"] == {"median": 0.9, "least": 0.9, "most": 0.9}
    of_bare, of_redis = (dict.fromkeys(kinds, ratio) for kinds, ratio in ((KINDS, 2), (KINDS[::2], 80 / 90)))
    told = {f"{kind} / 0.1 of bare": ratio for kind, ratio in of_bare.items()}
    told |= {f"{kind} / redis": ratio for kind, ratio in of_redis.items()}
    reached = fan.targets(found)
    assert {name: ratio for name, ratio in reached.items() if "mosquitto" not in name} == pytest.approx(told)
    lossy = {f"{kind} / mosquitto": None for kind in KINDS[::2]}
    assert {name: ratio for name, ratio in reached.items() if "mosquitto" in name} == lossy
    assert not bench("targets").holds({"one_to_one": lossy})


def test_nodes_that_show_nothing_have_reached_nothing(bench: Any) -> None:
    fan, network, targets = bench("fan"), bench("network"), bench("targets")
    found: dict[str, Any] = {
        "bare": {"tls": True, "runs": [turn(100)]},
        "ropewalk": {"tls": True, "runs": [{"failed": "it has failed"}]},
        "redis": {"tls": False, "runs": [turn(90)]},
        "mosquitto": {"tls": False, "not measured": "mosquitto is not installed"},
    }
    fan.compare(found)
    assert set(fan.targets(found).values()) == {0.0, None}
    assert set(network.targets({"networks": {"ropewalk": {"failed": "it ended with 1"}}}).values()) == {0.0}
    for reached in (fan.targets(found), network.targets({"networks": {"ropewalk": {"failed": "it ended with 1"}}})):
        assert not targets.holds({"part": reached})
    assert fan.targets({"bare": found["bare"]}) == {}  # nobody asked for nodes
    whole = {"connections_mean": 25.0, "reach_after_crash": 0.99, "reach_after_hard_crash": 0.9}
    for ours, ratio in (
        (whole | {"connections_mean": 20.0}, 1.25),
        (whole | {"reach_after_crash": 0.98}, 0.0),
        ({}, 0.0),
    ):
        assert network._fewer(ours, whole) == ratio
    assert network._fewer(whole, {"failed": "it ended with 1"}) is None
    assert targets.holds({"part": {"what": 1.0}})


class Scripted:
    """Ends where all that is published faster than it can be read is lost."""

    def __init__(self, bench: Any, most: float) -> None:
        self.most, self.ends = most, bench("ends")
        self.fan = self.ends.Fan(None, [None, None])
        self.fan._stream = self.stream

    async def stream(self, wanted: Any, events: int, a_second: float = 0.0) -> dict[str, Any]:
        pace = a_second or 1000.0
        lost = int(pace > self.most)
        return {
            "events": events, "lost": lost, "published_per_s": pace, "seconds": events / pace,
            "deliveries_per_s": None if lost else 2 * pace,
        }  # fmt: skip

    def rate(self) -> dict[str, Any]:
        found: dict[str, Any] = asyncio.run(self.fan.rate(self.ends.Wanted(100, 100_000, 2.0, turns=False)))
        return found


@pytest.mark.parametrize(("most", "paced", "before"), [(2000, None, 0), (800, 750, 1), (600, 500, 2), (200, 187.5, 3)])
def test_who_loses_events_is_told_to_be_slower_and_then_a_little_faster(
    bench: Any, most: float, paced: float | None, before: int
) -> None:
    found = Scripted(bench, most).rate()
    assert (found["lost"], found["paced_at"], len(found["lost_before"])) == (0, paced, before)
    assert found["seconds"] >= 1.0  # no short run counts


def test_who_loses_some_however_slow_has_no_rate(bench: Any) -> None:
    found = Scripted(bench, 1).rate()
    assert found["lost"] > 0
    assert found["deliveries_per_s"] is None


@pytest.mark.long
@pytest.mark.timeout(300)  # the naive ones miss some of three topics, which is waited for
def test_a_small_network_is_measured_beside_the_naive_one_of_equal_reach() -> None:
    document = measured("--only", "network,ropewalk", "--nodes", "12", "--rounds", "0", "--events", "12", seconds=280)
    found = document["network"]
    ours, *naive = found["networks"].values()
    equal = ours["naive_of_equal_reach"]
    assert equal["reach"] >= ours["reach_after_crash"]
    assert {f"naive, degree {degree}" for degree in (6, equal["degree"])} < found["networks"].keys()
    assert [ours[part]["missed"] for part in ("one_topic", "three_topics", "three_topics_unhurried")] == [0, 0, 0]
    for network in (ours, *naive):
        assert network["one_topic"]["frames_per_delivery"] >= 1
        assert network["connections_mean"] <= network["connections_most"] <= 11
    for each in naive:
        assert each["one_topic"]["missed"] == 0
        assert each["sockets_mean"] == each["connections_mean"]
    assert document["targets"]["network"]["delivered / owed"] == 1


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
    pairs = {0: {(node, node + 1) for node in range(0, 10, 2)}}
    assert crashes.reach(world, everybody) == 1.0
    assert crashes.reach(world, chain, share=0.0) == 1.0
    assert crashes.reach(world, chain) == pytest.approx(_of_a_chain(10, 2), abs=0.005)
    assert crashes.reach(world, {0: set()}) == 0.0
    # each has one other, which is there in 7 of 9 cases, of the 7 that all are owed
    assert crashes.reach(world, pairs) == pytest.approx(7 / 9 / 7, abs=0.002)


def test_even_overlays_give_all_members_of_a_topic_as_many_neighbours(bench: Any) -> None:
    world = bench("networks.world")
    made = world.World(1)
    for degree in (6, 7):
        links = world.even_links(made, degree, 1)
        for topic, members in enumerate(made.members):
            counts = {member: sum(member in pair for pair in links[topic]) for member in members}
            assert max(counts.values()) <= degree
            if len(members) > 40:  # where rings hardly ever choose the same pair twice
                assert sum(counts.values()) > 0.9 * degree * len(members)


def _of_a_chain(nodes: int, gone: int) -> float:
    """By trying all sets."""
    made, left = [], nodes - gone
    for out in combinations(range(nodes), gone):
        ends = [-1, *out, nodes]
        runs = [b - a - 1 for a, b in pairwise(ends)]
        made.append(sum(run * (run - 1) for run in runs) / left / (left - 1))
    return sum(made) / len(made)


@pytest.mark.parametrize("told", [("--only", "nonsense"), ("--repeat", "0"), ("--nodes", "3")])
def test_what_makes_no_sense_is_refused_in_a_sentence(told: tuple[str, str]) -> None:
    done = subprocess.run([sys.executable, str(BENCH), *told], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert told[0] in done.stderr.splitlines()[-1]

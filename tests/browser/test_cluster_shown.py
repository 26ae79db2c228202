"""`ropewalk cluster --dashboard`: a workload's nodes shown while they run, and replayed when it is over."""

import re
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from browsing import ROPEWALK, Looking, Process
from waiting import wait_until


@pytest.mark.long
@pytest.mark.timeout(400)
def test_a_cluster_is_shown_while_it_runs_and_replayed_afterwards(browser: Browser, tmp_path: Path) -> None:
    town, rec = tmp_path / "town", tmp_path / "rec"
    made = ["generate", "grid", "--set", "G", "--nodes", "24", "--topics", "6", "--out", str(town)]
    assert subprocess.run([*ROPEWALK, *made], check=False, capture_output=True).returncode == 0
    words = ["cluster", town, "--rounds", 14, "--period", 1, "--publish", 60, "--discover", "--out", tmp_path / "run"]
    words += ["--dashboard", 0, "--telemetry", rec, "--faults", "kill:10%@4"]
    with Process(tmp_path, "cluster", *words) as cluster:
        assert wait_until(lambda: "dashboard, as long as nodes run: http" in cluster.err.read_text(), 60)
        (url,) = re.findall(r"(http://\S+)", cluster.err.read_text())  # as who copies it up to the blank
        looking = Looking(browser, url)
        page = looking.page
        assert wait_until(lambda: "let them run" in cluster.err.read_text(), 90)
        expect(page.locator("#total-down")).not_to_have_text("0", timeout=40_000)
        totals = looking.api("/api/state")["totals"]
        assert totals["up"] + totals["down"] == len(list(rec.glob("[0-9]*.jsonl")))
        assert totals["down"] == round(0.1 * (totals["up"] + totals["down"]))
        topic = looking.api("/api/topics")["entries"][0]["name"]
        assert topic.startswith("topic-")
        page.locator("#tab-publish").click()
        page.locator("#publish-topics").fill(topic)
        page.locator("#publish button").click()
        expect(page.locator("#event-about")).to_contain_text(f"On {topic}, published by dashboard")
        page.locator("#event-steps tr").first.wait_for()
        assert cluster.process.wait(90) == 0, cluster.err.read_text()
        expect(page.locator("#connection")).to_have_text("the run is over")
        looking.close()
    with Process(tmp_path, "replay", "dashboard", rec, "--replay", "--speed", 100, "--json") as replay:
        looking = Looking(browser, replay.document()["url"])
        expect(looking.page.locator("#replay-play")).to_have_text("Again")
        replayed = looking.api("/api/state")["totals"]
        assert (replayed["down"], replayed["left"]) == (totals["down"], 0)
        assert replayed["up"] >= totals["up"]  # with the node that published from the page, or without
        assert looking.api("/api/state")["totals"]["published"] >= 50
        looking.close()
        assert replay.end() == 0

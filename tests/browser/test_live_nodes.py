"""The page beside real nodes: what is published, who is killed, and a dashboard that goes and comes back."""

import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from browsing import TOKEN, Looking, Process
from ropewalk.engines.live.identity import topic_of
from waiting import wait_until


class Town:
    """Some `ropewalk node` that write into one folder."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        self.stack, self.folder, self.live = stack, folder, folder / "live"
        self.live.mkdir()
        self.nodes: dict[str, Process] = {}
        self.address = ""
        for name in "abcd":
            self.start(name)

    def start(self, name: str) -> None:
        words = ["node", "--subscribe", "news", "--period", "1", "--telemetry", self.live / f"{name}.jsonl"]
        words += ["--bootstrap", self.address] if self.address else []
        node = self.stack.enter_context(Process(self.folder, name, *words))
        self.address = self.address or node.document()["address"]
        self.nodes[name] = node

    def dashboard(self, name: str, *words: object) -> Process:
        told = ["dashboard", self.live, "--json", "--token", TOKEN, *words]
        return self.stack.enter_context(Process(self.folder, name, *told))


@pytest.fixture
def town(tmp_path: Path) -> Iterator[Town]:
    with ExitStack() as stack:
        yield Town(stack, tmp_path)


SETTLED = "ropewalk.network.members.size === 4 && ropewalk.network.overlay.size >= 3"


@pytest.mark.thorough
def test_what_is_published_in_the_box_is_followed_to_everybody(browser: Browser, town: Town) -> None:
    shown = town.dashboard("shown", "--bootstrap", town.address)
    looking = Looking(browser, shown.document()["url"])
    page = looking.page
    looking.until(SETTLED)
    page.locator("#tab-publish").click()
    page.locator("#publish-topics").fill("news")
    page.locator("#publish-text").fill("hello from a box")
    page.locator("#publish button").click()
    expect(page.locator("#event-steps tr")).to_have_count(4)
    expect(page.locator("#event-about")).to_contain_text("On news, published by dashboard")
    got = {page.locator("#event-steps tr").nth(row).locator("td").first.inner_text() for row in range(4)}
    assert got == {"a", "b", "c", "d"}
    (event,) = looking.api("/api/events")["entries"]
    assert (event["delivered"], event["expected"]) == (4, 4)
    assert event["topics"] == [{"id": f"{topic_of('news'):016x}", "name": "news"}]
    looking.until("ropewalk.map.travel.over && ropewalk.map.travel.reached.size === 4")
    page.locator("#tab-publish").click()
    page.locator("#publish-topics").fill("nobody-follows-this")
    page.locator("#publish button").click()
    expect(page.locator("#publish-said")).to_contain_text("nobody-follows-this")
    assert shown.end() == 0


@pytest.mark.thorough
def test_a_node_that_is_killed_is_shown_as_down_and_as_back_when_it_starts_anew(browser: Browser, town: Town) -> None:
    looking = Looking(browser, town.dashboard("shown").document()["url"])
    page = looking.page
    looking.until(SETTLED)
    page.locator("#tab-publish").click()
    expect(page.locator("#publish-why")).to_contain_text("--bootstrap")
    town.nodes["d"].end(signal.SIGKILL)
    expect(page.locator("#total-down")).to_have_text("1")
    expect(page.locator("#total-up")).to_have_text("3")
    page.locator("#tab-news").click()
    first = page.locator("#news li").first
    expect(first).to_contain_text("down")
    expect(first).to_contain_text("reset")
    expect(first).to_contain_text("d")
    town.nodes["c"].end(signal.SIGTERM)
    expect(first).to_contain_text("left")
    expect(page.locator("#total-down")).to_have_text("1")
    town.start("d")  # another identity, in the same file
    expect(page.locator("#total-up")).to_have_text("3")
    assert looking.complaints == []


@pytest.mark.thorough
def test_the_page_says_that_the_connection_is_lost_and_finds_it_again(browser: Browser, town: Town) -> None:
    first = town.dashboard("first")
    url = first.document()["url"]
    port = url.split(":")[2].split("/")[0]
    looking = Looking(browser, url)
    page = looking.page
    looking.until(SETTLED)
    assert first.end() == 0
    expect(page.locator("#connection")).to_have_text("connection lost: trying again")
    town.nodes["d"].end(signal.SIGTERM)
    town.dashboard("second", "--port", port).document()
    expect(page.locator("#connection")).to_have_text("connection back")
    expect(page.locator("#total-up")).to_have_text("3")
    assert looking.api("/api/state")["totals"]["up"] == 3


@pytest.mark.thorough
def test_a_page_with_an_old_token_says_what_to_do(browser: Browser, town: Town) -> None:
    first = town.dashboard("first")
    url = first.document()["url"]
    port = url.split(":")[2].split("/")[0]
    looking = Looking(browser, url)
    first.end()
    with Process(town.folder, "third", "dashboard", town.live, "--json", "--token", "another", "--port", port) as other:
        other.document()
        expect(looking.page.locator("#connection")).to_contain_text("a new token is needed")


@pytest.mark.thorough
def test_it_ends_with_0_and_a_port_that_is_taken_or_a_folder_that_is_none_is_said(tmp_path: Path) -> None:
    live = tmp_path / "live"
    live.mkdir()
    with Process(tmp_path, "one", "dashboard", live, "--json") as one:
        url = one.document()["url"]
        port = url.split(":")[2].split("/")[0]
        for name, code, words, sentence in (
            ("taken", 4, [live, "--port", port], "address already in use"),
            ("none", 3, [tmp_path / "no"], "is not a folder"),
            ("empty", 3, [live, "--replay"], "holds no telemetry"),
            ("open", 2, [live, "--no-token", "--host", "0.0.0.0"], "for this machine only"),
            ("both", 2, [live, "--no-token", "--token", "x"], "exclude each other"),
            ("speed", 2, [live, "--speed", "2"], "without --replay"),
            ("alone", 2, [live, "--identity", tmp_path / "i"], "without --bootstrap"),
            ("odd", 2, [live, "--token", "a b"], "letters, digits"),
        ):
            with Process(tmp_path, name, "dashboard", *words) as other:
                assert other.process.wait(30) == code, other.err.read_text()
                assert sentence in other.err.read_text()
                assert other.err.read_text().count("\n") == 1
        assert wait_until(lambda: url in one.err.read_text())
        assert one.end() == 0

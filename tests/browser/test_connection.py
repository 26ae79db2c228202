"""What a page does when it is not told anything: too many look on, a server that hangs, one that begins anew, nobody who looks."""

import signal
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import pytest
from playwright.sync_api import Browser, expect

from browsing import TOKEN, Looking, Process, dashboard
from ropewalk.dashboard import server
from ropewalk.dashboard.running import Beside, Place, Served, Shown, of_cluster
from written import Written, ring

FULL = "2 pages look on already; close one."


@pytest.fixture
def town(tmp_path: Path) -> Written:
    return ring(tmp_path / "live")


def streams(looking: Looking) -> int:
    return sum("/api/stream" in url for url in looking.asked)


def test_the_page_that_is_one_too_many_says_so_and_waits_its_turn(
    browser: Browser, town: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "MOST_STREAMS", 2)
    with dashboard(town.folder) as url:
        first, _ = Looking(browser, url), Looking(browser, url)
        third = Looking(browser, url, words=FULL)
        third.js("() => { ropewalk.network.wait = 1; }")  # as often as it dares
        topics = third.page.locator("#topics li")
        expect(topics).to_have_count(3)
        asked = len(third.asked)
        for topic in (1, 2, 1, 2):
            topics.nth(topic).click()
        third.until("ropewalk.network.wait >= 64")
        assert (streams(third), sum("/api/state" in url for url in third.asked[asked:]) <= 10) == (1, True)
        expect(third.page.locator("#connection")).to_have_text(FULL)
        third.js("() => { ropewalk.network.wait = 1; }")
        first.close()
        expect(third.page.locator("#connection")).to_have_text("connected")
        third.until("ropewalk.network.topic.endsWith('c') && ropewalk.network.members.size === 3")
        assert streams(third) == 2
        third.close()


def test_it_is_tried_again_more_and_more_seldom(browser: Browser, town: Written) -> None:
    served = Served(Place(token=TOKEN))
    with Beside(served, Shown(folder=town.folder)):
        looking = Looking(browser, served.url)
    waits = looking.js(
        """async () => {
             const { network } = ropewalk, waits = [];
             network.whyNot = async () => "nobody is there";
             Object.defineProperty(network, "wait", { get() { return this.waited; }, set(value) { this.waited = value; waits.push(value); } });
             network.waited = 1000;
             window.setTimeout = (done) => { queueMicrotask(done); };
             network.recovering = false;
             network.recover();
             while (waits.length < 6) await Promise.resolve();
             network.resting = true;
             return waits;
           }"""
    )
    assert waits[:6] == [2000, 4000, 5000, 5000, 5000, 5000]
    looking.close()


def test_a_server_that_hangs_is_noticed_and_what_was_of_another_topic_is_not_shown(
    browser: Browser, town: Written, tmp_path: Path
) -> None:
    with Process(tmp_path, "shown", "dashboard", town.folder, "--json", "--token", TOKEN) as shown:
        looking = Looking(browser, shown.document()["url"])
        page = looking.page
        looking.until("ropewalk.network.members.size === 12")
        shown.process.send_signal(signal.SIGSTOP)
        try:
            page.locator("#topics li", has_text="sport").click()
            expect(page.locator("#map-summary")).to_contain_text("sport: not told yet. 12 nodes up")
            assert looking.js("[ropewalk.network.members.size, ropewalk.network.overlay.size]") == [0, 0]
            looking.js("() => { ropewalk.network.patience = 300; ropewalk.network.listen(); }")
            expect(page.locator("#connection")).to_have_text("connection lost: trying again")
        finally:
            shown.process.send_signal(signal.SIGCONT)
        looking.js("() => { ropewalk.network.patience = 25_000; }")
        expect(page.locator("#connection")).to_have_text("connection back")
        looking.until("ropewalk.network.members.size === 3")
        looking.close()


def test_a_topic_that_is_chosen_before_the_first_word_after_a_break_is_asked_for(
    browser: Browser, town: Written
) -> None:
    with dashboard(town.folder) as url:
        looking = Looking(browser, url)
        looking.until("ropewalk.network.members.size === 12")
        looking.js(
            """() => {
                 const Real = window.EventSource;
                 Object.assign(window, { sources: [], held: [] });
                 window.EventSource = class extends Real {
                   constructor(url) { super(url); window.sources.push(this); }
                   set onmessage(take) { super.onmessage = (message) => { if (window.held) window.held.push(() => take(message)); else take(message); }; }
                 };
                 ropewalk.network.wait = 1;
                 ropewalk.network.lose();
               }"""
        )
        looking.until("window.held.length > 0")
        topics = looking.page.locator("#topics li")
        for _ in range(2):  # the second time it is chosen already
            topics.nth(2).click()
        expect(looking.page.locator("#map-title")).to_have_text("Overlay of sport")
        looking.js("() => { const { held } = window; window.held = undefined; for (const take of held) take(); }")
        looking.until("ropewalk.network.members.size === 3 && ropewalk.network.overlay.size === 3")
        expect(looking.page.locator("#connection")).to_have_text("connection back")
        assert [url[-1] for url in looking.js("window.sources.map(({url}) => url)")] == ["b", "c"]
        looking.close()


def test_a_server_that_says_that_it_lives_is_not_taken_for_one_that_hangs(browser: Browser, town: Written) -> None:
    with dashboard(town.folder) as url:
        looking = Looking(browser, url)
        assert looking.js("ropewalk.network.patience") > 2 * 1000 * server.STILL
        looking.close()


def test_after_a_restart_the_same_node_is_chosen_and_the_same_event_followed(
    browser: Browser, town: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = "ropewalk.network.byId(ropewalk.map.selected)?.name"
    way = "ropewalk.map.travel?.steps.map((step) => ropewalk.network.called(step.source) + '>' + ropewalk.network.called(step.node)).join(' ')"
    with ExitStack() as stack:
        served = Served(Place(token=TOKEN))
        first = stack.enter_context(ExitStack())
        first.enter_context(Beside(served, Shown(folder=town.folder)))
        looking = Looking(browser, served.url)
        page = looking.page
        town.event(900, 11, [(5, 6), (6, 7)])
        page.locator("#events button").click()
        looking.until("ropewalk.map.travel?.over")
        page.locator("#tab-node").click()
        page.locator("#nodes button", has_text="n5").click()
        expect(page.locator("#node-title")).to_have_text("Node n5")
        number = looking.js("ropewalk.network.ids.get(ropewalk.map.selected)")
        assert looking.js(way) == "n5>n6 n6>n7"
        first.close()
        expect(page.locator("#connection")).to_have_text("connection lost: trying again")
        (town.folder / "n0.jsonl").unlink()  # so that others have other numbers
        stack.enter_context(Beside(Served(Place(token=TOKEN, port=served.port)), Shown(folder=town.folder)))
        expect(page.locator("#connection")).to_have_text("connection back")
        looking.until(f"{chosen} === 'n5' && {way} === 'n5>n6 n6>n7'")
        assert looking.js("ropewalk.network.ids.get(ropewalk.map.selected)") != number
        expect(page.locator("#node-title")).to_have_text("Node n5")
        looking.close()


def test_a_run_that_is_over_is_not_a_connection_that_is_lost(browser: Browser, town: Written) -> None:
    with ExitStack() as stack:
        served = Served(Place(token=TOKEN))
        running = stack.enter_context(ExitStack())
        running.enter_context(Beside(served, of_cluster(town.folder, "stan", SimpleNamespace(discover=False))))
        looking = Looking(browser, served.url)
        page = looking.page
        looking.until("ropewalk.network.members.size === 12")
        running.close()
        expect(page.locator("#connection")).to_have_text("the run is over")
        looking.js("() => { ropewalk.network.wait = ropewalk.network.unseen = 1; }")
        asked = len(looking.asked)
        looking.js("ropewalk.network.look(true)")
        page.locator("#topics li").nth(2).evaluate("(topic) => topic.click()")
        page.wait_for_timeout(300)  # in which it would have tried again, or rested
        looking.js("ropewalk.network.look(false)")
        assert looking.asked[asked:] == []
        expect(page.locator("#map-summary")).to_contain_text(
            "sport: not told any more, since the run is over. 12 nodes up"
        )
        expect(page.locator("#connection")).to_have_text("the run is over")
        expect(page.locator("#total-up")).to_have_text("12")
        looking.close()


def test_a_page_that_nobody_looks_at_gives_its_connection_back(browser: Browser, town: Written) -> None:
    hide = """(hidden) => {
      Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
      document.dispatchEvent(new Event("visibilitychange"));
    }"""
    with dashboard(town.folder) as url:
        looking = Looking(browser, url)
        looking.until("ropewalk.network.nodes.size === 12")
        assert looking.js("ropewalk.network.unseen") == 10_000
        looking.page.evaluate(hide, True)
        looking.page.evaluate(hide, False)  # only a glance at something else
        looking.js("() => { ropewalk.network.unseen = 1; }")
        assert looking.js("ropewalk.network.source.readyState") == 1
        looking.page.evaluate(hide, True)
        expect(looking.page.locator("#connection")).to_have_text("resting while nobody looks")
        assert looking.js("ropewalk.network.source === undefined")
        town.say(3, "nodes", up=False)
        asked = len(looking.asked)
        looking.page.locator("#topics li").nth(2).evaluate("(topic) => topic.click()")
        assert [url for url in looking.asked[asked:] if "stream" in url] == []
        looking.page.evaluate(hide, False)
        expect(looking.page.locator("#connection")).to_have_text("connected")
        expect(looking.page.locator("#total-up")).to_have_text("11")
        looking.until("ropewalk.network.members.size === 3")
        looking.close()

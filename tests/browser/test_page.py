"""The page in a real browser, with telemetry that is made up."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from browsing import TOKEN, Looking, dashboard
from ropewalk.dashboard import picture as pictures
from written import Written, ring


@pytest.fixture
def town(tmp_path: Path) -> Written:
    return ring(tmp_path / "live")


@pytest.fixture
def looking(browser: Browser, town: Written) -> Iterator[Looking]:
    with dashboard(town.folder) as url:
        page = Looking(browser, url)
        page.until("ropewalk.network.nodes.size === 12 && ropewalk.network.overlay.size > 0")
        yield page
        page.close()


def test_it_loads_without_a_complaint_and_asks_nobody_else(looking: Looking) -> None:
    looking.page.wait_for_timeout(0)
    assert looking.complaints == []
    assert len(looking.asked) > 8
    assert looking.strangers() == []


def test_the_token_leaves_the_address_and_no_script_can_read_it(looking: Looking) -> None:
    assert TOKEN not in looking.page.url
    assert TOKEN not in looking.js("document.cookie + JSON.stringify(localStorage)")
    (cookie,) = looking.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")


def test_it_shows_the_numbers_that_the_server_reports(looking: Looking, town: Written) -> None:
    for number in range(3, 6):
        town.follow(number, 12, "sport")
    page = looking.page
    expect(page.locator("#topics li", has_text="sport")).to_contain_text("6 nodes")
    totals = looking.api("/api/state")["totals"]
    assert (totals["up"], totals["topics"], totals["links"], totals["down"]) == (12, 2, 24, 0)
    for name in ("up", "down", "topics", "links", "lvs", "pvs", "connections", "published", "delivered"):
        shown = page.locator(f"#total-{name}").inner_text()
        assert float(shown) == pytest.approx(totals[name], abs=0.051), name
    (news, sport) = looking.api("/api/topics")["entries"]
    assert (news["name"], news["members"], sport["members"]) == ("news", 12, 6)
    assert looking.js("[ropewalk.network.members.size, ropewalk.network.overlay.size]") == [12, news["links"]]
    expect(page.locator("#map-summary")).to_contain_text(f"news: 12 nodes follow it, {news['links']} links")


def test_something_is_drawn_and_another_topic_is_drawn_otherwise(looking: Looking) -> None:
    drawn, is_drawn = "ropewalk.map.canvas.toDataURL()", "ropewalk.map.took > 0 && !ropewalk.map.frame"
    looking.until(is_drawn)
    first = looking.js(drawn)
    assert len(first) > 5000
    looking.page.locator("#topics li", has_text="sport").click()
    looking.until("ropewalk.network.topic && ropewalk.network.overlay.size === 3")
    expect(looking.page.locator("#map-title")).to_have_text("Overlay of sport")
    looking.until(is_drawn)
    assert looking.js(drawn) != first


def test_an_event_is_followed_hop_by_hop(looking: Looking, town: Written) -> None:
    town.event(900, 11, [(0, 1), (0, 2), (2, 4), (4, 6), (6, 7)])
    page = looking.page
    page.locator("#events button").click()
    rows = page.locator("#event-steps tr")
    expect(rows).to_have_count(5)
    assert [rows.nth(3).locator("td").nth(at).inner_text() for at in range(4)] == ["n6", "n4", "3", "4.0"]
    order = looking.page.evaluate(
        """() => new Promise((done) => {
             const lit = [];
             ropewalk.map.addEventListener("travel", ({detail}) => { lit.push(detail.words); if (detail.over) done(lit.filter(Boolean)); });
             document.getElementById("event-again").click();
           })"""
    )
    assert order[0].startswith("hop 1 · 1.0 ms · n1 from n0")
    assert [words.split(" · ")[0] for words in order] == sorted(words.split(" · ")[0] for words in order)
    expect(page.locator("#event-steps tr.lit")).to_have_count(5)
    town.say(8, "deliveries", event=900, hops=4, **{"from": town.ids[7]})
    expect(rows).to_have_count(6)


def test_an_event_that_nobody_got_is_marked_unless_it_is_not_known_who_wants_it(
    looking: Looking, town: Written
) -> None:
    def publish(event: int) -> None:
        about = {"publisher": town.ids[3], "topics": [12], "size": 5}
        town.say(3, "publications", event=event, at=time.time() - 9, **about)

    publish(900)
    looking.until("ropewalk.network.events.size === 1")
    town.say(5, "subscriptions", topic=12, follows=True, filters=[{"price": 3}])
    looking.until("[...ropewalk.network.nodes.values()].some(({name, follows}) => name === 'n5' && follows === 2)")
    publish(901)
    events = looking.page.locator("#events li")
    expect(events).to_have_count(2)
    assert events.nth(0).locator("span").inner_text() == "0 deliveries"
    marked = looking.js("[...document.querySelectorAll('#events .bad')].map((each) => each.textContent)")
    assert marked == ["0 of 3"]


def test_names_are_shown_as_text_whatever_they_are(browser: Browser, tmp_path: Path) -> None:
    hostile = "<img src=x onerror=\"document.title='taken'\">"
    town = Written(tmp_path / "live", 2)
    town.follow(0, 5, hostile)
    town.follow(1, 5)
    town.event(7, 5, [(0, 1)])
    (town.folder / "n0.jsonl").rename(town.folder / "<b>zero<b>.jsonl")
    with dashboard(town.folder) as url:
        looking = Looking(browser, url)
        expect(looking.page.locator("#topics")).to_contain_text(hostile)
        looking.page.locator("#events button").click()
        expect(looking.page.locator("#event-about")).to_contain_text(hostile)
        looking.page.locator("#tab-node").click()
        expect(looking.page.locator("#nodes")).to_contain_text("<b>zero<b>")
        assert looking.js("document.querySelectorAll('img[src=x], #nodes b b, #event b b').length") == 0
        assert (looking.page.title(), looking.complaints) == ("Ropewalk", [])
        looking.close()


def test_everything_can_be_done_with_keys_alone(looking: Looking, town: Written) -> None:
    town.event(900, 11, [(0, 1), (1, 2)])
    page = looking.page
    expect(page.locator("#events button")).to_have_count(1)

    def tab_to(selector: str) -> None:
        for _ in range(60):
            page.keyboard.press("Tab")
            if looking.js(f"document.activeElement.matches({selector!r})"):
                return
        raise AssertionError(f"Tab does not lead to {selector}")

    page.keyboard.press("Tab")
    assert looking.js("document.activeElement.className") == "skip"
    tab_to("#topics")
    outline = looking.js(
        "getComputedStyle(document.activeElement).outlineStyle + getComputedStyle(document.activeElement).outlineWidth"
    )
    assert outline == "solid2px"
    page.keyboard.press("ArrowDown")
    expect(page.locator("#map-title")).to_have_text("Overlay of sport")
    tab_to("#map")
    page.keyboard.press("[")
    page.keyboard.press("[")
    expect(page.locator("#map-title")).to_have_text("All connections")
    page.keyboard.press("]")
    expect(page.locator("#map-title")).to_have_text("Overlay of news")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#map-said")).to_contain_text("LVS 2")
    chosen = looking.js("ropewalk.network.byId(ropewalk.map.selected).name")
    page.keyboard.press("Enter")
    expect(page.locator("#node-title")).to_have_text(f"Node {chosen}")
    expect(page.locator("#node-about")).to_contain_text("127.0.0.1:70")
    expect(page.locator("#node-links li")).to_have_count(4)
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#tab-events")).to_be_focused()
    tab_to("#events button")
    page.keyboard.press("Enter")
    expect(page.locator("#event-steps tr")).to_have_count(2)
    for topic in range(60):
        town.follow(0, 100 + topic)
    expect(page.locator("#topics-title")).to_have_text("Topics (62)")
    tab_to("#topics-pager [data-key=after]")
    page.keyboard.press("Enter")
    expect(page.locator("#topics-pager")).to_contain_text("page 2 of 2")


def test_what_is_drawn_and_what_cannot_be_read_is_said(looking: Looking, town: Written) -> None:
    page, legend = looking.page, looking.page.locator("ul.legend li:visible")
    expect(legend).to_contain_text(["follows the topic", "other node"])
    expect(page.locator("#unreadable")).to_be_hidden()
    page.locator("#topics li").first.click()
    expect(legend).to_have_text(["node", "down", "left, or elsewhere", "connection", "event"])
    with (town.folder / "n0.jsonl").open("a") as file:
        file.write("no row\n")
    expect(page.locator("#unreadable")).to_have_text("1 line of the files could not be read, and is passed over.")


def test_one_of_a_kind_is_said_as_one(browser: Browser, tmp_path: Path) -> None:
    town = Written(tmp_path / "live", 2)
    town.follow(0, 11, "news")
    town.hold(0, 11, [1])
    town.link(0, [1])
    with dashboard(town.folder) as url:
        looking = Looking(browser, url)
        summary = looking.page.locator("#map-summary")
        expect(summary).to_have_text("news: 1 node follows it, 1 link between them. 2 nodes up, 0 down, 1 connection.")
        expect(looking.page.locator("#topics li").nth(1)).to_have_text("news1 node")
        town.say(1, "nodes", up=False)
        expect(summary).to_contain_text("1 node up, 0 down")
        looking.close()


def test_the_canvas_says_in_words_what_it_is_and_shows(looking: Looking) -> None:
    canvas = looking.page.locator("#map")
    assert "arrow keys" in (canvas.get_attribute("aria-label") or "")
    assert canvas.get_attribute("aria-describedby") == "map-summary"
    unnamed = looking.js(
        """[...document.querySelectorAll("button, input, select, textarea, canvas, [role=listbox]")]
             .filter((each) => !(each.ariaLabel || each.textContent.trim() || each.labels?.length || each.getAttribute("aria-labelledby")))
             .filter((each) => each.id !== "node-chart").map((each) => each.outerHTML)"""
    )
    assert unnamed == []


# How much a colour stands out from what it is drawn on, as WCAG 2 counts.
CONTRAST = """(name) => {
  const value = (name) => {
    const hex = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
    const [red, green, blue] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255).map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05;
  };
  return Math.max(value(name), value("room")) / Math.min(value(name), value("room"));
}"""


def test_colours_follow_the_system_and_the_switch(browser: Browser, town: Written) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    with dashboard(town.folder) as url:
        dark, light = (Looking(browser, url, color_scheme=scheme) for scheme in ("dark", "light"))
        night, day = dark.js(ground), light.js(ground)
        assert night != day
        for wanted in ("light", "dark", "auto"):
            dark.page.locator("#theme").click()
            expect(dark.page.locator("#theme")).to_have_text(wanted)
            assert dark.js(ground) == (day if wanted == "light" else night)
        for looking in (dark, light):
            for name in ("rim", "other", "overlay", "down", "event", "focus"):
                assert looking.page.evaluate(CONTRAST, name) >= 3, name
        dark.close()
        light.close()


def test_who_is_forgotten_is_no_longer_shown_and_what_there_is_no_room_for_is_said(
    browser: Browser, town: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pictures, "MOST_NODES", 13)
    with dashboard(town.folder) as url:
        looking = Looking(browser, url)
        page, names = looking.page, "[...ropewalk.network.nodes.values()].map((node) => node.name).join(' ')"
        looking.until("ropewalk.network.nodes.size === 12")
        expect(page.locator("#beyond")).to_be_hidden()
        for number in (12, 13):
            town.ids.append(2**51 + number)
            town.say(number, "nodes", up=True)
            looking.until(f"{names}.includes('n{number}')")
            town.say(number, "nodes", up=False)
            looking.until(
                f"[...ropewalk.network.nodes.values()].some((node) => node.name === 'n{number}' && node.state === 'left')"
            )
        assert "n12" not in looking.js(names)
        assert looking.js("ropewalk.network.nodes.size") == 13
        town.say(13, "nodes", up=True)
        looking.until("[...ropewalk.network.nodes.values()].every((node) => node.state === 'up')")
        town.ids.append(2**52)
        town.say(14, "nodes", up=True)
        expect(page.locator("#beyond")).to_have_text(
            "Not all is shown: there was no room for more nodes or topics, 1 time."
        )
        assert looking.complaints == []
        looking.close()


# What is beyond the window, or wider than what it is in and cannot be scrolled or shortened.
CUT_OFF = """[...document.querySelectorAll("main *, header *")].filter((each) => each.checkVisibility() && !each.closest(".unseen"))
  .filter((each) => {
    const box = each.getBoundingClientRect(), { textOverflow } = getComputedStyle(each);
    if (!box.width) return false;
    const spills = each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 0 && textOverflow !== "ellipsis";
    return box.right > innerWidth + 1 || box.left < -1 || spills;
  }).map((each) => each.id || each.outerHTML.slice(0, 80))"""


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1101, 800), (390, 844), (320, 640)])
def test_nothing_is_cut_off(browser: Browser, town: Written, width: int, height: int) -> None:
    town.event(900, 11, [(0, 1), (1, 2)])
    (town.folder / "n1.jsonl").rename(town.folder / f"{'a_node_with_a_very_long_name_' * 6}.jsonl")
    with (town.folder / "n0.jsonl").open("a") as file:
        file.write("no row\n")
    with dashboard(town.folder) as url:
        looking = Looking(browser, url, viewport={"width": width, "height": height})
        page = looking.page
        looking.until("ropewalk.network.nodes.size === 12")
        assert looking.js("document.documentElement.scrollWidth") <= width
        assert looking.js(CUT_OFF) == []
        if width > 1100:
            assert looking.js("document.documentElement.scrollHeight") <= height
        page.locator("#events button").click()
        expect(page.locator("#event-steps tr")).to_have_count(2)
        assert looking.js(CUT_OFF) == []
        page.locator("#event-steps button").last.click()
        expect(page.locator("#node-title")).to_contain_text("Node ")
        expect(page.locator("#node-links li")).to_have_count(4)
        expect(page.locator("#nodes li")).to_have_count(12)
        assert looking.js(CUT_OFF) == []
        for tab in ("publish", "news"):
            page.locator(f"#tab-{tab}").click()
            assert looking.js(CUT_OFF) == []
        looking.close()


# Answers to what is told a replay wait until somebody lets them go, in whatever order.
LATE = """() => {
  const real = window.fetch;
  window.late = [];
  window.fetch = async (path, about) => {
    const answer = await real(path, about);
    if (path === "/api/replay" && window.late.length < 2) await new Promise((done) => window.late.push(done));
    return answer;
  };
}"""


def test_a_replay_is_paused_moved_and_sped_up(browser: Browser, tmp_path: Path) -> None:
    town = Written(tmp_path / "rec", 3)
    begun = 1_700_000_000.0
    for path in town.folder.iterdir():
        path.unlink()
    for number in range(3):
        town.say(number, "nodes", up=True, at=begun + 10 * number)
    town.say(0, "linked", up=[], down=[], at=begun + 60)
    with dashboard(town.folder, replay=True, speed=2.0) as url:
        looking = Looking(browser, url)
        page = looking.page
        expect(page.locator("#mode")).to_have_text("replay")
        expect(page.locator("#replay-speed")).to_have_value("2")
        page.locator("#replay-play").click()
        expect(page.locator("#replay-play")).to_have_text("Play")
        slider = page.locator("#replay-at")
        slider.evaluate("(slider) => { slider.value = 500; slider.dispatchEvent(new Event('input')); }")
        expect(page.locator("#total-up")).to_have_text("3")
        assert looking.api("/api/state")["replay"]["at"] == pytest.approx(begun + 30, abs=0.1)
        slider.evaluate("(slider) => { slider.value = 200; slider.dispatchEvent(new Event('input')); }")
        expect(page.locator("#total-up")).to_have_text("2")
        expect(page.locator("#replay-time")).to_have_text("0:12 / 1:00")
        looking.js(LATE)
        for turn, at in enumerate((900, 400), 1):
            slider.evaluate("(slider, at) => { slider.value = at; slider.dispatchEvent(new Event('input')); }", str(at))
            looking.until(f"window.late.length === {turn}")
        looking.js("() => { for (const done of window.late.reverse()) done(); }")
        looking.js("new Promise((done) => setTimeout(done))")  # whatever waited for them has had its turn
        assert slider.input_value() == "400"  # what is answered last is of what was wanted before
        page.locator("#replay-speed").select_option("100")
        page.locator("#replay-play").click()
        expect(page.locator("#replay-play")).to_have_text("Again")
        assert looking.complaints == []
        looking.close()


def test_a_replay_is_moved_by_keys_alone(browser: Browser, tmp_path: Path) -> None:
    town = Written(tmp_path / "rec", 1)
    town.say(0, "linked", up=[], down=[], at=time.time() + 60)
    with dashboard(town.folder, replay=True) as url:
        looking = Looking(browser, url)
        page, keys = looking.page, looking.page.keyboard
        for key in ("Tab", "Tab", "Tab"):  # over the way to the map, and colours
            keys.press(key)
        expect(page.locator("#replay-play")).to_be_focused()
        keys.press("Enter")
        expect(page.locator("#replay-play")).to_have_text("Play")
        keys.press("Tab")
        keys.press("End")
        expect(page.locator("#replay-play")).to_have_text("Again")
        keys.press("Home")
        expect(page.locator("#replay-play")).to_have_text("Play")
        expect(page.locator("#replay-time")).to_have_text("0:00 / 1:00")
        keys.press("Tab")
        keys.press("ArrowDown")
        expect(page.locator("#replay-speed")).to_have_value("2")
        looking.until("ropewalk.network.about.replay.speed === 2")
        looking.close()

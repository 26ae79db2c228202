"""Hands on a page that goes on changing: clicks are not lost, focus stays where it was, the map shows who is chosen, answers may overtake each other."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from browsing import Looking, dashboard
from waiting import wait_until
from written import Written, crowd, ring

FOCUSED = "(document.activeElement.ariaLabel ?? document.activeElement.textContent) + ' of ' + document.activeElement.closest('[id]').id"


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


@contextmanager
def busy(town: Written) -> Iterator[None]:
    """Ten events a second."""
    done = threading.Event()

    def go_on() -> None:
        turn = 0
        while not done.wait(0.1):
            turn += 1
            town.event(5000 + turn, 11, [(turn % 12, (turn + 1) % 12)])

    writing = threading.Thread(target=go_on)
    writing.start()
    try:
        yield
    finally:
        done.set()
        writing.join()


def test_no_click_is_lost_while_events_come_and_come(looking: Looking, town: Written) -> None:
    page = looking.page
    for event in range(40):
        town.event(3000 + event, 11, [(0, 1), (1, 2)])
    expect(page.locator("#events button")).to_have_count(30)
    box = page.locator("#events button").nth(3).bounding_box()
    assert box is not None
    top = "ropewalk.network.events.size"
    with busy(town):
        for _ in range(8):
            page.mouse.move(box["x"] + 40, box["y"] + 10)
            page.mouse.down()
            begun = looking.js(top)
            aimed = looking.js("document.querySelector('#events button:active')?.closest('li').dataset.key")
            looking.until(f"{top} >= {begun + 6}")  # longer than from one look of the list to the next
            page.mouse.up()
            looking.until(
                f"document.querySelector('#events [aria-pressed=true]')?.closest('li').dataset.key === '{aimed}'"
            )
            page.locator("#event-close").click()


def test_a_list_goes_on_once_it_is_let_go_of(looking: Looking, town: Written) -> None:
    page = looking.page
    town.event(900, 11, [(0, 1)])
    expect(page.locator("#events button")).to_have_count(1)
    page.locator("#events button").hover()
    page.mouse.down()
    town.event(901, 11, [(0, 1)])
    looking.until("ropewalk.network.events.size === 2")
    page.mouse.move(5, 5)
    page.mouse.up()
    expect(page.locator("#events button")).to_have_count(2)


def test_focus_stays_where_it_was_while_lists_change(browser: Browser, tmp_path: Path) -> None:
    town = crowd(tmp_path / "live", 120, 500)
    with dashboard(town.folder) as url:
        looking = Looking(browser, url)
        page = looking.page
        looking.until("ropewalk.network.nodes.size === 120")
        page.locator("#tab-node").click()
        after = page.locator("#nodes-pager [data-key=after]")
        after.focus()
        for turn in (2, 3):
            page.keyboard.press("Enter")
            expect(page.locator("#nodes-pager")).to_contain_text(f"page {turn} of 3")
            assert looking.js(FOCUSED) == "Next page of nodes-pager"
        page.keyboard.press("Enter")  # there is no further page
        assert looking.js(FOCUSED) == "Next page of nodes-pager"
        town.say(119, "nodes", up=False)
        looking.until("[...document.querySelectorAll('#nodes .right')].some((each) => each.textContent === 'left')")
        assert looking.js(FOCUSED) == "Next page of nodes-pager"
        page.locator("#tab-events").click()
        town.event(900, 105, [(0, 1), (0, 2), (2, 4)])
        page.locator("#events button").click()
        page.locator("#event-steps button").nth(2).focus()
        focused = looking.js(FOCUSED)
        town.say(9, "deliveries", event=900, hops=1, at=0.5, **{"from": town.ids[0]})
        expect(page.locator("#event-steps tr")).to_have_count(4)
        assert looking.js(FOCUSED) == focused
        page.locator("#event-close").focus()
        page.keyboard.press("Enter")
        assert looking.js("document.activeElement.closest('#events') !== null")
        looking.close()


def test_a_list_that_shrinks_does_not_leave_its_reader_on_a_page_that_there_is_no_longer(
    browser: Browser, tmp_path: Path
) -> None:
    town = Written(tmp_path / "live", 2)
    for topic in range(60):
        town.follow(topic % 20 > 0, 100 + topic, f"topic-{topic}")
    with dashboard(town.folder) as url:
        looking = Looking(browser, url)
        page, rows = looking.page, looking.page.locator("#topics li")
        expect(rows).to_have_count(51)
        page.locator("#topics-pager [data-key=after]").click()
        expect(rows).to_have_count(11)
        town.say(1, "nodes", up=False)
        looking.until("ropewalk.network.totals.topics === 3")
        looking.js("ropewalk.topics.load()")  # as it does every three seconds
        expect(rows).to_have_count(4)
        expect(page.locator("#topics-pager button")).to_have_count(0)
        assert looking.js("ropewalk.topics.page") == 0
        looking.close()


def test_keys_lead_through_all_topics_page_by_page_and_stop_at_the_ends(browser: Browser, tmp_path: Path) -> None:
    town = Written(tmp_path / "live", 2)
    for topic in range(52):
        town.follow(0, 100 + topic, f"topic-{topic}")
    with dashboard(town.folder) as url:
        looking = Looking(browser, url)
        page, title = looking.page, looking.page.locator("#map-title")
        chosen = "ropewalk.topics.chosen?.name"

        def press(key: str, then: str) -> None:
            page.keyboard.press(key)
            expect(title).to_have_text(then)

        expect(title).to_have_text("Overlay of topic-0")
        page.locator("#topics").focus()
        press("End", "Overlay of topic-49")
        press("ArrowDown", "Overlay of topic-50")
        press("]", "Overlay of topic-51")
        looking.until("ropewalk.network.source?.readyState === 1")
        streams = sum("/api/stream" in url for url in looking.asked)
        for key in ("]", "ArrowDown", "End"):
            press(key, "Overlay of topic-51")
        assert sum("/api/stream" in url for url in looking.asked) == streams
        press("[", "Overlay of topic-50")
        press("[", "Overlay of topic-49")
        page.locator("#topics-pager [data-key=after]").click()
        expect(page.locator("#topics li")).to_have_count(3)
        for key, then in (("ArrowUp", "topic-50"), ("ArrowUp", "topic-49"), ("ArrowUp", "topic-48")):
            page.locator("#topics").focus()
            press(key, f"Overlay of {then}")
        press("Home", "All connections")
        press("[", "All connections")
        press("]", "Overlay of topic-0")
        assert looking.js(chosen) == "topic-0"
        looking.close()


def test_who_had_focus_and_is_gone_leaves_it_to_a_neighbour(looking: Looking, town: Written) -> None:
    page = looking.page
    for event in range(30):
        town.event(3000 + event, 11, [(0, 1)])
    expect(page.locator("#events button")).to_have_count(30)
    page.locator("#events button").last.focus()
    first = looking.js("document.activeElement.closest('li').dataset.key")
    with busy(town):
        looking.until(f"!document.querySelector('#events [data-key=\"{first}\"]')")
        looking.until("document.activeElement.closest('#events') !== null")


def test_who_is_chosen_is_on_the_map_however_near_that_is(browser: Browser, tmp_path: Path) -> None:
    town = crowd(tmp_path / "live", 120, 500)
    outside = """() => { const { map, network } = ropewalk, at = map.at(network.ids.get(map.selected)), [width, height] = map.size();
      return !(at[0] >= 0 && at[1] >= 0 && at[0] <= width && at[1] <= height); }"""
    with dashboard(town.folder) as url:
        looking = Looking(browser, url)
        looking.until("ropewalk.network.nodes.size === 120 && ropewalk.map.took > 0 && !ropewalk.map.frame")
        looking.page.locator("#map").focus()
        for _ in range(8):
            looking.page.keyboard.press("+")
        for key in ["ArrowRight"] * 6 + ["ArrowDown"] * 6 + ["ArrowLeft"] * 8:
            looking.page.keyboard.press(key)
            looking.until("!ropewalk.map.frame")
            assert not looking.js(outside), key
        looking.page.locator("#tab-node").click()
        for row in (5, 30, 45):
            looking.page.locator("#nodes button").nth(row).click()
            looking.until("!ropewalk.map.frame")
            assert not looking.js(outside), row
        looking.close()


def test_who_pans_with_a_node_chosen_stays_where_they_are(looking: Looking) -> None:
    page = looking.page
    looking.js("ropewalk.map.choose(ropewalk.network.nodes.get(3).id)")
    box = page.locator("#map").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y + 30, steps=5)
    page.mouse.up()
    assert looking.js("ropewalk.map.panX") == pytest.approx(60, abs=15)
    expect(page.locator("#tab-events")).to_have_attribute("aria-selected", "true")
    looking.until("!ropewalk.map.frame")
    at = looking.js("ropewalk.map.at(5)")
    page.mouse.click(box["x"] + at[0], box["y"] + at[1])
    expect(page.locator("#tab-node")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#node-title")).to_have_text("Node n5")


def test_the_map_says_what_the_chosen_node_is_by_now_but_not_while_an_event_travels(
    looking: Looking, town: Written
) -> None:
    said = looking.page.locator("#map-said")
    looking.js("ropewalk.map.choose(ropewalk.network.nodes.get(3).id)")
    expect(said).to_contain_text("node n3, up: 1 topic,")
    town.follow(3, 12)
    expect(said).to_contain_text("node n3, up: 2 topics")
    town.event(900, 11, [(0, 1), (1, 2)])
    looking.page.locator("#events button").click()
    looking.until("ropewalk.map.travel?.shown === 2")
    looking.js("() => { ropewalk.map.travel.whole = Infinity; }")  # so it goes on and on
    words = said.inner_text()
    assert words.startswith("hop 2")
    town.say(3, "nodes", up=False)
    looking.until("ropewalk.network.nodes.get(3).state === 'left'")
    expect(said).to_have_text(words)
    looking.js("() => { ropewalk.map.travel.whole = 0; }")
    expect(said).to_contain_text("node n3, left")


def test_the_wheel_zooms_as_far_as_it_is_turned_and_only_forwards_and_backwards(looking: Looking) -> None:
    page = looking.page
    box = page.locator("#map").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 200, box["y"] + 200)

    def zoomed(x: float, y: float, times: int = 1) -> float:
        looking.js("() => { ropewalk.map.all(); window.turns = 0; }")
        for _ in range(times):
            page.mouse.wheel(x, y)
        looking.until(f"window.turns === {times}")
        found: float = looking.js("ropewalk.map.zoom")
        return found

    looking.js("() => { ropewalk.map.canvas.addEventListener('wheel', () => { window.turns += 1; }); }")
    assert zoomed(80, 0) == 1
    notch = zoomed(0, -100)
    assert 1.1 < notch < 1.2
    assert zoomed(0, -5, times=20) == pytest.approx(notch)  # a touchpad says the same in many small steps
    assert zoomed(0, 100) == pytest.approx(1 / notch)
    assert notch < zoomed(0, -100_000) < 1.5
    lines = looking.js(
        "() => { const { map } = ropewalk; map.all(); map.canvas.dispatchEvent(new WheelEvent('wheel', { deltaY: -6, deltaMode: 1 })); return map.zoom; }"
    )
    assert 1.1 < lines < 1.2


def test_an_answer_that_comes_too_late_is_not_shown(looking: Looking) -> None:
    page = looking.page
    looking.js(
        """() => { const real = window.fetch; window.late = [];
             window.fetch = async (path, about) => {
               const answer = await real(path, about);
               if (String(path).endsWith("find=n")) await new Promise((done) => window.late.push(done));
               return answer;
             }; }"""
    )
    page.locator("#topics-find").fill("n")
    looking.until("window.late.length === 1")
    page.locator("#topics-find").fill("spo")
    expect(page.locator("#topics li")).to_have_count(2)
    page.locator("#tab-node").click()
    page.locator("#nodes-find").fill("n")
    looking.until("window.late.length === 2")
    page.locator("#nodes-find").fill("n11")
    expect(page.locator("#nodes li")).to_have_count(1)
    looking.js("() => { for (const done of window.late) done(); }")
    looking.js("new Promise((done) => setTimeout(done))")  # whatever waited for them has had its turn
    assert page.locator("#topics li").all_inner_texts()[1].startswith("sport")
    assert page.locator("#nodes li").count() == 1


def test_the_box_to_publish_from_says_the_chosen_topic_until_somebody_writes_another(looking: Looking) -> None:
    page, box = looking.page, looking.page.locator("#publish-topics")
    expect(box).to_have_value("news")
    page.locator("#topics li", has_text="sport").click()
    expect(box).to_have_value("sport")

    def write(words: str) -> None:  # there is no node to publish from, so nobody sees the box
        box.evaluate("(box, words) => { box.value = words; box.dispatchEvent(new Event('input')); }", words)

    write("sport, weather")
    page.locator("#topics li", has_text="news").click()
    expect(box).to_have_value("sport, weather")
    write("")
    page.locator("#topics li", has_text="sport").click()
    expect(box).to_have_value("sport")


def test_a_still_picture_is_drawn_anew_in_other_colours(browser: Browser, tmp_path: Path) -> None:
    town = ring(tmp_path / "rec", 4)
    drawn = "document.getElementById('node-chart').toDataURL()"
    with dashboard(town.folder, replay=True, speed=1000.0) as url:
        looking = Looking(browser, url, color_scheme="light")
        page = looking.page
        expect(page.locator("#replay-play")).to_have_text("Again")
        page.locator("#tab-node").click()
        page.locator("#nodes button").first.click()
        expect(page.locator("#node-chart-legend")).to_contain_text("LVS")
        assert wait_until(lambda: looking.js(drawn) == looking.js(drawn))
        light = looking.js(drawn)
        for _ in range(2):
            page.locator("#theme").click()
        expect(page.locator("#theme")).to_have_text("dark")
        assert looking.js(drawn) != light
        looking.close()

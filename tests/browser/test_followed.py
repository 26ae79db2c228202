"""An event that is followed: while it grows, on a phone, where less motion is asked for, in a replay, and just after it was published."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from browsing import Looking, dashboard
from written import Written, ring

WAY = [(0, 1), (0, 2), (2, 4), (4, 6), (6, 7), (7, 8), (8, 9)]
# What is drawn of an event: at each drawing how much of each of its links that are lit, and whether all of it is over.
DRAWN = """() => {
  window.drawn = [];
  const { map } = ropewalk, draw = map.drawTravel;
  map.drawTravel = function (pen) {
    const lines = [], { travel } = this, { ids } = this.network;
    let from;
    draw.call(this, { beginPath() {}, stroke() {}, moveTo(...at) { from = at; }, lineTo(...at) { lines.push([from, at]); } });
    const shares = lines.map(([[x, y], [toX, toY]], turn) => {
      const step = travel.steps.filter(({ source }) => source !== null)[turn], [endX, endY] = this.at(ids.get(step.node));
      return Math.hypot(toX - x, toY - y) / Math.hypot(endX - x, endY - y) * Math.sign((toX - x) * (endX - x) + (toY - y) * (endY - y) + 1e-9);
    });
    window.drawn.push({ over: travel.over, shares, shown: travel.shown });
    draw.call(this, pen);
  };
}"""


@pytest.fixture
def town(tmp_path: Path) -> Written:
    return ring(tmp_path / "live")


@pytest.fixture
def url(town: Written) -> Iterator[str]:
    with dashboard(town.folder) as url:
        yield url


def looking_on(browser: Browser, url: str, **about: Any) -> Looking:
    looking = Looking(browser, url, **about)
    looking.until("ropewalk.network.nodes.size === 12 && ropewalk.network.overlay.size > 0")
    return looking


def follow(looking: Looking, event: int, got: int) -> None:
    looking.until(f"ropewalk.network.events.get('{event:016x}')?.got === {got}")
    looking.page.locator("#events button").first.click()
    expect(looking.page.locator("#event-steps tr")).to_have_count(got)


def test_an_event_that_grows_goes_on_from_where_it_was(browser: Browser, town: Written, url: str) -> None:
    looking = looking_on(browser, url)
    town.event(900, 11, WAY)
    follow(looking, 900, 7)
    looking.until("ropewalk.map.travel.over")
    looking.js(DRAWN)
    town.say(10, "deliveries", event=900, hops=4, **{"from": town.ids[7]})
    expect(looking.page.locator("#event-steps tr")).to_have_count(8)
    expect(looking.page.locator("#event-steps tr.lit")).to_have_count(8)
    looking.until("window.drawn.some(({shares}) => shares.length === 8)")
    assert looking.js("window.drawn.filter(({over, shares}) => !over || shares.some((share) => share < 0.999))") == []
    assert looking.js("ropewalk.map.travel.reached.size") == 8
    looking.close()


def test_an_event_that_grows_while_it_is_drawn_is_not_begun_anew(browser: Browser, town: Written, url: str) -> None:
    looking = looking_on(browser, url)
    town.event(900, 11, WAY)
    follow(looking, 900, 7)
    looking.js(DRAWN)
    looking.page.locator("#event-again").click()
    looking.until("window.drawn.some(({shown}) => shown >= 3)")
    before = looking.js("ropewalk.map.travel.shown")
    looking.js(  # the server tells of it again, one delivery longer
        """() => { const { map } = ropewalk, { travel } = map;
             const steps = travel.steps.map(({node, source, hops, took}) => [node, source, hops, took]);
             window.drawn.length = 0;
             map.follow({ id: travel.id, publisher: travel.publisher, steps: [...steps, [ropewalk.network.nodes.get(10).id, steps[5][0], 6, 9]] }, false); }"""
    )
    looking.until("ropewalk.map.travel.over")
    drawn = looking.js("window.drawn")
    assert min(each["shown"] for each in drawn) >= before - 1  # the same moment of a way that takes longer
    assert all(0 <= share <= 1.001 for each in drawn for share in each["shares"])
    assert drawn[-1]["shown"] == 8
    looking.close()


def test_the_map_follows_all_of_an_event_whatever_page_of_it_the_table_shows(browser: Browser, tmp_path: Path) -> None:
    town = Written(tmp_path / "live", 2)
    town.ids += [2**51 + number for number in range(700)]
    town.event(900, 11, [(0, number) for number in range(1, 621)])
    with dashboard(town.folder) as url:
        looking = Looking(browser, url, reduced_motion="reduce")
        page, rows = looking.page, looking.page.locator("#event-steps tr")
        looking.until("ropewalk.network.events.get('0000000000000384')?.got === 620")
        looking.js(
            "() => { window.told = []; ropewalk.map.addEventListener('travel', ({detail}) => window.told.push(detail.shown)); }"
        )
        page.locator("#events button").click()
        expect(rows).to_have_count(500)
        assert sum("/api/events/" in url for url in looking.asked) == 1
        page.locator("#event-pager [data-key=after]").click()
        expect(rows).to_have_count(120)
        page.locator("#event-again").click()
        looking.until("window.told.length === 2")
        assert looking.js("window.told") == [620, 620]
        expect(page.locator("#event-steps tr.lit")).to_have_count(120)
        town.say(0, "deliveries", event=900, hops=2, node=town.ids[650], **{"from": town.ids[5]})
        looking.until("ropewalk.map.travel.reached.size === 621")
        expect(page.locator("#event-steps tr.lit")).to_have_count(121)
        expect(page.locator("#event-pager")).to_contain_text("page 2 of 2")
        looking.close()


def test_nothing_moves_where_less_motion_is_asked_for(browser: Browser, town: Written, url: str) -> None:
    looking = looking_on(browser, url, reduced_motion="reduce")
    looking.js(DRAWN)
    looking.js(
        "() => { window.told = []; ropewalk.map.addEventListener('travel', ({detail}) => window.told.push(detail)); }"
    )
    town.event(900, 11, WAY)
    follow(looking, 900, 7)
    looking.until("window.drawn.length > 0")
    expect(looking.page.locator("#event-steps tr.lit")).to_have_count(7)
    looking.page.locator("#event-again").click()
    looking.until("window.told.length === 2")
    town.say(10, "deliveries", event=900, hops=4, **{"from": town.ids[7]})
    looking.until("window.drawn.some(({shares}) => shares.length === 8)")
    expect(looking.page.locator("#event-steps tr.lit")).to_have_count(8)
    assert looking.js("window.drawn.filter(({over, shares}) => !over || shares.some((share) => share < 0.999))") == []
    assert looking.js("window.told.map(({shown, over, words}) => [shown, over, words])") == [
        [7, True, ""],
        [7, True, ""],
        [8, True, ""],
    ]
    assert looking.js("ropewalk.map.frame === undefined")
    looking.close()


STILL = "new Promise((done) => { let y; const look = () => scrollY === y ? done(true) : (y = scrollY, setTimeout(look, 100)); look(); })"
ON_SCREEN = (
    "((box) => box.top >= -1 && box.bottom <= innerHeight + 1)(document.getElementById('map').getBoundingClientRect())"
)


def test_on_a_phone_the_map_comes_into_sight_with_an_event_and_a_node_leads_to_what_is_said_of_it(
    browser: Browser, town: Written, url: str
) -> None:
    about: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    looking = looking_on(browser, url, **about)
    page = looking.page
    town.event(900, 11, WAY)
    for event in range(901, 925):
        town.event(event, 11, WAY[:2])
    looking.until("ropewalk.network.events.size === 25")
    expect(page.locator("#events button")).to_have_count(25)
    page.locator("#events button").last.tap()
    looking.until(ON_SCREEN)
    looking.until("ropewalk.map.travel?.over")
    page.locator("#event-again").scroll_into_view_if_needed()
    page.locator("#event-again").tap()
    looking.until(ON_SCREEN)
    looking.js(STILL)
    looking.until("ropewalk.map.travel.over")
    x, y = looking.js("ropewalk.map.at(3)")
    box = page.locator("#map").bounding_box()
    assert box is not None
    page.touchscreen.tap(box["x"] + x, box["y"] + y)
    expect(page.locator("#map-said")).to_contain_text("node n3")
    assert looking.js(ON_SCREEN)  # the map is not taken away from under the finger
    page.locator("#map-open").tap()
    expect(page.locator("#node-title")).to_have_text("Node n3")
    expect(page.locator("#node-title")).to_be_in_viewport()
    looking.close()


def test_an_event_of_later_is_not_drawn_where_a_replay_was_moved_back_to(browser: Browser, tmp_path: Path) -> None:
    town = ring(tmp_path / "rec", 4)
    begun = 1_700_000_000.0
    for path in town.folder.iterdir():
        path.unlink()
    for number in range(4):
        town.say(number, "nodes", up=True, at=begun)
        town.say(number, "subscriptions", topic=11, follows=True, name="news", at=begun)
    town.say(0, "publications", event=900, publisher=town.ids[0], topics=[11], size=5, at=begun + 40)
    town.say(1, "deliveries", event=900, hops=1, at=begun + 40.1, **{"from": town.ids[0]})
    town.say(0, "linked", up=[], down=[], at=begun + 60)
    with dashboard(town.folder, replay=True, speed=0.05) as url:
        looking = Looking(browser, url)
        page = looking.page
        slider = page.locator("#replay-at")

        def move(share: float) -> None:
            slider.evaluate(
                "(slider, at) => { slider.value = at; slider.dispatchEvent(new Event('input')); }", str(1000 * share)
            )

        page.locator("#replay-play").click()
        move(0.8)
        page.locator("#events button").click()
        looking.until("ropewalk.map.travel?.over")
        move(0.2)
        looking.until("ropewalk.network.events.size === 0")
        looking.until("ropewalk.map.travel === undefined")
        expect(page.locator("#event-about")).to_have_text("No node has told of it yet, or any more.")
        expect(page.locator("#event-steps tr")).to_have_count(0)
        move(0.9)
        expect(page.locator("#event-steps tr")).to_have_count(1)
        looking.until("ropewalk.map.travel?.reached.size === 1")
        assert looking.complaints == []
        looking.close()


def test_what_is_published_now_takes_the_place_of_what_was_followed_at_once(
    browser: Browser, town: Written, url: str
) -> None:
    looking = looking_on(browser, url)
    page = looking.page
    town.event(900, 11, WAY)
    follow(looking, 900, 7)
    page.route("**/api/events/*", lambda _: None)  # the answer does not come
    town.event(901, 11, WAY[:2])
    looking.until("ropewalk.network.events.size === 2")
    expect(page.locator("#events button")).to_have_count(2)
    page.locator("#events button[aria-pressed=false]").click()
    expect(page.locator("#event-title")).to_have_text("Event 000000")
    expect(page.locator("#event-steps tr")).to_have_count(0)
    assert looking.js("ropewalk.map.travel === undefined")
    looking.close()


def test_an_event_of_many_topics_is_one_of_each_of_them(browser: Browser, tmp_path: Path) -> None:
    town = Written(tmp_path / "live", 2)
    for topic in range(7):
        town.follow(0, 100 + topic, f"topic-{topic}")
        town.follow(1, 100 + topic)
    with dashboard(town.folder) as url:
        looking = Looking(browser, url)
        page = looking.page
        town.say(0, "publications", event=900, publisher=town.ids[0], topics=list(range(100, 106)), size=5)
        event = page.locator("#events b")
        expect(event).to_have_text("topic-0, topic-1, topic-2, topic-3 and 2 more")
        page.locator("#events-topic").check()
        for name, count in (("topic-5", 1), ("topic-6", 0), ("topic-0", 1)):
            page.locator("#topics li", has_text=name).click()
            expect(event).to_have_count(count)
        looking.close()


def test_an_event_of_a_node_without_telemetry_is_said_to_be_one(browser: Browser, town: Written, url: str) -> None:
    looking = looking_on(browser, url)
    page, stranger = looking.page, {"from": 4711}
    town.say(1, "deliveries", event=900, hops=1, **stranger)
    town.say(2, "deliveries", event=900, hops=2, **{"from": town.ids[1]})
    follow(looking, 900, 2)
    event, about = page.locator("#events li"), page.locator("#event-about")
    expect(event).to_contain_text("topics unknown")
    expect(event).to_contain_text("by a node without telemetry")
    expect(about).to_contain_text("Published by a node without telemetry, so that nobody has said on which topics.")
    expect(about).to_contain_text("2 deliveries.")
    assert "?" not in event.inner_text() + about.inner_text()
    town.say(0, "publications", event=900, publisher=town.ids[0], topics=[11], size=5)  # its row comes late
    expect(event).to_contain_text("by n0")
    expect(about).to_contain_text("On news, published by n0")
    assert looking.complaints == []
    looking.close()


def test_events_are_called_by_their_topics_also_where_the_list_of_topics_has_others(
    browser: Browser, tmp_path: Path
) -> None:
    town = Written(tmp_path / "live", 3)
    for topic in range(60):
        for number in range(3 if topic < 55 else 2):
            town.follow(number, 100 + topic, f"topic-{topic}")
    with dashboard(town.folder) as url:
        looking = Looking(browser, url)
        expect(looking.page.locator("#topics-title")).to_have_text("Topics (60)")
        town.event(900, 158, [(0, 1)])
        expect(looking.page.locator("#events button")).to_contain_text("topic-58")
        looking.close()

"""The box to publish from, by keys alone; who publishes is made up."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from browsing import Looking, dashboard
from ropewalk.dashboard import running
from waiting import wait_until
from written import Written, ring

FOCUSED = "document.activeElement.id || document.activeElement.textContent"


class Publisher:
    """Has the first node publish, once it is let go."""

    def __init__(self, town: Written) -> None:
        self.town, self.folder, self.asked, self.free = town, town.folder, list[str](), threading.Event()

    async def start(self) -> None:
        """Nothing is to be done for it."""

    async def publish(self, text: str, _: dict[int, str]) -> str:
        self.asked.append(text)
        await asyncio.to_thread(self.free.wait, 30)
        self.town.event(900, 11, [(0, 1), (1, 2)])
        return f"{900:016x}"

    async def close(self) -> None:
        """Likewise."""


@pytest.fixture
def publisher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Publisher:
    publisher = Publisher(ring(tmp_path / "live"))
    monkeypatch.setattr(running, "Publisher", lambda _: publisher)
    return publisher


@pytest.fixture
def looking(browser: Browser, publisher: Publisher) -> Iterator[Looking]:
    unused: Any = None
    with dashboard(publisher.folder, make=lambda: unused) as url:
        page = Looking(browser, url)
        page.until("ropewalk.network.nodes.size === 12 && ropewalk.network.overlay.size > 0")
        yield page
        page.close()


def test_who_publishes_by_keys_is_led_to_the_event(looking: Looking, publisher: Publisher) -> None:
    page, keys = looking.page, looking.page.keyboard
    page.locator("#tab-events").focus()
    for _ in range(2):
        keys.press("ArrowRight")
    keys.press("Tab")
    assert looking.js(FOCUSED) == "publish-topics"
    expect(page.locator("#publish-topics")).to_have_value("news")
    keys.press("Tab")
    keys.type("hello")
    keys.press("Tab")
    for _ in range(3):  # impatient
        keys.press("Enter")
    expect(page.locator("#publish-said")).to_have_text("on its way …")
    assert looking.js(FOCUSED) == "Publish"
    assert wait_until(lambda: publisher.asked == ["hello"])
    publisher.free.set()
    expect(page.locator("#tab-events")).to_be_focused()
    expect(page.locator("#published")).to_have_text("Published: event 000000. It is followed on the map.")
    assert looking.js("document.getElementById('published').checkVisibility()")
    expect(page.locator("#event-steps tr")).to_have_count(2)
    assert publisher.asked == ["hello"]


def test_who_has_no_answer_is_told_so_and_may_try_again(looking: Looking, publisher: Publisher) -> None:
    page = looking.page
    page.locator("#tab-publish").click()
    looking.js(
        """() => {
             window.timeout = AbortSignal.timeout;
             AbortSignal.timeout = () => AbortSignal.abort(new DOMException("it is late", "TimeoutError"));
           }"""
    )
    page.locator("#publish button").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#publish-said")).to_have_text("no answer for 25 seconds; it may be done all the same")
    assert looking.js(FOCUSED) == "Publish"
    looking.js("() => { AbortSignal.timeout = window.timeout; }")
    publisher.free.set()
    page.keyboard.press("Enter")
    expect(page.locator("#event-steps tr")).to_have_count(2)

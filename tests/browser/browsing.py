"""A real Chromium, and dashboards for it to look at."""

import json
import shutil
import signal
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from ropewalk.dashboard.running import Beside, Place, Served, Shown
from waiting import wait_until

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "chrome")
SOON = 20_000  # milliseconds: none of these takes as long unless something is broken
TOKEN = "a-token-of-tests"
ROPEWALK = [sys.executable, "-m", "ropewalk"]
expect.set_options(timeout=SOON)


@contextmanager
def chromium() -> Iterator[Browser]:
    """One for all tests of a file."""
    path = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if path is None:
        pytest.skip("no Chromium on PATH: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, headless=True, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


class Looking:
    """A page, what it has asked for and what it complains of."""

    def __init__(self, browser: Browser, url: str, words: str = "connected", **about: Any) -> None:
        self.context: BrowserContext = browser.new_context(**({"viewport": {"width": 1440, "height": 900}} | about))
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(SOON)
        self.url, self.asked, self.complaints = url, list[str](), list[str]()
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on(
            "console",
            lambda said: (
                self.complaints.append(said.text + " " + said.location.get("url", ""))
                if said.type in ("error", "warning")
                else None
            ),
        )
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.goto(url)
        expect(self.page.locator("#connection")).to_have_text(words)

    def api(self, path: str) -> Any:
        """What the server says, as the page would ask it."""
        return self.page.evaluate("async (path) => (await fetch(path)).json()", path)

    def js(self, words: str) -> Any:
        return self.page.evaluate(words)

    def until(self, words: str) -> None:
        """Wait for it. (The page's policy forbids what the browser's driver has for that.)"""
        assert wait_until(lambda: bool(self.js(words)), SOON / 1000), words

    def close(self) -> None:
        self.context.close()

    def strangers(self) -> list[str]:
        """Requests to anybody else."""
        mine = urllib.parse.urlsplit(self.url).netloc
        return [url for url in self.asked if urllib.parse.urlsplit(url).netloc != mine]


@contextmanager
def dashboard(folder: Path, **about: Any) -> Iterator[str]:
    """One that runs here; its address."""
    served = Served(Place(token=TOKEN))
    with Beside(served, Shown(folder=folder, **about)):
        yield served.url


class Process:
    """A verb that runs until it is told to stop."""

    def __init__(self, folder: Path, name: str, *words: object) -> None:
        self.out, self.err = folder / f"{name}.out", folder / f"{name}.err"
        with self.out.open("wb") as out, self.err.open("wb") as err:
            self.process = subprocess.Popen(
                [*ROPEWALK, *map(str, words)], stdout=out, stderr=err, stdin=subprocess.DEVNULL
            )

    def document(self) -> dict[str, Any]:
        """The line of JSON that it prints first."""
        assert wait_until(lambda: "\n" in self.out.read_text() or self.process.poll() is not None), self.err.read_text()
        assert self.out.read_text(), self.err.read_text()
        found: dict[str, Any] = json.loads(self.out.read_text().splitlines()[0])
        return found

    def end(self, number: int = signal.SIGINT) -> int:
        """Tell it to stop; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(30)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()

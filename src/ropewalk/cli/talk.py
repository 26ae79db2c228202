"""Talk and progress go to standard error, data to standard output. On a terminal progress is a bar, elsewhere lines."""

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from ropewalk import __version__
from ropewalk.tables.store import digest_of

LINE_EVERY = 10.0  # seconds between lines of progress where there is no terminal
POLL_EVERY = 0.2

Tasks = Callable[[], tuple[int, int] | None]


def say(sentence: str) -> None:
    """One line for a person."""
    print(f"ropewalk: {sentence}", file=sys.stderr, flush=True)


def show_json(document: dict[str, Any] | list[dict[str, Any]]) -> None:
    """The one document of a command called with --json."""
    print(json.dumps(document, indent=2))


def opening_line(seed: int, settings: dict[str, Any], out: object) -> None:
    """The first line of every run: enough to run it again."""
    say(f"version {__version__}, seed {seed}, settings {digest_of(settings)}, out {out}")


class Talk:
    """Shows what a command is busy with, and keeps how long each phase took."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.tasks: Tasks = lambda: None  # set once Spark runs: how many tasks of the current phase are done
        self.doing = ""  # what a long phase is at; lines of progress say it
        self._console = Console(stderr=True)

    @contextmanager
    def phase(self, what: str) -> Iterator[None]:
        """Show `what` while the block runs."""
        started = time.monotonic()
        finished = threading.Event()
        show = self._show_bar if self._console.is_terminal else self._show_lines
        watcher = threading.Thread(target=show, args=(what, started, finished), daemon=True)
        watcher.start()
        try:
            yield
        finally:
            finished.set()
            watcher.join()
        self.seconds[what] = round(time.monotonic() - started, 3)
        say(f"{what}: {self.seconds[what]:.1f} s")

    def _show_lines(self, what: str, started: float, finished: threading.Event) -> None:
        say(f"{what} ...")
        while not finished.wait(LINE_EVERY):
            done = self.tasks()
            progress = f"{done[0]} of {done[1]} tasks, " if done else ""
            doing = f"{self.doing}, " if self.doing else ""
            say(f"{what}: {doing}{progress}{time.monotonic() - started:.0f} s so far")

    @contextmanager
    def step(self, what: str) -> Iterator[None]:
        """A part of a phase: no line of its own."""
        self.doing = what
        try:
            yield
        finally:
            self.doing = ""

    def _show_bar(self, what: str, started: float, finished: threading.Event) -> None:  # noqa: ARG002 (as _show_lines)
        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        with Progress(*columns, console=self._console, transient=True) as progress:
            bar = progress.add_task(what, total=None)
            while not finished.wait(POLL_EVERY):
                progress.update(bar, description=f"{what}: {self.doing}" if self.doing else what)
                if done := self.tasks():
                    progress.update(bar, completed=done[0], total=done[1])

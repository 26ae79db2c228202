"""What keeps the picture up to date: files that are watched, or a recording that is played; and where the nodes of files are drawn."""

import asyncio
import logging
import time
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from ropewalk.dashboard import rows
from ropewalk.dashboard.layout import Place, places
from ropewalk.dashboard.picture import Picture
from ropewalk.dashboard.replay import FASTEST, SLOWEST, Player
from ropewalk.dashboard.watching import Watch
from ropewalk.errors import UsageError

TICK = 0.25  # ours, seconds: four times a second looks alive, and costs next to nothing
PLACING = 2.0  # ours, seconds: nodes are given new places no more often
MOVED = 0.2  # ours: share of links that must have changed until they are
NEAR = 12  # ours, of `layout.SIZE`: who would move less stays where it is
MOST_LOOKS = 8  # ours: into files that grow faster than they are read, before the page is told
AT_A_TIME = 100  # ours: rows that are taken in before others get a turn
MOST_NUMBER = 1e12  # ours: of seconds, and what else is said in numbers
SET_BACK = 1.0  # ours, seconds: a clock that goes back by less is only waited for
log = logging.getLogger(__name__)


class Source(Protocol):
    """Where rows come from."""

    laid_out: bool  # whether it says itself where nodes are drawn

    @property
    def picture(self) -> Picture:
        """As it is now; another one, if it began anew."""

    def look_on(self) -> None:
        """A page does."""

    async def step(self) -> None:
        """A tick has passed."""

    def told(self) -> dict[str, Any]:
        """What the page must know of it."""


class Live:
    """Files that grow. No row is of later than it is read: nodes have clocks of their own, and some are wrong."""

    laid_out = False

    def __init__(self, watch: Watch, clock: Callable[[], float] = time.time) -> None:
        self.watch = watch
        self.picture = Picture()
        self._clock = clock
        self._caught_up = False  # until then rows were written before anybody looked

    def look_on(self) -> None:
        """See `Source`: it goes on whoever does."""

    async def step(self) -> None:
        """See `Source`."""
        for _ in range(MOST_LOOKS):
            found = await asyncio.to_thread(self.watch.more)
            now = self._now()
            for number, (row, name) in enumerate(found, 1):
                self.picture.take(rows.no_later(row, now), name, now if self._caught_up else None)
                if number % AT_A_TIME == 0:
                    await asyncio.sleep(0)
            if not self.watch.behind:
                self._caught_up = True
                break
        self.picture.advance(self._now())

    def _now(self) -> float:
        now = self._clock()
        if now < self.picture.now - SET_BACK:
            self.picture.turn_back(now)
        return now

    def told(self) -> dict[str, Any]:
        """See `Source`."""
        return {"live": True, "unreadable": self.watch.unreadable}


class Replayed:
    """A recording. It goes on once somebody looks on: who is slow to open the page misses nothing. Where its nodes are drawn is known from the beginning."""

    laid_out = True

    def __init__(self, player: Player) -> None:
        self.player = player
        self._stepped: float | None = None  # when it last did, if anybody has looked on
        self._lock = asyncio.Lock()
        self._waiting = 0  # who wants to be somewhere else

    @property
    def picture(self) -> Picture:
        """See `Source`."""
        return self.player.picture

    def look_on(self) -> None:
        """See `Source`."""
        if self._stepped is None:
            self._stepped = time.monotonic()

    async def step(self) -> None:
        """See `Source`."""
        async with self._lock:
            if self._stepped is None:
                return
            now = time.monotonic()
            passed, self._stepped = now - self._stepped, now
            await self._play(self.player.stepping(min(passed, 4 * TICK)))

    async def told_to(self, said: dict[str, Any]) -> None:
        """Pause, go on, faster, slower, from there."""
        speed, at = said.get("speed"), said.get("at")
        if speed is not None and (not _is_number(speed) or not SLOWEST <= speed <= FASTEST):
            raise UsageError(f"speed is {speed!r}, but must be from {SLOWEST:g} to {FASTEST:g}.")
        if at is not None and not _is_number(at):
            raise UsageError(f"at is {at!r}, but must be a time of the recording.")
        if isinstance(said.get("paused"), bool):
            self.player.paused = said["paused"]
        if speed is not None:
            self.player.speed = float(speed)
        if at is not None:
            await self._seek(float(at))

    async def _seek(self, at: float) -> None:
        """Go there: of several who are told so, the last one; the others need not arrive."""
        self._waiting += 1
        try:
            await self._lock.acquire()
        finally:
            self._waiting -= 1
        try:
            await self._play(self.player.seeking(at))
        finally:
            self._lock.release()

    async def _play(self, lots: Iterator[None]) -> None:
        """In the loop, where everybody reads, so that nobody reads while something changes; others have their turn between lots.

        It ends where somebody wants to be somewhere else: who drags a slider through a long recording would wait for every place on the way.
        """
        for _ in lots:
            await asyncio.sleep(0)
            if self._waiting:
                return

    def told(self) -> dict[str, Any]:
        """See `Source`."""
        return {"live": False, "unreadable": self.player.recording.unreadable, "replay": self.player.told()}


class Feed:
    """Runs a source, and tells who waits that there may be something new."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._ticked = asyncio.Event()
        self._placed_at = self._looked_at = float("-inf")
        self._placed: dict[tuple[int, int], int] = {}
        self._shifts = -1  # those that have been looked at

    @property
    def picture(self) -> Picture:
        """As it is now."""
        return self.source.picture

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            try:
                await self.source.step()
                await self._place()
            except Exception:
                log.exception("a look at the network failed")
            ticked, self._ticked = self._ticked, asyncio.Event()
            ticked.set()
            await asyncio.sleep(TICK)

    async def tick(self) -> None:
        """Until the next look."""
        await self._ticked.wait()

    async def _place(self) -> None:
        """Give nodes other places, if some came, or link otherwise than when they were given theirs; who is gone stays."""
        now, picture = time.monotonic(), self.picture
        if self.source.laid_out or picture.shifts == self._shifts:
            return
        crowd = len(picture.nodes) / 500  # to look takes the longer, the more there are
        if now - self._placed_at < PLACING * (1 + crowd) or now - self._looked_at < PLACING * crowd:
            return
        self._shifts, self._looked_at = picture.shifts, now
        weights = picture.weights()
        changed = len(weights.keys() ^ self._placed.keys())
        there = [id_ for id_, node in picture.nodes.items() if node.state in ("up", "elsewhere")]
        new = any(id_ not in picture.places for id_ in there)
        if not there or (not new and changed <= MOVED * max(1, len(self._placed))):
            return
        self._placed_at, self._placed = now, weights
        before = dict(picture.places)
        found = await asyncio.to_thread(places, there, weights, before)
        found = before | {node: _kept(before.get(node), place) for node, place in found.items()}
        picture.put({node: place for node, place in found.items() if node in picture.nodes})


def _kept(before: Place | None, now: Place) -> Place:
    return before if before is not None and abs(before[0] - now[0]) + abs(before[1] - now[1]) < NEAR else now


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= MOST_NUMBER

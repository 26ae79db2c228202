"""How much a node begins at a time: less where it is behind with its own work, since all that it has begun would run out of time.

A hundred handshakes at once on a machine that is busy take as long as the slowest of them may, and then all of them were in vain and
are begun again. How late the loop is says so before that, whoever is to blame: this node, others on its loop, or something else on the
machine. What others did not do in time meanwhile is not held against them. Who takes long where this node is not behind is slow, or not
there: its turn is the next one's, so that a few who never answer hold up nobody.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

BEHIND = 0.25  # ours, seconds: how late the loop may be with what it was asked to do at some moment
AT_FIRST = 4  # ours: begun at a time, before it is known how busy the machine is
PASSED_ON = 0.5  # ours, seconds: after which a turn is the next one's; some wide-area round trips


class Turns:
    """So many at a time, the others wait: `async with turns.taken()`."""

    def __init__(self, most: int, silent: int) -> None:
        self.most, self.allowed = most, min(AT_FIRST, most)
        self.under_way = self.passed_on = 0
        self.silent = silent  # turns at a time that may be passed on
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._behind_at = float("-inf")  # when this node was last found to be

    def look(self, late: float, now: float) -> None:
        """The loop is so late now: half as many from now on if that is too much, else one more."""
        if self.notice(late, now):
            self.allowed = max(1, self.allowed // 2)
        else:
            self.allowed = min(self.most, self.allowed + 1)
            self._go_on()

    def notice(self, late: float, now: float) -> bool:
        """Take note of how late the loop is with something; whether that is too late."""
        if late > BEHIND:
            self._behind_at = now
        return late > BEHIND

    def was_behind(self, since: float) -> bool:
        """Whether this node was behind with its own work at some moment since then."""
        return self._behind_at >= since

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[None]:
        """Wait for a turn, and have it; for a while."""
        await self._come()
        turn = _Turn()
        self._watch(turn)
        try:
            yield
        finally:
            if turn.passing_on is not None:
                turn.passing_on.cancel()
                self._end()
            else:
                self.passed_on -= 1

    def _watch(self, turn: "_Turn") -> None:
        loop = asyncio.get_running_loop()
        turn.passing_on = loop.call_later(PASSED_ON, self._pass_on, turn, loop.time() + PASSED_ON)

    def _pass_on(self, turn: "_Turn", due: float) -> None:
        now = asyncio.get_running_loop().time()
        if self.notice(now - due, now) or self.was_behind(now - PASSED_ON) or self.passed_on >= self.silent:
            self._watch(turn)  # it may be this node that is slow, or there are too many
        else:
            turn.passing_on = None
            self.passed_on += 1
            self._end()

    async def _come(self) -> None:
        if not self._waiting and self.under_way < self.allowed:
            self.under_way += 1
            return
        coming = asyncio.get_running_loop().create_future()
        self._waiting.append(coming)
        try:
            await coming
        except asyncio.CancelledError:
            if coming.done() and not coming.cancelled():  # it had just come
                self._end()
            raise

    def _go_on(self) -> None:
        while self._waiting and self.under_way < self.allowed:
            coming = self._waiting.popleft()
            if not coming.done():  # whoever waited may have given up
                self.under_way += 1
                coming.set_result(None)

    def _end(self) -> None:
        self.under_way -= 1
        self._go_on()


class _Turn:
    """That of one."""

    __slots__ = ("passing_on",)

    def __init__(self) -> None:
        self.passing_on: asyncio.TimerHandle | None = None  # None: it is the next one's

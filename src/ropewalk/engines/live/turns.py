"""How much a node begins at a time: less where it is behind with its own work, since all that it has begun would run out of time.

A hundred handshakes at once on a machine that is busy take as long as the slowest of them may, and then all of them were in vain and
are begun again. How late the loop is says so before that, whoever is to blame: this node, others on its loop, or something else on the
machine. What others did not do in time meanwhile is not held against them.
"""

import asyncio
from collections import deque
from types import TracebackType

BEHIND = 0.25  # ours, seconds: how late the loop may be with what it was asked to do at some moment
AT_FIRST = 4  # ours: begun at a time, before it is known how busy the machine is


class Turns:
    """So many at a time, the others wait: `async with turns`."""

    def __init__(self, most: int) -> None:
        self.most, self.allowed = most, min(AT_FIRST, most)
        self.under_way = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._behind_at = float("-inf")  # when this node was last found to be

    def look(self, late: float, now: float) -> None:
        """The loop is so late now: half as many from now on if that is too much, else one more."""
        if late > BEHIND:
            self._behind_at = now
            self.allowed = max(1, self.allowed // 2)
        else:
            self.allowed = min(self.most, self.allowed + 1)
            self._go_on()

    def was_behind(self, since: float) -> bool:
        """Whether this node was behind with its own work at some moment since then."""
        return self._behind_at >= since

    def _go_on(self) -> None:
        while self._waiting and self.under_way < self.allowed:
            turn = self._waiting.popleft()
            if not turn.done():  # whoever waited may have given up
                self.under_way += 1
                turn.set_result(None)

    async def __aenter__(self) -> None:
        """Wait for a turn."""
        if not self._waiting and self.under_way < self.allowed:
            self.under_way += 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it had just come
                self._end()
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let the next begin."""
        self._end()

    def _end(self) -> None:
        self.under_way -= 1
        self._go_on()

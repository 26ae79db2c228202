"""A reader that is too slow holds up those from whom its events come: they are read from no faster than it reads. So does a judge.

What they then have to send waits with them, and their publisher waits for them (`api`); nothing is lost. But one reader holds up nobody
for long: others may be behind the same link. When that is over, what it has no room for is lost to it, and counted (`Subscription.dropped`).
"""

import asyncio
import logging
from collections.abc import Callable

from ropewalk.engines.live.connection import Connection

HELD_UP = 5.0  # ours, seconds: as long as publishing waits for who is slow
log = logging.getLogger(__name__)


class Pressure:
    """Of the readers at one node on its links."""

    def __init__(self, is_pressed: Callable[[], bool]) -> None:
        self.is_pressed = is_pressed  # whether somebody still has too much to read, or to judge
        self.times = 0  # links that were held up so far
        self.given_up = False  # whether no link is held up any more, until all readers have caught up
        self._held: dict[Connection, None] = {}
        self._patience: asyncio.TimerHandle | None = None

    def press(self, connection: Connection) -> None:
        """Too much has come over a link."""
        if self.given_up or connection in self._held:
            return
        if not self._held:
            self._patience = asyncio.get_running_loop().call_later(HELD_UP, self._give_up)
        self.times += 1
        self._held[connection] = None
        connection.hold_up()

    def ease(self) -> None:
        """Somebody has caught up, or reads no more."""
        if (self._held or self.given_up) and not self.is_pressed():
            self.given_up = False
            self._let_go()

    def _give_up(self) -> None:
        log.warning(
            "a subscription has been too slow for %g s: what comes for it is lost from now on, and counted", HELD_UP
        )
        self.given_up = True
        self._let_go()

    def _let_go(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None
        held, self._held = self._held, {}
        for connection in held:
            connection.go_on()

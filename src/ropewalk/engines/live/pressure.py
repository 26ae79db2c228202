"""Who cannot keep up holds up those from whom it gets what it cannot keep up with: they are read from no faster.

That may be a reader, who has too much to read; the gate, which has too much to judge; or a neighbour, to whom too much waits to be sent.
What others then have to send waits with them, in turn, back to who publishes, who waits as well; nothing is lost. Whoever makes some
progress is waited for; of a neighbour, which may be anybody, so much a second is asked. Who makes none holds up others for so long and no longer, since somebody else may be behind the same link; what it
has no room for from then on is lost to it, and counted, until it has caught up. Of a neighbour that is remembered for a while longer (`pace`).

Others go on as soon as it has room for a little more: so they see how fast it is, and are not taken for somebody who stands still
while it works off what it has. How fast it is counts from when it first held up somebody until it has caught up.
"""

import asyncio
import logging
from typing import Protocol

from ropewalk.engines.live.connection import Connection
from ropewalk.engines.live.pace import HELD_UP, Pace, PassedOver

LOOK = 0.5  # ours, seconds between two looks
log = logging.getLogger(__name__)


class Slow(Protocol):
    """Somebody who may not keep up."""

    @property
    def is_pressed(self) -> bool:
        """Whether others have to wait for it, now."""

    @property
    def is_behind(self) -> bool:
        """Whether it has yet to catch up, if others had to."""

    @property
    def progress(self) -> int:
        """Whatever grows as it works."""

    @property
    def least(self) -> float:
        """By how much it must grow in a second to be progress; 0: anything is."""

    @property
    def node(self) -> int | None:
        """Which neighbour it is, if it is one."""


class _Cause:
    """One who does not keep up."""

    __slots__ = ("given_up", "held", "pace")

    def __init__(self, pace: Pace) -> None:
        self.pace = pace
        self.held: dict[Connection, None] = {}
        self.given_up = False


class Pressure:
    """On the links of one node."""

    def __init__(self, passed_over: PassedOver) -> None:
        self.passed_over = passed_over
        self.times = 0  # links that were held up so far
        self._causes: dict[Slow, _Cause] = {}
        self._looking: asyncio.TimerHandle | None = None

    def press(self, slow: Slow, connection: Connection) -> None:
        """Too much has come over a link for somebody."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        if slow.node is not None and self.passed_over.has(slow.node, now):
            return
        cause = self._causes.get(slow)
        if cause is None:
            cause = self._causes[slow] = _Cause(Pace(slow.least, slow.progress, now))
        if cause.given_up or connection in cause.held:
            return
        self.times += 1
        cause.held[connection] = None
        connection.hold_up()
        if self._looking is None:
            self._looking = loop.call_later(LOOK, self._look)

    def relieve(self, slow: Slow) -> None:
        """Somebody has room for a little more."""
        cause = self._causes.get(slow)
        if cause is not None:
            self._let_go(cause)

    def ease(self, slow: Slow) -> None:
        """Somebody has caught up, or is gone."""
        cause = self._causes.pop(slow, None)
        if cause is not None:
            self._let_go(cause)

    def gone(self, connection: Connection) -> None:
        """A link that may be held up is no more."""
        for cause in self._causes.values():
            cause.held.pop(connection, None)

    def has_given_up(self, slow: Slow) -> bool:
        """Whether nobody waits for it any more."""
        return slow in self._causes and self._causes[slow].given_up

    def close(self) -> None:
        """Hold up nobody any more."""
        if self._looking is not None:
            self._looking.cancel()
        for slow in list(self._causes):
            self.ease(slow)

    def _look(self) -> None:
        now = asyncio.get_running_loop().time()
        for slow, cause in list(self._causes.items()):
            if not slow.is_behind:
                self.ease(slow)
                continue
            if not slow.is_pressed:
                self._let_go(cause)
            if not cause.given_up and cause.pace.has_stopped(slow.progress, now):
                log.warning(
                    "a %s has not moved for %g s: what it has no room for is lost from now on, and counted",
                    type(slow).__name__.lower(),
                    HELD_UP,
                )
                cause.given_up = True
                if slow.node is not None:
                    self.passed_over.add(slow.node, now)
                self._let_go(cause)
        self._looking = asyncio.get_running_loop().call_later(LOOK, self._look) if self._causes else None

    def _let_go(self, cause: _Cause) -> None:
        held, cause.held = cause.held, {}
        others = {connection for other in self._causes.values() for connection in other.held}
        for connection in held:
            if connection not in others:
                connection.go_on()

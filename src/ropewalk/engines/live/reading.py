"""How much is read in one turn of the loop: from each connection in turn with others, and from all of them for so long and no longer.

What has come beyond that waits, in order, and the loop sends, answers and looks at its clocks before it goes on: else a few who send
without end, or what takes long to read, have a node stand still, and its neighbours take it for frozen.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import Protocol

A_TURN = 65_536  # ours, bytes: after which others have a turn; the loop hands over four times as much at the most
MOST_SECONDS = 0.1  # ours: of reading in one turn of the loop; a heartbeat has to get out every second
MOST_AHEAD = 262_144  # ours, bytes: that may wait to be read of a connection, before the system is asked for no more
MOST_AHEAD_IN_ALL = 64 * 1_048_576  # ours, bytes: over all connections; then nobody's is, until half of it is read


class Readable(Protocol):
    """A connection."""

    ahead: "Ahead"

    def is_read(self) -> bool:
        """Whether what has come may be read now."""

    def take_in(self, data: bytes) -> None:
        """Read it."""

    def see_to_reading(self) -> None:
        """More waits to be read, or less, or nothing."""


class Ahead:
    """What has come of one connection and was not read."""

    __slots__ = ("_parts", "size")

    def __init__(self) -> None:
        self._parts: deque[bytes | memoryview] = deque()
        self.size = 0  # bytes

    def put(self, data: bytes | memoryview) -> None:
        """Some more."""
        self._parts.append(data)
        self.size += len(data)

    def take(self) -> bytes:
        """The next, of a turn at the most."""
        part = self._parts.popleft()
        if len(part) > A_TURN:
            whole = memoryview(part)
            self._parts.appendleft(whole[A_TURN:])
            part = whole[:A_TURN]
        self.size -= len(part)
        return bytes(part)

    def forget(self) -> None:
        """All of it."""
        self._parts.clear()
        self.size = 0


class Reading:
    """At one node."""

    def __init__(self, crowd: Callable[[], None] = lambda: None) -> None:
        self._loop = asyncio.get_running_loop()
        self._crowd = crowd  # told when it begins, or ceases, to be so
        self.is_crowded = False  # whether so much waits in all that the system is asked for no more
        self.ahead = 0  # bytes that wait in all
        self._waiting: dict[Readable, None] = {}  # of whom something waits to be read, who is next first
        self._going_on = False  # whether that is on its way
        self._spent = 0.0  # seconds, in this turn of the loop
        self._counting = False  # whether the next turn will begin anew

    def came(self, connection: Readable, data: bytes) -> None:
        """Something has come: it is read at once, if it is its turn and there is time."""
        if connection.ahead.size or not connection.is_read() or self._spent >= MOST_SECONDS:
            self._put(connection, data)
        elif len(data) <= A_TURN:
            self._read(connection, data)
        else:
            self._put(connection, data)
            self._read_on(connection)
        if connection.ahead.size:
            connection.see_to_reading()
            self.go_on(connection)

    def go_on(self, connection: Readable) -> None:
        """What waits of it is read when it is its turn."""
        if connection.ahead.size and connection.is_read():
            self._waiting[connection] = None
            if not self._going_on:
                self._going_on = True
                self._loop.call_soon(self._take_turns)

    def finish(self, connection: Readable) -> None:
        """Read all that waits of it, if it may be read: nothing more will come."""
        while connection.ahead.size and connection.is_read():
            self._read_on(connection)

    def forget(self, connection: Readable) -> None:
        """All that waits of it."""
        self._count(-connection.ahead.size)
        connection.ahead.forget()

    def _put(self, connection: Readable, data: bytes) -> None:
        connection.ahead.put(data)
        self._count(len(data))

    def _count(self, more: int) -> None:
        self.ahead += more
        crowded = self.ahead > (MOST_AHEAD_IN_ALL // 2 if self.is_crowded else MOST_AHEAD_IN_ALL)
        if crowded != self.is_crowded:
            self.is_crowded = crowded
            self._crowd()

    def _take_turns(self) -> None:
        self._going_on = False
        self._spent = 0.0
        for connection in list(self._waiting):
            if self._spent >= MOST_SECONDS:
                break
            del self._waiting[connection]
            if connection.ahead.size and connection.is_read():
                self._read_on(connection)
            connection.see_to_reading()
            self.go_on(connection)
        if self._waiting and not self._going_on:
            self._going_on = True
            self._loop.call_soon(self._take_turns)

    def _read_on(self, connection: Readable) -> None:
        part = connection.ahead.take()
        self._count(-len(part))
        self._read(connection, part)

    def _read(self, connection: Readable, data: bytes) -> None:
        if not self._counting:
            self._counting = True
            self._loop.call_soon(self._begin_anew)
        begun = time.monotonic()  # the loop's own clock stands still within a turn
        connection.take_in(data)
        self._spent += time.monotonic() - begun

    def _begin_anew(self) -> None:
        self._counting = False
        self._spent = 0.0

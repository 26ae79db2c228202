"""Connections, before anybody has said who it is: so many at a time, and whoever asks for nothing has to go.

uvicorn counts requests. A socket that is opened and says nothing is none, so these are counted here.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_AT_ONCE = 256  # ours: connections
ASKING = 10.0  # ours, seconds: for a request, to its end; a browser takes none


class Room:
    """All connections of a server."""

    def __init__(self, most: int, asking: float) -> None:
        self.most, self.asking = most, asking
        self.all: dict[Bounded, None] = {}
        self.silent: dict[Bounded, None] = {}  # those that have asked for nothing; who has done so for longest first

    def enter(self, one: "Bounded") -> None:
        """One more; if that is too many, the one that has been silent for longest goes."""
        self.all[one] = None
        if len(self.all) > self.most:
            self.leave(eldest := next(iter(self.silent), one))
            eldest.transport.abort()
        if one in self.all:
            self.fall_silent(one)

    def leave(self, one: "Bounded") -> None:
        """It is closed."""
        self.all.pop(one, None)
        self.ask(one)

    def fall_silent(self, one: "Bounded") -> None:
        """It has come, or its answer is complete: time for the next request."""
        self.ask(one)
        self.silent[one] = None
        one.waiting = asyncio.get_running_loop().call_later(self.asking, one.give_up)

    def ask(self, one: "Bounded") -> None:
        """Its request is complete, and is answered for as long as it takes."""
        self.silent.pop(one, None)
        if one.waiting is not None:
            one.waiting.cancel()
            one.waiting = None


class Bounded(H11Protocol):
    """One of them."""

    room: Room
    waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """See `asyncio.Protocol`."""
        super().connection_made(transport)
        self.room.enter(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.Protocol`."""
        self.room.leave(self)
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Something has been read: perhaps a request."""
        super().handle_events()
        cycle = self.cycle
        if cycle is not None and not cycle.response_complete and not cycle.more_body and self in self.room.silent:
            self.room.ask(self)

    def on_response_complete(self) -> None:
        """It may ask again."""
        if self in self.room.all:
            self.room.fall_silent(self)
        super().on_response_complete()

    def give_up(self) -> None:
        """It has asked for nothing, or not to the end."""
        self.room.leave(self)
        self.transport.abort()


def bounded(room: Room) -> type[Bounded]:
    """Connections that share a room, for uvicorn to make."""
    about: dict[str, Any] = {"room": room}
    return type("Bounded", (Bounded,), about)

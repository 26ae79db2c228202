"""Where others call: sockets that were accepted, until TLS is up.

asyncio's own server says nothing of a connection before TLS is up, so who connects and leaves it at that would be neither seen nor
counted. Here every socket is, from the first: who comes too fast is hung up on before TLS begins, and where too many are in the
middle of it, the eldest goes: who keeps the rules is through in some milliseconds.
"""

import asyncio
import errno
import logging
import os
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress

from ropewalk.engines.live.connection import Connection
from ropewalk.engines.live.limits import BEFORE_TLS, Limits
from ropewalk.engines.live.sockets import listening
from ropewalk.errors import RunError

AT_A_TIME = 64  # ours: accepted before others have their turn
RESTED = 0.5  # ours, seconds: until it is tried again, where there are no descriptors
SPENT = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})  # what accept says then
NO_TLS, SLOW_TLS = "no TLS", "TLS took too long"
NO_ROOM, HUNG_UP = "no descriptor left", "hung up before TLS"
log = logging.getLogger(__name__)


class _Caller:
    """A socket, and what is to become of it."""

    __slots__ = ("begun", "connection", "evicted", "socket", "source", "task")

    def __init__(self, accepted: socket.socket, source: str, connection: Connection) -> None:
        self.socket, self.source, self.connection = accepted, source, connection
        self.begun = self.evicted = False
        self.task: asyncio.Task[None] | None = None


class Door:
    """Of one node."""

    def __init__(
        self,
        limits: Limits,
        context: ssl.SSLContext,
        patience: float,
        made: Callable[[], Connection],
        was_behind: Callable[[], bool],
    ) -> None:
        self.limits, self.context, self.patience, self.made = limits, context, patience, made
        self.was_behind = was_behind  # this node, with its own work: what others did not do in time may be its fault
        self.loop = asyncio.get_running_loop()
        self.callers: dict[_Caller, None] = {}  # the eldest first; `at_door`
        self.accepted = 0  # so far
        self._sockets: list[socket.socket] = []
        self._resting: asyncio.TimerHandle | None = None

    async def open(self, host: str, port: int) -> int:
        """Let others call from now on; the port, which is any that is free if 0 was asked for."""
        try:
            found = await self.loop.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
            for family, kind, protocol, _, address in dict.fromkeys(found):
                self._sockets.append(listening(family, kind, protocol, address))
        except OSError as error:
            self.close()
            why = os.strerror(error.errno).lower() if error.errno is not None and error.errno > 0 else "it is not here"
            raise RunError(f"nobody can listen at {host}:{port}: {why}.") from None
        for each in self._sockets:
            self.loop.add_reader(each, self._accept, each)
        taken: int = self._sockets[0].getsockname()[1]
        return taken

    def close(self) -> list["asyncio.Task[None]"]:
        """Let nobody call any more, and have done with those who are about to; what is still to end."""
        if self._resting is not None:
            self._resting.cancel()
        for each in self._sockets:
            self.loop.remove_reader(each)
            each.close()
        self._sockets.clear()
        ending = [caller.task for caller in self.callers if caller.task is not None]
        for caller in list(self.callers):
            self._turn_away(caller)
        return ending

    def _accept(self, where: socket.socket) -> None:
        for _ in range(AT_A_TIME):
            try:
                accepted, address = where.accept()
            except (BlockingIOError, InterruptedError):
                return
            except ConnectionError:
                continue  # it has thought better of it
            except OSError as error:
                if error.errno not in SPENT:
                    raise
                self.limits.count(NO_ROOM)
                self._rest()
                return
            self._arrived(accepted, str(address[0]))

    def _rest(self) -> None:
        """Who calls meanwhile waits in the system's queue."""
        log.warning("there are no descriptors left: nobody can call for %g s", RESTED)
        for each in self._sockets:
            self.loop.remove_reader(each)
        self._resting = self.loop.call_later(RESTED, self._go_on)

    def _go_on(self) -> None:
        for each in self._sockets:
            self.loop.add_reader(each, self._accept, each)

    def _arrived(self, accepted: socket.socket, host: str) -> None:
        self.accepted += 1
        source = self.limits.source_of(host)
        if self.limits.comes(source, self.loop.time()):
            accepted.close()
            return
        if len(self.callers) >= self.limits.bounds.at_door:
            eldest = next(iter(self.callers))
            self.limits.count(BEFORE_TLS)
            self._turn_away(eldest)
        accepted.setblocking(False)
        connection = self.made()
        connection.source = source
        caller = _Caller(accepted, source, connection)
        self.callers[caller] = None
        caller.task = self.loop.create_task(self._secure(caller))
        caller.task.add_done_callback(lambda _: self._done(caller))

    def _turn_away(self, caller: _Caller) -> None:
        caller.evicted = True
        self.callers.pop(caller, None)
        if caller.task is not None:
            caller.task.cancel()

    async def _secure(self, caller: _Caller) -> None:
        caller.begun = True
        try:
            await self.loop.connect_accepted_socket(
                lambda: caller.connection, caller.socket, ssl=self.context, ssl_handshake_timeout=self.patience
            )
        except (OSError, ssl.SSLError) as error:  # a TimeoutError is an OSError
            self._failed(caller, error)

    def _failed(self, caller: _Caller, error: Exception) -> None:
        """Who thinks better of it may: calls that cross are given up."""
        if caller.evicted:
            return
        if isinstance(error, TimeoutError) or "taking longer" in str(error):  # as asyncio and uvloop say it
            why = SLOW_TLS
        elif isinstance(error, ssl.SSLError) and not isinstance(error, ssl.SSLEOFError):
            why = NO_TLS
        else:
            self.limits.count(HUNG_UP)
            return
        if why == SLOW_TLS and self.was_behind():
            self.limits.count(why)
        else:
            self.limits.offended(why, caller.source, None, self.loop.time())

    def _done(self, caller: _Caller) -> None:
        """TLS is up, or will not be."""
        self.callers.pop(caller, None)
        if caller.connection.transport is None and not caller.connection.is_over:  # else it says itself when it goes
            self.limits.goes(caller.source)
        if not caller.begun:
            with suppress(OSError):
                caller.socket.close()

"""Calling another node: from the socket until both know each other."""

import asyncio
import ssl
from collections.abc import Callable

from ropewalk.engines.live.addresses import place
from ropewalk.engines.live.connection import Connection
from ropewalk.engines.live.endings import Ending
from ropewalk.engines.live.handshake import RefusedError

UNANSWERED = 5.0  # ours, seconds: how long a call may take, with all handshakes


class ItselfError(RefusedError):
    """A node has called itself."""


class Call:
    """An attempt to reach a node."""

    __slots__ = ("connection", "task")

    def __init__(self) -> None:
        self.connection: Connection | None = None
        self.task: asyncio.Task[None] | None = None

    async def dial(
        self, address: str, made: Callable[[], Connection], context: ssl.SSLContext, source: tuple[str, int] | None
    ) -> Connection:
        """The connection, once it is up; raises OSError or WireError if that does not come about."""
        host, port = place(address)

        def begun() -> Connection:
            self.connection = made()
            return self.connection

        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(UNANSWERED):
                _, connection = await loop.create_connection(
                    begun,
                    host,
                    port,
                    ssl=context,
                    server_hostname="node",
                    ssl_handshake_timeout=UNANSWERED,
                    local_addr=source,
                )
                await connection.settled.wait()
        except BaseException:
            if self.connection is not None:
                self.connection.abort()
            raise
        if connection.twin is not None:
            raise RefusedError("it is linked already.")
        if connection.is_itself:
            raise ItselfError(f"{address} is this node itself.")
        if not connection.up:
            why = connection.ending.why if connection.ending else "it hung up"
            if why == "reset" and connection.owner.terms.certified:
                why = "it hung up, as who does not trust this node's certificate would"
            raise RefusedError(f"{address}: {why}")
        return connection

    def hang_up(self) -> None:
        """It is no longer needed."""
        if self.task is not None:
            self.task.cancel()
        if self.connection is not None:
            self.connection.abort(Ending("closed", "crossed"))

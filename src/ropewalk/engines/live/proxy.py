"""A network that can be cut: every node is called at a place of the proxy's, which passes bytes on, or lets them vanish.

Who calls is known by the address that it calls from: every node of such a cluster has one of its own on the loopback
interface, which has sixteen million. What is cut is not closed: bytes go nowhere, as where a cable is pulled.
"""

import asyncio
from collections.abc import Callable

LOT = 65_536  # bytes


class Proxy:
    """Passes on between nodes, by their numbers."""

    def __init__(self) -> None:
        self.is_cut: Callable[[int, int], bool] = lambda _, __: False
        self._servers: list[asyncio.Server] = []
        self._passing: set[asyncio.Task[None]] = set()

    async def stand_for(self, number: int, port: int) -> str:
        """Be called in place of a node; where."""
        host = outside(number)
        server = await asyncio.start_server(lambda r, w: self._called(number, port, r, w), host, 0)
        self._servers.append(server)
        return f"{host}:{server.sockets[0].getsockname()[1]}"

    async def close(self) -> None:
        """Pass nothing on any more."""
        for server in self._servers:
            server.close()
        for task in self._passing:
            task.cancel()
        await asyncio.gather(*self._passing, return_exceptions=True)

    async def _called(self, number: int, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        caller = number_of(writer.get_extra_info("peername")[0])
        try:
            there, back = await asyncio.open_connection(inside(number), port)
        except OSError:
            writer.transport.abort()
            return
        ways = [
            asyncio.create_task(self._pass(caller, number, reader, back)),
            asyncio.create_task(self._pass(number, caller, there, writer)),
        ]
        self._passing.update(ways)
        for way in ways:
            way.add_done_callback(self._passing.discard)

    async def _pass(self, source: int, to: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(LOT):
                if not self.is_cut(source, to):
                    writer.write(data)
                    await writer.drain()
                else:
                    while not reader.at_eof():  # a stream with a hole in it is of no use afterwards
                        await reader.read(LOT)
        except OSError:
            pass
        finally:
            writer.close()


def inside(number: int) -> str:
    """Where a node listens, and calls from."""
    return f"127.1.{number >> 8}.{number & 0xFF}"


def outside(number: int) -> str:
    """Where others call it."""
    return f"127.2.{number >> 8}.{number & 0xFF}"


def number_of(host: str) -> int:
    """Which node has an address."""
    _, _, high, low = host.split(".")
    return int(high) << 8 | int(low)

"""How sockets are set up, where the system can: those that listen, and those of connections."""

import os
import socket
import sys
from typing import Any

BACKLOG = 1024  # ours: connections that the system keeps until they are accepted
AT_ONCE = 65_536  # ours, bytes: handed to the system at a time; what waits beyond it can still be overtaken
TCP_NOTSENT_LOWAT = 25  # of Linux; Python names it from 3.12 on
UNACKNOWLEDGED = 20_000  # ours, milliseconds


def listening(family: int, kind: int, protocol: int, address: tuple[Any, ...]) -> socket.socket:
    """One where others can call."""
    found = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":  # a node that has just left must not keep its place
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            found.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        found.bind(address)
        found.listen(BACKLOG)
        found.setblocking(False)
    except OSError:
        found.close()
        raise
    return found


def prepare(socket_: socket.socket | None) -> None:
    """Have one that is connected notice what is lost, and not take too much.

    A second net under the heartbeat: what is not acknowledged for long breaks the link. And the system takes no more than it can soon
    send: what it has taken can neither be overtaken nor recalled.
    """
    if socket_ is not None and hasattr(socket, "TCP_USER_TIMEOUT"):
        socket_.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        socket_.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNACKNOWLEDGED)
    if socket_ is not None and sys.platform == "linux":
        socket_.setsockopt(socket.IPPROTO_TCP, TCP_NOTSENT_LOWAT, AT_ONCE)

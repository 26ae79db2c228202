"""Where nodes are, as it is written; and why there was nobody, in words."""

import socket
import ssl

from ropewalk.errors import RopewalkError, UsageError

MOST_PORT = 65_535


def place(address: str) -> tuple[str, int]:
    """The host and port of `host:port`, or of `[host]:port`."""
    host, colon, port = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not port.isdecimal() or int(port) > MOST_PORT or not _is_host(host):
        raise UsageError(f"{address!r} is no place to call: say HOST:PORT.")
    return host, int(port)


def _is_host(host: str) -> bool:
    """Whether it can be the name or the number of a machine, as far as can be told without asking."""
    try:
        host.encode("idna")
    except UnicodeError:
        return False
    return host.isprintable() and not {*host} & {*" /@?#"}


def in_words(error: Exception, address: str, patience: float) -> str:
    """Why somebody could not be reached within so many seconds."""
    match error:
        case RopewalkError():
            return str(error).rstrip(".")
        case ConnectionRefusedError():
            return f"{address}: nobody listens there"
        case socket.gaierror():
            return f"{address}: there is no such host"
        case TimeoutError():
            return f"{address}: no answer within {patience:g} s"
        case ssl.SSLError():
            return f"{address}: what is there is no node, or asks for a certificate of another authority (--authority)"
        case _:
            return f"{address}: {getattr(error, 'strerror', None) or type(error).__name__}"

"""What a node says about itself to whoever watches it: numbers for Prometheus, and whether it is well. For this machine only.

The text format of Prometheus is written by hand: a client library would bring a registry of its own, threads, and a server,
for what are two dozen lines here.
"""

import asyncio
import json
import os
from collections.abc import Iterator

from ropewalk.engines.live.api import Node
from ropewalk.errors import RunError

OWN_NAMES = (b"", b"127.0.0.1", b"localhost", b"[::1]")
LONGEST = 8192  # ours, bytes: of a request
Sample = tuple[str, str, str, dict[str, str], float]  # name, type, help, labels, value


def samples(node: Node) -> Iterator[Sample]:
    """Everything that is counted."""
    transport, machine = node.transport, node.driver.machine
    topics = machine.held()
    yield "links", "gauge", "Connections with other nodes.", {}, len(transport.links)
    yield "topics", "gauge", "Topics that are followed.", {}, len(topics)
    neighbours = sum(len(contacts) for contacts in topics.values())
    yield "neighbours", "gauge", "Neighbours, summed over topics.", {}, neighbours
    waiting = sum(each.lanes.event_bytes for each in transport.links.values())
    yield "waiting_bytes", "gauge", "Bytes of events that wait to be sent.", {}, waiting
    yield "published_total", "counter", "Events published here.", {}, node.counts["published"]
    yield "delivered_total", "counter", "Events that came for this node.", {}, node.counts["delivered"]
    yield "copies_total", "counter", "Events that came again.", {}, node.counts["copies"]
    about = "Events that did not get into a topic, and whose publisher had gone on by then."
    yield "undelivered_total", "counter", about, {}, node.counts["undelivered"]
    yield "inputs_total", "counter", "Inputs that the protocol has taken in.", {}, node.driver.handled
    yield "failures_total", "counter", "Inputs at which it failed, which is a bug.", {}, node.driver.failed
    yield "sent_bytes_total", "counter", "Bytes sent, before TLS.", {}, transport.counts.sent_bytes
    yield "heard_bytes_total", "counter", "Bytes heard, after TLS.", {}, transport.counts.heard_bytes
    for kind, (messages, _) in sorted(transport.counts.sent.items()):
        yield "messages_total", "counter", "Messages sent, by kind.", {"kind": kind}, messages
    for why, count in sorted(transport.endings.items()):
        yield "links_ended_total", "counter", "Connections that are no more, by why.", {"why": why}, count
    for (other, topic), count in sorted(transport.dropped.items()):
        labels = {"node": f"{other:016x}", "topic": f"{topic:016x}"}
        yield "dropped_total", "counter", "Events that found no room on a connection.", labels, count
    yield (
        "recalled_total",
        "counter",
        "Events that waited to be sent when the other end had them.",
        {},
        transport.counts.recalled,
    )
    yield (
        "unsent_total",
        "counter",
        "Events that waited to be sent when a connection ended.",
        {},
        transport.counts.unsent,
    )
    yield "unread_total", "counter", "Events that subscriptions had no room for.", {}, node.unread
    held_up = node.pressure.times if node.pressure is not None else 0
    yield "held_up_total", "counter", "Links that had to wait for who could not keep up.", {}, held_up
    about = "Neighbours that took too little, and for whom nobody waited from then on, for a while."
    yield "passed_over_total", "counter", about, {}, transport.passed_over.times
    yield "callers", "gauge", "Connections that others have opened, let in or not.", {}, transport.limits.connections
    yield (
        "outcasts",
        "gauge",
        "Nodes and addresses that are kept out, or were lately.",
        {},
        len(transport.limits.outcasts),
    )
    about = "Who was turned away or cut off, and what was left out at a bound, by why."
    for why, count in sorted(node.limited.items()):
        yield "limited_total", "counter", about, {"why": why}, count
    for why, count in sorted(node.gate.counts.items()):
        yield "not_let_in_total", "counter", "Events that were not let in, by why.", {"why": why}, count


def as_text(node: Node) -> str:
    """In the text format of Prometheus."""
    lines: list[str] = []
    known = ""
    for name, kind, about, labels, value in samples(node):
        if name != known:
            known = name
            lines += [f"# HELP ropewalk_{name} {about}", f"# TYPE ropewalk_{name} {kind}"]
        said = ",".join(f'{label}="{text}"' for label, text in labels.items())
        lines.append(f"ropewalk_{name}{{{said}}} {value}" if said else f"ropewalk_{name} {value}")
    return "\n".join(lines) + "\n"


def health(node: Node) -> dict[str, object]:
    """Whether it is well: if it was told of somebody, it has reached somebody, and is linked with somebody if it follows anything."""
    links = len(node.transport.links)
    alone = bool(node.bootstrap) and not links and bool(node.driver.machine.held())
    return {"ok": node.joined.is_set() and not alone, "id": node.id, "address": node.address, "links": links}


def _host_in(headers: list[bytes]) -> bytes:
    """By which name it was asked for; nothing, if none was said, as no browser does."""
    for header in headers:
        name, _, value = header.partition(b":")
        if name.strip().lower() == b"host":
            host = value.strip().lower()
            return host.rpartition(b":")[0] if host[-1:].isdigit() and b":" in host else host
    return b""


class Endpoint:
    """Answers GET /metrics and GET /health on this machine."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self._server: asyncio.Server | None = None

    async def start(self, port: int) -> int:
        """Listen; the port."""
        try:
            self._server = await asyncio.start_server(self._answer, "127.0.0.1", port, limit=LONGEST)
        except OSError as error:
            why = os.strerror(error.errno).lower() if error.errno else str(error)
            raise RunError(f"metrics cannot be shown at 127.0.0.1:{port}: {why}.") from None
        found: int = self._server.sockets[0].getsockname()[1]
        return found

    async def close(self) -> None:
        """Answer nobody any more."""
        if self._server is not None:
            self._server.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(5):
                first, *headers = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
            request = first.split(b" ")
            method, path = (request[0], request[1].partition(b"?")[0]) if len(request) > 1 else (b"", b"")
            writer.write(self._page(method, path, _host_in(headers)))
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # whoever asked is gone, or asks for something else than a page
        finally:
            writer.close()

    def _page(self, method: bytes, path: bytes, host: bytes) -> bytes:
        if host not in OWN_NAMES:  # a page of somebody else's, whose name was made to lead here
            status, kind, text = "421 Misdirected Request", "text/plain", "ask for this machine by its own name\n"
        elif method not in (b"GET", b"HEAD"):
            status, kind, text = "405 Method Not Allowed", "text/plain", "GET only\n"
        elif path == b"/metrics":
            status, kind, text = "200 OK", "text/plain; version=0.0.4", as_text(self.node)
        elif path == b"/health":
            found = health(self.node)
            status, kind, text = (
                "200 OK" if found["ok"] else "503 Service Unavailable",
                "application/json",
                json.dumps(found),
            )
        else:
            status, kind, text = "404 Not Found", "text/plain", "there is /metrics, and /health\n"
        body = text.encode()
        head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        return head.encode() + (b"" if method == b"HEAD" else body)

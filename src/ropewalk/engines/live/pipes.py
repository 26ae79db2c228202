"""What comes in as lines becomes events, and events go out as lines."""

import asyncio
import base64
import json
import os
import queue
import signal
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from ropewalk.engines.live.api import Node, UndeliverableError
from ropewalk.engines.live.envelope import MOST_SAID
from ropewalk.engines.live.metrics import Endpoint
from ropewalk.engines.live.subscriptions import Event, Subscription
from ropewalk.engines.live.telemetry import Telemetry
from ropewalk.errors import InputError

STANDARD_OUTPUT = 1
AHEAD = 1024  # ours: lines that are read before they can be published
MOST_LINE = 4 * MOST_SAID  # ours, bytes: whatever is longer says more than an event can, however it is written


async def run_until_stopped(
    node: Node,
    ready: Callable[[Node], None],
    telemetry: Path | None = None,
    metrics: int | None = None,
    shown: Callable[[int], None] = lambda _: None,
) -> None:
    """Run a node until somebody says that it is enough; then it leaves. What it does may be written, and shown at a port."""
    watching = Telemetry(node, telemetry) if telemetry is not None else None
    endpoint = Endpoint(node) if metrics is not None else None
    async with stoppable() as stopped, node:
        if endpoint is not None and metrics is not None:
            shown(await endpoint.start(metrics))
        if watching is not None:
            watching.begin()
        ready(node)
        await stopped.wait()
        if watching is not None:
            watching.stage("final")
            await watching.close()
        if endpoint is not None:
            await endpoint.close()


async def write_events(
    node: Node, subscribe: Callable[[], Subscription], as_bytes: Callable[[Event], bytes], most: int | None
) -> tuple[int, int]:
    """Write every event that comes, until there were so many, nobody reads, or somebody says that it is enough.

    How many, and how many were lost because they were not written in time.
    """
    count, pen = 0, Pen()
    async with stoppable() as stopped, node:
        events = subscribe()
        stopping = asyncio.ensure_future(_close_when(stopped, events))
        async for event in events:
            writing = asyncio.ensure_future(pen.write(as_bytes(event) + b"\n"))
            await asyncio.wait((writing, stopping), return_when=asyncio.FIRST_COMPLETED)
            if not writing.done() or writing.exception() is not None:
                writing.cancel()
                break
            count += 1
            if count == most:
                break
        stopping.cancel()
        await asyncio.gather(stopping, return_exceptions=True)
    return count, events.dropped


async def publish_lines(
    node: Node,
    read: Callable[[], bytes],
    topics: tuple[str, ...],
    *,
    failed: Callable[[str], None],
    as_json: bool = False,
    whole: bool = False,
) -> tuple[int, int, bool]:
    """Publish every line that comes, or all of it as one event if it is to stay `whole`.

    How many, how many did not get into all their topics, and whether it was stopped.
    """
    count = lost = 0
    async with stoppable() as stopped, node:
        async for number, line in _lines(read, stopped, whole=whole):
            payload, told = _read(line, number, topics) if as_json else (line, topics)
            try:
                await node.publish(payload, told)
            except UndeliverableError as error:
                failed(f"line {number}: {error}")
                lost += 1
            count += 1
        return count, lost, stopped.is_set()


class Pen:
    """Writes to standard output in a thread of its own: whoever reads it may be slow, or gone.

    It bypasses Python's buffers, since nobody could leave while one of them is stuck.
    """

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[tuple[bytes, asyncio.AbstractEventLoop, asyncio.Future[None]]] = (
            queue.SimpleQueue()
        )
        threading.Thread(target=self._work, name="ropewalk pen", daemon=True).start()

    async def write(self, data: bytes) -> None:
        """Until it is written; raises OSError if nobody reads."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        self._jobs.put((data, loop, done))
        await done

    def _work(self) -> None:
        while True:
            data, loop, done = self._jobs.get()
            wrong: OSError | None = None
            try:
                while data:
                    data = data[os.write(STANDARD_OUTPUT, data) :]
            except OSError as error:
                wrong = error
            with suppress(RuntimeError):  # the loop is closed: nobody waits for it
                loop.call_soon_threadsafe(_settle, done, wrong)


def _settle(done: "asyncio.Future[None]", wrong: OSError | None) -> None:
    if done.done():
        return
    if wrong is None:
        done.set_result(None)
    else:
        done.set_exception(wrong)


def as_line(event: Event) -> bytes:
    """An event as one line of JSON."""
    document: dict[str, Any] = {"id": event.id, "publisher": event.publisher, "signed": event.signed}
    document |= {"topics": list(event.topics), "hops": event.hops}
    try:
        document["payload"] = event.payload.decode()
    except UnicodeDecodeError:
        document["payload64"] = base64.b64encode(event.payload).decode()
    return json.dumps(document, ensure_ascii=False).encode()


@asynccontextmanager
async def stoppable() -> AsyncIterator[asyncio.Event]:
    """Set when the process is told to stop, politely or by Ctrl-C; a second time it goes as it usually does."""
    stopped, loop = asyncio.Event(), asyncio.get_running_loop()
    former = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def stop() -> None:
        stopped.set()
        for number, handler in former.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)

    for number in former:
        loop.add_signal_handler(number, stop)
    try:
        yield stopped
    finally:
        if not stopped.is_set():
            stop()


async def _close_when(stopped: asyncio.Event, events: Subscription) -> None:
    await stopped.wait()
    await events.close()


async def _lines(read: Callable[[], bytes], stopped: asyncio.Event, *, whole: bool) -> AsyncIterator[tuple[int, bytes]]:
    """Lines, without their ends, as they come. They are read in a thread: a file cannot be waited for."""
    loop = asyncio.get_running_loop()
    room, found = threading.Semaphore(AHEAD), asyncio.Queue[bytes | None]()

    def put(line: bytes | None) -> None:
        room.acquire()
        loop.call_soon_threadsafe(found.put_nowait, line)

    def reading() -> None:
        with suppress(RuntimeError, OSError):  # the loop, or the file, is closed: nobody reads on
            rest = b""
            while len(rest) <= MOST_LINE and (data := read()):
                *lines, rest = [rest + data] if whole else (rest + data).split(b"\n")
                for line in lines:
                    put(line.removesuffix(b"\r"))
            if rest or whole:
                put(rest)
            put(None)

    threading.Thread(target=reading, name="ropewalk lines", daemon=True).start()
    stopping = asyncio.ensure_future(stopped.wait())
    number = 0
    try:
        while True:
            next_ = asyncio.ensure_future(found.get())
            await asyncio.wait((next_, stopping), return_when=asyncio.FIRST_COMPLETED)
            if not next_.done():
                next_.cancel()
                return
            line = next_.result()
            if line is None:
                return
            room.release()
            number += 1
            yield number, line
    finally:
        stopping.cancel()


def _read(line: bytes, number: int, topics: tuple[str, ...]) -> tuple[bytes, tuple[str, ...]]:
    """What a line of JSON says: a payload, and topics if they are others than usual."""
    try:
        said = json.loads(line)
        payload = (
            base64.b64decode(said["payload64"], validate=True) if "payload64" in said else said["payload"].encode()
        )
        named = said.get("topics", topics)
        told = (named,) if isinstance(named, str) else tuple(str(topic) for topic in named)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError(
            f'line {number} is no event; say {{"payload": "..."}} or {{"payload64": "..."}}, and "topics": ["..."] if they differ.'
        ) from None
    return payload, told

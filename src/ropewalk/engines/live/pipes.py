"""What comes in as lines becomes events, and events go out as lines."""

import asyncio
import base64
import json
import os
import queue
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple

from ropewalk.engines.live.api import Node
from ropewalk.engines.live.arrived import Event
from ropewalk.engines.live.envelope import MOST_SAID
from ropewalk.engines.live.loops import on_signal
from ropewalk.engines.live.outgoing import UndeliverableError
from ropewalk.engines.live.subscriptions import Subscription
from ropewalk.engines.live.watched import UNWATCHED, Watch, watched
from ropewalk.errors import InputError, RunError, UsageError

STANDARD_OUTPUT = 1
UNREACHED = 5.0  # ours, seconds: after which it is said that no bootstrap node was reached
AHEAD = 1024  # ours: lines that are read before they can be published
WRITTEN_OUT = 5.0  # ours, seconds: for what has come to be written, once somebody says that it is enough
MOST_LINE = 4 * MOST_SAID  # ours, bytes: whatever is longer says more than an event can, however it is written


class About(NamedTuple):
    """Where an event goes: to topics, or to who wants what it says."""

    topics: tuple[str, ...] = ()
    content: dict[str, Any] | None = None


async def run_until_stopped(
    node: Node,
    ready: Callable[[Node], None],
    watch: Watch = UNWATCHED,
    say: Callable[[str], None] = lambda _: None,
) -> None:
    """Run a node until somebody says that it is enough; then it leaves."""
    async with stoppable() as stopped, watched(node, watch), telling(node, say):
        ready(node)
        await stopped.wait()


async def write_events(
    node: Node,
    subscribe: Callable[[], Subscription],
    as_bytes: Callable[[Event], bytes],
    most: int | None,
    watch: Watch = UNWATCHED,
    say: Callable[[str], None] = lambda _: None,
) -> tuple[int, int, int]:
    """Write every event that comes, until there were so many, nobody reads, or somebody says that it is enough.

    How many; how many were lost because there was no room for them; and how many had come, and could not be written by the end.
    """
    count, unwritten, pen = 0, 0, Pen()
    wrong: BaseException | None = None
    async with stoppable() as stopped, watched(node, watch), telling(node, say):
        events = subscribe()
        stopping = asyncio.ensure_future(_close_when(stopped, events))
        async for event in events:
            writing = asyncio.ensure_future(pen.write(as_bytes(event) + b"\n"))
            await asyncio.wait((writing, stopping), return_when=asyncio.FIRST_COMPLETED)
            if not writing.done() and not await stopped.leaves_time_for(writing):
                unwritten = 1 + events.arrived.count
                writing.cancel()
                break
            wrong = writing.exception()
            if wrong is not None:
                break
            count += 1
            if count == most:
                break
        stopping.cancel()
        await asyncio.gather(stopping, return_exceptions=True)
    if isinstance(wrong, OSError) and not isinstance(wrong, BrokenPipeError):  # whoever read it may go
        raise RunError(f"an event could not be written to standard output: {wrong.strerror}; {count} were before it.")
    return count, events.dropped, unwritten


async def publish_lines(
    node: Node,
    read: Callable[[], bytes],
    about: About,
    *,
    failed: Callable[[str], None],
    as_json: bool = False,
    whole: bool = False,
    watch: Watch = UNWATCHED,
) -> tuple[int, int, int]:
    """Publish every line that comes, or all of it as one event if it is to stay `whole`.

    How many, how many of them did not get into all their topics, and the number of the signal that stopped it, if one did.
    """
    count = lost = 0
    async with stoppable() as stopped, watched(node, watch):
        stopping = asyncio.ensure_future(stopped.wait())
        async for number, line in _lines(read, stopping, whole=whole):
            try:
                payload, told = _read(line, about) if as_json else (line, about)
                publishing = asyncio.ensure_future(node.publish(payload, told.topics, content=told.content))
                await asyncio.wait((publishing, stopping), return_when=asyncio.FIRST_COMPLETED)
                if not publishing.done():
                    publishing.cancel()
                    break
                publishing.result()
            except UndeliverableError as error:
                failed(f"line {number}: {error}")
                lost += 1
            except (InputError, UsageError) as error:
                said = str(error).rstrip(".")
                raise InputError(f"line {number}: {said}; {events(count)} published before it.") from None
            count += 1
        stopping.cancel()
        return count, lost, stopped.number


@asynccontextmanager
async def telling(node: Node, say: Callable[[str], None]) -> AsyncIterator[None]:
    """Say it if a node does not get in, and when it does after all."""

    async def tell() -> None:
        said, delay = "", UNREACHED
        while True:
            try:
                async with asyncio.timeout(delay):
                    await node.joined.wait()
            except TimeoutError:
                if node.unreached != said:
                    say(f"no bootstrap node could be reached yet ({node.unreached}); trying on.")
                    said = node.unreached
                continue
            if said:
                say("a bootstrap node is there now.")
            return

    task = asyncio.create_task(tell())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


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


def events(count: int) -> str:
    """So many, in words."""
    return "1 event" if count == 1 else f"{count} events"


def as_line(event: Event) -> bytes:
    """An event as one line of JSON."""
    document: dict[str, Any] = {"id": event.id, "publisher": event.publisher, "signed": event.signed}
    document |= {"topics": list(event.topics), "hops": event.hops}
    document |= {"content": event.content} if event.content else {}
    try:
        document["payload"] = event.payload.decode()
    except UnicodeDecodeError:
        document["payload64"] = base64.b64encode(event.payload).decode()
    return json.dumps(document, ensure_ascii=False).encode()


class Stopped(asyncio.Event):
    """Set once the process is told to stop."""

    number = 0  # of the signal that told it
    at = 0.0  # when

    async def leaves_time_for(self, what: "asyncio.Future[None]") -> bool:
        """Whether something is done within what is left for it."""
        left = self.at + WRITTEN_OUT - asyncio.get_running_loop().time()
        await asyncio.wait((what,), timeout=max(0.0, left))
        return what.done()


@asynccontextmanager
async def stoppable() -> AsyncIterator[Stopped]:
    """Set when the process is told to stop, politely or by Ctrl-C; a second time it goes as it usually does."""
    stopped = Stopped()

    def stop(number: int) -> None:
        if not stopped.is_set():
            stopped.number, stopped.at = number, asyncio.get_running_loop().time()
        stopped.set()

    with on_signal(stop):
        yield stopped


async def _close_when(stopped: asyncio.Event, events: Subscription) -> None:
    await stopped.wait()
    await events.close()


async def _lines(
    read: Callable[[], bytes], stopping: "asyncio.Future[Any]", *, whole: bool
) -> AsyncIterator[tuple[int, bytes]]:
    """Lines, without their ends, as they come. They are read in a thread: a file cannot be waited for."""
    loop = asyncio.get_running_loop()
    room, found = threading.Semaphore(AHEAD), asyncio.Queue[bytes | OSError | None]()

    def put(line: bytes | OSError | None) -> None:
        room.acquire()
        loop.call_soon_threadsafe(found.put_nowait, line)

    threading.Thread(target=_read_lines, args=(read, put, whole), name="ropewalk lines", daemon=True).start()
    number = 0
    while True:
        next_ = asyncio.ensure_future(found.get())
        await asyncio.wait((next_, stopping), return_when=asyncio.FIRST_COMPLETED)
        if stopping.done():
            next_.cancel()
            return
        line = next_.result()
        if line is None:
            return
        if isinstance(line, OSError):
            raise InputError(f"standard input cannot be read: {line.strerror}.")
        room.release()
        number += 1
        yield number, line


def _read_lines(read: Callable[[], bytes], put: Callable[[bytes | OSError | None], None], whole: bool) -> None:
    """Lines one by one, then None; an error if there is one."""
    rest = b""
    with suppress(RuntimeError):  # the loop is closed: nobody reads on
        try:
            while len(rest) <= MOST_LINE and (data := read()):
                *lines, rest = [rest + data] if whole else (rest + data).split(b"\n")
                for line in lines:
                    put(line.removesuffix(b"\r"))
        except OSError as error:
            put(error)
        if rest or whole:
            put(rest)
        put(None)


def _named(topics: Any) -> tuple[str, ...]:
    """One topic, or a list of them."""
    named = [topics] if isinstance(topics, str) else topics
    if not isinstance(named, list) or not all(isinstance(topic, str) for topic in named):
        raise TypeError(f"{named!r} are no names of topics")
    return tuple(named)


def _read(line: bytes, about: About) -> tuple[bytes, About]:
    """What a line of JSON says: a payload, and where it goes if that is not as usual."""
    try:
        said = json.loads(line)
        (key,) = said.keys() - {"topics", "content"}
        payload = base64.b64decode(said[key], validate=True) if key == "payload64" else said["payload"].encode()
        if "topics" in said:
            about = About(_named(said["topics"]))
        if "content" in said:
            about = About(about.topics if "topics" in said else (), dict(said["content"]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputError(
            'it is no event; say {"payload": "..."} or {"payload64": "..."}, and "topics": ["..."] or "content": {...} if'
            " they differ."
        ) from None
    return payload, about

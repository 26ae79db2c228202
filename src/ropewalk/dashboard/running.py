"""A dashboard that is served: in the foreground until somebody says that it is enough, or beside something else, in a thread."""

import asyncio
import contextlib
import logging
import os
import secrets
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

import uvicorn

from ropewalk.dashboard.access import Guard
from ropewalk.dashboard.connections import ASKING, MOST_AT_ONCE, Room, bounded
from ropewalk.dashboard.feed import Feed, Live, Replayed, Source
from ropewalk.dashboard.publishing import Publisher
from ropewalk.dashboard.replay import Player, Recording
from ropewalk.dashboard.server import HOW_TO_PUBLISH, Dashboard
from ropewalk.dashboard.watching import Watch
from ropewalk.engines.live.api import Node
from ropewalk.engines.live.loops import run
from ropewalk.engines.live.options import EVERYWHERE, Options, is_here
from ropewalk.engines.live.pipes import stoppable, telling
from ropewalk.errors import RunError, UsageError

log = logging.getLogger(__name__)
STOPPING = 2  # ours, seconds: how long requests may take once it ends
WAITING = 128  # ours: connections that are not accepted yet
LONGEST_TOKEN = 256
LONGEST_NAME = 253  # as names of hosts go


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where it is served, and to whom."""

    host: str = "127.0.0.1"
    port: int = 0
    token: str | None = None  # None: none is asked for
    names: tuple[str, ...] = ()  # under which a proxy has it

    def __post_init__(self) -> None:
        for name in self.names:
            if not _is_name(name):
                raise UsageError(f"--name {name} is no host; give its name alone, as in --name dashboard.example.org.")
        if self.token is None and self.names:
            raise UsageError("--no-token is for this machine only, and --name is for others, too; drop one.")
        if self.token is None and not is_here(self.host):
            raise UsageError(f"--no-token is for this machine only, and {self.host} is for others, too; drop one.")
        if self.token is not None and not (
            self.token.isascii() and self.token.replace("-", "").replace("_", "").isalnum()
            and len(self.token) <= LONGEST_TOKEN
        ):  # fmt: skip
            raise UsageError("a token is made of letters, digits, - and _.")


def fresh_token() -> str:
    """One that nobody can guess."""
    return secrets.token_urlsafe(18)


class Served:
    """A server that listens already, so that its address is known."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.socket = _bound(place.host, place.port)
        self.port: int = self.socket.getsockname()[1]

    @property
    def url(self) -> str:
        """What to open."""
        host = "127.0.0.1" if self.place.host in EVERYWHERE else self.place.host
        host = f"[{host}]" if ":" in host else host
        query = f"?token={quote(self.place.token)}" if self.place.token is not None else ""
        return f"http://{host}:{self.port}/{query}"

    async def serve(self, dashboard: Dashboard, stopped: asyncio.Event) -> None:
        """Until it is stopped."""
        place = self.place
        guard = Guard(dashboard.app(), place.token, place.host, self.port, [socket.gethostname()], place.names)
        config = uvicorn.Config(
            guard,
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=STOPPING,
            backlog=WAITING,
            proxy_headers=False,  # `Guard` reads what is believed of them
            h11_max_incomplete_event_size=16_384,
            ws="none",
            http=bounded(Room(MOST_AT_ONCE, ASKING)),
        )
        server = _Quiet(config)
        serving = asyncio.create_task(server.serve([self.socket]))
        stopping = asyncio.create_task(stopped.wait())
        await asyncio.wait((serving, stopping), return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        dashboard.closing.set()
        server.should_exit = True
        await serving

    def close(self) -> None:
        """If it was never served."""
        self.socket.close()


class _Quiet(uvicorn.Server):
    """Leaves signals to who runs it."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """None."""
        yield


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What is shown."""

    folder: Path
    replay: bool = False
    speed: float = 1.0
    make: Callable[[], Node] | None = None  # a node to publish from
    join: Callable[[str], Node] | None = None  # the same, once it is known where another one is: made when it is needed
    why_not: str = HOW_TO_PUBLISH  # if there is none
    once: bool = False  # whether there is nothing more to be shown when it is stopped: pages need not try again


async def serve(
    served: Served,
    shown: Shown,
    stopped: asyncio.Event,
    ready: Callable[[], None] = lambda: None,
    say: Callable[[str], None] = lambda _: None,
) -> None:
    """Show this there, until it is stopped."""
    source: Source
    join = shown.join
    make = shown.make if join is None else lambda: join(_address_in(source))
    publisher = Publisher(make) if make is not None else None
    try:
        if shown.replay:
            source = Replayed(Player(await asyncio.to_thread(Recording, shown.folder), shown.speed))
        else:
            source = Live(Watch([shown.folder, *([publisher.folder] if publisher is not None else [])]))
        node = await publisher.start() if publisher is not None and join is None else None
        dashboard = Dashboard(Feed(source), publisher, shown.why_not, once=shown.once)
        ready()
        async with telling(node, say) if node is not None else contextlib.nullcontext():
            await served.serve(dashboard, stopped)
    finally:
        served.close()
        if publisher is not None:
            await publisher.close()


def of_cluster(folder: Path, protocol: str, settings: Any) -> Shown:
    """Nodes of a cluster on this machine. Who is not told whom to hold must find them, and only then can be found by others."""
    if not settings.discover:
        why_not = "nodes of this cluster were told of each other; run it with --discover"
        return Shown(folder=folder, why_not=why_not, once=True)

    def join(address: str) -> Node:
        return Node(bootstrap=[address], options=Options(protocol=protocol, settings=settings))

    return Shown(folder=folder, join=join, once=True)


def _address_in(source: Source) -> str:
    for node in source.picture.nodes.values():
        if node.state == "up" and node.address:
            return node.address
    raise RunError("no node is there to publish through.")


def serve_until_stopped(
    served: Served, shown: Shown, ready: Callable[[], None], say: Callable[[str], None] = lambda _: None
) -> int:
    """In the foreground; the number of the signal that ended it."""

    async def whole() -> int:
        async with stoppable() as stopped:
            await serve(served, shown, stopped, ready, say)
            return stopped.number

    return run(whole())


class Beside:
    """In a thread, while something else goes on: `with Beside(served, shown): ...`."""

    def __init__(self, served: Served, shown: Shown) -> None:
        self._served, self._shown = served, shown
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopped: asyncio.Event | None = None
        self._ready = threading.Event()
        self._failed: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="ropewalk dashboard", daemon=True)

    def __enter__(self) -> Self:
        """It listens."""
        self._thread.start()
        self._ready.wait()
        if self._failed is not None:
            raise self._failed
        return self

    def __exit__(self, *_: object) -> None:
        """It ends."""
        if self._loop is not None and self._stopped is not None:
            with contextlib.suppress(RuntimeError):  # it has ended by itself
                self._loop.call_soon_threadsafe(self._stopped.set)
        self._thread.join()
        if self._failed is not None:
            log.warning("the dashboard had failed: %s", self._failed)

    def _run(self) -> None:
        async def whole() -> None:
            self._loop, self._stopped = asyncio.get_running_loop(), asyncio.Event()
            await serve(self._served, self._shown, self._stopped, self._ready.set)

        try:
            run(whole())
        except BaseException as error:  # noqa: BLE001  it is raised where somebody waits for it
            self._failed = error
        finally:
            self._ready.set()


def _is_name(name: str) -> bool:
    letters = name.replace("-", "").replace(".", "")
    return name.isascii() and letters.isalnum() and len(name) <= LONGEST_NAME


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
        found.listen(WAITING)
    except (OSError, OverflowError) as error:
        found.close()
        number = getattr(error, "errno", None)
        why = os.strerror(number).lower() if number is not None and number > 0 else "it is not here"
        raise RunError(f"nobody can listen at {host}:{port}: {why}.") from None
    return found

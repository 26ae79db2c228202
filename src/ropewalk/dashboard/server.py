"""The application: the page, a stream of what changes, and what can be asked and told. `access` stands before it."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from ropewalk.dashboard import answers
from ropewalk.dashboard.feed import Feed, Replayed
from ropewalk.dashboard.publishing import Publisher, asked
from ropewalk.errors import RopewalkError, RunError, UsageError

MOST_STREAMS = 32  # ours: pages that look on at the same time
MOST_BODY = 65_536  # ours, bytes: of a request
STILL = 10.0  # ours, seconds: after which a stream says that it lives
AGAIN = 1000  # ours, milliseconds: after which a browser tries again
KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
HOW_TO_PUBLISH = "start the dashboard with --bootstrap HOST:PORT of a node that is there"


class Dashboard:
    """What all requests share."""

    def __init__(
        self, feed: Feed, publisher: Publisher | None = None, why_not: str = HOW_TO_PUBLISH, *, once: bool = False
    ) -> None:
        self.feed, self.publisher, self.why_not, self.once = feed, publisher, why_not, once
        self.streams = 0
        self.closing = asyncio.Event()

    def app(self) -> Starlette:
        """The routes."""

        @asynccontextmanager
        async def running(_: Starlette) -> AsyncIterator[None]:
            task = asyncio.create_task(self.feed.run())
            yield
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

        return Starlette(
            routes=[
                Route("/", page_of("index.html")),
                Route("/page/{name}", self.part_of_page),
                Route("/favicon.ico", page_of("icon.svg")),
                Route("/api/state", self.state),
                Route("/api/stream", self.stream),
                Route("/api/topics", self.topics),
                Route("/api/nodes", self.nodes),
                Route("/api/nodes/{id}", self.node),
                Route("/api/events", self.events),
                Route("/api/events/{id}", self.event),
                Route("/api/publish", self.publish, methods=["POST"]),
                Route("/api/replay", self.replay, methods=["POST"]),
            ],
            lifespan=running,
        )

    # The page

    async def part_of_page(self, request: Request) -> Response:
        """A file of it."""
        return await page_of(request.path_params["name"])(request)

    # What is asked

    async def state(self, _: Request) -> Response:
        """Everything in numbers."""
        return JSONResponse(self._about() | {"totals": self.feed.picture.totals(), "full": self._full()})

    async def topics(self, request: Request) -> Response:
        """Some of them."""
        return JSONResponse(answers.topics(self.feed.picture, request.query_params.get("find", ""), _page(request)))

    async def nodes(self, request: Request) -> Response:
        """Some of them."""
        return JSONResponse(answers.nodes(self.feed.picture, request.query_params.get("find", ""), _page(request)))

    async def events(self, request: Request) -> Response:
        """Some of the last."""
        return JSONResponse(answers.events(self.feed.picture, _page(request)))

    async def node(self, request: Request) -> Response:
        """One."""
        id_ = answers.id_of(request.path_params["id"])
        return _found(None if id_ is None else answers.node(self.feed.picture, id_))

    async def event(self, request: Request) -> Response:
        """One."""
        id_ = answers.id_of(request.path_params["id"])
        page = None if request.query_params.get("page") == "all" else _page(request)
        return _found(None if id_ is None else answers.event(self.feed.picture, id_, page))

    async def stream(self, request: Request) -> Response:
        """What changes, from all of it on. What a browser has not taken yet is never piled up: it is told later, as one difference."""
        full = self._full()
        if full is not None:
            return _sorry(full, 503)
        said = request.query_params.get("topic", "")
        return _Stream(self, answers.id_of(said))

    def _full(self) -> str | None:
        """Why no more pages can look on: scripts cannot read what a stream that is refused says, and ask for it."""
        return f"{self.streams} pages look on already; close one." if self.streams >= MOST_STREAMS else None

    async def told(self, topic: int | None) -> AsyncGenerator[bytes, None]:
        """What a stream says."""
        loop = asyncio.get_running_loop()
        self.feed.source.look_on()
        yield f"retry: {AGAIN}\n\n".encode()
        picture, version, said_at, about = None, 0, loop.time(), ""
        while not self.closing.is_set():
            if self.feed.picture is not picture:  # it began anew
                picture, version = self.feed.picture, 0
            source = json.dumps(self._about())
            if version != picture.versions.now or source != about or loop.time() >= said_at + STILL:
                told = picture.since(version, topic) | {"about": self._about()}
                version, said_at, about = told["version"], loop.time(), source
                yield b"data: " + msgspec.json.encode(told) + b"\n\n"
            await self._next(said_at + STILL - loop.time())
        if self.once:
            yield b"event: over\ndata: {}\n\n"

    async def _next(self, seconds: float) -> None:
        """Until the next look, or the end; or for so long, since a look at much that is new, and a long way through a recording, take time."""
        waiting = [asyncio.ensure_future(each) for each in (self.feed.tick(), self.closing.wait())]
        try:
            await asyncio.wait(waiting, timeout=max(0.0, seconds), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waiting:
                each.cancel()

    def _about(self) -> dict[str, Any]:
        publishing = {"publishing": True} if self.publisher else {"publishing": False, "why_not": self.why_not}
        return self.feed.source.told() | publishing

    # What is told

    async def publish(self, request: Request) -> Response:
        """Publish something."""
        if self.publisher is None:
            return _sorry(f"nothing can be published from here: {self.why_not}.", 409)
        publisher, picture = self.publisher, self.feed.picture
        ids = {name: topic for topic, name in picture.names.items()}

        async def carry_out(said: dict[str, Any]) -> dict[str, Any]:
            return {"event": await publisher.publish(*asked(said, ids))}

        return await _done(request, carry_out)

    async def replay(self, request: Request) -> Response:
        """Pause, go on, faster, slower, from there."""
        source = self.feed.source
        if not isinstance(source, Replayed):
            return _sorry("this is no replay: it is as late as it is.", 409)

        async def carry_out(said: dict[str, Any]) -> dict[str, Any]:
            await source.told_to(said)
            return source.told()

        return await _done(request, carry_out)


class _Stream(StreamingResponse):
    """One that counts from when it is promised, not from when it begins: many may be asked for at once."""

    def __init__(self, dashboard: Dashboard, topic: int | None) -> None:
        super().__init__(dashboard.told(topic), media_type="text/event-stream")
        self.dashboard = dashboard
        dashboard.streams += 1

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Until one of the two has had enough."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self.dashboard.streams -= 1


def page_of(name: str) -> Callable[[Request], Awaitable[Response]]:
    """A file of the page, if there is one."""

    async def answer(_: Request) -> Response:
        folder = files("ropewalk.dashboard") / "page"
        known = {each.name for each in folder.iterdir()}
        kind = KINDS.get(name.rpartition(".")[2])
        if name not in known or kind is None:
            return _sorry("there is no such page.", 404)
        return Response((folder / name).read_bytes(), media_type=kind)

    return answer


async def _done(request: Request, carry_out: Callable[[dict[str, Any]], Any]) -> Response:
    """Do what a request says, and say what came of it."""
    try:
        return JSONResponse(await carry_out(await _said(request)))
    except UsageError as error:
        return _sorry(str(error), 400)
    except RunError as error:
        return _sorry(str(error), 502)
    except RopewalkError as error:
        return _sorry(str(error), 500)
    except ClientDisconnect:
        return Response(status_code=400)


async def _said(request: Request) -> dict[str, Any]:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MOST_BODY:
            raise UsageError(f"a request has {MOST_BODY} bytes at the most.")
    try:
        said = json.loads(bytes(body))
    except (ValueError, RecursionError):  # lists in lists without end
        said = None
    if not isinstance(said, dict):
        raise UsageError("a request must be JSON: something by name.")
    return said


def _page(request: Request) -> int:
    said = request.query_params.get("page", "0")
    return min(int(said), 10_000) if said.isdecimal() and len(said) < 9 else 0  # noqa: PLR2004


def _found(document: dict[str, Any] | None) -> Response:
    return _sorry("it is not known (any more).", 404) if document is None else JSONResponse(document)


def _sorry(sentence: str, status: int) -> Response:
    return JSONResponse({"error": sentence}, status_code=status)

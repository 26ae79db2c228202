"""Who may look at a dashboard, over real HTTP: tokens, names of hosts, pages of others, and bounds."""

import asyncio
import http.client
import json
import re
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from click.testing import CliRunner

from alive import alive, eventually
from ropewalk.cli import cluster
from ropewalk.cli import dashboard as verb
from ropewalk.dashboard import running, server
from ropewalk.dashboard.connections import MOST_AT_ONCE
from ropewalk.dashboard.feed import TICK, Feed, Live
from ropewalk.dashboard.ledger import MOST_GONE
from ropewalk.dashboard.publishing import MOST_TEXT, asked
from ropewalk.dashboard.running import Beside, Place, Served, Shown
from ropewalk.dashboard.server import MOST_BODY, MOST_STREAMS, Dashboard
from ropewalk.dashboard.travels import MOST_EVENTS
from ropewalk.dashboard.watching import Watch
from ropewalk.engines.live import pipes
from ropewalk.engines.live.api import Node
from ropewalk.errors import UsageError
from waiting import wait_until
from written import Written, ring

TOKEN = "the-token"
ROUTES = [
    "/",
    "/page/main.js",
    "/page/style.css",
    "/page/no.js",
    "/favicon.ico",
    "/api/state",
    "/api/stream",
    "/api/topics",
    "/api/nodes",
    "/api/nodes/1",
    "/api/events",
    "/api/events/1",
    "/nowhere",
]


class Asking:
    """Requests to one dashboard."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.cookie: dict[str, Any] = {"Cookie": f"ropewalk-{port}={TOKEN}"}

    def ask(
        self, path: str, method: str = "GET", body: bytes | None = None, **headers: Any
    ) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        connection.putrequest(method, path, skip_host="host" in headers)
        connection.putheader("Connection", "close")  # so that who closes the answer closes it
        for name, value in headers.items():
            connection.putheader(name.replace("_", "-"), value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        return connection.getresponse()

    def status(self, path: str, *arguments: Any, **headers: Any) -> int:
        answer = self.ask(path, *arguments, **headers)
        found = answer.status
        answer.close()
        return found

    def state(self) -> Any:
        with self.ask("/api/state", **self.cookie) as answer:
            return json.loads(answer.read())


@pytest.fixture
def town(tmp_path: Path) -> Written:
    return ring(tmp_path / "live")


@pytest.fixture
def asking(town: Written) -> Iterator[Asking]:
    served = Served(Place(token=TOKEN))
    with Beside(served, Shown(folder=town.folder)):
        yield Asking(served.port)


@pytest.mark.parametrize("path", ROUTES)
def test_nothing_is_answered_without_the_token(asking: Asking, path: str) -> None:
    assert asking.status(path) == 401
    assert asking.status(path, Cookie=f"ropewalk-{asking.port}=wrong") == 401
    assert asking.status(f"{path}?token=wrong") == 401
    assert asking.status(path, "POST", b"{}", X_Ropewalk="1") == 401
    assert asking.status(path, **asking.cookie) in (200, 404)


def test_the_token_in_the_address_becomes_a_cookie_and_only_there(asking: Asking) -> None:
    answer = asking.ask(f"/?token={TOKEN}")
    answer.close()
    assert (answer.status, answer.getheader("Location")) == (303, "/")
    assert answer.getheader("Set-Cookie") == f"ropewalk-{asking.port}={TOKEN}; HttpOnly; SameSite=Strict; Path=/"
    assert asking.status(f"/api/state?token={TOKEN}") == 401
    other = {"Cookie": f"ropewalk-1=x; ropewalk-{asking.port}=old"}
    assert asking.status(f"/?token={TOKEN}", **other) == 303


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "evil.example:80", "10.0.0.1", "", "[", "localhost@evil.example:1]"],
)
def test_another_name_than_its_own_is_not_answered_to(asking: Asking, host: str) -> None:
    assert asking.status("/api/state", host=host, **asking.cookie) in (400, 421)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:9999", "[::1]:80", "LOCALHOST"])
def test_names_of_this_machine_are(asking: Asking, host: str) -> None:
    assert asking.status("/api/state", host=host, **asking.cookie) == 200


def test_pages_of_others_can_have_nothing_done_and_see_nothing(asking: Asking) -> None:
    def post(**headers: str) -> int:
        return asking.status("/api/publish", "POST", b'{"topics": ["news"], "text": "x"}', **headers, **asking.cookie)

    mine = f"http://127.0.0.1:{asking.port}"
    assert post() == 403
    assert post(X_Ropewalk="1", Origin="http://evil.example") == 403
    assert post(X_Ropewalk="1", Origin=mine, Sec_Fetch_Site="cross-site") == 403
    assert post(X_Ropewalk="1", Origin="null") == 403
    assert post(X_Ropewalk="1", Origin=mine, Sec_Fetch_Site="same-origin") == 409  # there is no node to publish from
    assert asking.status("/api/state", Sec_Fetch_Site="cross-site", **asking.cookie) == 403
    assert asking.status("/api/state", "OPTIONS", Origin="http://evil.example", **asking.cookie) == 403


@pytest.mark.parametrize("path", ["/", "/page/main.js", "/api/state", "/nowhere"])
def test_every_answer_keeps_everything_from_elsewhere_out(asking: Asking, path: str) -> None:
    without: dict[str, Any] = {}
    for headers in (without, asking.cookie):
        answer = asking.ask(path, **headers)
        assert (answer.getheader("Content-Security-Policy") or "").startswith("default-src 'self';")
        assert answer.getheader("X-Content-Type-Options") == "nosniff"
        assert answer.getheader("Access-Control-Allow-Origin") is None
        answer.close()


@pytest.mark.parametrize("name", ["../server.py", "..%2fserver.py", "%2e%2e/server.py", "main.js/", ".", "__init__.py"])
def test_only_files_of_the_page_are_files_of_the_page(asking: Asking, name: str) -> None:
    with asking.ask(f"/page/{name}", **asking.cookie) as answer:
        assert answer.status in (307, 404)
        assert b"Starlette" not in answer.read()


def test_what_is_too_large_or_makes_no_sense_is_said(tmp_path: Path, town: Written) -> None:
    served = Served(Place(token=None))
    with Beside(served, Shown(folder=town.folder, replay=True)):
        asking = Asking(served.port)

        def told(body: bytes) -> tuple[int, str]:
            with asking.ask("/api/replay", "POST", body, X_Ropewalk="1") as answer:
                return answer.status, answer.read().decode()

        assert told(b"{" + b" " * MOST_BODY)[0] == 400
        for body in (
            b"",
            b"[]",
            b"{",
            b"\xff",
            b'{"speed": 0}',
            b'{"speed": "x"}',
            b'{"at": []}',
            b'{"speed": NaN}',
            b'{"at": NaN}',
            b'{"at": 1%s}' % (b"0" * 400),
            b'{"speed": Infinity}',
            b"[" * (MOST_BODY - 1),
        ):
            status, said = told(body)
            assert (status, "error" in said) == (400, True), body
        assert told(b'{"paused": true, "speed": 4}')[0] == 200
        assert asking.status("/api/nodes/zz") == asking.status("/api/events/" + "f" * 20) == 404
        assert asking.status("/api/topics?page=-1") == asking.status("/api/nodes?page=99999999999") == 200
        assert asking.status("/api/publish", "POST", b"{}", X_Ropewalk="1") == 409


def test_no_token_is_for_this_machine_only() -> None:
    for host in ("0.0.0.0", "::", "192.0.2.1", "example.org"):
        with pytest.raises(UsageError, match="for this machine only"):
            Place(host=host)
    Place(host="::1")


def test_so_many_may_look_on_and_who_goes_makes_room(asking: Asking) -> None:
    streams = [asking.ask("/api/stream", **asking.cookie) for _ in range(MOST_STREAMS)]
    assert {stream.status for stream in streams} == {200}
    assert wait_until(lambda: asking.status("/api/stream", **asking.cookie) == 503)
    assert asking.state()["full"] == f"{MOST_STREAMS} pages look on already; close one."
    for stream in streams:
        stream.close()
    assert wait_until(lambda: asking.status("/api/stream", **asking.cookie) == 200)
    assert asking.state()["full"] is None


def test_no_more_may_look_on_if_all_ask_at_once(asking: Asking) -> None:
    with ThreadPoolExecutor(2 * MOST_STREAMS) as pool:
        streams = list(pool.map(lambda _: asking.ask("/api/stream", **asking.cookie), range(2 * MOST_STREAMS)))
    assert sorted(stream.status for stream in streams) == [200] * MOST_STREAMS + [503] * MOST_STREAMS
    for stream in streams:
        stream.close()


ODD = ['a={"x":1, "y":2}', "b=[1, 2]", "c", "=d", "ropewalk", 'e="', "f=\\", "g=@,;;  ", "\xe9=\xff", "h=a b=c"]


@pytest.mark.parametrize("odd", ODD)
def test_odd_cookies_of_other_programs_lock_nobody_out(asking: Asking, odd: str) -> None:
    mine = asking.cookie["Cookie"]
    assert asking.status("/api/state", Cookie=f"{odd}; {mine}; {odd}") == 200
    assert (
        asking.status("/api/state", Cookie=f"{mine}wrong; {odd}; {mine}") == 200
    )  # of the same name, for another path
    assert asking.status("/api/state", Cookie=f"{odd}; {mine}wrong") == 401
    assert asking.status("/api/state", Cookie=f"{odd}; other-{mine}") == 401


NAME = "dashboard.example.org"


@pytest.fixture
def proxied(town: Written) -> Iterator[Asking]:
    served = Served(Place(token=TOKEN, names=(NAME, "Other.Example.org")))
    with Beside(served, Shown(folder=town.folder)):
        yield Asking(served.port)


@pytest.mark.parametrize("host", [NAME, f"{NAME}:8443", "other.example.org", "127.0.0.1", None])
def test_behind_a_proxy_it_is_known_by_the_name_that_it_was_told(proxied: Asking, host: str | None) -> None:
    """As the proxy says who is asked (it may say its own name, or that of where it asks), and the browser who asks."""
    named = {"host": host} if host is not None else {}
    origin = f"https://{host if host is not None and 'example' in host else NAME}"
    about: dict[str, Any] = named | proxied.cookie | {"X_Forwarded_Proto": "https", "Sec_Fetch_Site": "same-origin"}
    assert proxied.status("/api/state", **about) == 200
    post = partial(proxied.status, "/api/publish", "POST", b"{}", X_Ropewalk="1", **about)
    assert post(Origin=origin) == 409  # there is no node to publish from
    assert (
        post(Origin="https://evil.example") == post(Origin=f"https://{NAME}.evil.example") == post(Origin="null") == 403
    )
    assert proxied.status("/api/state", **(about | {"host": "evil.example"})) == 421


def test_what_came_as_https_has_a_cookie_for_https_alone(asking: Asking, proxied: Asking) -> None:
    def cookie(asked: Asking, **about: str) -> str:
        answer = asked.ask(f"/?token={TOKEN}", "GET", None, **about)
        answer.close()
        assert (answer.status, answer.getheader("Location")) == (303, "/")
        return answer.getheader("Set-Cookie") or ""

    assert cookie(proxied, host=NAME, X_Forwarded_Proto="https").endswith("; Path=/; Secure")
    assert cookie(proxied, host=NAME, X_Forwarded_Proto="http").endswith("; Path=/")
    assert cookie(proxied).endswith("; Path=/")
    assert cookie(asking, X_Forwarded_Proto="https").endswith("; Path=/")  # no proxy is known of
    assert asking.status("/api/state", host=NAME, **asking.cookie) == 421


@pytest.mark.parametrize("name", ["https://a.example", "a.example:1", "a.example/b", "", "a b", "é.example", "a" * 300])
def test_a_name_is_the_name_of_a_host(name: str) -> None:
    with pytest.raises(UsageError, match="is no host"):
        Place(token=TOKEN, names=(name,))
    with pytest.raises(UsageError, match="for this machine only"):
        Place(names=(NAME,))


def test_names_are_given_one_by_one(town: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    places: list[Place] = []

    def serve(served: Served, *_: object) -> None:
        places.append(served.place)
        served.close()

    monkeypatch.setattr(verb, "serve_until_stopped", serve)
    done = CliRunner().invoke(verb.command, [str(town.folder), "--name", NAME, "--name", "other.example.org"])
    assert (done.exit_code, places[0].names) == (0, (NAME, "other.example.org"))


def test_the_address_is_printed_last_so_that_nothing_is_copied_with_it(
    town: Written, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def serve(served: Served, _: object, ready: Callable[[], None], *__: object) -> None:
        ready()
        served.close()

    monkeypatch.setattr(verb, "serve_until_stopped", serve)
    address = rf"http://127\.0\.0\.1:\d+/\?token={TOKEN}"
    done = CliRunner().invoke(verb.command, [str(town.folder), "--token", TOKEN, "--json"])
    assert re.fullmatch(rf"ropewalk: dashboard, until Ctrl-C: {address}\n", done.stderr), done.stderr
    assert re.fullmatch(address, json.loads(done.stdout)["url"])
    job = SimpleNamespace(telemetry=tmp_path, protocol="stan", settings=SimpleNamespace(discover=False))
    said: list[str] = []
    monkeypatch.setattr(cluster, "say", said.append)
    with cluster._shown_at(0, cast(Any, job)):
        pass
    assert re.fullmatch(r"dashboard, as long as nodes run: http://127\.0\.0\.1:\d+/\?token=[\w-]+", said[0])


@alive
async def test_a_publisher_that_does_not_get_in_says_so_and_why_not_is_said_only_where_nothing_can_be_published(
    town: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipes, "UNREACHED", 0.1)
    served, stopped, said = Served(Place(token=TOKEN)), asyncio.Event(), list[str]()
    shown = Shown(folder=town.folder, make=lambda: Node(bootstrap=["127.0.0.1:1"]))
    running_ = asyncio.create_task(running.serve(served, shown, stopped, say=said.append))
    await eventually(lambda: bool(said) and "nobody listens" in said[-1])
    assert said[-1] == "no bootstrap node could be reached yet (127.0.0.1:1: nobody listens there); trying on."
    state = await asyncio.to_thread(Asking(served.port).state)
    assert state["publishing"] is True
    assert "why_not" not in state
    stopped.set()
    await running_


def test_why_nothing_can_be_published_is_said(asking: Asking) -> None:
    state = asking.state()
    assert (state["publishing"], state["why_not"]) == (False, server.HOW_TO_PUBLISH)


def silent(stack: ExitStack, port: int, count: int, said: bytes = b"") -> list[socket.socket]:
    """Sockets that ask for nothing, or not to the end."""
    found = [stack.enter_context(socket.create_connection(("127.0.0.1", port), 10)) for _ in range(count)]
    for one in found:
        with suppress(OSError):  # it had to go already
            one.sendall(said)
    return found


def closed(one: socket.socket) -> bool:
    one.setblocking(False)
    try:
        return one.recv(1) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


@pytest.mark.parametrize("said", [b"", b"GET /api/state HTTP/1.1\r\nHost: lo"])
def test_sockets_that_ask_for_nothing_make_room_for_who_asks_and_streams_go_on(
    town: Written, monkeypatch: pytest.MonkeyPatch, said: bytes
) -> None:
    monkeypatch.setattr(running, "ASKING", 600.0)
    served = Served(Place(token=TOKEN))
    with Beside(served, Shown(folder=town.folder)), ExitStack() as stack:
        asking = Asking(served.port)
        stream = asking.ask("/api/stream", **asking.cookie)
        told = messages(stream)
        next(told)
        sockets = silent(stack, served.port, 2 * MOST_AT_ONCE, said)
        assert asking.status("/api/state", **asking.cookie) == 200
        assert wait_until(lambda: all(map(closed, sockets[:MOST_AT_ONCE])))  # the eldest
        assert not closed(sockets[-1])
        town.say(3, "nodes", up=False)
        assert any(row[4] == "left" for news in told for _, row in news.get("nodes", ()))
        stream.close()


def test_who_has_not_asked_after_a_while_is_cut_off_whatever_it_dribbles(
    town: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "ASKING", 0.5)
    served = Served(Place(token=TOKEN))
    with Beside(served, Shown(folder=town.folder)), ExitStack() as stack:
        asking = Asking(served.port)
        stream = asking.ask("/api/stream", **asking.cookie)
        told = messages(stream)
        next(told)
        head = b"GET /api/state HTTP/1.1\r\nHost: localhost\r\n"
        post = b"POST /api/replay HTTP/1.1\r\nHost: localhost\r\nX-Ropewalk: 1\r\nContent-Length: 1000\r\n"
        cookie = f"Cookie: {asking.cookie['Cookie']}\r\n\r\n".encode()
        sockets = [
            silent(stack, served.port, 1, begun)[0]
            for begun in (b"", head, head + b"\r\n" + head, head + cookie + head, post + b"\r\n", post + cookie)
        ]

        def dribble(one: socket.socket) -> bool:
            """One letter more; whether nobody listens."""
            try:
                one.send(b"x")
            except OSError:
                return True
            return False

        assert wait_until(lambda: all(list(map(dribble, sockets[1:]))) and closed(sockets[0]), 20)
        town.say(3, "nodes", up=False)
        assert any(row[4] == "left" for news in told for _, row in news.get("nodes", ()))
        stream.close()


def messages(stream: Any) -> Iterator[dict[str, Any]]:
    while line := stream.readline():
        if line.startswith(b"data: "):
            yield json.loads(line[6:])


def test_a_stream_begins_with_everything_and_goes_on_with_differences(asking: Asking, town: Written) -> None:
    stream = asking.ask("/api/stream?topic=000000000000000b", **asking.cookie)
    assert stream.getheader("Content-Type", "").startswith("text/event-stream")
    told = messages(stream)
    nodes: dict[int, Any] = {}
    first = next(told)
    assert first["whole"]
    while len(nodes) < 12:
        nodes |= dict(first.get("nodes", ()))
        first = next(told) if len(nodes) < 12 else first
    town.say(3, "nodes", up=False)
    for news in told:
        assert not news["whole"]
        if any(row[1] == "n3" and row[4] == "left" for _, row in news.get("nodes", ())):
            break
    stream.close()


def test_a_replay_stands_at_its_beginning_until_the_first_page_looks_on(town: Written) -> None:
    town.say(0, "linked", up=[], down=[], at=time.time() + 60)
    served = Served(Place(token=TOKEN))
    with Beside(served, Shown(folder=town.folder, replay=True, speed=100.0)):
        asking = Asking(served.port)
        time.sleep(4 * TICK)  # in which it would be over
        replay = asking.state()["replay"]
        assert (replay["at"], replay["over"]) == (replay["begin"], False)
        stream = asking.ask("/api/stream", **asking.cookie)
        told = messages(stream)
        assert not next(told)["about"]["replay"]["over"]
        assert any(each["about"]["replay"]["over"] for each in told)
        stream.close()


def data(message: bytes) -> Any:
    return json.loads(message.removeprefix(b"data: "))


@alive
async def test_nothing_piles_up_for_a_browser_that_does_not_read(town: Written) -> None:
    """However many looks it has missed, one message brings it up to date; if it has missed too much, that says everything."""
    feed = Feed(Live(Watch([town.folder])))
    looking = asyncio.create_task(feed.run())
    told = Dashboard(feed).told(11)

    def published(count: int) -> bool:
        return bool(feed.picture.totals()["published"] == count)

    assert (await anext(told)).startswith(b"retry: ")
    await eventually(lambda: feed.picture.totals()["up"] == 12)
    version = data(await anext(told))["version"]
    for turn in range(4):  # looks at which it does not read
        town.event(100 + turn, 11, [(turn, turn + 1)])
        await eventually(partial(published, turn + 1))
        await feed.tick()
    missed = data(await anext(told))
    assert (missed["whole"], missed["version"]) == (False, feed.picture.versions.now)
    assert missed["version"] > version
    assert {key for key, _ in missed["events"]} == {f"{100 + turn:016x}" for turn in range(4)}
    assert missed["totals"]["published"] == 4
    with (town.folder / "n0.jsonl").open("a") as file:
        about = {"table": "publications", "life": 0, "publisher": town.ids[0], "topics": [11], "size": 1}
        file.writelines(
            json.dumps(about | {"event": 1000 + turn, "at": time.time()}) + "\n" for turn in range(MOST_GONE + 300)
        )
    await eventually(partial(published, MOST_GONE + 304))
    anew = data(await anext(told))
    assert (anew["whole"], len(anew["nodes"]), len(anew["events"])) == (True, 12, MOST_EVENTS)
    await told.aclose()
    looking.cancel()
    await asyncio.gather(looking, return_exceptions=True)


@alive
async def test_a_stream_says_that_it_lives_however_long_the_next_look_takes(
    town: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "STILL", 0.05)
    told = Dashboard(Feed(Live(Watch([town.folder])))).told(None)  # nobody runs the feed, so no look ever ends
    for begins in (b"retry: ", b"data: ", b"data: ", b"data: "):
        assert (await asyncio.wait_for(anext(told), 10)).startswith(begins)
    await told.aclose()


@pytest.mark.parametrize(
    "said",
    [
        {"text": "\ud800", "topics": ["news"]},
        {"text": "", "topics": ["news", "\udfff"]},
        {"text": "", "topics": [""]},
        {"text": "", "topics": "news"},
        {"text": None, "topics": ["news"]},
        {"text": "x" * (MOST_TEXT + 1), "topics": ["news"]},
    ],
)
def test_what_cannot_be_published_is_said_in_a_sentence(said: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"^[^\n]+\.$"):
        asked(said, {})

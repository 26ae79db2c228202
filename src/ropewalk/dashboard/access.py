"""Who may look: whoever knows the token, from a page of this very server, by a name under which it is to be reached.

The token comes once in the address, then as a cookie that no script can read. Pages of others can send requests to this machine, and a name of
theirs can be made to lead here (DNS rebinding): hence the names that are answered to, the header that only a script of the same origin
can add, and the policy that keeps everything from elsewhere out of the page. A proxy with TLS may stand before it; then it is told by
which names it is reached there, and only then is believed what the proxy says.
"""

import secrets
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from ipaddress import ip_address
from typing import Any
from urllib.parse import parse_qs, urlsplit

from ropewalk.engines.live.options import is_here

ASKING = b"x-ropewalk"  # the header that every request to do something carries
POLICY = (
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none';"
    " require-trusted-types-for 'script'"
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class Guard:
    """Stands before the application."""

    def __init__(
        self,
        app: App,
        token: str | None,
        host: str,
        port: int,
        names: Iterable[str] = (),
        proxied: Iterable[str] = (),  # names by which it is reached through a proxy
    ) -> None:
        self.app, self.token = app, token
        self.proxied = frozenset(name.lower() for name in proxied)
        self.host, self.names = host, {host.lower(), "localhost", *(name.lower() for name in names), *self.proxied}
        self.cookie = f"ropewalk-{port}"  # browsers send cookies of one port to all

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or say why not."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        headers = {name.lower(): value for name, value in scope["headers"]}
        refused = self._refuse(scope, headers)
        if refused is not None:
            await _answer(send, *refused)
            return
        if self._asks_for_cookie(scope):
            said = f"{self.cookie}={self.token}; HttpOnly; SameSite=Strict; Path=/{self._secure(headers)}"
            await _answer(send, 303, "", [(b"location", b"/"), (b"set-cookie", said.encode())])
            return

        async def answer(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *HEADERS]
            await send(message)

        await self.app(scope, receive, answer)

    def _refuse(self, scope: Scope, headers: dict[bytes, bytes]) -> tuple[int, str] | None:
        host = headers.get(b"host", b"").decode("latin-1")
        if not self._is_known(host):
            return 421, "This server is not known by that name: use the address that it has printed."
        if headers.get(b"sec-fetch-site", b"none") not in (b"none", b"same-origin"):
            return 403, "That was asked for by a page of somebody else."
        if self.token is not None and not self._has_token(scope):
            return 401, "The token is missing or wrong: open the address that `ropewalk dashboard` has printed."
        if scope["method"] not in ("GET", "HEAD"):
            origin = headers.get(b"origin")
            if origin is not None and not self._is_own(origin.decode("latin-1"), host):
                return 403, "That was asked for by a page of somebody else."
            if headers.get(ASKING) != b"1":
                return 403, "A request to do something carries the header X-Ropewalk: 1."
        return None

    def _is_known(self, host: str) -> bool:
        """Names can be made to lead anywhere; numbers cannot, so where others may call any number is one of this machine."""
        name = _name_in(f"//{host}")
        if name in self.names:
            return True
        try:
            number = ip_address(name)
        except ValueError:
            return False
        return number.is_loopback or not is_here(self.host)

    def _is_own(self, origin: str, host: str) -> bool:
        """Whether a page of this server asks: the host is as the proxy says, the origin as the browser does."""
        return origin.partition("://")[2] == host or _name_in(origin) in self.proxied

    def _secure(self, headers: dict[bytes, bytes]) -> str:
        """That the cookie is for https alone, if it came so."""
        return "; Secure" if self.proxied and headers.get(b"x-forwarded-proto", b"").lower() == b"https" else ""

    def _has_token(self, scope: Scope) -> bool:
        in_address = self._in_query(scope) if scope["path"] == "/" else ""
        given = (
            [in_address] if in_address else self._in_cookies(scope)
        )  # who comes with a new address may have an old cookie
        assert self.token is not None
        token = self.token.encode()
        return any(secrets.compare_digest(each.encode(), token) for each in given)

    def _in_cookies(self, scope: Scope) -> list[str]:
        """Among whatever other programs of this host have set, perhaps by the same name: browsers send it to all ports, and not all of it is well formed."""
        said = b";".join(value for name, value in scope["headers"] if name.lower() == b"cookie").decode("latin-1")
        pairs = [pair.strip().partition("=") for pair in said.split(";")]
        return [value for name, _, value in pairs if name == self.cookie]

    def _in_query(self, scope: Scope) -> str:
        said: bytes = scope.get("query_string", b"")
        return parse_qs(said.decode("latin-1")).get("token", [""])[0]

    def _asks_for_cookie(self, scope: Scope) -> bool:
        return self.token is not None and scope["path"] == "/" and bool(self._in_query(scope))


def _name_in(address: str) -> str:
    """The host of an address, without its port; none if it makes no sense."""
    try:
        return (urlsplit(address).hostname or "").lower()
    except ValueError:
        return ""


async def _answer(send: Send, status: int, text: str, more: list[tuple[bytes, bytes]] | None = None) -> None:
    body = (text + "\n").encode() if text else b""
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": [*headers, *HEADERS, *(more or [])]})
    await send({"type": "http.response.body", "body": body})

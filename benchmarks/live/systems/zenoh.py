"""Zenoh peers without a router, its core in Rust; congestion control BLOCK, so that a publisher waits for who is slow."""

import json
from collections.abc import Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from systems.contract import TOPIC, Hear, Publishing, Readers, Subscribing, System, in_thread
from systems.servers import free_port, missing

if TYPE_CHECKING:
    from zenoh import Session


def _session(listen: str, connect: Sequence[str]) -> "Session":
    import zenoh  # noqa: PLC0415  it may be missing

    config = zenoh.Config()
    for key, value in {
        "mode": "peer",
        "scouting/multicast/enabled": False,
        "listen/endpoints": [listen],
        "connect/endpoints": list(connect),
    }.items():
        config.insert_json5(key, json.dumps(value))
    return zenoh.open(config)


@asynccontextmanager
async def subscribing(_: str, hears: Sequence[Hear]) -> Subscribing:
    """A session each; the others find everybody through the first."""
    first = f"tcp/127.0.0.1:{free_port()}"
    sessions = [
        _session("tcp/127.0.0.1:0" if number else first, [first] if number else []) for number in range(len(hears))
    ]
    kept = [_reading(session, hear) for session, hear in zip(sessions, hears, strict=True)]
    yield Readers(first)
    kept.clear()
    for session in sessions:
        session.close()  # type: ignore[no-untyped-call]


def _reading(session: "Session", hear: Hear) -> object:
    return session.declare_subscriber(TOPIC, lambda sample: hear(sample.payload.to_bytes()))


@asynccontextmanager
async def publishing(_: str, readers: str, __: int) -> Publishing:
    """In a thread: its core blocks."""
    from zenoh import CongestionControl  # noqa: PLC0415

    session = _session("tcp/127.0.0.1:0", [readers])
    publisher = session.declare_publisher(TOPIC, congestion_control=CongestionControl.BLOCK)

    def publish_all(events: Sequence[bytes]) -> None:
        for payload in events:
            publisher.put(payload)

    yield in_thread(publish_all)
    session.close()  # type: ignore[no-untyped-call]


ZENOH = System("zenoh", subscribing, publishing, missing("", "zenoh"))

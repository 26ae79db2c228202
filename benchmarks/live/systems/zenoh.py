"""Zenoh peers without a router, its core in Rust; congestion control BLOCK, so that a publisher waits for who is slow."""

import json
from collections.abc import Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from systems.contract import TOPIC, Hear, Publishing, Reader, Subscribing, System, in_thread
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
async def subscribing(_: str, first: str, hear: Hear) -> Subscribing:
    """The others find everybody through the first."""
    place = first or f"tcp/127.0.0.1:{free_port()}"
    session = _session("tcp/127.0.0.1:0" if first else place, [first] if first else [])
    kept = session.declare_subscriber(TOPIC, lambda sample: hear(sample.payload.to_bytes()))
    yield Reader(place)
    del kept
    session.close()  # type: ignore[no-untyped-call]


@asynccontextmanager
async def publishing(_: str, readers: list[str]) -> Publishing:
    """In a thread: its core blocks."""
    from zenoh import CongestionControl  # noqa: PLC0415

    session = _session("tcp/127.0.0.1:0", readers[:1])
    publisher = session.declare_publisher(TOPIC, congestion_control=CongestionControl.BLOCK)

    def publish_all(events: Sequence[bytes]) -> None:
        for payload in events:
            publisher.put(payload)

    yield in_thread(publish_all)
    session.close()  # type: ignore[no-untyped-call]


ZENOH = System("zenoh", subscribing, publishing, missing("", "zenoh"))

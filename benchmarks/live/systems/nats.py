"""NATS, core: at most once, nothing kept. Slow consumers are cut off beyond what may be pending for one, which is a gibibyte here."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from systems.contract import TOPIC, Hear, Publishing, Reader, Subscribing, System
from systems.servers import missing, serving

PENDING = 2**30  # bytes


def _command(program: str, port: int, folder: Path) -> list[str]:
    settings = folder / "nats.conf"
    settings.write_text(f'listen: "127.0.0.1:{port}"\nmax_pending: {PENDING}\n')
    return [program, "--config", str(settings)]


@asynccontextmanager
async def subscribing(place: str, _: str, hear: Hear) -> Subscribing:
    """Whatever may be pending."""
    import nats  # noqa: PLC0415  it may be missing

    async with await nats.connect(f"nats://127.0.0.1:{place}") as client:
        await client.subscribe(TOPIC, cb=_heard(hear), pending_msgs_limit=0, pending_bytes_limit=0)
        await client.flush()
        yield Reader()


def _heard(hear: Hear) -> Callable[[Any], Awaitable[None]]:
    async def heard(message: Any) -> None:
        hear(message.data)

    return heard


@asynccontextmanager
async def publishing(place: str, _: list[str]) -> Publishing:
    """The client waits by itself when too much is yet to be sent."""
    import nats  # noqa: PLC0415

    async with await nats.connect(f"nats://127.0.0.1:{place}") as client:

        async def publish(events: Sequence[bytes]) -> None:
            for payload in events:
                await client.publish(TOPIC, payload)

        yield publish


NATS = System("nats", subscribing, publishing, missing("nats-server", "nats"), serving("nats-server", _command))

"""A node that is watched while it runs: what it does may be written as rows, and shown at a port."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from ropewalk.engines.live.api import Node
from ropewalk.engines.live.metrics import Endpoint
from ropewalk.engines.live.telemetry import Telemetry
from ropewalk.errors import RunError


@dataclass(frozen=True, slots=True)
class Watch:
    """Where rows go, at which port metrics are, and who is told of the port."""

    telemetry: Path | None = None
    metrics: int | None = None
    shown: Callable[[int], None] = lambda _: None


UNWATCHED = Watch()


@asynccontextmanager
async def watched(node: Node, watch: Watch = UNWATCHED) -> AsyncIterator[None]:
    """A node, from its start until it has left."""
    telemetry = Telemetry(node, watch.telemetry) if watch.telemetry is not None else None
    endpoint = Endpoint(node)
    async with node:
        try:
            if watch.metrics is not None:
                watch.shown(await endpoint.start(watch.metrics))
            if telemetry is not None:
                telemetry.begin()
                telemetry.watch()
            yield
        finally:
            if telemetry is not None:
                telemetry.stage("final")
                await telemetry.close()
            await endpoint.close()
    if telemetry is not None and telemetry.failed:
        raise RunError(f"telemetry could not be written to {watch.telemetry}: {telemetry.failed}.")

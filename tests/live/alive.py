"""Real nodes on loopback, and how to wait for them."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from functools import wraps
from typing import Any

from ropewalk.engines.live.api import Node
from ropewalk.engines.live.arrived import Event
from ropewalk.engines.live.identity import topic_of
from ropewalk.engines.live.loops import run
from ropewalk.engines.live.options import LIVE, Options
from ropewalk.engines.live.subscriptions import Subscription

LONG = 30.0  # seconds: none of these takes as long unless something is broken


def alive(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run a test on an event loop, for a while at the most."""
    return alive_for(LONG)(test)


def alive_for(seconds: float) -> Callable[[Callable[..., Coroutine[Any, Any, None]]], Callable[..., None]]:
    """The same, for so long: where many nodes share a processor that others use."""

    def limiting(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
        @wraps(test)
        def tested(*arguments: Any, **named: Any) -> None:
            async def limited() -> None:
                async with asyncio.timeout(seconds):
                    await test(*arguments, **named)

            run(limited())

        return tested

    return limiting


async def eventually(
    condition: Callable[[], object], what: str = "it does not come true", seconds: float = LONG / 2
) -> None:
    """Wait for a condition, not for a time."""
    try:
        async with asyncio.timeout(seconds):
            while not condition():  # noqa: ASYNC110  any condition
                await asyncio.sleep(0.005)
    except TimeoutError:
        raise AssertionError(what) from None


async def read(subscription: Subscription, count: int) -> list[Event]:
    """The next events."""
    return [await anext(subscription) for _ in range(count)]


async def publish_apart(node: Node, payloads: Iterable[bytes], topics: list[str]) -> None:
    """Each as an event of its own, which travels alone, in a turn of the loop of its own."""
    for payload in payloads:
        await node.publish_on(payload, {topic_of(topic): topic for topic in topics}, alone=True)
        await asyncio.sleep(0)


async def settled(*nodes: Node, topic: int | None = None) -> None:
    """Until nodes are in touch with all others; on a topic, until each has a neighbour there."""
    for node in nodes:
        await node.joined.wait()
    if topic is not None:
        await eventually(lambda: all(neighbours(node, topic) for node in nodes), "nodes do not find each other")


def neighbours(node: Node, topic: int) -> dict[int, Any]:
    """Whom a node is linked with on a topic, in either direction."""
    return node.driver.machine.neighbours.around(topic) or {}  # type: ignore[attr-defined]


__all__ = [
    "LIVE",
    "LONG",
    "Node",
    "Options",
    "alive",
    "alive_for",
    "eventually",
    "neighbours",
    "publish_apart",
    "read",
    "settled",
]

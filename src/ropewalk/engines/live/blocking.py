"""A node for programs that do not use asyncio: every call returns when it is done. The node itself runs in a thread.

with BlockingNode(bootstrap=["10.0.0.1:7000"]) as node:
    node.publish(b"hello", topics=["news"])
    for event in node.subscribe("news"): ...
"""

import asyncio
import threading
from collections.abc import Coroutine, Iterable, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from types import TracebackType
from typing import Any, Self, TypeVar

from ropewalk.engines.live.api import Node, NotRunningError, Validator
from ropewalk.engines.live.arrived import Event
from ropewalk.engines.live.loops import new_loop
from ropewalk.engines.live.options import Options
from ropewalk.engines.live.subscriptions import BUFFER, Subscription, WhenFull
from ropewalk.errors import UsageError

T = TypeVar("T")


class BlockingSubscription:
    """Events of some topics, one after the other: `for event in subscription`."""

    def __init__(self, node: "BlockingNode", inner: Subscription) -> None:
        self._node, self._inner = node, inner

    @property
    def dropped(self) -> int:
        """Events that were lost because nobody read them in time."""
        return self._inner.dropped

    def get(self, timeout: float | None = None) -> Event | None:
        """The next event; None if the subscription has ended, or its node has left. Raises TimeoutError if it takes longer."""
        try:
            return self._node.ask(self._next(timeout))
        except NotRunningError:
            return self._inner.left_over()

    def close(self) -> None:
        """Follow these topics no longer."""
        with suppress(NotRunningError):  # its node has left, and it with it
            self._node.ask(self._inner.close())

    async def _next(self, timeout: float | None) -> Event | None:  # noqa: ASYNC109  the caller knows no other way
        async with asyncio.timeout(timeout):
            return await anext(self._inner, None)

    def __iter__(self) -> Iterator[Event]:
        """Every event, as it comes; ends when the subscription is closed or its node has left, and all is read."""
        while (event := self.get()) is not None:
            yield event

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Follow them no longer."""
        self.close()


class BlockingNode:
    """One participant of a network, in a thread of its own."""

    def __init__(
        self, listen: str | None = "127.0.0.1:0", bootstrap: Iterable[str] = (), options: Options | None = None
    ) -> None:
        self._made = (listen, tuple(bootstrap), options)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._node: Node | None = None

    @property
    def node(self) -> Node:
        """The node inside; it belongs to another thread."""
        if self._node is None:
            raise NotRunningError("this node is not running: start it with `with`, or `node.start()`.")
        return self._node

    @property
    def id(self) -> str:
        """Who it is, as others see it."""
        return self.node.id

    @property
    def address(self) -> str:
        """Where others reach it."""
        return self.node.address

    def start(self) -> Self:
        """Listen, and find the others."""
        if self._node is not None:
            return self
        loop = self._loop = new_loop()
        self._thread = threading.Thread(target=loop.run_forever, name="ropewalk node", daemon=True)
        self._thread.start()
        try:
            self._node = self.ask(self._started())
        except BaseException:
            self._end()
            raise
        return self

    def leave(self) -> None:
        """Say good-bye, and end the thread."""
        if self._node is not None:
            self.ask(self._node.leave())
            self._node = None
            self._end()

    def subscribe(
        self,
        *topics: str,
        where: str | None = None,
        buffer: int = BUFFER,
        when_full: WhenFull = "wait",
        signed: bool = False,
    ) -> BlockingSubscription:
        """Follow these topics from now on, or want what a filter asks for. See `Node.subscribe`."""
        node = self.node

        async def subscribed() -> Subscription:
            return node.subscribe(*topics, where=where, buffer=buffer, when_full=when_full, signed=signed)

        return BlockingSubscription(self, self.ask(subscribed()))

    @property
    def public_key(self) -> str:
        """Its public key, in hex."""
        return self.node.public_key

    def validate(self, topic: str, validator: Validator | None) -> None:
        """Have every event on a topic judged; in the node's thread. See `Node.validate`."""
        node = self.node

        async def validated() -> None:
            node.validate(topic, validator)

        self.ask(validated())

    def publish(
        self, payload: bytes, topics: Iterable[str] = (), *, content: Mapping[str, float | str] | None = None
    ) -> str:
        """Get something to everybody who follows one of these topics, or wants what it says. See `Node.publish`."""
        return self.ask(self.node.publish(payload, topics, content=content))

    def ask(self, work: Coroutine[Any, Any, T]) -> T:
        """Have the node's thread do something, and wait for it."""
        if self._loop is None:
            work.close()
            raise NotRunningError("this node has left.")
        if threading.current_thread() is self._thread:
            work.close()
            raise UsageError("a validator may not call the node that it judges for: it would wait for itself.")
        future: Future[T] = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except CancelledError:
            raise NotRunningError("this node has left.") from None
        except KeyboardInterrupt:
            future.cancel()
            raise

    async def _started(self) -> Node:
        return await Node(*self._made).start()

    def _end(self) -> None:
        assert self._loop is not None
        assert self._thread is not None
        asyncio.run_coroutine_threadsafe(_cancel_all(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._loop = self._thread = None

    def __enter__(self) -> Self:
        """Start."""
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave."""
        self.leave()


async def _cancel_all() -> None:
    """Whoever still waits for something is told that it is over."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)

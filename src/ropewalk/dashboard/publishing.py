"""A node of the dashboard's own, only to publish from; it follows nothing."""

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ropewalk.engines.live.api import Node
from ropewalk.engines.live.identity import topic_of
from ropewalk.engines.live.telemetry import Telemetry
from ropewalk.errors import RopewalkError, RunError, UsageError
from ropewalk.protocols.dissemination.settings import MOST_TOPICS

MOST_TEXT = 16_384  # ours, characters: what somebody types into a box
MOST_WAITING = 8  # ours: publications at a time
LEAVING = 5.0  # ours, seconds


class Publisher:
    """Starts the node when it is first needed. What it publishes is in its telemetry, in a folder of its own, as other nodes' is."""

    def __init__(self, make: Callable[[], Node]) -> None:
        self._make = make
        self._folder = tempfile.TemporaryDirectory(prefix="ropewalk-dashboard-")
        self._node: Node | None = None
        self._telemetry: Telemetry | None = None
        self._starting = asyncio.Lock()
        self._busy = 0

    @property
    def folder(self) -> Path:
        """Where its telemetry is."""
        return Path(self._folder.name)

    async def start(self) -> Node:
        """Have it run."""
        async with self._starting:
            if self._node is None:
                node = self._make()
                telemetry = Telemetry(node, self.folder / "dashboard.jsonl")
                try:
                    await node.start()
                except RopewalkError:
                    await telemetry.close()
                    raise
                telemetry.watch()
                self._node, self._telemetry = node, telemetry
            return self._node

    async def publish(self, text: str, topics: dict[int, str]) -> str:
        """Publish; the id of the event."""
        if self._busy >= MOST_WAITING:
            raise RunError(f"{self._busy} events are on their way already; wait for them.")
        self._busy += 1
        try:
            node = await self.start()
            name = await node.publish_on(text.encode(), topics)
            return name.partition(".")[0]  # of several in one breath, what they travel as
        finally:
            self._busy -= 1

    async def close(self) -> None:
        """Leave."""
        try:
            if self._telemetry is not None:
                await self._telemetry.close()
            if self._node is not None:
                async with asyncio.timeout(LEAVING):
                    await self._node.leave()
        except TimeoutError:
            pass  # whoever is still linked with it learns of it by the socket
        finally:
            self._folder.cleanup()


def asked(said: dict[str, Any], ids: dict[str, int]) -> tuple[str, dict[int, str]]:
    """The text and topics of a request; topics are named, and `ids` has those of names that are not hashed as usual."""
    text, topics = said.get("text"), said.get("topics")
    if not isinstance(text, str) or len(text) > MOST_TEXT:
        raise UsageError(f"text must be text, of {MOST_TEXT} characters at the most.")
    if not isinstance(topics, list) or not topics or not all(isinstance(name, str) and name for name in topics):
        raise UsageError("topics must be a list of names, one at least.")
    if not all(map(_is_text, (text, *topics))):
        raise UsageError("text and names of topics must be characters, not halves of them.")
    if len(topics) > MOST_TOPICS:
        raise UsageError(f"an event has {len(topics)} topics, but must have from 1 to {MOST_TOPICS}.")
    return text, {ids.get(name, 0) or topic_of(name): name for name in topics}


def _is_text(text: str) -> bool:
    """Whether it can be written in UTF-8: JSON can name halves of characters."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True

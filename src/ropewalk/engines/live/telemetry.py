"""What happens at a node, as lines of JSON: each is a row of a table, and says of which.

`publications`, `deliveries` and `subscriptions` are written as they happen, `links`, `standings` (on rings, or by interests), `connections` and `traffic` once per stage,
which is a period unless somebody says otherwise. Where somebody looks on (`watch`), `nodes` (one comes or leaves) and `endings` (a link is no more, and why) as they
happen, `held` (its neighbours on a topic) and `linked` (whom it is connected with) when they have changed. Ids are numbers, times are
seconds since 1970. A row about a node that starts anew has another `life`.
"""

import asyncio
import json
import logging
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ropewalk.engines.live.api import Node
from ropewalk.engines.live.changes import LOOKING, Changes
from ropewalk.engines.live.endings import Ending
from ropewalk.engines.live.envelope import unseal
from ropewalk.engines.live.wants import as_json
from ropewalk.errors import RunError
from ropewalk.protocols.content.filters import Filter
from ropewalk.protocols.contract import Contact, Event, Received
from ropewalk.protocols.kato.node import Node as KatoNode
from ropewalk.protocols.scribe.node import Node as ScribeNode

log = logging.getLogger(__name__)


class Telemetry:
    """Looks on at one node."""

    def __init__(self, node: Node, path: Path, life: int = 0) -> None:
        self.node, self.life = node, life
        self._sent: dict[str, tuple[int, int]] = {}  # what was counted at the last stage
        self._copies: dict[int, int] = {}  # that came since then, of events that had come before
        self.failed: str | None = None  # why rows could not be written
        self._ticking: asyncio.Task[None] | None = None
        self._looking: asyncio.Task[None] | None = None
        self._changes = Changes()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("a", buffering=1)  # a line at a time: who is killed has written what it did
        except OSError as error:
            raise RunError(f"telemetry cannot be written to {path}: {error.strerror}.") from None
        node.published, node.delivered, node.followed, node.came_again = (
            self._published,
            self._delivered,
            self._followed,
            self._came_again,
        )

    def begin(self) -> None:
        """Take a stage once per period."""
        self._ticking = asyncio.create_task(self._tick())

    def watch(self) -> None:
        """From now on, as the node runs, also say whom it is linked with and holds, as soon as that has changed."""
        down = self.node.transport.down

        def ended(contact: Contact, ending: Ending) -> None:
            self._changes.unlink(contact.id)
            about = {"neighbour": contact.id, "at": time.time(), "cause": ending.cause, "why": ending.why}
            self._write("endings", node=self.node.identity.id, **about)
            down(contact, ending)

        self.node.transport.down = ended
        self._say_that_it_is(up=True)
        self._looking = asyncio.create_task(self._look())

    def stage(self, name: str) -> None:
        """What it holds now, and what it has sent since the last stage."""
        at, me = time.time(), self.node.identity.id
        held = self.node.driver.machine.held()
        for topic, contacts in held.items():
            for contact in contacts:
                self._write("links", stage=name, at=at, node=me, topic=topic, neighbour=contact.id)
        self._say_where_it_stands(name, at, me)
        self._write("connections", stage=name, at=at, node=me, links=len(self.node.transport.links), topics=list(held))
        counts = self.node.transport.counts
        sent = {kind: (messages, size) for kind, (messages, size) in counts.sent.items()}
        sent |= {"ping": (counts.pings, 4 * counts.pings)}
        for kind, (messages, size) in sent.items():
            before = self._sent.get(kind, (0, 0))
            if (messages, size) != before:
                more = {"messages": messages - before[0], "bytes": size - before[1]}
                self._write("traffic", stage=name, node=me, kind=kind, at=at, **more)
        self._sent = sent
        for event, copies in self._copies.items():
            self._write("copies", event=event, node=me, copies=copies)
        self._copies.clear()

    def _say_where_it_stands(self, name: str, at: float, me: int) -> None:
        machine = self.node.driver.machine
        if isinstance(machine, KatoNode):
            self._write("standings", stage=name, at=at, node=me, **asdict(machine.standing()))
        if isinstance(machine, ScribeNode):
            standing = machine.standing()
            branches = [[topic, parent, topic in standing.roots] for topic, parent in standing.parents.items()]
            self._write(
                "standings",
                stage=name,
                at=at,
                node=me,
                held=standing.held,
                branches=branches,
                follows=list(standing.follows),
            )

    async def close(self) -> None:
        """Write what is left, and nothing more."""
        running = [task for task in (self._ticking, self._looking) if task is not None]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        if self._looking is not None:
            self._say_that_it_is(up=False)
        self._file.close()

    async def _tick(self) -> None:
        turn = 0
        while True:
            await asyncio.sleep(self.node.options.settings.period)
            turn += 1
            self.stage(f"round {turn}")

    async def _look(self) -> None:
        while True:
            self._say_what_changed()
            await asyncio.sleep(LOOKING)

    def _say_what_changed(self) -> None:
        at, me = time.time(), self.node.identity.id
        for topic, neighbours in self._changes.held(self.node.driver.machine.held()):
            self._write("held", node=me, at=at, topic=topic, neighbours=neighbours)
        linked = self._changes.linked(self.node.transport.links, at)
        if linked is not None:
            self._write("linked", node=me, at=at, up=linked.up, down=linked.down)

    def _say_that_it_is(self, *, up: bool) -> None:
        about = {"up": up, "address": self.node.address, "protocol": self.node.options.protocol}
        self._write("nodes", node=self.node.identity.id, at=time.time(), **about)

    def _published(self, event: Event) -> None:
        letter = unseal(event.payload)
        assert letter is not None  # it was sealed here
        size = sum(len(each) for each in letter.said if each is not None)
        about: dict[str, Any] = {"publisher": event.publisher, "topics": list(event.topics), "size": size}
        if event.content:
            about["content"] = event.content
        self._write("publications", event=event.id, at=time.time(), **about)

    def _delivered(self, event: Event, hops: int) -> None:
        row: dict[str, Any] = {"event": event.id, "node": self.node.identity.id, "hops": hops, "at": time.time()}
        taken = self.node.driver.taking
        if isinstance(taken, Received):
            row["from"] = taken.sender.id
        self._write("deliveries", **row)

    def _followed(self, topic: int, wanted: tuple[Filter, ...] | None) -> None:
        about: dict[str, Any] = {"topic": topic, "at": time.time(), "follows": wanted is not None}
        if name := self.node.name_of(topic):
            about["name"] = name
        if wanted:
            about["filters"] = [as_json(each) for each in wanted]
        self._write("subscriptions", node=self.node.identity.id, **about)

    def _came_again(self, event: int) -> None:
        self._copies[event] = self._copies.get(event, 0) + 1

    def _write(self, table: str, **row: Any) -> None:
        if self._file.closed:
            return
        try:
            self._file.write(json.dumps({"table": table, "life": self.life} | row) + "\n")
        except OSError as error:
            log.error("telemetry ends here: %s", error.strerror)  # noqa: TRY400  the disk is full, or gone
            self.failed = error.strerror
            with suppress(OSError):
                self._file.close()

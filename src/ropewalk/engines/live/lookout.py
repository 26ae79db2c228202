"""Who lives, and who sends too much: what a node looks at again and again.

Whoever says nothing for a while is gone, even if its machine is only frozen: TCP alone does not notice. A node that was itself
held up gives others the benefit of the doubt.
"""

import asyncio
import math
from collections.abc import Callable

from ropewalk.engines.live.connection import Connection
from ropewalk.engines.live.endings import Ending
from ropewalk.engines.live.frames import Waiting
from ropewalk.engines.live.limits import CROWDED, SLOW, STALLED, UNFINISHED, WATCHED, Limits

FROZEN = 2.5  # ours, heartbeats of the slower end: whoever has not been heard for so long is gone
SILENT = 0.75  # ours, heartbeats: whoever has said nothing for so long says that it lives, at the next look, of which there are two in each at least


class Lookout:
    """Over the links of one node."""

    def __init__(
        self,
        links: dict[int, Connection],
        closing: dict[Connection, None],
        waiting: Waiting,
        limits: Limits,
        heartbeat: float,
        cut_off: Callable[[int, str, str], None],
        crowded: Callable[[bool], None],
        late: Callable[[float, float], None],
    ) -> None:
        self.links, self.closing, self.waiting, self.limits, self.heartbeat = links, closing, waiting, limits, heartbeat
        self.cut_off, self.crowded = cut_off, crowded
        self.late = late  # told by how much the loop is late, and when it is now

    async def beat(self) -> None:
        """Go on saying that this node lives, and seeing who does not: at the moment from which it counts as gone."""
        loop = asyncio.get_running_loop()
        half = self.heartbeat / 2
        due = loop.time() + half
        while True:
            await asyncio.sleep(max(0.0, due - loop.time()))
            now = loop.time()
            due = min(now + half, self._look_around(now, held_up=now - due > half))

    async def watch(self) -> None:
        """Go on looking for who sends too much, and for whom too much waits."""
        loop = asyncio.get_running_loop()
        due = loop.time() + WATCHED
        while True:
            await asyncio.sleep(max(0.0, due - loop.time()))
            now = loop.time()
            self.late(now - due, now)
            self._look_for_floods(now, held_up=now - due > WATCHED)
            self.make_room()
            due = now + WATCHED

    def make_room(self) -> None:
        """If much waits in all, nobody need send more; if too much does, for whom most waits goes."""
        total, most = self.waiting.bytes, self.waiting.most
        self.waiting.spilled = False
        self.crowded(total > CROWDED * most)
        if total <= most:
            return
        waiting = {connection: connection.lanes.waiting_bytes for connection in (*self.links.values(), *self.closing)}
        while waiting and total > most:
            slowest = max(waiting, key=waiting.__getitem__)
            total -= waiting.pop(slowest)
            slowest.abort(Ending("failed", f"evicted: it is {SLOW}"))

    def _look_for_floods(self, now: float, *, held_up: bool) -> None:
        """Cut off who sends more than anybody who keeps the rules; hang up on who does not go on, who may only be slow."""
        for node, connection in list(self.links.items()):
            if connection.pace is not None:
                connection.pace.look(now)
            if held_up or connection.is_unread:
                connection.unfinished_since = now
                connection.budget.unread += WATCHED
            elif connection.unfinished and now - connection.unfinished_since > STALLED:
                connection.abort(Ending("failed", f"evicted: {UNFINISHED}"))
                continue
            if connection.heard_at < now - 2 * WATCHED:
                continue  # it has said nothing since
            kind = self.limits.excess(connection.budget, connection.counted(), now)
            if kind is not None:
                self.cut_off(node, f"flood of {kind}", f"it sends too many messages of kind {kind}")

    def _look_around(self, now: float, *, held_up: bool) -> float:
        """Say that this node lives, and see who does not; until when nobody else can be gone.

        If it was held up, what others have said may still be unread.
        """
        soonest = math.inf
        for connection in list(self.links.values()):
            if held_up or connection.is_unread:
                connection.heard_at = now
            gone_at = connection.heard_at + FROZEN * self._beats(connection)
            if now >= gone_at:
                connection.abort(Ending("failed", "frozen"))
                continue
            soonest = min(soonest, gone_at)
            if now - connection.said_at >= SILENT * self.heartbeat:
                connection.ping()
        return soonest

    def _beats(self, connection: Connection) -> float:
        """How often one end at least says that it lives."""
        return max(self.heartbeat, connection.other.heartbeat if connection.other is not None else 0.0)

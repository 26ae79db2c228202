"""Events on their way out of a node: each gets an id, a seal, and for topics that are not followed here a word of what became of it."""

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from secrets import token_bytes
from struct import unpack

from ropewalk.engines.live.arrived import TOPIC_BYTES
from ropewalk.engines.live.envelope import MOST_TOGETHER, SIGNED_IDS, TOGETHER_BYTES, Said, parcel, sealed, signed
from ropewalk.engines.live.identity import Identity
from ropewalk.errors import RunError
from ropewalk.protocols.content.filters import Content
from ropewalk.protocols.contract import Event

IN_A_ROW = 16  # ours: events that travel alone, or parcels, that are published before others have a turn
DRAWN = 512  # ours: ids of events that are drawn at a time, since to draw one takes longer than all else about it


class UndeliverableError(RunError):
    """An event did not get into some of its topics."""

    def __init__(self, failed: dict[str, str]) -> None:
        self.failed = failed  # topic -> why
        said = "; ".join(f"{topic!r}: {why}" for topic, why in failed.items())
        super().__init__(f"the event did not get into {said}.")


class Outgoing:
    """What one node has published, as far as it is not yet known to be in."""

    def __init__(self, identity: Identity, say: Callable[[Event, Said], None], *, sign: bool) -> None:
        self.identity, self.sign, self.say = identity, sign, say
        self._signed_at = 0  # when it last signed an event, in microseconds since 1970
        self._ids: list[int] = []  # of its next events: nobody can tell them before
        self._confirming: dict[tuple[int, int], asyncio.Future[str]] = {}  # (event, topic) -> "" or why not
        self._together: list[bytes] = []  # what was said in this turn of the loop
        self._bytes = 0  # in there
        self._begun = 0  # parcels begun in this turn
        self.full = False  # whether as much was said in this turn as goes together: it is time for others to have one
        self._open = Event(0, identity.id, (), b"")  # what it will be, but for the payload

    def event(self, topics: tuple[int, ...], payload: bytes, content: Content = ()) -> Event:
        """Something to say, as an event that nobody has seen before."""
        self.flush()  # what was said before goes first
        if self.sign:
            self._signed_at = max(self._signed_at + 1, time.time_ns() // 1000)
            return signed(self.identity, topics, payload, self._signed_at, content)
        return sealed(self.identity, topics, payload, self._drawn(), content)

    @property
    def waiting(self) -> tuple[int, int]:
        """How much is yet to be said, and how many bytes of it, as they count where it waits to be read."""
        count = len(self._together)
        return count, self._bytes + TOPIC_BYTES * len(self._open.topics) * count

    def join(self, topics: tuple[int, ...], payload: bytes) -> tuple[int, int]:
        """Say something at the end of this turn of the loop, with what else is said on these topics: as which event, in which place."""
        size, place = len(payload), len(self._together)
        if place and (self._open.topics != topics or self._bytes + size > TOGETHER_BYTES or place >= MOST_TOGETHER):
            self.flush()
            place = 0
        if not place:
            self._open, self._bytes = Event(self._drawn(), self.identity.id, topics, b""), 0
            self._begun += 1
            self.full = self._begun >= IN_A_ROW
            if self._begun == 1:
                asyncio.get_running_loop().call_soon(self._end_turn)
        self._together.append(payload)
        self._bytes += size
        event = self._open.id
        if self._bytes + size > TOGETHER_BYTES or place + 1 >= MOST_TOGETHER:  # one more like it would not fit in
            self.flush()
            self.full = True
        return event, place

    def _end_turn(self) -> None:
        self._begun = 0
        self.flush()

    def flush(self) -> None:
        """Say what has come together."""
        said, self._together, self._bytes = self._together, [], 0
        if len(said) == 1:
            self.say(sealed(self.identity, self._open.topics, said[0], self._open.id), (said[0],))
        elif said:
            self.say(parcel(self.identity, self._open.topics, said, self._open.id), tuple(said))

    def _drawn(self) -> int:
        if not self._ids:
            self._ids.extend(each % SIGNED_IDS for each in unpack(f"{DRAWN}Q", token_bytes(8 * DRAWN)))
        return self._ids.pop()

    @contextmanager
    def confirming(self, event: Event, topics: Iterable[int]) -> Iterator["dict[int, asyncio.Future[str]]"]:
        """By topic, what becomes of an event: nothing, if it is in, or why it is not."""
        loop = asyncio.get_running_loop()
        futures = {topic: loop.create_future() for topic in topics}
        self._confirming.update(((event.id, topic), future) for topic, future in futures.items())
        try:
            yield futures
        finally:
            for topic in futures:
                self._confirming.pop((event.id, topic), None)

    def confirm(self, event: int, topic: int, why: str) -> bool:
        """An event is in a topic, or why not; whether anybody waits to hear of it."""
        future = self._confirming.get((event, topic))
        if future is None or future.done():
            return False
        future.set_result(why)
        return True

    def give_up(self) -> None:
        """Nobody will hear of any more."""
        for event, topic in list(self._confirming):
            self.confirm(event, topic, "its publisher left before it was known to be in")

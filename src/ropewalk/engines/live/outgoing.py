"""Events on their way out of a node: each gets an id, a seal, and for topics that are not followed here a word of what became of it."""

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from math import inf
from secrets import token_bytes
from struct import unpack

from ropewalk.engines.live.arrived import TOPIC_BYTES
from ropewalk.engines.live.envelope import MOST_TOGETHER, SIGNED_IDS, TOGETHER_BYTES, Said, sealed, signed
from ropewalk.engines.live.envelope import parcel as parcel_of
from ropewalk.engines.live.identity import Identity
from ropewalk.errors import RunError
from ropewalk.protocols.content.filters import Content
from ropewalk.protocols.contract import Event

IN_A_ROW = 16  # ours: events that travel alone, or parcels, that are published before others have a turn
APART = 0.001  # ours, seconds: from when something was said until the next goes, unless it is a full parcel by then; below what a link takes
MOST_OPEN = 64  # ours: parcels, each on topics of its own, that wait for that; one more, and all go
DRAWN = 512  # ours: ids of events that are drawn at a time, since to draw one takes longer than all else about it


class UndeliverableError(RunError):
    """An event did not get into some of its topics."""

    def __init__(self, failed: dict[str, str]) -> None:
        self.failed = failed  # topic -> why
        said = "; ".join(f"{topic!r}: {why}" for topic, why in failed.items())
        super().__init__(f"the event did not get into {said}.")


class _Parcel:
    """What is said on the same topics, and has yet to go."""

    __slots__ = ("bytes", "event", "said")

    def __init__(self, event: int) -> None:
        self.event = event  # its id
        self.said: list[bytes] = []
        self.bytes = 0  # of these


class Outgoing:
    """What one node has published, as far as it is not yet known to be in.

    Things that are said by themselves go at the end of the turn of the loop. What is said less than APART later waits until then, with all
    that is said meanwhile on the same topics: so who has much to say fills parcels however many turns it takes, and who has little never waits.
    """

    def __init__(self, identity: Identity, say: Callable[[Event, Said], None], *, sign: bool) -> None:
        self.identity, self.sign, self.say = identity, sign, say
        self._signed_at = 0  # when it last signed an event, in microseconds since 1970
        self._ids: list[int] = []  # of its next events: nobody can tell them before
        self._confirming: dict[tuple[int, int], asyncio.Future[str]] = {}  # (event, topic) -> "" or why not
        self._open: dict[tuple[int, ...], _Parcel] = {}  # by topics; MOST_OPEN
        self.waiting = (0, 0)  # things in there, and their bytes as they count where they wait to be read
        self._said_at = -inf  # when something last went
        self._due: asyncio.TimerHandle | None = None  # when the next goes, if that is not at the end of this turn
        self._begun = self._joined = 0  # parcels begun in this turn, and things said
        self._ending = False  # whether the end of this turn is waited for
        self.full = False  # whether so much was said in this turn that it is time for others to have one

    def event(self, topics: tuple[int, ...], payload: bytes, content: Content = ()) -> Event:
        """Something to say, as an event that nobody has seen before."""
        self.flush()  # what was said before goes first
        if self.sign:
            self._signed_at = max(self._signed_at + 1, time.time_ns() // 1000)
            return signed(self.identity, topics, payload, self._signed_at, content)
        return sealed(self.identity, topics, payload, self._drawn(), content)

    def join(self, topics: tuple[int, ...], payload: bytes) -> tuple[int, int]:
        """Say something soon, with what else is said on these topics: as which event, in which place."""
        size, parcel = len(payload), self._open.get(topics)
        if parcel is not None and parcel.bytes + size > TOGETHER_BYTES:
            self._close(topics)
            parcel = None
        if parcel is None:
            self._give_way(topics)
            parcel = self._open[topics] = _Parcel(self._drawn())
            self._begun += 1
        place = len(parcel.said)
        parcel.said.append(payload)
        parcel.bytes += size
        self._joined += 1
        self._count(1, size + TOPIC_BYTES * len(topics))
        # one more like it would not fit in
        is_full = place + 1 >= MOST_TOGETHER or parcel.bytes + size > TOGETHER_BYTES
        if is_full:
            self._close(topics)
        self.full = self.full or is_full or self._begun >= IN_A_ROW or self._joined >= MOST_TOGETHER
        if not self._ending:
            self._ending = True
            asyncio.get_running_loop().call_soon(self._end_turn)
        return parcel.event, place

    def _end_turn(self) -> None:
        self._ending = False
        self._begun = self._joined = 0
        if not self._open or self._due is not None:
            return
        loop, due = asyncio.get_running_loop(), self._said_at + APART
        if loop.time() >= due:
            self.flush()
        else:
            self._due = loop.call_at(due, self.flush)

    def flush(self) -> None:
        """Say all that has come together, what was begun first before the others."""
        if self._due is not None:
            self._due.cancel()
            self._due = None
        try:
            while self._open:
                self._close(next(iter(self._open)))
        finally:
            if self._open:  # one could not be said: the others can
                asyncio.get_running_loop().call_soon(self.flush)

    def _give_way(self, topics: tuple[int, ...]) -> None:
        """What was said before on some of these topics goes before another parcel is begun; all, if there are too many."""
        if len(self._open) >= MOST_OPEN:
            self.flush()
        wanted = {*topics}
        for others in [each for each in self._open if not wanted.isdisjoint(each)]:
            self._close(others)

    def _close(self, topics: tuple[int, ...]) -> None:
        """Say what has come together on these topics."""
        parcel, self._said_at = self._open.pop(topics), asyncio.get_running_loop().time()
        said = parcel.said
        self._count(-len(said), -parcel.bytes - TOPIC_BYTES * len(topics) * len(said))
        if len(said) == 1:
            self.say(sealed(self.identity, topics, said[0], parcel.event), (said[0],))
        else:
            self.say(parcel_of(self.identity, topics, said, parcel.event), tuple(said))

    def _count(self, more: int, bytes_: int) -> None:
        count, size = self.waiting
        self.waiting = (count + more, size + bytes_)

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

"""From what a program has to say to an event that is in its topics: checked, held up while others are too slow, and confirmed."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress

from ropewalk.engines.live.driver import Driver
from ropewalk.engines.live.envelope import MOST_SAID, name_of, unseal
from ropewalk.engines.live.identity import topic_of
from ropewalk.engines.live.joining import Joining
from ropewalk.engines.live.outgoing import IN_A_ROW, Outgoing, UndeliverableError
from ropewalk.engines.live.readers import ROOM, Readers
from ropewalk.engines.live.subscriptions import MOST_NAMED
from ropewalk.engines.live.transport import Transport
from ropewalk.engines.live.wants import Cutting
from ropewalk.errors import UsageError
from ropewalk.protocols.content.filters import Content
from ropewalk.protocols.contract import Entered, Event, Report
from ropewalk.protocols.dissemination.injection import UNWANTED
from ropewalk.protocols.dissemination.settings import MOST_TOPICS

BYTES = (bytes, bytearray, memoryview)
JOINED = 10.0  # ours, seconds: how long publishing waits for a bootstrap node, from the start
SAID_AGAIN = 10.0  # ours, seconds: from one warning that an event did not get into a topic to the next
log = logging.getLogger(__name__)


class Publishing:
    """At one node."""

    driver: Driver
    transport: Transport

    def __init__(
        self,
        outgoing: Outgoing,
        readers: Readers,
        cutting: Cutting,
        counts: dict[str, int],
        is_running: Callable[[], bool],
        must_run: Callable[[], None],
    ) -> None:
        self.outgoing, self.readers, self.cutting, self.counts = outgoing, readers, cutting, counts
        self.is_running, self.must_run = is_running, must_run
        self.joining: Joining | None = None
        self.started_at = self._say_again_at = 0.0
        self._names: dict[tuple[str, ...], dict[int, str]] = {}  # topics that were published on together; MOST_NAMED

    def begin(self, driver: Driver, transport: Transport, joining: Joining | None, started_at: float) -> None:
        """Its node has started."""
        self.driver, self.transport, self.joining, self.started_at = driver, transport, joining, started_at
        driver.report, driver.entered = self._report, self._entered

    def checked(
        self, payload: bytes, topics: Iterable[str], content: Mapping[str, float | str] | None
    ) -> tuple[bytes, dict[int, str], Content]:
        """What somebody wants to publish, with ids of topics; raises UsageError if it cannot be."""
        if isinstance(topics, str):
            raise UsageError(f"topics is {topics!r}, but must be a list of names: say [{topics!r}].")
        named = self._named(tuple(topics))
        by_name: Content = ()
        if content is not None:
            if named:
                raise UsageError("an event is on topics, or says something by name (content): drop one.")
            said = self.cutting.said(content)
            named, by_name = {said.cell: said.words}, said.content
        if not named or len(named) > MOST_TOPICS:
            raise UsageError(f"an event has {len(named)} topics, but must have from 1 to {MOST_TOPICS}.")
        if not isinstance(payload, BYTES):
            raise UsageError(f"a payload is a {type(payload).__name__}, but must be bytes: encode it.")
        payload = bytes(payload)
        if len(payload) > MOST_SAID:
            raise UsageError(f"an event of {len(payload)} bytes is too large: {MOST_SAID} are carried at the most.")
        return payload, named, by_name

    def _named(self, topics: tuple[str, ...]) -> dict[int, str]:
        """Topics by id; to be read only."""
        try:
            named = self._names.get(topics)
        except TypeError:  # a name of a wrong kind, of which `topic_of` will say so
            named = None
        if named is None:
            named = {topic_of(topic): topic for topic in topics}
            if len(self._names) >= MOST_NAMED:
                self._names.clear()
            self._names[topics] = named
        return named

    def called(self, topic: int) -> str:
        """A topic, as somebody here has named it, or by its id."""
        named = next((names[topic] for names in self._names.values() if names.get(topic)), "")
        named = named or self.readers.name(topic)
        return repr(named) if named else f"{topic:016x}"

    async def publish(self, payload: bytes, topics: dict[int, str], content: Content, *, alone: bool = False) -> str:
        """Have it on its way, and on topics that are not followed here in; the id of the event."""
        follows = self.driver.machine.follows
        joining = self.joining
        if joining is not None and not joining.joined.is_set() and not all(map(follows, topics)):
            try:
                async with asyncio.timeout_at(self.started_at + JOINED):
                    await joining.joined.wait()
            except TimeoutError:
                why = f"no bootstrap node could be reached ({joining.unreached})"
                raise UndeliverableError(dict.fromkeys(topics.values(), why)) from None
        while self.is_running() and self.readers.is_full(topics, content, *self.outgoing.waiting):
            self.outgoing.flush()
            await self.readers.room(topics, content, self.is_running)
        if self.transport.slow:
            await self._room(topics)
        self.must_run()
        ids, strange = tuple(topics), [topic for topic in topics if not follows(topic)]
        self.counts["published"] += 1
        if alone or strange or content or self.outgoing.sign:
            event = self.outgoing.event(ids, payload, content)
            await self._get_in(event, payload, topics, strange)
            return name_of(event.id)
        event_id, place = self.outgoing.join(ids, payload)
        if self.outgoing.full:
            self.outgoing.full = False
            await asyncio.sleep(0)  # others have a turn
        return name_of(event_id, place)

    async def _get_in(self, event: Event, payload: bytes, topics: dict[int, str], strange: list[int]) -> None:
        """Publish an event by itself. On topics that are not followed here members must be found, and say that they have it."""
        with self.outgoing.confirming(event, topics) as confirming:
            self.outgoing.say(event, (payload,))
            if strange:
                await asyncio.wait([confirming[topic] for topic in strange])
            elif not self.counts["published"] % IN_A_ROW:
                await asyncio.sleep(0)  # others have a turn
        failed = {topics[topic]: future.result() for topic, future in confirming.items() if future.done()}
        failed = {topic: why for topic, why in failed.items() if why}
        if event.content and UNWANTED in failed.values():
            self.counts["unwanted"] += 1  # no fault: who wants something else is not known to who publishes
        elif failed:
            raise UndeliverableError(failed)

    async def _room(self, topics: Iterable[int]) -> None:
        """Wait for neighbours that cannot keep up with these; what they have no room for then is counted."""
        with suppress(TimeoutError):
            async with asyncio.timeout(ROOM):
                for link in list(self.transport.slow):
                    if (link.is_pressed or link.lanes.waits_on(topics)) and link.is_worth_waiting_for():
                        await link.room.wait()

    def _report(self, report: Report) -> None:
        """An event did not get into a topic. Whoever published it may have gone on: on topics that are followed here nobody waits."""
        if self.outgoing.confirm(report.event.id, report.topic, report.why) or report.event.content:
            return  # what says something by name may be wanted by nobody: who published it was told
        letter = unseal(report.event.payload)
        assert letter is not None  # it was sealed here
        self.counts["undelivered"] += len(letter.said)
        now = asyncio.get_running_loop().time()
        if self.driver.machine.follows(report.topic) and now >= self._say_again_at:
            self._say_again_at = now + SAID_AGAIN
            words = "an event did not get into %s, which is followed here: %s; all of them are counted (undelivered)"
            log.warning(words, self.called(report.topic), report.why)

    def _entered(self, entered: Entered) -> None:
        self.outgoing.confirm(entered.event, entered.topic, "")

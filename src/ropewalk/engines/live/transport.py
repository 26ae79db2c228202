"""The connections of one node: one with each other node, whoever called and however many topics share it.

Two nodes that call each other at the same time end up with one connection: the call of the one with the smaller id stands.
That one lets the other's call wait for what becomes of its own; a caller that does not hang up by then has lost the
connection that this end still believes in, and gets a new one.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import replace
from math import inf
from typing import Any

from ropewalk.engines.live.calls import UNANSWERED, Call
from ropewalk.engines.live.connection import LAGGING, Connection
from ropewalk.engines.live.door import Door
from ropewalk.engines.live.endings import Counts, Ending
from ropewalk.engines.live.frames import Waiting
from ropewalk.engines.live.handshake import Other, Terms
from ropewalk.engines.live.identity import ClusterCertificate, contexts, id_of
from ropewalk.engines.live.limits import (
    BEFORE_PROOF,
    CALLERS,
    CALLS,
    KEPT_OUT,
    MOST_CALLS,
    MOST_UNFINISHED_IN_ALL,
    MOST_WAITING_IN_ALL,
    OUT,
    SLOW,
    TOO_MANY,
    UNFINISHED,
    Bounds,
    Limits,
    descriptors,
)
from ropewalk.engines.live.lookout import Lookout
from ropewalk.engines.live.pace import PassedOver
from ropewalk.engines.live.reading import Reading
from ropewalk.engines.live.sockets import AT_ONCE
from ropewalk.engines.live.turns import Turns
from ropewalk.engines.live.wire import Codec, TooLongError, WireError
from ropewalk.protocols.contract import Cause, Contact, Message
from ropewalk.protocols.rates import Bucket

MOST_CALLING = (
    16  # ours: calls at a time, the others wait for their turn: handshakes are dear, and a crowd of them times out
)
MOST_SILENT = 64  # ours: calls besides to who does not answer, as many as are under way on the word of others; a sixteenth of the descriptors, if fewer
CROSSED = 0.5  # ours, seconds: how long somebody whose call has crossed ours may take to hang up
MOST_COUNTED = 4096  # ours: pairs of node and topic whose lost events are counted apart
# why somebody was turned away or cut off, besides what `limits` and `door` say
NO_PROOF, GARBLED, MANY_CALLS = "no proof in time", "garbled", "too many calls to make"
NOT_SENT = "too long to be sent"
OFFENCES = {"garbled": GARBLED, "unproven": "wrong proof"}  # endings that are held against who brought them about
log = logging.getLogger(__name__)


class Transport:
    """Calls others, and is called. It tells `up`, `down` and `heard`, which its owner sets."""

    def __init__(
        self,
        terms: Terms,
        codec: Codec,
        cluster: ClusterCertificate | None = None,
        call_from: str | None = None,
        bounds: Bounds | None = None,
    ) -> None:
        self.terms = replace(terms, admits=lambda public: self._lets_in(public) and terms.admits(public))
        self.codec = codec
        self.call_from = None if call_from is None else (call_from, 0)
        self.served, self.calling, self.certificate = contexts(terms.identity, cluster)
        self.counts = Counts()
        self.endings: dict[str, int] = {}  # connections that are no more, by why
        # events that found no room: (node, topic) -> how many; MOST_COUNTED, and the others together
        self.dropped: dict[tuple[int, int], int] = {}
        self.links: dict[int, Connection] = {}  # that are up
        self.calls: dict[int, Call] = {}  # to nodes that are known
        self.strangers: dict[Connection, None] = {}  # that have called, and are yet to be let in
        self.closing: dict[Connection, None] = {}  # until all is sent
        self.slow: dict[Connection, None] = {}  # on which much waits to be sent
        self.unfinished = 0  # bytes of what has not come whole
        self.lagging_from, self.passed_over = LAGGING, PassedOver()  # see `owner.Owner`
        self.reading, self.waiting = Reading(self._see_to_reading), Waiting(MOST_WAITING_IN_ALL, self._spilled)
        self.up: Callable[[Contact], None] = lambda _: None
        self.down: Callable[[Contact, Ending], None] = lambda _, __: None
        self.heard: Callable[[Contact, Any], None] = lambda _, __: None
        self.lagging: Callable[[Connection], None] = lambda _: None  # a neighbour does not keep up
        self.relieved: Callable[[Connection], None] = lambda _: None  # it has room for a little more
        self.caught_up: Callable[[Connection], None] = lambda _: None  # it does keep up again, or is gone
        self.gone: Callable[[Connection], None] = lambda _: None  # nothing is to be read or sent there any more
        allowed = descriptors()
        self.limits = Limits((bounds or Bounds()).fitting(allowed))
        self._calling = Turns(MOST_CALLING, MOST_SILENT if allowed == inf else min(MOST_SILENT, int(allowed) // 16))
        self._pace = Bucket(CALLS, asyncio.get_running_loop().time())  # of calls
        self._door: Door | None = None
        self._lookout: Lookout | None = None
        self._closed = False
        self._tasks: set[asyncio.Task[None]] = set()

    # What its owner asks for

    async def listen(self, host: str, port: int) -> int:
        """Let others call from now on; the port, which is any that is free if 0 was asked for."""
        self._door = Door(self.limits, self.served, UNANSWERED, lambda: Connection(self), self._was_behind)
        return await self._door.open(host, port)

    def begin(self) -> None:
        """See from now on who lives."""
        lookout = Lookout(
            self.links,
            self.closing,
            self.waiting,
            self.limits,
            self.terms.heartbeat,
            self.cut_off,
            self._crowd,
            self._calling.look,
        )
        self._lookout = lookout
        self._spawn(lookout.beat())
        self._spawn(lookout.watch())

    def connect(self, contact: Contact) -> None:
        """Have a link with this node: `up` or `down` follows, later."""
        if contact.id in self.calls:
            return
        if contact.id in self.links:
            asyncio.get_running_loop().call_soon(self._still_up, contact.id)
            return
        if too_many := self._too_many_calls():
            self.limits.count(too_many)
            asyncio.get_running_loop().call_soon(self.down, contact, Ending("failed", "unreachable"))
            return
        call = self.calls[contact.id] = Call()
        call.task = self._spawn(self._call(contact, call))

    def _too_many_calls(self) -> str:
        """Why nobody is called any more for now, if so: others can have a node call whom they name."""
        if len(self.links) + len(self.calls) >= self.limits.bounds.links:
            return TOO_MANY
        return MANY_CALLS if len(self.calls) >= MOST_CALLS else ""

    def disconnect(self, contact: Contact, cause: Cause) -> None:
        """Have none any more; nothing follows."""
        connection = self.links.pop(contact.id, None)
        if connection is not None:
            self.closing[connection] = None
            self._count(cause)
            connection.close(cause)

    def send(self, contact: Contact, message: Message) -> None:
        """Send this over the link, if there is one; events that find no room are counted."""
        connection = self.links.get(contact.id)
        if connection is None:
            return
        try:
            sent = connection.send(message)
        except TooLongError:  # what others had to say, passed on with more, can be too much
            self.limits.count(NOT_SENT)
            return
        except WireError:
            log.exception("not sent")  # ours to have kept the rules
            return
        if not sent:
            key = (contact.id, message.topics[0])
            key = key if key in self.dropped or len(self.dropped) < MOST_COUNTED else (0, 0)
            self.dropped[key] = self.dropped.get(key, 0) + 1

    def recall(self, contact: Contact, kind: str, event: int) -> None:
        """Send no more of an event that waits."""
        connection = self.links.get(contact.id)
        if connection is not None:
            connection.recall(kind, event)

    async def greet(self, address: str) -> Contact:
        """Who is at an address. There is a link to it then; raises OSError or WireError if there is none."""
        call = Call()
        try:
            return (await self._dial(None, address, call)).contact
        except WireError:
            if call.connection is not None and call.connection.twin is not None:
                return call.connection.twin  # it is linked already
            raise

    async def close(self) -> None:
        """End everything. Whoever still has a link is told that this node leaves."""
        self._closed = True
        ending = self._door.close() if self._door is not None else []
        for call in list(self.calls.values()):
            call.hang_up()
        for connection in list(self.strangers):
            connection.abort()
        for connection in list(self.links.values()):
            self.disconnect(connection.contact, "left")
        await asyncio.gather(*(connection.gone.wait() for connection in self.closing))
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*ending, *self._tasks, return_exceptions=True)

    # What connections tell (`owner.Owner`)

    def recognised(self, connection: Connection, other: Other) -> None:
        """Whoever was called is there; who calls may be let in."""
        known = self.links.get(other.contact.id)
        if not connection.dialled:
            connection.be_patient(
                None
            )  # that it may have to wait from here on, CROSSED twice at the most, is not its fault
            self._spawn(self._admit(connection, other))
        elif known is not None and not known.dialled and _is_same(known, other) and self._yields_to(other):
            connection.twin = known.contact
            connection.abort(Ending("closed", "crossed"))
        else:
            self._install(connection)

    def arrived(self, connection: Connection) -> None:
        """Somebody calls."""
        if self._closed:
            connection.abort()
            return
        if self._is_turned_away(connection):
            return
        if len(self.strangers) >= self.limits.bounds.strangers:  # who is in the way for longest goes
            eldest = next(iter(self.strangers))
            self.limits.count(BEFORE_PROOF)
            del self.strangers[eldest]
            eldest.refuse("there are too many others.")
        self.strangers[connection] = None
        due = self._now() + UNANSWERED
        connection.be_patient(asyncio.get_running_loop().call_at(due, self._give_up, connection, due))

    def received(self, connection: Connection, messages: list[Any]) -> None:
        """Messages have come together."""
        contact, heard = connection.contact, self.heard
        if self.links.get(contact.id) is connection:
            for message in messages:
                heard(contact, message)
                if connection.ending is not None:
                    return  # it was one too many

    def slowed(self, connection: Connection) -> None:
        """Much waits to be sent on it."""
        self.slow[connection] = None

    def holds(self, more: int) -> None:
        """More has come of what is not whole. If that is too much in all, the link goes on which most of it is kept for longest.

        By bytes and seconds together: who sends something large at once is not to make room for who has begun to, and lets it lie.
        """
        self.unfinished += more
        while more > 0 and self.unfinished > MOST_UNFINISHED_IN_ALL:
            holding = [connection for connection in (*self.links.values(), *self.closing) if connection.unfinished]
            if not holding:
                return  # it is somebody's who is gone already
            now = self._now()
            most = max(holding, key=lambda connection: connection.kept(now))
            most.abort(Ending("failed", f"evicted: {UNFINISHED}"))
            most.forget()

    def eased(self, connection: Connection) -> None:
        """Little does again."""
        self.slow.pop(connection, None)
        self.caught_up(connection)

    def eased_a_little(self, connection: Connection) -> None:
        """Who sends it here need not wait any more."""
        self.relieved(connection)

    def lagged(self, connection: Connection) -> None:
        """So much waits that who sends it here has to wait."""
        self.lagging(connection)

    def ended(self, connection: Connection, ending: Ending) -> None:
        """A connection is no more."""
        why = ending.why.partition(":")[0]
        self._count(why)
        if why in OFFENCES:
            self.limits.offended(OFFENCES[why], connection.source, connection.public, self._now())
        elif why == "evicted":
            for about in (SLOW, UNFINISHED):
                if ending.why.endswith(about):
                    self.limits.count(about)
        if connection.other is not None and self.links.get(connection.contact.id) is connection:
            del self.links[connection.contact.id]
            self.down(connection.contact, ending)

    def _see_to_reading(self) -> None:
        """So much waits to be read over all links that nothing more is asked for, or no longer."""
        for connection in [*self.links.values(), *self.strangers, *self.closing]:
            connection.see_to_reading()

    def _spilled(self) -> None:
        """Too much waits to be sent over all links: who lets most of it wait goes before anything else is done."""
        if self._lookout is not None:
            asyncio.get_running_loop().call_soon(self._lookout.make_room)

    def _crowd(self, crowded: bool) -> None:
        """Whether much waits on all links together: then each lags sooner."""
        self.lagging_from = AT_ONCE if crowded else LAGGING

    def _yields_to(self, other: Other) -> bool:
        """Of two calls that cross, that of the smaller id stands."""
        return other.contact.id < self.terms.identity.id

    def linked_with(self, node: int) -> Contact | None:
        """Whether there is a link with a node already."""
        connection = self.links.get(node)
        return None if connection is None else connection.contact

    def vanished(self, connection: Connection) -> None:
        """Its socket is closed."""
        self.strangers.pop(connection, None)
        self.closing.pop(connection, None)
        self.gone(connection)
        if not connection.dialled:
            self.limits.goes(connection.source)

    def _lets_in(self, public: bytes) -> bool:
        """Whether a node is not kept out now."""
        if not self.limits.is_out(public, id_of(public), self._now()):
            return True
        self.limits.count(OUT)
        return False

    def cut_off(self, node: int, why: str, about: str = "", least: float = KEPT_OUT) -> None:
        """Have nothing to do with a neighbour for a while: it has broken a rule. To hang up before that is found out does not help."""
        connection = self.links.get(node)
        if connection is None:
            self.limits.offended(why, "", node, self._now(), least)
        else:
            self.limits.offended(why, connection.source, connection.public, self._now(), least)
            connection.abort(Ending("failed", f"evicted: {about or why}"))

    def _is_turned_away(self, connection: Connection) -> bool:
        """Whether others have opened as many links as they may."""
        called, most = sum(not each.dialled for each in self.links.values()), self.limits.bounds.links
        if called < CALLERS * most and len(self.links) < most:
            return False
        self.limits.count(TOO_MANY)
        connection.refuse("there are too many others.")
        return True

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    # Calling and being called

    async def _call(self, contact: Contact, call: Call) -> None:
        try:
            async with self._calling.taken():
                while not self._pace.take(self._now()):  # noqa: ASYNC110  time is what it waits for
                    await asyncio.sleep(1 / CALLS.a_second)
                await self._dial(contact.id, contact.address, call)
        except Exception as error:  # noqa: BLE001  whatever who was called has shown: who asked for the link is told that there is none
            log.debug("no link with %x at %s: %s", contact.id, contact.address, error)
            if self.calls.get(contact.id) is call:
                del self.calls[contact.id]
                why = "refused" if isinstance(error, WireError) else "unreachable"
                self.down(contact, Ending("failed", why))

    async def _dial(self, expected: int | None, address: str, call: Call) -> Connection:
        return await call.dial(address, lambda: Connection(self, expected, address), self.calling, self.call_from)

    async def _admit(self, connection: Connection, other: Other) -> None:
        """Let a caller in, unless its call has crossed ours, and ours stands."""
        node, mine = other.contact.id, self.terms.identity.id
        call = self.calls.get(node)
        if call is not None and mine < node and call.task is not None:
            await asyncio.wait((call.task,), timeout=CROSSED)  # it may lead nowhere, where this one has come through
        known = self.links.get(node)
        if known is not None and known.dialled and mine < node and _is_same(known, other):
            await connection.is_gone_within(CROSSED)
        if connection.ending is not None or connection.gone.is_set() or self._closed:
            connection.abort()
            return
        if node not in self.links and self._is_turned_away(connection):
            return
        call = self.calls.pop(node, None)
        if call is not None:
            call.hang_up()
        self.strangers.pop(connection, None)
        connection.welcome()
        self._install(connection)

    def _install(self, connection: Connection) -> None:
        """This is the link from now on. Whoever is told that the former is down finds this one up."""
        node = connection.contact.id
        self.calls.pop(node, None)
        former = self.links.get(node)
        self.links[node] = connection
        if former is not None:
            assert connection.other is not None
            cause: Cause = "closed" if _is_same(former, connection.other) else "failed"
            self.reading.finish(former)  # it may have broken, and have brought what was not read yet
            former.abort()
            former.ending = Ending(cause, "replaced")
            self._count("replaced")
            self.down(former.contact, former.ending)
        self.up(connection.contact)

    def _still_up(self, node: int) -> None:
        connection = self.links.get(node)
        if connection is not None:
            self.up(connection.contact)

    def _give_up(self, connection: Connection, due: float) -> None:
        if connection in self.strangers:
            self._calling.notice(self._now() - due, self._now())
            if self._was_behind():
                self.limits.count(NO_PROOF)
            else:
                self.limits.offended(NO_PROOF, connection.source, None, self._now())
            connection.refuse("it took too long.")

    def _was_behind(self) -> bool:
        """Whether this node was, with its own work: what others did not do in time may be its fault."""
        return self._calling.was_behind(self._now() - UNANSWERED)

    def _count(self, why: str) -> None:
        self.endings[why] = self.endings.get(why, 0) + 1

    def _spawn(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _is_same(known: Connection, other: Other) -> bool:
    """Whether it is the node that it was, and not one that has started anew."""
    return known.other is not None and known.other.incarnation == other.incarnation

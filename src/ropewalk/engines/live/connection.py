"""One connection with another node, from the handshake to its end."""

import asyncio
import ssl
from typing import Any, cast

from ropewalk.engines.live.endings import Ending
from ropewalk.engines.live.frames import (
    BYE,
    HEADER,
    MOST_CONTROL_WAITING,
    MOST_WAITING,
    OF_MESSAGES,
    PING,
    TOPICS,
    Lanes,
    Splitter,
    frame,
)
from ropewalk.engines.live.handshake import Called, Caller, Other, RefusedError, UnprovenError, refusal
from ropewalk.engines.live.identity import id_of, key_in
from ropewalk.engines.live.limits import SLOW, Budget
from ropewalk.engines.live.owner import Owner
from ropewalk.engines.live.pace import LEAST, Pace
from ropewalk.engines.live.reading import A_TURN, MOST_AHEAD, Ahead
from ropewalk.engines.live.sockets import AT_ONCE, prepare
from ropewalk.engines.live.wire import KIND_OF, KINDS, Numbers, Topics, WireError, fresh_topics
from ropewalk.protocols.contract import Carrier, Cause, Contact, Message

LAGGING = (
    MOST_WAITING // 2
)  # ours, bytes: that wait to be sent, from where on those from whom they come have to wait, usually
REFUSAL = 1.0  # ours, seconds: how long somebody who is refused may take to hear of it
FAREWELL = 2.0  # ours, seconds: how long a link that is closed may take to send what waits


class Connection(asyncio.Protocol):
    """An end of it."""

    def __init__(self, owner: Owner, expected: int | None = None, address: str | None = None) -> None:
        self.owner, self.expected, self.address = owner, expected, address
        self.dialled = address is not None
        self.loop = asyncio.get_running_loop()
        self.transport: asyncio.Transport | None = None
        self.hands: Called | Caller | None = None
        self.other: Other | None = None  # once it is recognised
        self.up = False  # once it is welcome
        self.ending: Ending | None = None
        self.splitter, self.lanes = Splitter(), Lanes(owner.counts.count_frames, owner.waiting)
        self.numbers, self.topics = Numbers(), Topics()
        self.heard_at = self.said_at = self.loop.time()
        self.paused = self.scheduled = self.leaving = False
        self.ahead = Ahead()
        self.held_up = False  # whether nothing is read for now, which is not the other end's fault
        self.held_at = 0.0  # since when
        self.is_paused = False  # whether the system is asked for no more for now: that is so, or much is yet to be read
        self.patience: asyncio.TimerHandle | None = None  # until it is ended, if somebody waits for it
        self.settled = asyncio.Event()  # once it is up, or will never be
        self.gone = asyncio.Event()  # once its socket is
        self.is_over = False  # and all that had come was read
        self.is_itself = False  # whether this node has called itself
        self.twin: Contact | None = None  # who was called without being known, and is linked already
        self.pace: Pace | None = None  # how fast it takes events, from when much began to wait until nothing does
        self.is_pressed = False  # whether that is so much that who sends it here has to wait
        self.progress = 0  # bytes that were sent
        self.least = LEAST  # see `pressure.Slow`
        self.unfinished = 0  # bytes that have come of what is not whole, as its owner was told
        self.unfinished_since = 0.0  # when they were last more or less
        self.room = asyncio.Event()  # whether little does
        self.room.set()
        self.source = ""  # what of the address of who called is counted together; nothing if this node called
        self.tally: dict[int, int] = {}  # frames that have come since this was last looked at, by kind: 256 at the most
        self.budget = Budget()

    @property
    def public(self) -> bytes | None:
        """The key of who is at the other end, once it has shown that it is."""
        return None if self.other is None else self.other.public

    @property
    def node(self) -> int | None:
        """Who is at the other end, if that is known; see `pressure.Slow`."""
        return None if self.other is None else self.other.contact.id

    @property
    def is_behind(self) -> bool:
        """Whether much waits to be sent there; see `pressure.Slow`."""
        return not self.room.is_set()

    @property
    def contact(self) -> Contact:
        """Who is at the other end."""
        assert self.other is not None
        return self.other.contact

    # What asyncio tells

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """TLS is up; now the two get to know each other."""
        self.transport = cast("asyncio.Transport", transport)
        self.transport.set_write_buffer_limits(high=AT_ONCE)
        cast("Any", transport).set_read_buffer_limits(high=AT_ONCE)  # of TLS: what it has and nobody asks for
        secured = cast("ssl.SSLObject", transport.get_extra_info("ssl_object"))
        certificate = secured.getpeercert(binary_form=True)
        prepare(transport.get_extra_info("socket"))
        try:
            if self.address is None:
                self.hands = Called(self.owner.terms, self.owner.certificate, certificate)
                self._write(frame(*self.hands.begin()))
                self.owner.arrived(self)
            else:
                self._call(certificate or b"", self.address)
        except WireError as error:
            self._refuse(error)

    def data_received(self, data: bytes) -> None:
        """Something has come."""
        self.heard_at = self.loop.time()
        self.owner.counts.heard_bytes += len(data)
        self.owner.reading.came(self, data)

    def take_in(self, data: bytes) -> None:
        """Read it; see `reading`. What still comes on a link that is closed is read, so that the system lets it end, and left."""
        if self._has_ended():
            return
        decode, topics, tally, messages = self.owner.codec.decode, self.topics, self.tally, list[Any]()
        wrong: WireError | None = None
        try:
            for kind, body in self.splitter.feed(data, self.loop.time()):
                tally[kind] = tally.get(kind, 0) + 1
                if kind >= OF_MESSAGES and self.up:
                    messages.append(decode(kind, body, topics))
                elif kind != PING or not self.up:
                    messages = self._hand_over(messages)  # what came before this
                    if self._has_ended():
                        return
                    self._take(kind, body)
        except WireError as error:
            wrong = error
        self._hand_over(messages)
        if self.up and self.unfinished != self.splitter.unfinished:
            self._hold()
        if wrong is not None and not self._has_ended():
            self._refuse(wrong)
        wrong = None  # it knows this frame, which knows it: only the collector of garbage would find them

    def _has_ended(self) -> bool:
        return self.ending is not None

    @property
    def is_unread(self) -> bool:
        """Whether this end does not read what the other may have said: then it says nothing about the other that it is not heard."""
        return self.held_up or self.is_paused or self.ahead.size > 0

    def is_read(self) -> bool:
        """Whether what has come may be read now; see `reading`."""
        return not self.held_up

    def see_to_reading(self) -> None:
        """Have the system go on handing over what comes, or not: while nothing is to be read here, or too much is yet to be."""
        if self.gone.is_set():
            if not self.ahead.size:
                self._lost()
            return
        too_much = self.ahead.size >= (A_TURN if self.is_paused else MOST_AHEAD)
        wait = self.held_up or too_much or self.owner.reading.is_crowded
        if wait != self.is_paused and not self._is_closing():
            self.is_paused = wait
            transport = cast("asyncio.Transport", self.transport)
            if wait:
                transport.pause_reading()
            else:
                transport.resume_reading()

    def pause_writing(self) -> None:
        """The system takes no more for now."""
        self.paused = True

    def resume_writing(self) -> None:
        """It does again."""
        self.paused = False
        self._flush()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  asyncio says so
        """It is no more, but for what has come before that and is yet to be read."""
        self.gone.set()
        self.held_up = False
        if self.ahead.size:
            self.owner.reading.go_on(self)
        else:
            self._lost()

    def _lost(self) -> None:
        if self.is_over:
            return
        self.is_over = True
        self._send_no_more()
        self._ease()
        self.forget()
        self.be_patient(None)
        self._end(Ending("failed", "reset"))
        # The buffers of TLS go with it, now: they are half a megabyte, whoever still knows this connection
        self.transport = None
        self.owner.vanished(self)

    def _send_no_more(self) -> None:
        """What waits to be sent there gets nowhere."""
        self.owner.counts.unsent += self.lanes.events
        self.lanes.forget()

    def _call(self, certificate: bytes, address: str) -> None:
        public = key_in(certificate)
        self.is_itself = public == self.owner.terms.identity.public
        self.hands = Caller(self.owner.terms, certificate, self.expected, address)
        if self.expected is None:
            self.twin = self.owner.linked_with(id_of(self.hands.public))
            if self.twin is not None:
                raise RefusedError("it is linked already.")

    # What its owner wants

    def welcome(self) -> None:
        """Let the caller in."""
        assert isinstance(self.hands, Called)
        self._write(frame(*self.hands.welcome()))
        self.up = self.splitter.pieces = True
        self.heard_at = self.loop.time()  # it had to wait, which is not its fault
        self.settled.set()

    def send(self, message: Message) -> bool:
        """Send this; False if there is no room for it."""
        kind, body = self.owner.codec.encode(message, self.numbers)
        fresh = fresh_topics(self.numbers)
        if fresh is not None:
            self.lanes.put(TOPICS, fresh)
        sent = True
        if kind in self.owner.codec.carriers:
            sent = self.lanes.put_event(message.topics[0], kind, body, cast("Carrier", message).event.id)
            if self.lanes.event_bytes > AT_ONCE and self.room.is_set():
                self.room.clear()
                self.owner.slowed(self)
                self.pace = self.pace or Pace(LEAST, self.progress, self.loop.time())
            if self.lanes.event_bytes > self.owner.lagging_from:
                self.is_pressed = True
                self.owner.lagged(self)
        else:
            self.lanes.put(kind, body)
            self.owner.counts.count(message.kind, len(body) + HEADER)
        if self.lanes.control_waiting > MOST_CONTROL_WAITING:
            self.loop.call_soon(self.abort, Ending("failed", f"evicted: it is {SLOW}"))
        self._schedule()
        return sent

    def recall(self, kind: str, event: int) -> None:
        """Send no more of an event that waits in a message of this kind."""
        if self.lanes.recall(KINDS[kind], event):
            self.owner.counts.recalled += 1
            self._schedule()

    def is_worth_waiting_for(self) -> bool:
        """Whether who has more to send may wait for it: not if it takes too little, or has done so of late on this link or another."""
        now, node = self.loop.time(), self.contact.id
        if self.pace is not None and self.pace.has_stopped(self.progress, now):
            self.owner.passed_over.add(node, now)
        return not self.owner.passed_over.has(node, now)

    def hold_up(self) -> None:
        """Read nothing for now: somebody here cannot keep up with what comes."""
        if not self._is_closing() and not self.held_up:
            self.held_up, self.held_at = True, self.loop.time()
            self.see_to_reading()

    def go_on(self) -> None:
        """Read again."""
        if self.held_up and not self._is_closing():
            now = self.loop.time()
            self.heard_at = self.unfinished_since = now
            self.splitter.put_off(now - self.held_at)
        self.held_up = False
        self.see_to_reading()
        self.owner.reading.go_on(self)

    def kept(self, now: float) -> float:
        """How much has not come whole, and for how long: bytes times seconds in which the rest could be heard."""
        return self.splitter.kept(self.held_at if self.held_up else now)

    def forget(self) -> None:
        """What has not come whole, and will not."""
        self.splitter.forget()
        self._hold()

    def counted(self) -> dict[str, int]:
        """The frames that have come since this was last asked, by kind."""
        tally, self.tally = self.tally, {}
        found: dict[str, int] = {}
        for kind, count in tally.items():
            name = KIND_OF.get(kind, "of the connection")
            found[name] = found.get(name, 0) + count
        return found

    def ping(self) -> None:
        """Say that this end lives, ahead of all that waits."""
        if not self.paused and not self._is_closing():
            self.owner.counts.pings += 1
            self._write(frame(PING, b""))

    def close(self, cause: Cause) -> None:
        """Send what waits, say good-bye, and end it."""
        if self.ending is not None:
            return
        self.ending = Ending(cause, cause)
        self.leaving = True
        self.forget()
        self.go_on()  # what the other end still says has to be read: else the system breaks off what this one has to say
        self.be_patient(self.loop.call_later(FAREWELL, self.abort))
        self._flush()

    async def is_gone_within(self, seconds: float) -> bool:
        """Whether the other end hangs up by then."""
        try:
            async with asyncio.timeout(seconds):
                await self.gone.wait()
        except TimeoutError:
            return False
        return True

    def be_patient(self, until: asyncio.TimerHandle | None) -> None:
        """Wait so long for something; None: no longer."""
        if self.patience is not None:
            self.patience.cancel()
        self.patience = until

    def abort(self, ending: Ending | None = None) -> None:
        """End it at once."""
        self.owner.reading.forget(self)
        self._send_no_more()
        if self.transport is not None:
            self.transport.abort()
        if ending is not None:
            self._end(ending)

    # Frames

    def _hold(self) -> None:
        more, self.unfinished = self.splitter.unfinished - self.unfinished, self.splitter.unfinished
        self.unfinished_since = self.loop.time()
        self.owner.holds(more)

    def _take(self, kind: int, body: bytes) -> None:
        if not self.up:
            self._shake(kind, body)
        elif kind == TOPICS:
            self.topics.learn(body)
        elif kind == BYE:
            self.abort(Ending("left", "left") if body == b"left" else Ending("closed", "closed"))
        else:
            raise WireError(f"a frame of kind {kind} came after the welcome.")

    def _hand_over(self, messages: list[Any]) -> list[Any]:
        if messages and self.ending is None:
            self.owner.received(self, [message for message in messages if message is not None])
        return []

    def _shake(self, kind: int, body: bytes) -> None:
        if self.other is not None or self.hands is None:
            raise WireError("it goes on before it is welcome.")
        answer = self.hands.receive(kind, body)
        if not isinstance(answer, Other):
            self._write(frame(*answer))
            return
        self.other = answer
        if self.dialled:
            self.up = self.splitter.pieces = True
            self.settled.set()
        self.owner.recognised(self, answer)

    def _refuse(self, error: WireError) -> None:
        if self.transport is None or self.up:
            self.abort(Ending("failed", f"garbled: {error}"))
            return
        if not self.transport.is_closing():
            self._write(frame(*refusal(str(error))))
            self.transport.close()
            self.be_patient(self.loop.call_later(REFUSAL, self.abort))  # whoever does not hang up is hung up on
        self._end(Ending("failed", f"{self._fault(error)}: {error}"))

    def _fault(self, error: WireError) -> str:
        """Whose fault it is that a link does not come up: nobody's, if one of the two does not want the other."""
        if self.dialled or (isinstance(error, RefusedError) and not isinstance(error, UnprovenError)):
            return "refused"
        return "unproven" if isinstance(error, UnprovenError) else "garbled"

    def refuse(self, why: str) -> None:
        """Do not let the caller in."""
        self._refuse(RefusedError(why))

    def _end(self, ending: Ending) -> None:
        self.settled.set()
        if self.ending is None:
            self.ending = ending
            self.owner.ended(self, ending)

    # Sending

    def _schedule(self) -> None:
        """What is sent in one turn of the loop is written together."""
        if not self.scheduled and not self.paused:
            self.scheduled = True
            self.loop.call_soon(self._flush)

    def _flush(self) -> None:
        self.scheduled = False
        while self.lanes and not self.paused and not self._is_closing():
            self._write(b"".join(self.lanes.take(AT_ONCE)))
        if self.lanes.event_bytes <= AT_ONCE and not self.room.is_set():
            self._ease()
        elif self.is_pressed and self.lanes.event_bytes <= self.owner.lagging_from - AT_ONCE:
            self.is_pressed = False
            self.owner.eased_a_little(self)
        if not self.lanes.event_bytes:
            self.pace = None
        if self.leaving and not self.lanes and not self._is_closing():
            self.leaving = False
            assert self.ending is not None
            assert self.transport is not None
            self._write(frame(BYE, self.ending.cause.encode()))
            self.transport.close()

    def _is_closing(self) -> bool:
        """Whether nothing that is written gets anywhere any more."""
        return self.transport is None or self.transport.is_closing()

    def _ease(self) -> None:
        self.is_pressed = False
        self.room.set()
        self.owner.eased(self)

    def _write(self, data: bytes) -> None:
        assert self.transport is not None
        self.said_at = self.loop.time()
        self.owner.counts.sent_bytes += len(data)
        self.progress += len(data)
        self.transport.write(data)

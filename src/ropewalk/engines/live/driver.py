"""A state machine on real sockets: inputs in, effects done, timers kept. It decides nothing.

What the simulator does in one process with a clock of its own, this does for one node with the loop's: messages and news of
links go in as they come, one at a time, and what the machine answers is done before the next goes in.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from typing import Any

from ropewalk.engines.live.endings import Ending
from ropewalk.engines.live.transport import Transport
from ropewalk.protocols.contract import (
    Connect,
    Contact,
    Deliver,
    Disconnect,
    Effect,
    Entered,
    Input,
    LinkDown,
    LinkUp,
    Node,
    Recall,
    Received,
    Report,
    Send,
    SetTimer,
    TimerFired,
)

log = logging.getLogger(__name__)


class Driver:
    """Runs one node."""

    def __init__(self, machine: Node, transport: Transport) -> None:
        self.machine, self.transport = machine, transport
        self.loop = asyncio.get_running_loop()
        self.deliver: Callable[[Deliver], None] = lambda _: None
        self.report: Callable[[Report], None] = lambda _: None
        self.entered: Callable[[Entered], None] = lambda _: None
        self.handled = 0  # inputs so far
        self.taking: Input | None = None  # the last of them: what is done now was answered to it
        self.moved = asyncio.Event()  # set at every input: for who waits for something to come about
        self.failed = 0  # inputs at which the machine raised: a bug, which must not take the node down
        self._doing: dict[type[Effect], Callable[[Any], None]] = {
            Send: lambda send: transport.send(send.to, send.message),
            SetTimer: lambda set_: self._set(set_.delay, set_.timer),
            Connect: lambda connect: transport.connect(connect.contact),
            Disconnect: lambda disconnect: transport.disconnect(disconnect.contact, disconnect.cause),
            Deliver: lambda deliver: self.deliver(deliver),  # noqa: PLW0108  this and the next are set later
            Report: lambda report: self.report(report),  # noqa: PLW0108
            Entered: lambda entered: self.entered(entered),  # noqa: PLW0108
            Recall: lambda recall: transport.recall(recall.to, recall.kind, recall.event),
        }
        self._inputs: deque[Input] = deque()
        self._held: list[Input] | None = None  # while it is paused
        self._running = False
        self._stopped = False
        self._timers: dict[asyncio.TimerHandle, None] = {}
        transport.up, transport.down, transport.heard = self._up, self._down, self.receive

    def tell(self, event: Input) -> None:
        """Have the machine take this in, after what it is about to take in already."""
        if self._held is not None and isinstance(event, Received | TimerFired):
            self._held.append(event)
            return
        if self._running or self._stopped:
            self._inputs.append(event)
            return
        if self._inputs:  # left over, since a command before them was refused
            self._inputs.append(event)
            event = self._inputs.popleft()
        self._running = True
        try:
            self._handle(event)
            while self._inputs and not self._stopped:
                self._handle(self._inputs.popleft())
        finally:
            self._running = False

    def receive(self, sender: Contact, message: Any) -> None:
        """A message has come."""
        self.tell(Received(sender, message))

    def pause(self) -> None:
        """Hold back messages and timers, but not commands and news of links, until `resume`: so many can begin at once."""
        self._held = []

    def resume(self) -> None:
        """Take in what was held back."""
        held, self._held = self._held or [], None
        for event in held:
            self.tell(event)

    def stop(self) -> None:
        """Take nothing in any more."""
        self._stopped = True
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()

    def _handle(self, event: Input) -> None:
        self.handled += 1
        self.taking = event
        self.moved.set()
        try:
            effects = self.machine.handle(event, self.loop.time())
        except Exception:
            if not isinstance(event, Received | TimerFired | LinkUp | LinkDown):
                raise  # whoever gave the command is told
            self.failed += 1
            log.exception("a %s was not taken in", type(event).__name__)
            return
        for effect in effects:
            try:
                self._doing[type(effect)](effect)
            except Exception:
                self.failed += 1
                log.exception("a %s was not done", type(effect).__name__)

    def _set(self, delay: float, timer: object) -> None:
        def fire() -> None:
            del self._timers[handle]
            self.tell(TimerFired(timer))

        handle = self.loop.call_later(delay, fire)
        self._timers[handle] = None

    def _up(self, contact: Contact) -> None:
        self.tell(LinkUp(contact))

    def _down(self, contact: Contact, ending: Ending) -> None:
        log.debug("link with %x is down: %s", contact.id, ending.why)
        self.tell(LinkDown(contact, ending.cause))

"""The loop: take the next input from the queue, hand it to its node, do what the node answers. Nothing else.

The queue is ordered by (time, sequence), so what happens at the same moment happens in the order in which it was brought
about. What is brought about for this very moment is after everything that has been waiting for it: it stands in line, and
only what is for later goes through a heap. Links are between processes: a node that crashes and comes back is another process,
to which no link and no message of the old one gets.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import ClassVar

from ropewalk.engines.sim.network import Network
from ropewalk.protocols.contract import (
    Cause,
    Connect,
    Contact,
    Disconnect,
    Effect,
    Input,
    LinkDown,
    LinkUp,
    Message,
    Node,
    Received,
    Send,
    SetTimer,
    TimerFired,
)

UNANSWERED = 3.0  # ours, seconds: how long a node tries to connect
NOTICED = 1.0  # ours, seconds: how long it takes until a broken connection is noticed


@dataclass(frozen=True, slots=True)
class Hello:
    """What opens a link, and its answer: the network may delay or lose them like any message."""

    kind: ClassVar[str] = "hello"
    topics: ClassVar[tuple[int, ...]] = ()

    def contacts(self) -> int:
        """Nobody is named but who sends it."""
        return 0

    def labels(self) -> tuple[int, ...]:
        """One at a time."""
        return ()


HELLO = Hello()


class Process:
    """A node that runs, with its end of every link."""

    __slots__ = ("alive", "contact", "frozen_until", "linked", "node")

    def __init__(self, node: Node) -> None:
        self.node, self.contact = node, node.me
        self.alive = True
        self.frozen_until = float("-inf")  # until then nothing is handled
        self.linked: dict[int, End] = {}  # by the other's id


class End:
    """One end of a link."""

    __slots__ = ("heard_until", "other", "up_at")

    def __init__(self, other: Process, up_at: float, heard_until: float) -> None:
        self.other = other
        self.up_at = up_at  # when this end is told of it
        self.heard_until = heard_until  # when all that was sent from here has arrived: news of the link is first


Happening = tuple[Process, Input, Process | None]  # to whom, what, and who sent it


class Observer:
    """Sees everything that happens, and changes nothing. What a kind of observer does not look at, it need not define."""

    def sent(self, sender: Process, send: Send, now: float, copies: int) -> None:
        """A message went into the network, which delivers so many copies of it."""

    def handling(self, process: Process, event: Input, now: float) -> None:
        """A node is about to take an input in."""

    def handled(self, process: Process, event: Input, effects: list[Effect], now: float) -> None:
        """A node took an input in, and this is what it answered; nothing of that has been done yet."""


class Simulator:
    """Nodes, the network between them, and the queue of what is to happen."""

    def __init__(self, network: Network, observers: Iterable[Observer] = ()) -> None:
        self.network, self.observers = network, tuple(observers)
        self.unanswered = UNANSWERED
        self.now = 0.0
        self.drained_at: float | None = None  # when it was last drained: from then on no timer fired in time
        self.processes: dict[int, Process] = {}  # of the nodes that are there, by id
        self.handled = 0  # inputs so far
        self.unsent = 0  # messages to where no link was up
        self._due: deque[Happening] = deque()  # now, after what is left of this moment in the heap
        self._later: list[tuple[float, int, Happening]] = []  # a heap
        self._sequence = 0

    @property
    def waiting(self) -> int:
        """How much is yet to happen, as far as is known now."""
        return len(self._due) + len(self._later)

    # What whoever runs it may do

    def start(self, node: Node) -> Process:
        """Let a node run from now on."""
        process = self.processes[node.me.id] = Process(node)
        return process

    def stop(self, node: int, noticed: float = NOTICED) -> None:
        """Take a node off its machine. Those that are still linked to it notice later; what it has sent is on its way."""
        process = self.processes.pop(node)
        process.alive = False
        for end in process.linked.values():  # until then they have a link that leads nowhere
            self._push(self.now + noticed, end.other, LinkDown(process.contact, "failed"))

    def freeze(self, node: int, seconds: float) -> None:
        """Let a node handle nothing for a while; what comes in waits."""
        self.processes[node].frozen_until = self.now + seconds

    def tell(self, node: int, event: Input, after: float = 0.0) -> None:
        """Have an input reach a node."""
        self._push(self.now + after, self.processes[node], event)

    def run(self, until: float = float("inf")) -> None:
        """Let everything happen up to this moment, or until nothing is left to happen."""
        due, later, observers = self._due, self._later, self.observers
        while True:
            if later and later[0][0] <= (self.now if due else until):
                at, _, (process, event, sender) = heappop(later)
                self.now = max(self.now, at)
            elif due:
                process, event, sender = due.popleft()
            else:
                break
            if not process.alive or self._is_put_off(process, event, sender) or _is_out_of_date(process, event, sender):
                continue
            if isinstance(event, LinkDown):
                process.linked.pop(event.contact.id, None)
            self.handled += 1
            for observer in observers:
                observer.handling(process, event, self.now)
            effects = process.node.handle(event, self.now)
            for observer in observers:
                observer.handled(process, event, effects, self.now)
            for effect in effects:
                self._do(process, effect)
        if until != float("inf"):
            self.now = max(self.now, until)

    def drain(self) -> None:
        """Let everything arrive that is on its way, with no timer firing meanwhile: those are late, if it runs on."""
        self.drained_at = self.now
        timers: list[tuple[float, int, Happening]] = []
        while self.waiting:
            timers += [entry for entry in self._later if _is_timer(entry)]
            self._later = [entry for entry in self._later if not _is_timer(entry)]
            heapify(self._later)
            self.run(self._later[0][0] if self._later else self.now)
        self._later = timers
        heapify(self._later)

    def timers(self) -> list[tuple[Process, object]]:
        """Those that are yet to fire, of processes that run."""
        return [
            (process, event.timer)
            for _, _, (process, event, _) in self._later
            if isinstance(event, TimerFired) and process.alive
        ]

    def _is_put_off(self, process: Process, event: Input, sender: Process | None) -> bool:
        """Whoever is frozen is told later."""
        if process.frozen_until <= self.now:
            return False
        self._push(process.frozen_until, process, event, sender)
        return True

    # Effects

    def _do(self, process: Process, effect: Effect) -> None:
        match effect:
            case Send():
                self._send(process, effect)
            case SetTimer():
                self._push(self.now + effect.delay, process, TimerFired(effect.timer))
            case Connect():
                self._connect(process, effect.contact)
            case Disconnect():
                self._disconnect(process, effect.contact, effect.cause)

    def _send(self, process: Process, send: Send) -> None:
        end = process.linked.get(send.to.id)
        if end is None:
            self.unsent += 1
            return
        delays = self._delays(process, send.to, send.message)
        for observer in self.observers:
            observer.sent(process, send, self.now, len(delays))
        received = Received(process.contact, send.message)
        for copy, delay in enumerate(delays):
            arrives = self.now + delay
            if self.network.in_order and arrives < end.heard_until:
                arrives = end.heard_until  # as on a real connection
            if not copy:
                end.heard_until = max(end.heard_until, arrives)
            self._push(arrives, end.other, received, process)

    def _delays(self, process: Process, to: Contact, message: Message) -> list[float]:
        return self.network.delays(process.contact.id, to.id, message, self.now)

    def _connect(self, process: Process, contact: Contact) -> None:
        """There and back: both ends are told when the message that makes them certain arrives."""
        target = self.processes.get(contact.id)
        there = self._delays(process, contact, HELLO) if target is not None else []
        back = self.network.delays(contact.id, process.contact.id, HELLO, self.now) if there else []
        if target is None or not back:
            self._push(self.now + self.unanswered, process, LinkDown(contact, "failed"))
            return
        end = process.linked.get(contact.id)
        if end is not None and end.other is target:
            if end.up_at <= self.now:  # else it is about to be told
                self._push(self.now, process, LinkUp(contact))
            return
        theirs, ours = self.now + there[0], self.now + there[0] + back[0]
        process.linked[contact.id] = End(target, up_at=ours, heard_until=theirs)
        target.linked[process.contact.id] = End(process, up_at=theirs, heard_until=ours)
        self._push(theirs, target, LinkUp(process.contact))
        self._push(ours, process, LinkUp(contact))

    def _disconnect(self, process: Process, contact: Contact, cause: Cause) -> None:
        """What is on its way still arrives, then the other end is told; if that is lost, it sees a link that has broken."""
        end = process.linked.pop(contact.id, None)
        if end is None:
            return
        end.other.linked.pop(process.contact.id, None)
        delays = self._delays(process, contact, HELLO)
        told = max(self.now + (delays[0] if delays else NOTICED), end.heard_until)
        self._push(told, end.other, LinkDown(process.contact, cause if delays else "failed"))

    def _push(self, time: float, process: Process, event: Input, sender: Process | None = None) -> None:
        if time <= self.now:
            self._due.append((process, event, sender))
        else:
            heappush(self._later, (time, self._sequence, (process, event, sender)))
            self._sequence += 1


def _is_timer(entry: tuple[float, int, Happening]) -> bool:
    return isinstance(entry[2][1], TimerFired)


def _is_out_of_date(process: Process, event: Input, sender: Process | None) -> bool:
    """What is of the past: news of a link that broke before it was up, or that there is anew; words of the dead."""
    match event:
        case Received():  # a node that came back has a link of its own
            if sender is None or sender.alive:
                return False
            end = process.linked.get(event.sender.id)
            return end is not None and end.other is not sender
        case LinkUp():
            return event.contact.id not in process.linked
        case LinkDown():
            end = process.linked.get(event.contact.id)
            return end is not None and end.other.alive
        case _:
            return False

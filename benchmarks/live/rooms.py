"""Which room of the package is at work: the system interrupts now and then, and looks.

What C code does on behalf of a room (TLS, hashes, MessagePack) counts as that room. What no room has called is the loop's: waiting for
sockets, reading them, and timers.
"""

import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

LOOP, ENDS = "the loop", "who publishes, and who reads"
ROOMS = {  # which modules are one room to a reader; the first that fits
    "ropewalk.engines.live.connection": "connection: TLS, reads and writes",
    "ropewalk.engines.live.reading": "connection: TLS, reads and writes",
    "ropewalk.engines.live.frames": "frames: cut, and put together",
    "ropewalk.engines.live.wire": "wire: MessagePack and checks",
    "ropewalk.engines.live.transport": "transport, and who lives",
    "ropewalk.engines.live.lookout": "transport, and who lives",
    "ropewalk.engines.live.limits": "transport, and who lives",
    "ropewalk.engines.live.calls": "calls and handshakes",
    "ropewalk.engines.live.door": "calls and handshakes",
    "ropewalk.engines.live.handshake": "calls and handshakes",
    "ropewalk.engines.live.gate": "gate and envelope: what may come in",
    "ropewalk.engines.live.envelope": "gate and envelope: what may come in",
    "ropewalk.engines.live.driver": "driver",
    "ropewalk.engines.live.outgoing": "publish: api and outgoing",
    "ropewalk.engines.live.publishing": "publish: api and outgoing",
    "ropewalk.engines.live.api": "publish: api and outgoing",
    "ropewalk.engines.live.identity": "publish: api and outgoing",
    "ropewalk.engines.live.readers": "subscriptions and readers",
    "ropewalk.engines.live.subscriptions": "subscriptions and readers",
    "ropewalk.protocols.dissemination": "machine: events",
    "ropewalk.protocols.discovery": "machine: discovery",
    "ropewalk.protocols.sampling": "machine: overlays",
    "ropewalk.protocols.stan": "machine: overlays",
    "ropewalk.protocols": "machine: all else",
}


@contextmanager
def sampled(every: float, ends: frozenset[str]) -> Iterator[Counter[str]]:
    """How often each room was at work, looked at every so many seconds of processor time; `ends`: the functions that publish and read."""
    found: Counter[str] = Counter()

    def look(_: int, frame: FrameType | None) -> None:
        found[_room(frame, ends)] += 1

    before = signal.signal(signal.SIGPROF, look)
    signal.setitimer(signal.ITIMER_PROF, every, every)
    try:
        yield found
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _room(frame: FrameType | None, ends: frozenset[str]) -> str:
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        for prefix, room in ROOMS.items():
            if module.startswith(prefix):
                return room
        if frame.f_code.co_name in ends:
            return ENDS
        frame = frame.f_back
    return LOOP


def shares(found: Counter[str], of: float) -> dict[str, float]:
    """Of so much in all, by room, the most first."""
    each = of / max(1, sum(found.values()))
    return {room: round(count * each, 3) for room, count in found.most_common()}

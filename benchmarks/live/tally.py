"""What is published and what has come: every event carries its run, its number and when it was published, and none is lost unseen.

Whoever reads keeps the head of every event and looks at it when the run is over, so that counting costs all systems the same,
and little. The clock is CLOCK_MONOTONIC, which processes of one machine share.
"""

import struct
import time
from dataclasses import dataclass, field

HEAD = struct.Struct(">BIQ")  # run, number, nanoseconds
RUNS = 256  # runs that can be told apart: a straggler of the run before is none of this


def payloads(run: int, count: int, size: int) -> list[bytes]:
    """Events of a run, made before the clock starts; all are published now, as far as anybody asks."""
    padding = bytes(size - HEAD.size)
    return [HEAD.pack(run % RUNS, number, 0) + padding for number in range(count)]


def stamped(run: int, number: int, size: int, at: float) -> bytes:
    """An event of a run, with the moment at which it was due, in seconds."""
    return HEAD.pack(run % RUNS, number, int(at * 1e9)) + bytes(size - HEAD.size)


@dataclass(slots=True)
class Tally:
    """What one subscriber has heard in a run."""

    run: int = 0
    wanted: int = 0
    timed: bool = False
    first: int = 0  # nanoseconds
    last: int = 0
    heads: list[bytes] = field(default_factory=list)
    arrivals: list[int] = field(default_factory=list)  # if timed

    def begin(self, run: int, wanted: int, *, timed: bool) -> None:
        """Forget everything, and hear so many."""
        self.run, self.wanted, self.timed = run % RUNS, wanted, timed
        self.first = self.last = 0
        self.heads, self.arrivals = [], []

    def hear(self, payload: bytes) -> None:
        """One event; called by whatever thread reads."""
        if payload[0] != self.run:
            return
        heads = self.heads
        if self.timed:
            self.arrivals.append(time.monotonic_ns())
        if not heads:
            self.first = time.monotonic_ns()
        heads.append(payload[: HEAD.size])
        if len(heads) == self.wanted:
            self.last = time.monotonic_ns()

    @property
    def is_done(self) -> bool:
        """Whether as many have come as were wanted."""
        return len(self.heads) >= self.wanted

    def lost(self) -> int:
        """How many of the run have not come; those that have come twice do not make up for others."""
        return self.wanted - len({HEAD.unpack(head)[1] for head in self.heads})

    def latencies(self) -> list[float]:
        """Seconds from publishing to hearing, of each that has come."""
        stamps = (HEAD.unpack(head)[2] for head in self.heads)
        return [(at - stamp) / 1e9 for at, stamp in zip(self.arrivals, stamps, strict=True)]

"""What is told of connections: why one is no more, and what went over all of them."""

from dataclasses import dataclass, field

from ropewalk.engines.live.wire import KIND_OF
from ropewalk.protocols.contract import Cause


@dataclass(frozen=True, slots=True)
class Ending:
    """Why a connection is no more: in the words of the protocols, and in more."""

    cause: Cause
    why: str  # closed, left, reset, frozen, refused, unreachable, evicted, garbled, unproven, replaced, crossed


@dataclass(slots=True)
class Counts:
    """What went over the connections of a node."""

    sent: dict[str, list[int]] = field(default_factory=dict)  # kind -> [messages, bytes]
    pings: int = 0
    recalled: int = 0  # messages that were not sent, or not to their end, since the other end had the event by then
    unsent: int = 0  # events that waited to be sent when a connection ended
    sent_bytes: int = 0  # of frames, before TLS
    heard_bytes: int = 0

    def count(self, kind: str, size: int, messages: int = 1) -> None:
        """One message more, or the rest of one."""
        counts = self.sent.setdefault(kind, [0, 0])
        counts[0] += messages
        counts[1] += size

    def count_frames(self, kind: int, size: int, messages: int) -> None:
        """Frames of one kind, which begin so many messages."""
        self.count(KIND_OF[kind], size, messages)

"""What goes over a connection: frames, one after the other.

A frame is its length in three bytes and its kind in one, then so many bytes. What is longer than a piece is cut into
pieces, and pieces of several messages take turns: a large event holds up nothing else. What carries no event goes first,
so that a heartbeat never waits behind a payload. A node that cannot send as fast as it is told to keeps so much for each
connection and no more; what is beyond that is counted, and told to whoever asks: the protocols ask for it again later.
An event that the other end turns out to have is not sent, or not to its end.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Protocol

from ropewalk.engines.live.wire import MOST_MESSAGE, WireError

PING, HELLO, PROOF, WELCOME, REFUSED, BYE, TOPICS, PIECE = range(8)  # kinds below 32 are of the connection itself
HEADER = 4  # bytes
PIECE_BYTES = 16_384  # LIVE condition: what one frame holds up others for, at the most
MOST_FRAME = 73_728  # ours: a message without an event fits, and a piece
PIECE_HEADER = 4  # bytes: the stream that it is of in two, the kind of its message, what follows it
MORE, LAST, NEVER_MIND = range(3)  # what follows a piece; after the last of these the rest does not come
MOST_PIECES = -(-MOST_MESSAGE // PIECE_BYTES)  # of one message
MOST_STREAMS = (
    4  # ours: messages of which some pieces were sent, on one connection; other large ones wait for one of them to end
)
MOST_UNFINISHED = MOST_STREAMS * MOST_MESSAGE  # bytes: of messages that have not come whole
MOST_WAITING = 8 * 1024 * 1024  # ours, bytes: of events that wait to be sent on one connection
MOST_CONTROL_WAITING = (
    4 * 1024 * 1024
)  # ours, bytes: of all else; whoever lets it come to that is too slow to be of use


def frame(kind: int, body: bytes) -> bytes:
    """A frame as it is sent."""
    return (len(body) << 8 | kind).to_bytes(HEADER, "big") + body


class Splitter:
    """Bytes in, whole messages out."""

    __slots__ = ("_buffer", "_pieces", "_unfinished", "pieces")

    def __init__(self, *, pieces: bool = False) -> None:
        self.pieces = pieces  # whether messages may come in pieces: not from strangers
        self._buffer = bytearray()
        self._pieces: dict[int, list[bytes]] = {}  # by stream; each has a piece, of MOST_UNFINISHED
        self._unfinished = 0  # bytes in there

    def feed(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """Kinds and bodies of all that is complete now."""
        buffer = self._buffer
        buffer += data
        start = 0
        try:
            while len(buffer) - start >= HEADER:
                header = int.from_bytes(buffer[start : start + HEADER], "big")
                length, kind = header >> 8, header & 0xFF
                if length > MOST_FRAME:
                    raise WireError(f"a frame has {length} bytes, but may have {MOST_FRAME}.")
                if len(buffer) - start - HEADER < length:
                    break
                body = bytes(buffer[start + HEADER : start + HEADER + length])
                start += HEADER + length
                if kind != PIECE:
                    yield kind, body
                elif (whole := self._put_together(body)) is not None:
                    yield whole
        finally:
            del buffer[:start]

    def _put_together(self, body: bytes) -> tuple[int, bytes] | None:
        """A piece of a message: the whole, if it was the last."""
        if not self.pieces:
            raise WireError("a piece of a message came before the welcome.")
        size = len(body) - PIECE_HEADER
        if size < 0:
            raise WireError("a piece has no header.")
        stream, kind, place = int.from_bytes(body[:2], "big"), body[2], body[3]
        if place == NEVER_MIND:
            self._unfinished -= sum(map(len, self._pieces.pop(stream, ())))
            return None
        if size == 0:
            raise WireError("a piece is empty.")
        last = place == LAST
        if size != PIECE_BYTES and not (last and size < PIECE_BYTES):
            raise WireError(f"a piece has {size} bytes, but all but the last have {PIECE_BYTES}.")
        pieces = self._pieces.setdefault(stream, [])
        pieces.append(body[PIECE_HEADER:])
        self._unfinished += size
        if self._unfinished > MOST_UNFINISHED:
            raise WireError(f"more than {MOST_UNFINISHED} bytes of messages are not finished.")
        if len(pieces) > MOST_PIECES:
            raise WireError(f"a message has more than {MOST_PIECES} pieces.")
        if not last:
            return None
        whole = b"".join(self._pieces.pop(stream))
        self._unfinished -= len(whole)
        return kind, whole


class CountFrame(Protocol):
    """Told of every frame of an event that is sent."""

    def __call__(self, kind: int, size: int, *, first: bool) -> None:
        """Its size, and whether it is the event's first."""


@dataclass(slots=True, eq=False)
class _Waiting:
    """An event that waits to be sent, or the rest of it."""

    kind: int
    rest: memoryview
    stream: int | None = None  # once some pieces are sent, and others are not


class Lanes:
    """What waits to be sent on one connection: all that carries no event first, then topics in turn."""

    __slots__ = ("_by_topic", "_control", "_count", "_streams", "control_bytes", "event_bytes")

    def __init__(self, count_frame: CountFrame) -> None:
        self._count = count_frame
        self._control: deque[bytes] = deque()
        # by kind and event in each topic; only topics that have something, whose turn is next first
        self._by_topic: dict[int, dict[tuple[int, int], _Waiting]] = {}
        self._streams: set[int] = set()  # of messages of which some pieces were sent; MOST_STREAMS
        self.control_bytes = self.event_bytes = 0

    def __bool__(self) -> bool:
        """Whether anything waits."""
        return bool(self._control or self._by_topic)

    def put(self, kind: int, body: bytes) -> None:
        """Send this as soon as possible."""
        self._control.append(frame(kind, body))
        self.control_bytes += len(body) + HEADER

    def put_event(self, topic: int, kind: int, body: bytes, event: int) -> bool:
        """Send this when it is its turn, unless it waits already; False if there is no room for it."""
        lane = self._by_topic.get(topic, {})
        if (kind, event) in lane:
            return True
        if self.event_bytes + len(body) > MOST_WAITING:
            return False
        self.event_bytes += len(body)
        lane[kind, event] = _Waiting(kind, memoryview(body))
        self._by_topic[topic] = lane
        return True

    def recall(self, kind: int, event: int) -> bool:
        """Send no more of this event in messages of this kind; False if none waits."""
        topics = [topic for topic, lane in self._by_topic.items() if (kind, event) in lane]
        for topic in topics:
            waiting = self._by_topic[topic].pop((kind, event))
            if not self._by_topic[topic]:
                del self._by_topic[topic]
            self.event_bytes -= len(waiting.rest)
            if waiting.stream is not None:
                self._streams.remove(waiting.stream)
                self.put(PIECE, _piece_header(waiting.stream, kind, NEVER_MIND))
        return bool(topics)

    def take(self, most: int) -> list[bytes]:
        """The next frames, of about so many bytes in all."""
        taken: list[bytes] = []
        size = 0
        while self._control and size < most:
            taken.append(self._control.popleft())
            size += len(taken[-1])
            self.control_bytes -= len(taken[-1])
        while self._by_topic and size < most:
            topic, key, waiting = self._next()
            lane = self._by_topic.pop(topic)
            taken.append(self._cut(waiting))
            size += len(taken[-1])
            if not waiting.rest:
                del lane[key]
            if lane:
                self._by_topic[topic] = lane
        return taken

    def _next(self) -> tuple[int, tuple[int, int], _Waiting]:
        """Whose turn it is: a topic, and what is first there."""
        for topic, lane in self._by_topic.items():
            key, waiting = next(iter(lane.items()))
            begun = waiting.stream is not None or len(waiting.rest) <= PIECE_BYTES
            if begun or len(self._streams) < MOST_STREAMS:
                return topic, key, waiting
        raise AssertionError("as many large messages as there may be are under way, and none of them waits")

    def _cut(self, waiting: _Waiting) -> bytes:
        """The next frame of it."""
        first = waiting.stream is None
        piece, waiting.rest = waiting.rest[:PIECE_BYTES], waiting.rest[PIECE_BYTES:]
        self.event_bytes -= len(piece)
        if waiting.stream is None and not waiting.rest:
            cut = frame(waiting.kind, bytes(piece))
        else:
            stream = self._stream_of(waiting)
            cut = frame(PIECE, _piece_header(stream, waiting.kind, MORE if waiting.rest else LAST) + piece)
        self._count(waiting.kind, len(cut), first=first)
        return cut

    def _stream_of(self, waiting: _Waiting) -> int:
        """The number by which its pieces are known: free again after the last."""
        if waiting.stream is None:
            waiting.stream = next(number for number in count() if number not in self._streams)
            self._streams.add(waiting.stream)
        elif not waiting.rest:
            self._streams.remove(waiting.stream)
        return waiting.stream


def _piece_header(stream: int, kind: int, place: int) -> bytes:
    return stream.to_bytes(2, "big") + bytes((kind, place))

"""What goes over a connection: frames, one after the other.

A frame is its length in three bytes and its kind in one, then so many bytes. What is longer than a piece is cut into
pieces, and pieces of several messages take turns: a large event holds up nothing else. What carries no event goes first,
so that a heartbeat never waits behind a payload. A node that cannot send as fast as it is told to keeps so much for each
connection and no more; what is beyond that is counted, and told to whoever asks: the protocols ask for it again later.
An event that the other end turns out to have is not sent, or not to its end.
"""

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from math import inf
from struct import Struct
from typing import Protocol

from ropewalk.engines.live.wire import MOST_MESSAGE, WireError

PING, HELLO, PROOF, WELCOME, REFUSED, BYE, TOPICS, PIECE = range(8)
OF_MESSAGES = 32  # kinds from here on are of messages, those below of the connection itself
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
MOST_WAITING = (
    8 * 1024 * 1024
)  # ours, bytes: of events that wait to be sent on one connection, and what they take besides
BESIDES = 192  # bytes: what keeping one takes, besides what is sent of it
BESIDES_CONTROL = 64  # bytes: likewise, of a frame without an event
MOST_CONTROL_WAITING = (
    4 * 1024 * 1024
)  # ours, bytes: of all else; whoever lets it come to that is too slow to be of use


def frame(kind: int, body: bytes) -> bytes:
    """A frame as it is sent."""
    return _head(kind, len(body)) + body


def _head(kind: int, length: int) -> bytes:
    """How it begins."""
    return (length << 8 | kind).to_bytes(HEADER, "big")


@dataclass(slots=True)
class _Coming:
    """A message of which some pieces have come."""

    since: float
    pieces: list[bytes] = field(default_factory=list)
    size: int = 0  # bytes


class Splitter:
    """Bytes in, whole messages out."""

    __slots__ = ("_in_pieces", "_needed", "_now", "_pieces", "_rest", "_rest_since", "pieces")

    def __init__(self, *, pieces: bool = False) -> None:
        self.pieces = pieces  # whether messages may come in pieces: not from strangers
        self._rest = bytearray()  # of a frame that has not come whole
        self._needed = HEADER  # bytes of it, as far as is known; so whoever sends byte by byte makes nobody look at all of them each time
        self._pieces: dict[int, _Coming] = {}  # by stream; each has a piece, of MOST_UNFINISHED
        self._in_pieces = 0  # bytes in there
        self._now = self._rest_since = 0.0

    @property
    def unfinished(self) -> int:
        """Bytes of messages and of a frame that have not come whole."""
        return self._in_pieces + len(self._rest)

    def kept(self, now: float) -> float:
        """How much of that, and for how long: bytes times seconds."""
        kept = len(self._rest) * (now - self._rest_since)
        return kept + sum(each.size * (now - each.since) for each in self._pieces.values())

    def feed(self, data: bytes, now: float = 0.0) -> Iterator[tuple[int, bytes]]:
        """Kinds and bodies of all that is complete now."""
        self._now = now
        if not self._rest:
            self._rest_since = now
        else:
            self._rest += data
            if len(self._rest) < self._needed:
                return
            data = bytes(self._rest)
        at, end = 0, len(data)
        self._needed = HEADER
        try:
            while end - at >= HEADER:
                header: int = _read_header(data, at)[0]
                length = header >> 8
                if length > MOST_FRAME:
                    raise WireError(f"a frame has {length} bytes, but may have {MOST_FRAME}.")
                start, stop = at + HEADER, at + HEADER + length
                if stop > end:
                    self._needed = HEADER + length
                    break
                kind, at, self._rest_since = header & 0xFF, stop, now
                if kind != PIECE:
                    yield kind, data[start:stop]
                elif (whole := self._put_together(data, start, stop)) is not None:
                    yield whole
        finally:
            self._rest = bytearray(data[at:])

    def put_off(self, seconds: float) -> None:
        """For so long nothing was read: nobody could go on."""
        self._rest_since += seconds
        for each in self._pieces.values():
            each.since += seconds

    def forget(self) -> None:
        """What has not come whole."""
        self._pieces.clear()
        self._rest.clear()
        self._in_pieces = 0

    def _put_together(self, data: bytes, start: int, stop: int) -> tuple[int, bytes] | None:
        """A piece of a message, which is there in what has come: the whole, if it was the last."""
        if not self.pieces:
            raise WireError("a piece of a message came before the welcome.")
        size = stop - start - PIECE_HEADER
        if size < 0:
            raise WireError("a piece has no header.")
        stream, kind, place = int.from_bytes(data[start : start + 2], "big"), data[start + 2], data[start + 3]
        if place == NEVER_MIND:
            left = self._pieces.pop(stream, None)
            self._in_pieces -= 0 if left is None else left.size
            return None
        if size == 0:
            raise WireError("a piece is empty.")
        last = place == LAST
        if size != PIECE_BYTES and not (last and size < PIECE_BYTES):
            raise WireError(f"a piece has {size} bytes, but all but the last have {PIECE_BYTES}.")
        coming = self._pieces.get(stream)
        if coming is None:
            coming = self._pieces[stream] = _Coming(self._now)
        coming.pieces.append(data[start + PIECE_HEADER : stop])
        coming.size += size
        self._in_pieces += size
        if self._in_pieces > MOST_UNFINISHED:
            raise WireError(f"more than {MOST_UNFINISHED} bytes of messages are not finished.")
        if len(coming.pieces) > MOST_PIECES:
            raise WireError(f"a message has more than {MOST_PIECES} pieces.")
        if not last:
            return None
        del self._pieces[stream]
        self._in_pieces -= coming.size
        return kind, b"".join(coming.pieces)


class CountFrames(Protocol):
    """Told of all frames of events that are sent."""

    def __call__(self, kind: int, size: int, messages: int) -> None:
        """Their kind and their bytes, and how many messages they begin."""


@dataclass(slots=True, eq=False)
class _Waiting:
    """An event that is too large for one frame and waits to be sent, or the rest of it."""

    rest: memoryview
    stream: int | None = None  # once some pieces are sent, and others are not


class Waiting:
    """What waits to be sent on all links of a node together.

    Nothing is refused where it is too much: that would be what is meant for those who read. Who lets most of it wait has to go.
    """

    __slots__ = ("_latest", "bytes", "most", "spill", "spilled")

    def __init__(self, most: float = inf, spill: Callable[[], None] = lambda: None) -> None:
        self.most, self.spill = most, spill  # told once when it is too much
        self.bytes = 0
        self.spilled = False  # whether that was told, and room is yet to be made
        self._latest = b""  # event that was to wait

    def once(self, body: bytes) -> bytes:
        """The same bytes: to several neighbours an event mostly is the same, and takes room once, not once for each."""
        if body == self._latest:
            return self._latest
        self._latest = body
        return body

    def count(self, more: int) -> None:
        """So many bytes more wait, or less."""
        self.bytes += more
        if self.bytes > self.most and not self.spilled:
            self.spilled = True
            self.spill()


Lane = OrderedDict[tuple[int, int], "bytes | _Waiting"]
"""What waits on one topic, by kind and event, in turn. (The first of a plain dict is found behind the places of all that went before.)"""


class Lanes:
    """What waits to be sent on one connection: all that carries no event first, then topics in turn."""

    __slots__ = (
        "_by_topic",
        "_control",
        "_count",
        "_in_all",
        "_streams",
        "_told",
        "control_bytes",
        "event_bytes",
        "events",
    )

    def __init__(self, count_frames: CountFrames, in_all: Waiting | None = None) -> None:
        self._count = count_frames
        self._in_all = in_all or Waiting()
        self._told = 0  # bytes of these that are counted there
        self._control: deque[bytes] = deque()
        self._by_topic: dict[int, Lane] = {}  # only topics that have something, whose turn is next first
        self._streams: set[int] = set()  # of messages of which some pieces were sent; MOST_STREAMS
        self.control_bytes = self.event_bytes = 0
        self.events = 0  # that wait, or the rest of them

    def __bool__(self) -> bool:
        """Whether anything waits."""
        return bool(self._control or self._by_topic)

    @property
    def waiting_bytes(self) -> int:
        """Of all that waits, and what keeping it takes."""
        return self.control_waiting + self.event_bytes + BESIDES * self.events

    @property
    def control_waiting(self) -> int:
        """Likewise, of all that carries no event."""
        return self.control_bytes + BESIDES_CONTROL * len(self._control)

    def put(self, kind: int, body: bytes) -> None:
        """Send this as soon as possible."""
        self._control.append(frame(kind, body))
        self.control_bytes += len(body) + HEADER
        self._tell()

    def put_event(self, topic: int, kind: int, body: bytes, event: int) -> bool:
        """Send this when it is its turn, unless it waits already; False if there is no room for it."""
        lane = self._by_topic.get(topic)
        key = (kind, event)
        if lane is not None and key in lane:
            return True
        size = len(body)
        if self.event_bytes + size + BESIDES * (self.events + 1) > MOST_WAITING:
            return False
        self.event_bytes += size
        self.events += 1
        if lane is None:
            lane = self._by_topic[topic] = OrderedDict()
        body = self._in_all.once(body)
        lane[key] = body if size <= PIECE_BYTES else _Waiting(memoryview(body))
        self._tell()
        return True

    def waits_on(self, topics: Iterable[int]) -> bool:
        """Whether an event does on one of these."""
        return any(topic in self._by_topic for topic in topics)

    def forget(self) -> None:
        """All that waits: it gets nowhere any more."""
        self._control.clear()
        self._by_topic.clear()
        self._streams.clear()
        self.control_bytes = self.event_bytes = self.events = 0
        self._tell()

    def recall(self, kind: int, event: int) -> bool:
        """Send no more of this event in messages of this kind; False if none waits."""
        topics = [topic for topic, lane in self._by_topic.items() if (kind, event) in lane]
        for topic in topics:
            waiting = self._by_topic[topic].pop((kind, event))
            self.events -= 1
            if not self._by_topic[topic]:
                del self._by_topic[topic]
            if isinstance(waiting, bytes):
                self.event_bytes -= len(waiting)
                continue
            self.event_bytes -= len(waiting.rest)
            if waiting.stream is not None:
                self._streams.remove(waiting.stream)
                self.put(PIECE, _piece_header(waiting.stream, kind, NEVER_MIND))
        self._tell()
        return bool(topics)

    def take(self, most: int) -> list[bytes | memoryview]:
        """The next frames, of about so many bytes in all, in parts that follow each other."""
        taken: list[bytes | memoryview] = []
        size = 0
        while self._control and size < most:
            taken.append(self._control.popleft())
            size += len(taken[-1])
            self.control_bytes -= len(taken[-1])
        sent: dict[int, list[int]] = {}  # by kind: messages, bytes
        while self._by_topic and size < most:
            topic, lane = self._next()
            key, waiting = lane.popitem(last=False)
            counted = sent.setdefault(key[0], [0, 0])
            if isinstance(waiting, bytes):
                head: bytes = _head(key[0], len(waiting))
                body: bytes | memoryview = waiting
                self.event_bytes -= len(waiting)
                self.events -= 1
                counted[0] += 1
            else:
                counted[0] += waiting.stream is None
                head, body = self._cut(key[0], waiting)
                if waiting.rest:
                    lane[key] = waiting
                    lane.move_to_end(key, last=False)
                else:
                    self.events -= 1
            taken += (head, body)
            size += len(head) + len(body)
            counted[1] += len(head) + len(body)
            if not lane:
                del self._by_topic[topic]
            elif len(self._by_topic) > 1:
                self._by_topic[topic] = self._by_topic.pop(topic)
        for kind, (messages, bytes_) in sent.items():
            self._count(kind, bytes_, messages)
        self._tell()
        return taken

    def _tell(self) -> None:
        now = self.waiting_bytes
        told, self._told = self._told, now
        self._in_all.count(now - told)

    def _next(self) -> tuple[int, Lane]:
        """Whose turn it is: a topic, and what waits there."""
        for topic, lane in self._by_topic.items():
            waiting = next(iter(lane.values())) if len(self._streams) >= MOST_STREAMS else b""
            if isinstance(waiting, bytes) or waiting.stream is not None:
                return topic, lane
        raise AssertionError("as many large messages as there may be are under way, and none of them waits")

    def _cut(self, kind: int, waiting: _Waiting) -> tuple[bytes, memoryview]:
        """The next piece of it, and what goes before."""
        piece, waiting.rest = waiting.rest[:PIECE_BYTES], waiting.rest[PIECE_BYTES:]
        self.event_bytes -= len(piece)
        stream = self._stream_of(waiting)
        head = _piece_header(stream, kind, MORE if waiting.rest else LAST)
        return _head(PIECE, len(head) + len(piece)) + head, piece

    def _stream_of(self, waiting: _Waiting) -> int:
        """The number by which its pieces are known: free again after the last."""
        if waiting.stream is None:
            waiting.stream = next(number for number in count() if number not in self._streams)
            self._streams.add(waiting.stream)
        elif not waiting.rest:
            self._streams.remove(waiting.stream)
        return waiting.stream


_read_header = Struct(">I").unpack_from


def _piece_header(stream: int, kind: int, place: int) -> bytes:
    return stream.to_bytes(2, "big") + bytes((kind, place))

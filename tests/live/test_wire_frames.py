from itertools import count, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.engines.live.frames import (
    BESIDES,
    BESIDES_CONTROL,
    HEADER,
    MORE,
    MOST_FRAME,
    MOST_PIECES,
    MOST_STREAMS,
    MOST_UNFINISHED,
    MOST_WAITING,
    PIECE,
    PIECE_BYTES,
    PING,
    Lanes,
    Splitter,
    Waiting,
    _piece_header,
    frame,
)
from ropewalk.engines.live.wire import MOST_MESSAGE, WireError

CONTROL, EVENT = 40, 48


def test_an_event_that_waits_for_several_neighbours_takes_room_once() -> None:
    in_all = Waiting()
    lanes = [Lanes(Counted(), in_all) for _ in range(3)]
    for each in lanes:
        assert each.put_event(1, EVENT, bytes(bytearray(1000)), 7)
    waiting = [each._by_topic[1][EVENT, 7] for each in lanes]
    assert waiting[0] is waiting[1] is waiting[2]
    assert in_all.bytes == sum(each.waiting_bytes for each in lanes)  # as if each had its own: it may come to that
    assert all(b"".join(each.take(10_000)) == frame(EVENT, bytes(1000)) for each in lanes)


class Counted:
    """Lanes, each event with an id of its own, and what they say that they have sent."""

    def __init__(self) -> None:
        self.lanes, self.events, self.bytes = Lanes(self), 0, 0
        self._ids = count()

    def __call__(self, kind: int, size: int, messages: int) -> None:
        assert kind == EVENT
        self.events += messages
        self.bytes += size

    def put(self, topic: int, body: bytes) -> bool:
        return self.lanes.put_event(topic, EVENT, body, next(self._ids))


def taken(lanes: Lanes, most: int = 1 << 30) -> list[tuple[int, bytes]]:
    splitter = Splitter(pieces=True)
    return list(splitter.feed(b"".join(lanes.take(most))))


@given(
    bodies=st.lists(st.binary(max_size=300), max_size=8),
    cuts=st.lists(st.integers(0, 2000), max_size=8),
)
def test_frames_come_whole_however_bytes_arrive(bodies: list[bytes], cuts: list[int]) -> None:
    sent = b"".join(frame(32 + place, body) for place, body in enumerate(bodies))
    edges = [0, *sorted(cut for cut in cuts if cut < len(sent)), len(sent)]
    splitter = Splitter(pieces=True)
    found: list[tuple[int, bytes]] = []
    for first, last in pairwise(edges):
        found += splitter.feed(sent[first:last])
    assert found == [(32 + place, body) for place, body in enumerate(bodies)]


def test_what_carries_no_event_overtakes_what_does() -> None:
    counted = Counted()
    lanes = counted.lanes
    counted.put(1, b"e" * 3 * PIECE_BYTES)
    first = lanes.take(1)
    lanes.put(CONTROL, b"c")
    second = lanes.take(1)
    assert first[0][3] == PIECE
    assert second == [frame(CONTROL, b"c")]


def test_a_large_event_holds_up_no_other_topic() -> None:
    counted = Counted()
    lanes = counted.lanes
    counted.put(1, b"a" * 40 * PIECE_BYTES)
    counted.put(2, b"small")
    splitter = Splitter(pieces=True)
    early = list(splitter.feed(b"".join(lanes.take(3 * PIECE_BYTES))))
    assert early == [(EVENT, b"small")]
    late = list(splitter.feed(b"".join(lanes.take(1 << 30))))
    assert late == [(EVENT, b"a" * 40 * PIECE_BYTES)]
    assert not lanes
    assert lanes.event_bytes == 0
    assert counted.events == 2
    assert counted.bytes > 40 * PIECE_BYTES


def test_as_many_large_events_are_under_way_as_the_other_end_allows() -> None:
    counted = Counted()
    body = b"x" * (MOST_MESSAGE - 1)
    for topic in range(MOST_WAITING // MOST_MESSAGE):
        assert counted.put(topic, body)
    assert counted.put(99, b"small")
    found = [body for _, body in taken(counted.lanes)]
    assert found[0] == b"small"
    assert found[1:] == [body] * (MOST_WAITING // MOST_MESSAGE)
    assert MOST_WAITING // MOST_MESSAGE > MOST_STREAMS
    assert MOST_STREAMS * MOST_MESSAGE <= MOST_UNFINISHED


def test_events_of_one_topic_keep_their_order() -> None:
    counted = Counted()
    lanes = counted.lanes
    bodies = [bytes([place]) * (PIECE_BYTES * (place % 3) + 1) for place in range(20)]
    for place, body in enumerate(bodies):
        counted.put(place % 2, body)
    found = [body for _, body in taken(lanes)]
    for topic in range(2):
        assert [body for body in found if body[0] % 2 == topic] == bodies[topic::2]


def test_a_connection_keeps_so_much_and_counts_the_rest() -> None:
    counted = Counted()
    lanes = counted.lanes
    size = 1 << 20
    room = MOST_WAITING // (size + BESIDES)
    sent = [counted.put(7, bytes(size)) for _ in range(room + 3)]
    assert sent == [True] * room + [False] * 3
    assert len(taken(lanes)) == room
    assert counted.put(7, bytes(size))


def test_what_keeping_an_event_takes_counts_as_well() -> None:
    counted = Counted()
    sent = 0
    while counted.lanes.put_event(7, EVENT, b"x", sent):
        sent += 1
    assert sent == MOST_WAITING // (1 + BESIDES)
    assert counted.lanes.waiting_bytes == sent * (1 + BESIDES)
    for event in range(5):
        counted.lanes.recall(EVENT, event)
    assert len(taken(counted.lanes)) == sent - 5
    assert (counted.lanes.events, counted.lanes.waiting_bytes) == (0, 0)


def test_an_event_that_waits_already_is_not_sent_twice() -> None:
    counted = Counted()
    assert all(counted.lanes.put_event(1, EVENT, b"same", 7) for _ in range(3))
    assert taken(counted.lanes) == [(EVENT, b"same")]
    assert counted.events == 1


def test_an_event_that_is_recalled_is_not_sent() -> None:
    counted = Counted()
    lanes = counted.lanes
    for event in range(3):
        lanes.put_event(1, EVENT, bytes([event]), event)
    assert lanes.recall(EVENT, 1)
    assert not lanes.recall(EVENT, 1)
    assert not lanes.recall(CONTROL, 2)
    assert taken(lanes) == [(EVENT, b"\0"), (EVENT, b"\2")]
    assert (counted.events, lanes.event_bytes) == (2, 0)
    assert not lanes


@given(
    sizes=st.lists(st.integers(1, 5 * PIECE_BYTES), min_size=1, max_size=8),
    recalled=st.lists(st.tuples(st.integers(0, 7), st.integers(0, 5 * PIECE_BYTES)), max_size=8),
)
def test_whatever_is_recalled_half_way_the_others_come_whole(sizes: list[int], recalled: list[tuple[int, int]]) -> None:
    counted = Counted()
    lanes = counted.lanes
    bodies = {event: bytes([event]) * size for event, size in enumerate(sizes)}
    for event, body in bodies.items():
        lanes.put_event(event % 3, EVENT, body, event)
    splitter = Splitter(pieces=True)
    found: list[bytes] = []
    spared: set[int] = set()
    for event, most in recalled:
        found += [body for _, body in splitter.feed(b"".join(lanes.take(most)))]
        if lanes.recall(EVENT, event):
            spared.add(event)
    found += [body for _, body in splitter.feed(b"".join(lanes.take(1 << 30)))]
    assert sorted(found) == sorted(body for event, body in bodies.items() if event not in spared)
    assert not lanes
    assert (lanes.event_bytes, lanes.control_bytes) == (0, 0)
    assert list(splitter.feed(frame(PIECE, b"\0\0" + bytes((EVENT, 1)) + b"new"))) == [
        (EVENT, b"new")
    ]  # no rest is left


@pytest.mark.parametrize(
    ("bytes_", "why"),
    [
        (((MOST_FRAME + 1) << 8).to_bytes(HEADER, "big"), "a frame has"),
        (frame(PIECE, b"\0\0\0\1"), "a piece is empty"),
        (frame(PIECE, b"\0\0\0\0few"), "a piece has 3 bytes"),
        (frame(PIECE, b"\0"), "a piece has no header"),
    ],
)
def test_what_nobody_sends_is_refused(bytes_: bytes, why: str) -> None:
    with pytest.raises(WireError, match=why):
        list(Splitter(pieces=True).feed(bytes_))


def test_pieces_that_never_end_are_refused() -> None:
    splitter = Splitter(pieces=True)

    def stream(number: int, last: bool) -> None:
        body = number.to_bytes(2, "big") + bytes((EVENT, last)) + bytes(PIECE_BYTES)
        list(splitter.feed(frame(PIECE, body)))

    most = MOST_UNFINISHED // PIECE_BYTES
    for number in range(most):
        stream(number, last=False)
    with pytest.raises(WireError, match="are not finished"):
        stream(most, last=False)
    splitter = Splitter(pieces=True)
    for _ in range(MOST_PIECES):
        stream(1, last=False)
    with pytest.raises(WireError, match="has more than"):
        stream(1, last=True)


def test_strangers_send_no_pieces() -> None:
    piece = frame(PIECE, bytes((0, 0, EVENT, 0)) + bytes(PIECE_BYTES))
    with pytest.raises(WireError, match="before the welcome"):
        list(Splitter().feed(piece))


def test_what_keeping_a_frame_without_an_event_takes_counts_as_well() -> None:
    lanes = Lanes(Counted())
    for _ in range(100):
        lanes.put(PING, b"")
    assert lanes.control_waiting == lanes.waiting_bytes == 100 * (HEADER + BESIDES_CONTROL)
    lanes.take(1 << 30)
    assert lanes.control_waiting == 0


def test_time_in_which_nothing_was_read_does_not_count_for_what_has_begun_to_come() -> None:
    splitter = Splitter(pieces=True)
    piece = frame(PIECE, _piece_header(0, 48, MORE) + bytes(PIECE_BYTES))
    assert not list(splitter.feed(piece + piece[:100], 10.0))
    assert splitter.kept(20.0) == 10 * (PIECE_BYTES + 100)
    splitter.put_off(7.0)
    assert splitter.kept(20.0) == 3 * (PIECE_BYTES + 100)

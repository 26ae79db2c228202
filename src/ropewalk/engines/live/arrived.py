"""Events as whoever subscribed gets them, and what of them has come and nobody has read."""

from collections import deque
from collections.abc import Iterator

from ropewalk.engines.live.envelope import Said, is_signed, name_of
from ropewalk.protocols import contract

EVENT_BYTES, TOPIC_BYTES = 256, 40  # ours: what an event takes besides its payload, and each of its topics


class Event:
    """Something that was published, as whoever subscribed gets it."""

    __slots__ = ("_event", "_place", "hops", "payload", "topics")

    def __init__(
        self, event: contract.Event, payload: bytes, hops: int, topics: tuple[str, ...], place: int = 0
    ) -> None:
        self._event, self._place = event, place  # of several that were published together, which it is
        self.payload = payload
        self.hops = hops  # links that it crossed
        self.topics = topics  # those of its topics that are subscribed to here

    @property
    def id(self) -> str:
        """Nobody else's."""
        return name_of(self._event.id, self._place)

    @property
    def signed(self) -> bool:
        """Whether its publisher has signed it, which was checked."""
        return is_signed(self._event)

    @property
    def publisher(self) -> str:
        """Whose it is, if it is signed; else whose it is said to be."""
        return f"{self._event.publisher:016x}"

    @property
    def content(self) -> dict[str, float | str]:
        """What it says by name."""
        return dict(self._event.content)

    def __repr__(self) -> str:
        """What can be read of it."""
        told = {
            name: getattr(self, name) for name in ("payload", "topics", "publisher", "signed", "id", "hops", "content")
        }
        return f"Event({', '.join(f'{name}={value!r}' for name, value in told.items())})"


class Arrived:
    """What has come and nobody has read: parcels as they came, of which events are made when they are read.

    A parcel is one thing to Python's collector of garbage, where its events would be hundreds that it looks at again and again.
    """

    __slots__ = ("_lots", "bytes", "count")

    def __init__(self) -> None:
        self._lots: deque[_Lot] = deque()
        self.count = self.bytes = 0  # events, and what they take

    def put(self, event: contract.Event, said: Said, hops: int, names: tuple[str, ...], size: int) -> None:
        """All that an event says, but for what somebody has left out; `size_of` it."""
        self._put(_Lot(event, hops, names, numbered(said), len(said) - said.count(None)), size)

    def put_one(self, event: contract.Event, payload: bytes, hops: int, names: tuple[str, ...], place: int) -> None:
        """One of the things that it says."""
        lot = _Lot(event, hops, names, iter([(place, payload)]), 1)
        self._put(lot, len(payload) + lot.besides)

    def next(self) -> Event:
        """The eldest, which is then gone from here."""
        lot = self._lots[0]
        place, payload = self._take(lot)
        return Event(lot.event, payload, lot.hops, lot.names, place)

    def drop(self) -> None:
        """Lose the eldest."""
        self._take(self._lots[0])

    def _take(self, lot: "_Lot") -> tuple[int, bytes]:
        place, payload = next(lot.said)
        lot.left -= 1
        if not lot.left:
            self._lots.popleft()
        self.count -= 1
        self.bytes -= len(payload) + lot.besides
        return place, payload

    def _put(self, lot: "_Lot", size: int) -> None:
        if lot.left:
            self._lots.append(lot)
            self.count += lot.left
            self.bytes += size


class _Lot:
    """What is left of what came together."""

    __slots__ = ("besides", "event", "hops", "left", "names", "said")

    def __init__(
        self, event: contract.Event, hops: int, names: tuple[str, ...], said: Iterator[tuple[int, bytes]], left: int
    ) -> None:
        self.event, self.hops, self.names, self.said, self.left = event, hops, names, said, left
        self.besides = _besides(event)


def numbered(said: Said) -> Iterator[tuple[int, bytes]]:
    """What an event says, and in which place, but for what somebody has left out."""
    return ((place, each) for place, each in enumerate(said) if each is not None)


def size_of(event: contract.Event, said: Said) -> int:
    """Bytes that so many events take while they wait."""
    besides = _besides(event)
    return sum([len(each) + besides for each in said if each is not None])


def _besides(event: contract.Event) -> int:
    """What each of them takes besides its payload."""
    besides = EVENT_BYTES + TOPIC_BYTES * len(event.topics)
    return besides + contract.bytes_by_name(event) if event.content else besides

"""Places on a ring: fractions of a turn as bytes, the first counting most, without zeros at the end; so their order is that of bytes.

Between any two there is another, which takes a bit more to write. Only who insists on one spot some five hundred times in a row comes
to the end of what may be written, and has to sit elsewhere.
"""

from dataclasses import dataclass

from ropewalk.ids import weight
from ropewalk.protocols.contract import Contact

MOST_BYTES = 64  # ours: what a place may take in a message
ID_BYTES = 8
ID_BITS = 63
KEY = 1  # ours, as in `kernel.rings`: any would do, if it is the same for all

Turn = tuple[bool, bytes]
"""How far a place is from another, clockwise: these compare as distances from that other do."""


@dataclass(frozen=True, slots=True)
class Seat:
    """A node, and where it sits."""

    contact: Contact
    place: bytes


def place_of(id_: int) -> bytes:
    """Where a hash of 63 bits lies."""
    return ((id_ % (1 << ID_BITS)) << 1).to_bytes(ID_BYTES, "big").rstrip(b"\0")


def key_of(topic: int) -> bytes:
    """Where a topic lies: its id hashed once more, since it may be called like a node."""
    return place_of(weight(KEY, topic))


def is_place(place: bytes) -> bool:
    """Whether it is written as it should be."""
    return len(place) <= MOST_BYTES and place[-1:] != b"\0"


def turn(low: bytes, place: bytes) -> Turn:
    """How far it is from `low` to a place; to itself it is the whole turn."""
    return (place <= low, place)


def is_between(low: bytes, place: bytes, high: bytes) -> bool:
    """Whether one comes to a place, clockwise, after `low` and not after `high`; from a place to itself it is the whole turn."""
    return turn(low, place) <= turn(low, high)


def is_within(low: bytes, place: bytes, high: bytes) -> bool:
    """The same, but before `high`."""
    return turn(low, place) < turn(low, high)


def midway(low: bytes, high: bytes) -> bytes | None:
    """The place in the middle, clockwise; from a place to itself it is half a turn away. None if it could not be written."""
    width = max(len(low), len(high)) + 1
    whole = 1 << (8 * width)
    first, last = (int.from_bytes(place.ljust(width, b"\0"), "big") for place in (low, high))
    arc = (last - first) % whole or whole
    found = ((first + arc // 2) % whole).to_bytes(width, "big").rstrip(b"\0")
    return found if len(found) <= MOST_BYTES else None


def number_of(place: bytes) -> int:
    """Its first bits as a number: what labels a choice."""
    return int.from_bytes(place[:ID_BYTES].ljust(ID_BYTES, b"\0"), "big") >> 1

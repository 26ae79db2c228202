"""Places on a ring: fractions of a turn as bytes, the first counting most, without zeros at the end; so their order is that of bytes.

Between any two there is another, which takes a bit more to write. Only who insists on one spot some five hundred times in a row comes
to the end of what may be written, and has to sit elsewhere.
"""

MOST_BYTES = 64  # ours: what a place may take in a message
ID_BYTES = 8


def place_of(id_: int) -> bytes:
    """Where a hash of 63 bits lies."""
    return (id_ << 1).to_bytes(ID_BYTES, "big").rstrip(b"\0")


def is_place(place: bytes) -> bool:
    """Whether it is written as it should be."""
    return len(place) <= MOST_BYTES and place[-1:] != b"\0"


def is_between(low: bytes, place: bytes, high: bytes) -> bool:
    """Whether one comes to a place, clockwise, after `low` and not after `high`; from a place to itself it is the whole turn."""
    if low < high:
        return low < place <= high
    return place > low or place <= high


def midway(low: bytes, high: bytes) -> bytes | None:
    """The place in the middle, clockwise; from a place to itself it is half a turn away. None if it could not be written."""
    width = max(len(low), len(high)) + 1
    turn = 1 << (8 * width)
    first, last = (int.from_bytes(place.ljust(width, b"\0"), "big") for place in (low, high))
    arc = (last - first) % turn or turn
    found = ((first + arc // 2) % turn).to_bytes(width, "big").rstrip(b"\0")
    return found if len(found) <= MOST_BYTES else None


def arc_of(low: bytes, high: bytes) -> bytes:
    """How far it is from one place to another, clockwise: comparable with other such."""
    width = max(len(low), len(high))
    turn = 1 << (8 * width)
    first, last = (int.from_bytes(place.ljust(width, b"\0"), "big") for place in (low, high))
    return ((last - first) % turn).to_bytes(width, "big").rstrip(b"\0")

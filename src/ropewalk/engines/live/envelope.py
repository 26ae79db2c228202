"""What a published event looks like inside: what somebody had to say, and a signature if its publisher gave one.

Small things that somebody says in one breath on the same topics are a parcel: one event to all who pass it on, and as many to who
subscribed. What an event costs at each node on its way does not depend on how much is in it.

The signature is over the event's topics, what is said, also by name, and when. The id of a signed event is a hash of the same and of the
key, so nobody can pass anything else off under it; ids of signed events and of others never meet. Whose it is, is a hash of the
key: the publisher that the event names must be the one whose key it is. What was signed long ago is not taken: ids are forgotten after
a while, and it could come again.
"""

import json
from hashlib import blake2b
from typing import Annotated

import msgspec
from msgspec import Meta

from ropewalk.engines.live.identity import KEY_BYTES, Identity, id_of
from ropewalk.engines.live.identity import is_signed as is_by
from ropewalk.protocols.content.filters import Content
from ropewalk.protocols.contract import Event, quick
from ropewalk.protocols.dissemination.settings import MOST_PAYLOAD

PLAIN, SIGNED, PARCEL = b"\0", b"\1", b"\2"
SIGNED_IDS = 1 << 62  # the ids of signed events from here on, those of others below
TIME_BYTES, SIGNATURE_BYTES = 8, 64
ENVELOPE = 1 + KEY_BYTES + TIME_BYTES + SIGNATURE_BYTES
MOST_SAID = MOST_PAYLOAD - ENVELOPE  # bytes: the most that an event can say
# ours, seconds: between when an event was signed and the clock of who gets it; ids are known for longer, and events kept for less
STALE = 600.0
MOST_TOGETHER = 512  # ours: things said in one parcel
TOGETHER_BYTES = 61_440  # ours: of all of them; what costs as much for each parcel is little then


Said = tuple[bytes | None, ...]
"""One thing, or several that were said together; None where somebody on the way has left one out."""


@quick
class Letter:
    """What is in an envelope."""

    said: Said
    public: bytes | None = None  # the key by which it is signed; None if it is not
    at: int = 0  # when, in microseconds since 1970
    signature: bytes = b""

    def is_in_place(self, event: Event) -> bool:
        """Whether it can be in this event: what is signed has ids of its own, and of several things none is said by name."""
        return (self.public is not None) == (event.id >= SIGNED_IDS) and (len(self.said) == 1 or not event.content)

    def is_genuine(self, event: Event) -> bool:
        """Whether whoever published the event has signed it. Takes a tenth of a millisecond or two."""
        if self.public is None or id_of(self.public) != event.publisher:
            return False
        said = self.said[0] or b""
        text = _text(event.topics, self.at, said, event.content)
        return event.id == _signed_id(self.public, text) and is_by(text, self.signature, self.public)

    def is_stale(self, now: float) -> bool:
        """Whether it was signed too long ago, or says so of a time that is yet to come; `now` in seconds since 1970."""
        return self.public is not None and abs(now - self.at / 1e6) > STALE


def name_of(event: int, place: int = 0) -> str:
    """What somebody said is called so: the event's id, and which of several things it is."""
    return f"{event:016x}.{place}" if place else f"{event:016x}"


def is_signed(event: Event) -> bool:
    """Whether it is one that was let in because of its signature: others cannot have such an id."""
    return event.id >= SIGNED_IDS


def is_plain(event: Event) -> bool:
    """Whether it is sealed and not signed: so there is nothing to check."""
    return event.payload[:1] == PLAIN and event.id < SIGNED_IDS


def sealed(publisher: Identity, topics: tuple[int, ...], said: bytes, number: int, content: Content = ()) -> Event:
    """An event as it is sent, unsigned. `number` is nobody else's."""
    return Event(number % SIGNED_IDS, publisher.id, topics, PLAIN + said, content)


def parcel(publisher: Identity, topics: tuple[int, ...], said: list[bytes], number: int) -> Event:
    """Several things that are said together, as one event, unsigned."""
    return Event(number % SIGNED_IDS, publisher.id, topics, PARCEL + _ENCODER.encode(said))


def thinned(event: Event, said: Said) -> Event:
    """A parcel with less in it: all else keeps its place, and so its name."""
    return Event(event.id, event.publisher, event.topics, PARCEL + _ENCODER.encode(said), event.content)


def signed(publisher: Identity, topics: tuple[int, ...], said: bytes, at: int, content: Content = ()) -> Event:
    """The same, signed; `at` in microseconds since 1970, and never twice the same: else what is said twice is one event."""
    text = _text(topics, at, said, content)
    letter = publisher.public + at.to_bytes(TIME_BYTES, "big") + publisher.sign(text)
    return Event(_signed_id(publisher.public, text), publisher.id, topics, SIGNED + letter + said, content)


def unseal(payload: bytes) -> Letter | None:
    """What is in a payload; None if that is nothing that a node has sealed."""
    if payload[:1] == PLAIN:
        return Letter((payload[1:],))
    if payload[:1] == PARCEL:
        return _opened(payload)
    if payload[:1] != SIGNED or len(payload) < ENVELOPE:
        return None
    time_at, signature_at = 1 + KEY_BYTES, 1 + KEY_BYTES + TIME_BYTES
    at = int.from_bytes(payload[time_at:signature_at], "big")
    return Letter((payload[ENVELOPE:],), payload[1:time_at], at, payload[signature_at:ENVELOPE])


def _opened(payload: bytes) -> Letter | None:
    try:
        said: Said = _DECODER.decode(memoryview(payload)[1:])
    except msgspec.MsgspecError:
        return None
    size = sum([len(each) for each in said if each is not None])
    return Letter(said) if size <= TOGETHER_BYTES and any(each is not None for each in said) else None


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(Annotated[tuple[bytes | None, ...], Meta(min_length=1, max_length=MOST_TOGETHER)])


def _text(topics: tuple[int, ...], at: int, said: bytes, content: Content) -> bytes:
    by_name = json.dumps(content).encode() if content else b""
    lengths = (len(by_name),) if content else ()
    numbers = b"".join(number.to_bytes(8, "big") for number in (at, len(topics), *topics, *lengths))
    return (b"ropewalk content " if content else b"ropewalk event ") + numbers + by_name + said


def _signed_id(public: bytes, text: bytes) -> int:
    hashed = blake2b(public + text, digest_size=8, person=b"ropewalk event").digest()
    return SIGNED_IDS | int.from_bytes(hashed, "big") % SIGNED_IDS

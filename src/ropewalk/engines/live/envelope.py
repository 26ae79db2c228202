"""What a published event looks like inside: what somebody had to say, and a signature if its publisher gave one.

The signature is over the event's id, its topics and what is said, so nobody can pass it off as another event, or on another
topic. Whose it is, is a hash of the key: the publisher that the event names must be the one whose key it is.
"""

from dataclasses import dataclass

from ropewalk.engines.live.identity import KEY_BYTES, Identity, id_of, is_signed
from ropewalk.protocols.contract import Event
from ropewalk.protocols.dissemination.settings import MOST_PAYLOAD

PLAIN, SIGNED = b"\0", b"\1"
SIGNATURE_BYTES = 64
ENVELOPE = 1 + KEY_BYTES + SIGNATURE_BYTES
MOST_SAID = MOST_PAYLOAD - ENVELOPE  # bytes: the most that an event can say


@dataclass(frozen=True, slots=True)
class Letter:
    """What is in an envelope."""

    said: bytes
    public: bytes | None  # the key by which it is signed; None if it is not
    signature: bytes

    def is_genuine(self, event: Event) -> bool:
        """Whether whoever published the event has signed it. Takes a tenth of a millisecond or two."""
        if self.public is None or id_of(self.public) != event.publisher:
            return False
        return is_signed(_text(event.id, event.topics, self.said), self.signature, self.public)


def seal(event: int, topics: tuple[int, ...], said: bytes, signer: Identity | None) -> bytes:
    """The payload of an event, signed if there is somebody to do it."""
    if signer is None:
        return PLAIN + said
    return SIGNED + signer.public + signer.sign(_text(event, topics, said)) + said


def unseal(payload: bytes) -> Letter | None:
    """What is in a payload; None if that is nothing that a node has sealed."""
    if payload[:1] == PLAIN:
        return Letter(payload[1:], None, b"")
    if payload[:1] != SIGNED or len(payload) < ENVELOPE:
        return None
    public, signature = payload[1 : 1 + KEY_BYTES], payload[1 + KEY_BYTES : ENVELOPE]
    return Letter(payload[ENVELOPE:], public, signature)


def _text(event: int, topics: tuple[int, ...], said: bytes) -> bytes:
    numbers = b"".join(number.to_bytes(8, "big") for number in (event, len(topics), *topics))
    return b"ropewalk event " + numbers + said

"""How two nodes become certain of each other before the first message, inside a TLS connection that is already up.

The one that was called proves who it is by TLS itself: its certificate holds its key. The one that calls signs what nobody
else could have: the certificate that it sees, and a number that the other has just drawn. So who is in between can neither be
taken for one of the two nor use what it hears elsewhere. Where the network has a secret, both show that they know it, bound to
the same numbers. A link counts as up only with the welcome: TLS 1.3 lets a caller who is refused believe in it until it reads.

**Versions.** The one that is called says from which to which it speaks, the caller takes the highest that both do, or says why not.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from hmac import compare_digest
from secrets import token_bytes
from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta

from ropewalk.engines.live.frames import HELLO, PROOF, REFUSED, WELCOME
from ropewalk.engines.live.identity import KEY_BYTES, Identity, id_of, is_signed, key_in
from ropewalk.engines.live.wire import MOST_TEXT, UNREADABLE, WireError
from ropewalk.protocols.contract import Contact

VERSIONS = (1, 1)  # from, to: those that this release speaks
NONCE = 32  # bytes
T = TypeVar("T")
Drawn = Annotated[bytes, Meta(min_length=NONCE, max_length=NONCE)]
Text = Annotated[str, Meta(max_length=MOST_TEXT)]
Shown = Annotated[bytes, Meta(max_length=64)]
HEARTBEAT = 1.0  # ours, seconds: whoever has said nothing else for as long says that it lives
LONGEST_HEARTBEAT = 60.0  # ours, seconds
Heartbeat = Annotated[float, Meta(gt=0.0, le=LONGEST_HEARTBEAT)]


class Hello(msgspec.Struct, array_like=True):
    """Of the one that is called: what it speaks, and what the caller has to sign."""

    lowest: int
    highest: int
    protocol: Text
    nonce: Drawn


class Proof(msgspec.Struct, array_like=True):
    """Of the caller: who it is, and that it is."""

    version: int
    protocol: Text
    public: Annotated[bytes, Meta(min_length=KEY_BYTES, max_length=KEY_BYTES)]
    address: Text  # where it can be called itself; empty if it cannot
    incarnation: Drawn
    nonce: Drawn
    signature: Shown
    member: Shown  # that it knows the network's secret
    heartbeat: Heartbeat = HEARTBEAT  # seconds until it says that it lives


class Welcome(msgspec.Struct, array_like=True):
    """Of the one that was called: the link is up."""

    address: Text
    incarnation: Drawn
    member: Shown
    heartbeat: Heartbeat = HEARTBEAT


class Refused(msgspec.Struct, array_like=True):
    """Of either: it is not."""

    why: Text


class RefusedError(WireError):
    """One of the two does not want the other."""


class UnprovenError(RefusedError):
    """Who calls has not shown what it has to."""


@dataclass(frozen=True, slots=True)
class Terms:
    """Who a node is to others, and whom it talks to."""

    identity: Identity
    address: str
    protocol: str
    secret: bytes = b""  # of the network, if it has one
    admits: Callable[[bytes], bool] = lambda _: True  # whom, by public key
    certified: bool = False  # whether a caller's certificate must hold its key, too
    heartbeat: float = HEARTBEAT  # seconds until it says that it lives
    incarnation: bytes = field(default_factory=lambda: token_bytes(NONCE))  # another at every start


@dataclass(frozen=True, slots=True)
class Other:
    """Who is at the other end."""

    contact: Contact
    public: bytes
    incarnation: bytes
    heartbeat: float


class Called:
    """The end that was called."""

    def __init__(self, terms: Terms, certificate: bytes, callers: bytes | None) -> None:
        self.terms, self.certificate, self.callers = terms, certificate, callers
        self.nonce = token_bytes(NONCE)
        self.proof: Proof | None = None

    def begin(self) -> tuple[int, bytes]:
        """What is sent first."""
        return HELLO, _ENCODER.encode(Hello(*VERSIONS, self.terms.protocol, self.nonce))

    def receive(self, kind: int, body: bytes) -> Other:
        """The caller, if it is one. It is yet to be welcomed."""
        if kind == REFUSED:
            raise RefusedError(f"it says: {_read(_REFUSED, body).why}")
        if kind != PROOF:
            raise WireError(f"a frame of kind {kind} came before the proof.")
        terms, proof = self.terms, _read(_PROOF, body)
        seen = _bound(self.certificate, self.nonce, proof.version, terms.protocol)
        if not VERSIONS[0] <= proof.version <= VERSIONS[1]:
            raise RefusedError(f"this node speaks versions {VERSIONS[0]} to {VERSIONS[1]}, not {proof.version}.")
        if proof.protocol != terms.protocol:
            raise RefusedError(f"this network runs {terms.protocol}, not {proof.protocol}.")
        if not is_signed(seen, proof.signature, proof.public) or proof.public == terms.identity.public:
            raise UnprovenError("that is not its key.")
        if terms.certified and (self.callers is None or key_in(self.callers) != proof.public):
            raise UnprovenError("its certificate is for another key.")
        if not compare_digest(proof.member, _member(terms.secret, b"caller", seen, proof.public)):
            raise UnprovenError("the two have different secrets, or one has none (--secret-file).")
        if not terms.admits(proof.public):
            raise RefusedError("it is not on the list, or kept out for a while.")
        self.proof = proof
        contact = Contact(id_of(proof.public), proof.address)
        return Other(contact, proof.public, proof.incarnation, proof.heartbeat)

    def welcome(self) -> tuple[int, bytes]:
        """What makes the link be up."""
        assert self.proof is not None
        seen = _bound(self.certificate, self.proof.nonce, self.proof.version, self.terms.protocol)
        member = _member(self.terms.secret, b"called", seen, self.proof.public)
        return WELCOME, _ENCODER.encode(
            Welcome(self.terms.address, self.terms.incarnation, member, self.terms.heartbeat)
        )


class Caller:
    """The end that calls. It may know whom."""

    def __init__(self, terms: Terms, certificate: bytes, expected: int | None, address: str) -> None:
        self.terms, self.certificate, self.address = terms, certificate, address
        self.nonce = token_bytes(NONCE)
        self.version = 0
        public = key_in(certificate)
        if public is None:
            raise RefusedError("its certificate has no key of a node.")
        if public == terms.identity.public:
            raise RefusedError("it is this node itself.")
        if expected is not None and id_of(public) != expected:
            raise RefusedError("it is another node.")
        if not terms.admits(public):
            raise RefusedError("it is not on the list, or kept out for a while.")
        self.public = public

    def receive(self, kind: int, body: bytes) -> tuple[int, bytes] | Other:
        """What to send next; at last, who is there."""
        if kind == REFUSED:
            raise RefusedError(f"it says: {_read(_REFUSED, body).why}")
        if kind == HELLO and not self.version:
            return self._prove(_read(_HELLO, body))
        if kind == WELCOME and self.version:
            return self._welcomed(_read(_WELCOME, body))
        raise WireError(f"a frame of kind {kind} came out of turn.")

    def _prove(self, hello: Hello) -> tuple[int, bytes]:
        terms = self.terms
        self.version = min(hello.highest, VERSIONS[1])
        if self.version < max(hello.lowest, VERSIONS[0]):
            raise RefusedError(
                f"it speaks versions {hello.lowest} to {hello.highest}, this node {VERSIONS[0]} to {VERSIONS[1]}."
            )
        if hello.protocol != terms.protocol:
            raise RefusedError(f"it runs {hello.protocol}, this node {terms.protocol}.")
        seen = _bound(self.certificate, hello.nonce, self.version, terms.protocol)
        public, signature = terms.identity.public, terms.identity.sign(seen)
        member = _member(terms.secret, b"caller", seen, public)
        proof = Proof(
            self.version,
            terms.protocol,
            public,
            terms.address,
            terms.incarnation,
            self.nonce,
            signature,
            member,
            terms.heartbeat,
        )
        return PROOF, _ENCODER.encode(proof)

    def _welcomed(self, welcome: Welcome) -> Other:
        seen = _bound(self.certificate, self.nonce, self.version, self.terms.protocol)
        if not compare_digest(welcome.member, _member(self.terms.secret, b"called", seen, self.terms.identity.public)):
            raise RefusedError("the two have different secrets, or one has none (--secret-file).")
        contact = Contact(id_of(self.public), welcome.address or self.address)
        return Other(contact, self.public, welcome.incarnation, welcome.heartbeat)


def refusal(why: str) -> tuple[int, bytes]:
    """What is sent to whom one does not want."""
    return REFUSED, _ENCODER.encode(Refused(why[:MOST_TEXT]))


_ENCODER = msgspec.msgpack.Encoder()
_HELLO, _PROOF = msgspec.msgpack.Decoder(Hello), msgspec.msgpack.Decoder(Proof)
_WELCOME, _REFUSED = msgspec.msgpack.Decoder(Welcome), msgspec.msgpack.Decoder(Refused)


def _read(decoder: "msgspec.msgpack.Decoder[T]", body: bytes) -> T:
    try:
        return decoder.decode(body)
    except UNREADABLE as error:
        raise WireError(f"its handshake cannot be read: {error}.") from None


def _bound(certificate: bytes, nonce: bytes, version: int, protocol: str) -> bytes:
    """What holds for this connection only."""
    about = b"ropewalk link %d %s " % (version, protocol.encode())
    return about + blake2b(certificate, digest_size=32).digest() + nonce


def _member(secret: bytes, role: bytes, seen: bytes, caller: bytes) -> bytes:
    """What only those can say who know the secret; nothing, where there is none."""
    if not secret:
        return b""
    key = blake2b(secret, digest_size=32, person=b"ropewalk secret").digest()
    return blake2b(role + caller + seen, key=key, digest_size=32).digest()

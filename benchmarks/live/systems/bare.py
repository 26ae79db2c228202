"""Frames between asyncio protocols over mutual TLS 1.3, and nothing else.

The frames are those of nodes: a length and a kind, then a MessagePack array with the event's id, publisher, topics and payload. Every
one is encoded and decoded with msgspec. What is said in one turn of the loop is written together.

`bare` has a frame for each event, as most systems do that do not keep what they carry: it is what others are held against.
`bare-parcels` puts as many into a frame as nodes do where they are published without a pause.
"""

import asyncio
import ssl
from collections.abc import Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import msgspec
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.x509.oid import NameOID

from ropewalk.engines.live.envelope import MOST_TOGETHER, TOGETHER_BYTES
from systems.contract import Hear, Publish, Publishing, Reader, Subscribing, System

PUSH = 48  # a node's kind of message that carries an event
HEADER = 4  # bytes
AT_ONCE = 65_536  # bytes: as nodes do
PUBLISHER = 2**62 + 1  # ids take eight bytes, as a node's do
CERTIFICATE, KEY = "end.pem", "end.key"


class Event(msgspec.Struct, array_like=True):
    """As a node writes it."""

    id: int
    publisher: int
    topics: tuple[int, ...]
    payload: bytes


class Push(msgspec.Struct, array_like=True):
    """As a node writes it, topics by number."""

    event: Event
    topics: tuple[int, ...]
    hops: int
    asked: bool


class Splitting(asyncio.Protocol):
    """Splits frames, decodes them, and tells."""

    def __init__(self, hear: Hear, *, parcels: bool) -> None:
        self.hear, self.parcels, self.buffer = hear, parcels, bytearray()
        self.decode, self.unpack = msgspec.msgpack.Decoder(Push).decode, msgspec.msgpack.Decoder(list[bytes]).decode

    def data_received(self, data: bytes) -> None:
        """Some more."""
        buffer, hear, decode = self.buffer, self.hear, self.decode
        buffer += data
        view, start, end = memoryview(buffer), 0, len(buffer)
        while end - start >= HEADER:
            stop = start + HEADER + (int.from_bytes(view[start : start + HEADER], "big") >> 8)
            if stop > end:
                break
            payload = decode(view[start + HEADER : stop]).event.payload
            for each in self.unpack(payload) if self.parcels else (payload,):
                hear(each)
            start = stop
        view.release()
        del buffer[:start]


class Writer(asyncio.Protocol):
    """Knows when to wait."""

    def __init__(self) -> None:
        self.room = asyncio.Event()
        self.room.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It is up."""
        self.transport = cast("asyncio.Transport", transport)
        self.transport.set_write_buffer_limits(high=AT_ONCE)

    def pause_writing(self) -> None:
        """The system takes no more for now."""
        self.room.clear()

    def resume_writing(self) -> None:
        """It does again."""
        self.room.set()


@contextmanager
def serving() -> Iterator[str]:
    """A folder with a key and a certificate, which both ends show and trust."""
    with TemporaryDirectory() as folder:
        key = Ed25519PrivateKey.generate()
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "end")])
        now = datetime.now(UTC)
        certificate = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=1))
            .sign(key, None)
        )
        pem, none = serialization.Encoding.PEM, serialization.NoEncryption()
        Path(folder, CERTIFICATE).write_bytes(certificate.public_bytes(pem))
        Path(folder, KEY).write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, none))
        yield folder


def secured(folder: str, kind: int) -> ssl.SSLContext:
    """TLS 1.3, where both ends show who they are."""
    context = ssl.SSLContext(kind)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_cert_chain(Path(folder, CERTIFICATE), Path(folder, KEY))
    context.load_verify_locations(Path(folder, CERTIFICATE))
    return context


def system(name: str, *, parcels: bool) -> System:
    """With a frame for each event, or for as many as go together."""

    @asynccontextmanager
    async def subscribing(place: str, _: str, hear: Hear) -> Subscribing:
        loop = asyncio.get_running_loop()
        context = secured(place, ssl.PROTOCOL_TLS_SERVER)
        served = await loop.create_server(lambda: Splitting(hear, parcels=parcels), "127.0.0.1", 0, ssl=context)
        try:
            yield Reader(str(served.sockets[0].getsockname()[1]))
        finally:
            served.close()

    @asynccontextmanager
    async def publishing(place: str, readers: list[str]) -> Publishing:
        loop = asyncio.get_running_loop()
        context = secured(place, ssl.PROTOCOL_TLS_CLIENT)
        writers = []
        for port in map(int, readers):
            called = await loop.create_connection(Writer, "127.0.0.1", port, ssl=context, server_hostname="end")
            writers.append(called[1])
        yield _publish_to(writers, parcels=parcels)
        for writer in writers:
            writer.transport.close()

    return System(name, subscribing, publishing, serving=serving, tls=True)


def _publish_to(writers: list[Writer], *, parcels: bool) -> Publish:
    encode = msgspec.msgpack.Encoder().encode
    ids = iter(range(2**62, 2**63))

    async def publish(events: Sequence[bytes]) -> None:
        lot: list[bytes] = []
        size = 0
        for payload in map(encode, _parcels(events)) if parcels else events:
            if size >= AT_ONCE:  # and there is more to come
                await write(lot)
                await asyncio.sleep(0)
                lot, size = [], 0
            body = encode(Push(Event(next(ids), PUBLISHER, (-1,), payload), (-1,), 1, False))
            lot += ((len(body) << 8 | PUSH).to_bytes(HEADER, "big"), body)
            size += HEADER + len(body)
        await write(lot)

    async def write(lot: list[bytes]) -> None:
        whole = b"".join(lot)
        for writer in writers:
            await writer.room.wait()
            writer.transport.write(whole)

    return publish


def _parcels(events: Sequence[bytes]) -> Iterator[list[bytes]]:
    """As many as nodes put into one."""
    parcel: list[bytes] = []
    size = 0
    for payload in events:
        if parcel and (size + len(payload) > TOGETHER_BYTES or len(parcel) == MOST_TOGETHER):
            yield parcel
            parcel, size = [], 0
        parcel.append(payload)
        size += len(payload)
    if parcel:
        yield parcel


BARE = system("bare", parcels=False)
PARCELS = system("bare-parcels", parcels=True)

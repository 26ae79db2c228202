"""Frames between asyncio protocols over mutual TLS 1.3, and nothing else: as fast as anything made of this can be.

The frames are those of nodes: a length and a kind, then a MessagePack array with the event's id, publisher, topics and payload. Every
one is encoded and decoded with msgspec. What is said in one turn of the loop is written together.
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

from systems.contract import Hear, Publish, Publishing, Readers, Subscribing, System

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


class Reader(asyncio.Protocol):
    """Splits frames, decodes them, and tells."""

    def __init__(self, hear: Hear) -> None:
        self.hear, self.buffer = hear, bytearray()
        self.decode = msgspec.msgpack.Decoder(Push).decode

    def data_received(self, data: bytes) -> None:
        """Some more."""
        buffer, hear, decode = self.buffer, self.hear, self.decode
        buffer += data
        view, start, end = memoryview(buffer), 0, len(buffer)
        while end - start >= HEADER:
            stop = start + HEADER + (int.from_bytes(view[start : start + HEADER], "big") >> 8)
            if stop > end:
                break
            hear(decode(view[start + HEADER : stop]).event.payload)
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


@asynccontextmanager
async def subscribing(place: str, hears: Sequence[Hear]) -> Subscribing:
    """Whoever calls first speaks to the first of them, and so on."""
    left = list(hears)
    loop = asyncio.get_running_loop()
    context = secured(place, ssl.PROTOCOL_TLS_SERVER)
    server = await loop.create_server(lambda: Reader(left.pop(0)), "127.0.0.1", 0, ssl=context)
    try:
        yield Readers(str(server.sockets[0].getsockname()[1]), lambda: [1] * (len(hears) - len(left)))
    finally:
        server.close()


@asynccontextmanager
async def publishing(place: str, readers: str, count: int) -> Publishing:
    """A connection with each of them."""
    loop = asyncio.get_running_loop()
    context = secured(place, ssl.PROTOCOL_TLS_CLIENT)
    writers = []
    for _ in range(count):
        _, writer = await loop.create_connection(Writer, "127.0.0.1", int(readers), ssl=context, server_hostname="end")
        writers.append(writer)
    yield _publish_to(writers)
    for writer in writers:
        writer.transport.close()


def _publish_to(writers: list[Writer]) -> Publish:
    encode = msgspec.msgpack.Encoder().encode
    ids = iter(range(2**62, 2**63))

    async def publish(events: Sequence[bytes]) -> None:
        waiting: list[bytes] = []
        size = 0
        for number, payload in enumerate(events, 1):
            body = encode(Push(Event(next(ids), PUBLISHER, (-1,), payload), (-1,), 1, False))
            waiting += ((len(body) << 8 | PUSH).to_bytes(HEADER, "big"), body)
            size += HEADER + len(body)
            if size >= AT_ONCE or number == len(events):
                lot = b"".join(waiting)
                for writer in writers:
                    await writer.room.wait()
                    writer.transport.write(lot)
                waiting, size = [], 0
                await asyncio.sleep(0)

    return publish


BARE = System("bare", subscribing, publishing, serving=serving, tls=True)

"""Who a node is: a key pair, the id that follows from it, and the certificate by which TLS knows it.

The id is 63 bits of a BLAKE2b hash of the public key: nobody can take an id without its key, though who tries 2^63 keys may
find one for it. The key is Ed25519 (RFC 8032), kept in a file that only its owner may read. The
certificate is made anew at every start and signed by the key itself, or given with the key by whoever runs the cluster.
"""

import os
import ssl
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import IO

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
from cryptography.x509.oid import NameOID

from ropewalk.errors import InputError, UsageError

KEY_FILE = "node.key"
KEY_BYTES = 32
ALPN = "ropewalk"
LASTS = timedelta(days=3650)  # ours: nobody looks at it; the key is what counts


@dataclass(frozen=True, slots=True)
class ClusterCertificate:
    """What whoever runs a cluster has handed out: who may be in it, and that this node may."""

    authority: Path  # the certificate that has signed those of all nodes
    certificate: Path  # this node's, with its Ed25519 key
    key: Path


class Identity:
    """A node's key pair."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self.key = key
        self.public = public_bytes(key.public_key())
        self.id = id_of(self.public)

    @classmethod
    def fresh(cls) -> "Identity":
        """One that nobody has had before, kept nowhere."""
        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def kept_in(cls, folder: Path) -> "Identity":
        """The one in a folder, which is made if there is none."""
        path = folder / KEY_FILE
        if not path.exists():
            _write_key(path, Ed25519PrivateKey.generate())
        return cls(read_key(path))

    def sign(self, text: bytes) -> bytes:
        """A signature, 64 bytes."""
        return self.key.sign(text)


def locked(folder: Path) -> IO[bytes] | None:
    """Keep others from being the same node, for as long as the file that is returned is open; None where that cannot be done."""
    try:
        import fcntl  # noqa: PLC0415  not everywhere
    except ImportError:
        return None
    try:
        file = (folder / KEY_FILE).open("rb")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise InputError(f"the identity in {folder} is in use: a node that is there already has it.") from None
        except OSError:
            file.close()
            return None  # the file system knows no locks
    except OSError as error:
        raise InputError(f"the node's key in {folder} cannot be read: {error.strerror}.") from None
    return file


def id_of(public: bytes) -> int:
    """The node whose public key this is."""
    return int.from_bytes(blake2b(public, digest_size=8, person=b"ropewalk node").digest(), "big") >> 1


@lru_cache(maxsize=16)
def stretched(secret: bytes) -> bytes:
    """A network's secret as it is used: whoever is called hears what is made with it, and shall need long for each guess."""
    return Scrypt(salt=b"ropewalk secret", length=32, n=2**14, r=8, p=1).derive(secret) if secret else b""


def topic_of(name: str) -> int:
    """The id of the topic that is called so."""
    if not isinstance(name, str) or not name:
        raise UsageError(f"a topic is {name!r}, but must have a name, as text.")
    return _hashed(name)


@lru_cache(maxsize=4096)  # every event names some, mostly the same
def _hashed(name: str) -> int:
    try:
        name.encode()
    except UnicodeEncodeError:
        raise UsageError(f"a topic is {name!r}, but must be text in UTF-8.") from None
    return int.from_bytes(blake2b(name.encode(), digest_size=8, person=b"ropewalk topic").digest(), "big") >> 1


def is_signed(text: bytes, signature: bytes, public: bytes) -> bool:
    """Whether the owner of a key has signed this."""
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, text)
    except (InvalidSignature, ValueError):
        return False
    return True


def public_bytes(key: Ed25519PublicKey) -> bytes:
    """A public key as it is told to others."""
    return key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)


def key_in(certificate: bytes) -> bytes | None:
    """The public key in a certificate as TLS hands it over (DER); None if it is of another kind."""
    try:
        found = x509.load_der_x509_certificate(certificate).public_key()
    except (ValueError, x509.InvalidVersion, UnsupportedAlgorithm):
        return None
    return public_bytes(found) if isinstance(found, Ed25519PublicKey) else None


def read_key(path: Path) -> Ed25519PrivateKey:
    """The private key in a file that nobody else may read."""
    try:
        mode = path.stat().st_mode
        text = path.read_bytes()
    except OSError as error:
        raise InputError(f"the node's key {path} cannot be read: {error.strerror}.") from None
    if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise InputError(f"the node's key {path} can be read by others than its owner; say chmod 600 {path}.")
    try:
        key = serialization.load_pem_private_key(text, None)
    except (ValueError, TypeError):
        raise InputError(f"{path} holds no private key in PEM without a password.") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise InputError(f"the key in {path} is of another kind than Ed25519, which nodes have.")
    return key


def contexts(identity: Identity, cluster: ClusterCertificate | None) -> tuple[ssl.SSLContext, ssl.SSLContext, bytes]:
    """How it meets others over TLS 1.3: as the one that is called, as the one that calls, and its certificate (DER).

    In an open network neither checks certificates here: Python has no say in that during a handshake, and refuses what nobody
    has signed. TLS still proves that the one who is called has the certificate's key; `handshake` compares it.
    """
    served, calling = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    for context in (served, calling):
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE if cluster is None else ssl.CERT_REQUIRED
        context.set_alpn_protocols([ALPN])
        if cluster is not None:
            _load_cluster(context, cluster)
    if cluster is None:
        with _files(identity) as (certificate, key):
            served.load_cert_chain(certificate, key)
            text = Path(certificate).read_bytes()
    else:
        text = cluster.certificate.read_bytes()
    served.num_tickets = 0  # nobody resumes a session, and tickets cost memory on every connection
    return served, calling, x509.load_pem_x509_certificate(text).public_bytes(serialization.Encoding.DER)


def of_cluster(cluster: ClusterCertificate) -> Identity:
    """The node that a cluster's certificate is for."""
    identity = Identity(read_key(cluster.key))
    try:
        certificate = x509.load_pem_x509_certificate(cluster.certificate.read_bytes())
    except OSError as error:
        raise InputError(f"the certificate {cluster.certificate} cannot be read: {error.strerror}.") from None
    except ValueError:
        raise InputError(f"{cluster.certificate} holds no certificate in PEM.") from None
    found = certificate.public_key()
    if not isinstance(found, Ed25519PublicKey) or public_bytes(found) != identity.public:
        raise InputError(f"{cluster.certificate} is not for the key in {cluster.key}; give both of one node.")
    if not certificate.not_valid_before_utc <= datetime.now(UTC) <= certificate.not_valid_after_utc:
        ends = certificate.not_valid_after_utc
        raise InputError(
            f"{cluster.certificate} is not valid now (until {ends:%Y-%m-%d %H:%M} UTC); have another made."
        )
    _refuse_foreign(cluster, certificate)
    return identity


def _refuse_foreign(cluster: ClusterCertificate, certificate: x509.Certificate) -> None:
    try:
        authorities = x509.load_pem_x509_certificates(cluster.authority.read_bytes())
    except OSError as error:
        raise InputError(f"the authority {cluster.authority} cannot be read: {error.strerror}.") from None
    except ValueError:
        raise InputError(f"{cluster.authority} holds no certificate in PEM.") from None
    for authority in authorities:
        try:
            certificate.verify_directly_issued_by(authority)
        except (ValueError, TypeError, InvalidSignature):
            continue
        return
    raise InputError(f"{cluster.certificate} was not signed by {cluster.authority}.")


def _load_cluster(context: ssl.SSLContext, cluster: ClusterCertificate) -> None:
    try:
        context.load_verify_locations(cluster.authority)
        context.load_cert_chain(cluster.certificate, cluster.key)
    except OSError as error:  # an ssl.SSLError is one
        raise InputError(f"the certificates of the cluster cannot be used: {error}.") from None


def _write_key(path: Path, key: Ed25519PrivateKey) -> None:
    text = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        drafted = path.with_name(f"{path.name}.{os.getpid()}")
        with os.fdopen(os.open(drafted, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(text)
        try:
            os.link(drafted, path)  # if another process was faster, its key counts
        except FileExistsError:
            pass
        finally:
            drafted.unlink()
    except OSError as error:
        raise InputError(f"the node's key {path} cannot be written: {error.strerror}.") from None


@contextmanager
def _files(identity: Identity) -> Iterator[tuple[str, str]]:
    """A certificate and its key, as files for as long as it takes to read them: ssl reads nothing else."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"{identity.id:016x}")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(identity.key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + LASTS)
        .sign(identity.key, None)
    )
    with tempfile.TemporaryDirectory() as folder:  # which only its owner may enter
        chain, key = Path(folder, "node.pem"), Path(folder, KEY_FILE)
        chain.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        _write_key(key, identity.key)
        yield str(chain), str(key)

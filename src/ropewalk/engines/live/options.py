"""What can be chosen about a live node, and what is usual."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from ropewalk.engines.live.addresses import place
from ropewalk.engines.live.handshake import HEARTBEAT, LONGEST_HEARTBEAT
from ropewalk.engines.live.identity import KEY_BYTES, ClusterCertificate, Identity, of_cluster
from ropewalk.engines.live.limits import Bounds
from ropewalk.errors import UsageError
from ropewalk.protocols.catalogue import find_live
from ropewalk.protocols.content.spaces import space_of
from ropewalk.protocols.dht.runs import OfRuns
from ropewalk.protocols.dissemination.settings import Settings as EventSettings
from ropewalk.protocols.kato import settings as kato
from ropewalk.protocols.magnet import settings as magnet
from ropewalk.protocols.scribe import settings as scribe
from ropewalk.protocols.stan.settings import NAME, Settings

EVERYWHERE = ("", "0.0.0.0", "::")  # noqa: S104  hosts at which one listens and nobody can call
# ADR 17, 26 and 27 say why; the period is a third of the paper's, so that newcomers are soon among others
LIVE = Settings(
    schedule="timed",
    manager="scamp",
    fanout="two-way",
    weight="keyed",
    shared=2,
    learn=True,
    discover=True,
    period=10.0,
    connectivity=0.99,
)
LIVE_ON_RINGS: dict[str, OfRuns] = {
    magnet.NAME: magnet.Settings(gather=1.0),  # whoever runs a node says what it follows right after
    scribe.NAME: scribe.Settings(),
}
LIVE_BY_CONTENT = kato.Settings(cover="cells")  # ADR 21 says why: nothing is missed
CALLED = (*LIVE_ON_RINGS, kato.NAME)  # whose nodes link to each other by who they are, whoever calls
LIVE_EVENTS = EventSettings(entry=2.0)  # somebody waits for it: a link over the widest area is open by then


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What can be chosen about a node, besides where it is and whom it knows."""

    identity: Path | None = None  # where its key is kept, or will be; None: a new one, kept nowhere
    advertise: str | None = None  # HOST or HOST:PORT at which others reach it, if not where it listens
    call_from: str | None = None  # the address of this machine from which it calls others, if it has several
    secret: bytes = b""  # what all nodes of the network share: others do not get in
    allow: frozenset[str] | None = None  # public keys, in hex, of those it talks to; None: everybody
    cluster: ClusterCertificate | None = None  # only with whom the same authority has certified
    sign: bool = False  # its own events
    heartbeat: float = HEARTBEAT
    bounds: Bounds = field(default=Bounds())  # what strangers may use up
    protocol: str = NAME  # the same at all nodes of the network
    settings: Any = None  # the protocol's own; None: as is usual here
    space: str = ""  # how events are cut into cells, with Kato's: the same at all nodes of the network
    events: EventSettings = field(default=LIVE_EVENTS)  # how they travel, but on rings

    def __post_init__(self) -> None:
        self._choose_settings()
        if self.identity is not None:
            object.__setattr__(self, "identity", Path(self.identity))  # a text will do
        if not isinstance(self.secret, bytes):
            raise UsageError(f"a secret is a {type(self.secret).__name__}, but must be bytes: encode it.")
        if self.allow is not None and not self.allow:
            raise UsageError("the list of allowed nodes names nobody; leave it out to let everybody in.")
        if not 0 < self.heartbeat <= LONGEST_HEARTBEAT:
            raise UsageError(
                f"heartbeat is {self.heartbeat}, but must be above 0 seconds, and at most {LONGEST_HEARTBEAT:.0f}."
            )
        if self.advertise is not None:
            advertised("", 0, self.advertise)
        for key in self.allow or ():
            if not is_public_key(key):
                raise UsageError(f"{key!r} on the list of allowed nodes is no public key: it takes 64 hex digits.")
        if self.identity is not None and self.cluster is not None:
            raise UsageError("a node with a cluster's certificate has its key with it; drop the identity.")

    def _choose_settings(self) -> None:
        """Those that were given, or what is usual for the protocol."""
        entry = find_live(self.protocol)
        usual: dict[str, Any] = {NAME: LIVE, kato.NAME: LIVE_BY_CONTENT} | LIVE_ON_RINGS
        if self.settings is None or self.settings in usual.values():
            object.__setattr__(self, "settings", usual[self.protocol])
        if not isinstance(self.space, str):
            raise UsageError(f"space is a {type(self.space).__name__}, but must be text: stock:64,price:0:100:16.")
        if self.space and self.protocol != kato.NAME:
            raise UsageError(f"space plays no part in {self.protocol}: only nodes of {kato.NAME} link by content.")
        if self.space and isinstance(self.settings, kato.Settings):
            space_of(self.space)
            object.__setattr__(self, "settings", replace(self.settings, space=self.space))
        if not isinstance(self.settings, entry.settings):
            raise UsageError(f"settings are those of another protocol than {self.protocol}: give it its own.")
        if self.settings.loss or self.settings.churn:
            raise UsageError("loss and churn are made up by simulations, and play no part in a live node.")
        if self.protocol in LIVE_ON_RINGS and self.events != LIVE_EVENTS:
            raise UsageError(
                f"how events travel from neighbour to neighbour plays no part in {self.protocol}; drop it."
            )


def is_public_key(key: str) -> bool:
    """Whether it can be one: in hex."""
    try:
        return len(bytes.fromhex(key)) == KEY_BYTES
    except ValueError:
        return False


def identity_of(options: Options) -> Identity:
    """Who it is."""
    if options.cluster is not None:
        return of_cluster(options.cluster)
    return Identity.fresh() if options.identity is None else Identity.kept_in(options.identity)


def refuse_unreachable(host: str, options: Options, bootstrap: Iterable[str]) -> None:
    """A node must say where others reach it, if where it listens does not; on rings they must be able to."""
    said = options.advertise
    if said is None and host in EVERYWHERE:
        raise UsageError(
            f"a node that listens at {host or 'every address'} must say where others reach it; add --advertise HOST."
        )
    away = [address for address in bootstrap if not is_here(place(address)[0])]
    if options.protocol in CALLED and said is None and is_here(host) and away:
        raise UsageError(
            f"nodes of {options.protocol} are called by others, and {away[0]} cannot call {host};"
            " have it listen where that can, or add --advertise HOST."
        )


def is_here(host: str) -> bool:
    """Whether only this machine can call there."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def advertised(host: str, port: int, said: str | None) -> str:
    """Where others reach it."""
    if said is None:
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    bare = said.count(":") > 1 and not said.startswith("[")  # a number of the sixth version, and nothing else
    if not said.rpartition(":")[0] and not said.strip(":"):
        raise UsageError(f"{said!r} is no place at which others reach a node: say HOST or HOST:PORT.")
    found = f"[{said}]:{port}" if bare else said if said.rpartition("]")[2].count(":") else f"{said}:{port}"
    place(found)
    return found

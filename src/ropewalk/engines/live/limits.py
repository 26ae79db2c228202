"""What strangers may use up at a node, and what becomes of who uses more: the rules, with the clock handed in.

Three rules. **Nobody waits for who breaks one**: what is beyond a bound is refused at once, and the eldest of those who let a node
wait go first. **Who breaks one is kept out**, the second time twice as long as the first; where it comes from, only if many that
come from there do, since several nodes may share an address. **Everything is counted**, by why.

Events are not limited by rates: a node reads as fast as it can work, and TCP slows down who sends faster.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from ipaddress import IPv4Address, IPv6Address, ip_address
from math import inf

from ropewalk.errors import UsageError
from ropewalk.protocols.rates import Bucket, Rate

MOST_LINKS = 4096  # ours: connections in all; half of what the system allows, if that is fewer
CALLERS = 3 / 4  # ours: the share of them that others may open: a node that is full can still call whom it needs
MOST_FROM_ONE = 128  # ours: connections from one address: a household or a small office behind one has fewer
MOST_AT_DOOR = 256  # ours: accepted, and TLS is not up yet
MOST_STRANGERS = 256  # ours: TLS is up, and who calls has yet to show who it is
HANDSHAKES = Rate(200.0, 1000)  # ours: each takes some 2 ms of a processor; a thousand nodes may start at once
HANDSHAKES_FROM_ONE = Rate(10.0, 100)  # ours: an address has few nodes, which come back one by one
CALLS = Rate(64.0, 256)  # ours: links that a node tries to open; the others wait for their turn
MOST_CALLS = 1024  # ours: that wait; what is beyond counts as not reached
MOST_SOURCES = 4096  # ours: addresses whose handshakes are counted apart
MESSAGES = Rate(
    2000.0, 20_000
)  # ours: of one kind from one neighbour; a node that follows 4096 topics says so in one go
STATES = Rate(50.0, 1000)  # ours: of what is long to read and to answer; who keeps the rules sends some a period
LONG_ONES = frozenset({"linking", "told", "joining", "enrol", "circle"})  # these, of nodes that link by interests
OF_EVENTS = frozenset(  # as many as there are events, and what carries them is slowed down by TCP
    {"push", "have", "want", "spare", "inject", "taken", "submit", "keep", "kept", "accepted", "shed", "lack"}
)
MOST_UNFINISHED_IN_ALL = 64 * 1_048_576  # ours, bytes: of messages that have not come whole, over all links
STALLED = 30.0  # ours, seconds: how long a neighbour may let a message wait for its next piece, while it can be heard
MOST_WAITING_IN_ALL = 128 * 1_048_576  # ours, bytes: that wait to be sent, over all links
CROWDED = 0.5  # ours: the share of them from which on every link on which much waits holds up who sends more to it
WATCHED = 0.25  # ours, seconds: from one look at who sends how much to the next
MOST_UNREAD = 60.0  # ours, seconds: of not reading that are made up for, where what was sent meanwhile comes together

KEPT_OUT = 10.0  # ours, seconds: the first time; then twice that
LONGEST = 3600.0  # ours, seconds
FORGIVEN = 2.0  # ours: who has stayed away from trouble for so many times as long as it was kept out begins anew
MOST_OUTCASTS = 4096  # ours: that are remembered; the first to be let in again are forgotten first
STRIKES = Rate(0.1, 8)  # ours: what may go wrong with those from one address before it is kept out

TOO_MANY, TOO_MANY_THERE = "too many connections", "too many from there"
TOO_FAST, TOO_FAST_THERE = "too many handshakes", "too many handshakes from there"
OUT, OUT_THERE = "kept out", "kept out: all from there"
UNFINISHED, SLOW = "unfinished bytes", "too slow"
BEFORE_TLS, BEFORE_PROOF = "in the way before TLS", "in the way before its proof"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What can be chosen; the defaults are for a node among strangers."""

    links: int = MOST_LINKS
    from_one: int = MOST_FROM_ONE
    at_door: int = MOST_AT_DOOR
    strangers: int = MOST_STRANGERS
    handshakes: Rate = HANDSHAKES
    handshakes_from_one: Rate = HANDSHAKES_FROM_ONE
    messages: Rate = MESSAGES
    states: Rate = STATES
    loopback: bool = False  # whether addresses of this machine are bounded one by one, as others are

    def __post_init__(self) -> None:
        for name in ("links", "from_one", "at_door", "strangers"):
            if getattr(self, name) < 1:
                raise UsageError(f"the bound on {name} is {getattr(self, name)}, but must be 1 at least.")

    def fitting(self, descriptors: float) -> "Bounds":
        """The same where the system allows so many descriptors: each connection takes one, and others must be left."""
        if descriptors == inf:
            return self
        half, eighth = max(1, int(descriptors) // 2), max(1, int(descriptors) // 8)
        fields = {name: getattr(self, name) for name in self.__slots__}
        fields |= {"links": min(self.links, half), "at_door": min(self.at_door, eighth)}
        return Bounds(**fields | {"strangers": min(self.strangers, eighth)})


Who = bytes | str | int
"""A node by its public key, or by its id where nothing else is known of it; or an address."""


@dataclass(slots=True)
class _Outcast:
    until: float
    lasted: float  # seconds
    number: int  # of all that were added


class Outcasts:
    """Who is kept out, and for how long."""

    def __init__(self) -> None:
        self._by_key: dict[Who, _Outcast] = {}  # MOST_OUTCASTS
        # the same, who is soonest let in again first; twice MOST_OUTCASTS, since who offends again stands in it more than once
        self._queue: list[tuple[float, int, Who]] = []
        self._added = 0  # so far: keys and addresses cannot be compared

    def __len__(self) -> int:
        """How many are remembered."""
        return len(self._by_key)

    def add(self, key: Who, now: float, least: float = KEPT_OUT) -> float:
        """Keep somebody out; for how long."""
        known = self._by_key.pop(key, None)
        lasts = least
        if known is not None and now < known.until + FORGIVEN * known.lasted:
            lasts = max(least, min(LONGEST, 2 * known.lasted))
        if len(self._by_key) >= MOST_OUTCASTS:
            del self._by_key[self._soonest()]
        self._by_key[key] = _Outcast(now + lasts, lasts, self._added)
        heappush(self._queue, (now + lasts, self._added, key))
        self._added += 1
        if len(self._queue) > 2 * MOST_OUTCASTS:
            self._queue = [(each.until, each.number, key) for key, each in self._by_key.items()]
            heapify(self._queue)
        return lasts

    def _soonest(self) -> Who:
        """Who is let in again first, out of the queue."""
        while True:
            _, number, key = heappop(self._queue)
            known = self._by_key.get(key)
            if known is not None and known.number == number:
                return key

    def has(self, key: Who, now: float) -> bool:
        """Whether somebody is kept out now."""
        known = self._by_key.get(key)
        return known is not None and now < known.until


class Budget:
    """What one neighbour may still send, by kind of message."""

    __slots__ = ("_buckets", "_made_up_for", "unread")

    def __init__(self) -> None:
        self._buckets: dict[str, Bucket] = {}  # one for each kind that there is
        self._made_up_for: dict[str, float] = {}  # seconds of `unread`, by kind
        self.unread = 0.0  # seconds for which this end has not read: what was sent then comes together

    def spend(self, kind: str, count: int, rate: Rate, now: float) -> bool:
        """Take note of so many messages; whether that was within bounds."""
        bucket = self._buckets.get(kind)
        if bucket is None:
            bucket = self._buckets[kind] = Bucket(rate, now)
        if bucket.take(now, count):
            return True
        missing = (count - bucket.left) / rate.a_second
        made_up_for = max(self._made_up_for.get(kind, 0.0), self.unread - MOST_UNREAD) + missing
        if made_up_for > self.unread:
            return False
        self._made_up_for[kind], bucket.left = made_up_for, 0.0
        return True


@dataclass(slots=True)
class _Source:
    """Where callers come from."""

    handshakes: Bucket
    strikes: Bucket
    connections: int = 0


@dataclass(slots=True)
class Limits:
    """What all strangers together have used up at one node."""

    bounds: Bounds
    counts: dict[str, int] = field(default_factory=dict)  # who was turned away or cut off, by why
    outcasts: Outcasts = field(default_factory=Outcasts)
    connections: int = 0  # that others have opened
    _handshakes: Bucket | None = None
    _sources: dict[str, _Source] = field(default_factory=dict)  # MOST_SOURCES, and those with connections

    def count(self, why: str) -> None:
        """Take note that somebody was turned away, or cut off."""
        self.counts[why] = self.counts.get(why, 0) + 1

    # Who comes

    def comes(self, source: str, now: float) -> str:
        """Somebody calls from there: why it is turned away; nothing, if it is not. Whoever is not must be said to be gone."""
        why = self._objection(source, now)
        if why:
            self.count(why)
            return why
        self.connections += 1
        if source:
            self._known(source, now).connections += 1
        return ""

    def goes(self, source: str) -> None:
        """One of those has gone."""
        self.connections -= 1
        if source and source in self._sources:
            self._sources[source].connections -= 1

    def _objection(self, source: str, now: float) -> str:
        bounds = self.bounds
        if self.connections >= CALLERS * bounds.links + bounds.at_door + bounds.strangers:
            return TOO_MANY
        if source:
            if self.outcasts.has(source, now):
                return OUT_THERE
            known = self._known(source, now)
            if known.connections >= bounds.from_one:
                return TOO_MANY_THERE
            if not known.handshakes.take(now):
                return TOO_FAST_THERE
        if self._handshakes is None:
            self._handshakes = Bucket(bounds.handshakes, now)
        return "" if self._handshakes.take(now) else TOO_FAST

    def _known(self, source: str, now: float) -> _Source:
        known = self._sources.get(source)
        if known is None:
            if len(self._sources) >= MOST_SOURCES:
                self._forget_one()
            known = _Source(Bucket(self.bounds.handshakes_from_one, now), Bucket(STRIKES, now))
            self._sources[source] = known
        return known

    def _forget_one(self) -> None:
        """The eldest of those who have no connection; none, if all have: there are no more of these than connections."""
        found = next((each for each, known in self._sources.items() if not known.connections), None)
        if found is not None:
            del self._sources[found]

    # Who is in the way

    def offended(self, why: str, source: str, who: bytes | int | None, now: float, least: float = KEPT_OUT) -> None:
        """Somebody has broken a rule: it is kept out if it is known who it is, and so are all from there if that goes on."""
        self.count(why)
        if who is not None:
            self.outcasts.add(who, now, least)
        if source and not self._known(source, now).strikes.take(now):
            self.outcasts.add(source, now)

    def is_out(self, public: bytes, node: int, now: float) -> bool:
        """Whether a node is kept out now."""
        return self.outcasts.has(public, now) or self.outcasts.has(node, now)

    def excess(self, budget: Budget, said: dict[str, int], now: float) -> str | None:
        """The kind of which a neighbour has sent too many messages, if there is one."""
        for kind, count in said.items():
            if kind not in OF_EVENTS:
                rate = self.bounds.states if kind in LONG_ONES else self.bounds.messages
                if not budget.spend(kind, count, rate, now):
                    return kind
        return None

    def sources(self) -> Iterator[tuple[str, int]]:
        """Connections by where they come from."""
        return ((source, known.connections) for source, known in self._sources.items())

    def source_of(self, host: str) -> str:
        """What of an address is counted together; nothing for this machine, where many nodes are usual."""
        try:
            found = ip_address(host.partition("%")[0])
        except ValueError:
            return ""
        mapped = found.ipv4_mapped if isinstance(found, IPv6Address) else None
        address: IPv4Address | IPv6Address = mapped if mapped is not None else found
        if address.is_loopback and not self.bounds.loopback:
            return ""
        # who has an address of the sixth version has 2^64 of them
        return str(address) if isinstance(address, IPv4Address) else str(IPv6Address(int(address) >> 64 << 64))


def descriptors() -> float:
    """As many as the system allows."""
    try:
        import resource  # noqa: PLC0415  not everywhere
    except ImportError:
        return inf
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return inf if allowed == resource.RLIM_INFINITY else allowed

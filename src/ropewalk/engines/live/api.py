"""A node in your own program: publish to topics, subscribe to topics, and nothing in between but other nodes.

async with Node(bootstrap=["10.0.0.1:7000"]) as node:
    async with node.subscribe("news", "sport") as events:
        await node.publish(b"hello", topics=["news"])
        async for event in events: ...
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from secrets import token_bytes
from types import TracebackType
from typing import IO, Self

from ropewalk.engines.live.addresses import place
from ropewalk.engines.live.arrived import Event
from ropewalk.engines.live.driver import Driver
from ropewalk.engines.live.envelope import Said, unseal
from ropewalk.engines.live.gate import BANNED, Gate, Judge, Verdict
from ropewalk.engines.live.handshake import Terms
from ropewalk.engines.live.identity import locked, stretched, topic_of
from ropewalk.engines.live.joining import Joining
from ropewalk.engines.live.leaving import hand_on
from ropewalk.engines.live.options import CALLED, LIVE_ON_RINGS, Options, advertised, identity_of, refuse_unreachable
from ropewalk.engines.live.outgoing import Outgoing
from ropewalk.engines.live.pressure import Pressure, Slow
from ropewalk.engines.live.publishing import Publishing
from ropewalk.engines.live.readers import Readers
from ropewalk.engines.live.subscriptions import BUFFER, Subscription, WhenFull
from ropewalk.engines.live.transport import Transport
from ropewalk.engines.live.wants import Cutting
from ropewalk.engines.live.wire import codec_of
from ropewalk.errors import UsageError
from ropewalk.protocols import contract
from ropewalk.protocols.catalogue import PROTOCOLS, kato_with, stan_with
from ropewalk.protocols.content.filters import Content, Filter
from ropewalk.protocols.content.spaces import MOST_CELLS
from ropewalk.protocols.contract import (
    Contact,
    Deliver,
    Leave,
    Publish,
    Refuse,
    Subscribe,
    Unsubscribe,
)
from ropewalk.protocols.kato.settings import NAME as KATO
from ropewalk.protocols.stan.settings import NAME

Validator = Callable[[Event], "Verdict | Awaitable[Verdict]"]
"""What is to become of an event on a topic: accept it, ignore it, or reject it, which counts against who sent it."""


class NotRunningError(UsageError):
    """The node has not been started, or has left."""


class Node:
    """One participant of a network."""

    def __init__(
        self, listen: str | None = "127.0.0.1:0", bootstrap: Iterable[str] = (), options: Options | None = None
    ) -> None:
        self.options = options or Options()
        self._listen = None if listen is None else place(listen)
        if isinstance(bootstrap, str):
            raise UsageError(f"bootstrap is {bootstrap!r}, but must be a list of addresses: say [{bootstrap!r}].")
        self.bootstrap = tuple(bootstrap)
        if listen is None and not self.bootstrap:
            raise UsageError("a node that nobody can call and that calls nobody is alone; give it a bootstrap node.")
        if listen is None and self.options.protocol in CALLED:
            raise UsageError(f"nodes of {self.options.protocol} must be called by others; have it listen somewhere.")
        for address in self.bootstrap:
            place(address)
        self.identity = identity_of(self.options)
        self.counts = {"published": 0, "delivered": 0, "copies": 0, "unwanted": 0, "undelivered": 0}
        self._outgoing = Outgoing(self.identity, self._say, sign=self.options.sign)
        self._readers = Readers()
        self._cutting = Cutting(self.options.protocol, self.options.settings)
        self._publishing = Publishing(
            self._outgoing, self._readers, self._cutting, self.counts, lambda: self._running, self._must_run
        )
        self._judges: dict[int, Judge] = {}  # by topic: who validates
        self._running = self._left = False
        self._joining: Joining | None = None
        self._started_at = 0.0
        self._lock: IO[bytes] | None = None  # of its identity, while it runs
        self.joined = asyncio.Event()  # once a bootstrap node was reached; at once if there is none
        self.address = ""
        # for whoever looks on
        self.published: Callable[[contract.Event], None] = lambda _: None
        self.delivered: Callable[[contract.Event, int], None] = lambda _, __: None
        self.came_again: Callable[[int], None] = lambda _: None
        self.followed: Callable[[int, tuple[Filter, ...] | None], None] = lambda _, __: None  # None: no longer

    @property
    def id(self) -> str:
        """Who it is, as others see it."""
        return f"{self.identity.id:016x}"

    @property
    def public_key(self) -> str:
        """Its public key, in hex: what goes on the list of allowed nodes of others."""
        return self.identity.public.hex()

    def name_of(self, topic: int) -> str:
        """What a topic that it follows is called; nothing, if it was told an id only."""
        return self._readers.name(topic)

    @property
    def unreached(self) -> str:
        """Why the last bootstrap node could not be reached."""
        return self._joining.unreached if self._joining is not None else ""

    @property
    def unread(self) -> int:
        """Events that subscriptions here had no room for."""
        return self._readers.unread

    @property
    def limited(self) -> dict[str, int]:
        """Who was turned away or cut off, and what was left out since a bound was reached: how often, by why."""
        machine = self.driver.machine
        left_out = machine.left_out() if isinstance(machine, contract.Lasting) else {}
        return self.transport.limits.counts | left_out

    # Coming and going

    async def start(self) -> Self:
        """Listen, and find the others."""
        if self._running:
            return self
        self._left = False
        self._started_at = asyncio.get_running_loop().time()
        self.joined.clear()
        options = self.options
        if options.identity is not None:
            self._lock = locked(options.identity)
        try:
            await self._begin(options)
        except BaseException:
            self._unlock()
            raise
        return self

    async def _begin(self, options: Options) -> None:
        allowed = None if options.allow is None else {bytes.fromhex(key) for key in options.allow}
        secret = stretched(options.secret)
        terms = Terms(
            self.identity,
            "",
            options.protocol,
            secret=secret,
            admits=lambda public: allowed is None or public in allowed,
            certified=options.cluster is not None,
            heartbeat=options.heartbeat,
        )
        codec = codec_of(PROTOCOLS[options.protocol].messages)
        self.transport = Transport(terms, codec, options.cluster, options.call_from, options.bounds)
        if self._listen is not None:
            host, port = self._listen
            refuse_unreachable(host, options, self.bootstrap)
            self.address = advertised(host, await self.transport.listen(host, port), options.advertise)
            self.transport.terms = replace(self.transport.terms, address=self.address)
        machine = self._machine()
        self.driver = Driver(machine, self.transport)
        self.gate = Gate(self.driver.receive, self._refuse, self._ban, self._judges, carriers=codec.carrying)
        self.pressure: Pressure | None = None  # on rings nobody is held up: all who are below would have to wait
        if options.protocol not in LIVE_ON_RINGS:
            self.pressure = Pressure(self.transport.passed_over)
            self.transport.gone = self.pressure.gone
        self.gate.hold_up = lambda sender: self._press(self.gate, sender)
        self.gate.caught_up = lambda: self._ease(self.gate)
        self.transport.lagging, self.transport.relieved, self.transport.caught_up = (
            self._lagging,
            self._relieve,
            self._ease,
        )
        self.gate.has_had, self.gate.came_again = machine.has_had, self._came_again
        self.gate.forgot_before, self.gate.follows = machine.forgot_before, machine.is_beside
        self.transport.heard = self.gate.receive
        self.driver.deliver = self._deliver
        self.transport.begin()
        self._running = True
        if options.settings.discover:
            self._joining = Joining(self.transport, self.driver, self.bootstrap, secret, self.joined)
        self._publishing.begin(self.driver, self.transport, self._joining, self._started_at)

    def _unlock(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    async def leave(self) -> None:
        """Say good-bye: what nobody else has yet is handed on, and subscriptions end."""
        if self._is_gone():
            return
        self._outgoing.flush()
        if self.bootstrap:
            await hand_on(self.driver, self._publishing.called)
        if self._is_gone():
            return  # somebody else was faster
        self._outgoing.flush()
        self._left, self._running = True, False
        await self._readers.close()
        self._outgoing.give_up()
        try:
            await self._go()
        except BaseException:
            self._left, self._running = False, True  # it was cut short: who calls again goes on with it
            raise

    def _is_gone(self) -> bool:
        return self._left or not self._running

    async def _go(self) -> None:
        if self._joining is not None:
            await self._joining.close()
        if self.pressure is not None:
            self.pressure.close()
        await self.gate.close()
        self.driver.tell(Leave())
        self.driver.stop()
        await self.transport.close()
        self._unlock()

    async def __aenter__(self) -> Self:
        """Start."""
        return await self.start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave."""
        await self.leave()

    # Events

    def subscribe(
        self,
        *topics: str,
        where: str | None = None,
        buffer: int = BUFFER,
        when_full: WhenFull = "wait",
        signed: bool = False,
    ) -> Subscription:
        """Follow these topics from now on, or want all events that say what a filter asks for: read them from what is returned.

        `where`: as in `stock == "ACME" and 10 <= price < 20`, with protocol kato. `signed`: only events that are signed.
        """
        self._must_run()
        if not topics and where is None:
            raise UsageError("a subscription has no topic, but needs one at least, or a filter (where).")
        if topics and where is not None:
            raise UsageError("a subscription is to topics, or to what a filter asks for (where): say one of them.")
        if where is not None:
            filters, cells = self._cutting.wanted(where)
            named = dict.fromkeys(cells, "")
            return self.follow(named, {}, buffer, when_full, signed=signed, filters=filters)
        return self.follow({topic_of(topic): topic for topic in topics}, {}, buffer, when_full, signed=signed)

    def check(self, where: str | None = None, content: Mapping[str, float | str] | None = None) -> None:
        """Refuse a filter that could not be subscribed to, or content that could not be published, before the node runs."""
        if where is not None:
            self._cutting.wanted(where)
        if content is not None:
            self._cutting.said(content)

    def follow(
        self,
        topics: dict[int, str],
        contacts: dict[int, tuple[Contact, ...]],
        buffer: int = BUFFER,
        when_full: WhenFull = "wait",
        *,
        signed: bool = False,
        filters: tuple[Filter, ...] = (),
    ) -> Subscription:
        """As `subscribe`, with ids of topics and whom to begin with, or of cells and what is wanted of them."""
        if self.options.protocol == KATO and len(self._readers.by_topic.keys() | topics.keys()) > MOST_CELLS:
            raise UsageError(f"a node can want {MOST_CELLS} cells or topics at the most: use larger cells.")
        subscription = Subscription(topics, buffer, when_full, self._unsubscribe, signed=signed, filters=filters)
        subscription.emptied, subscription.closing = lambda: self._has_room(subscription), self._outgoing.flush
        self._outgoing.flush()  # what was published before is not for it
        self._follow(self._readers.add(subscription), contacts)
        return subscription

    def _follow(self, topics: Iterable[int], contacts: dict[int, tuple[Contact, ...]]) -> None:
        self._outgoing.flush()  # what was published before goes by what was followed then
        for topic in topics:
            wanted = self._readers.wanted(topic)
            self.followed(topic, wanted)
            if wanted is None:
                self.driver.tell(Unsubscribe(topic))
            else:
                self.driver.tell(Subscribe(topic, contacts.get(topic, ()), filters=wanted))

    def validate(self, topic: str, validator: Validator | None) -> None:
        """Have every event on a topic judged before it is delivered or passed on; None: no longer."""
        self._must_run()
        if validator is None:
            self._judges.pop(topic_of(topic), None)
            return

        def judge(event: contract.Event, said: bytes, place: int) -> "Verdict | Awaitable[Verdict]":
            return validator(Event(event, said, 0, (topic,), place))

        self._judges[topic_of(topic)] = judge

    async def publish(
        self, payload: bytes, topics: Iterable[str] = (), *, content: Mapping[str, float | str] | None = None
    ) -> str:
        """Get something to everybody who follows one of these topics, or who wants what it says; the id of the event.

        `content`: attributes by name, all that the network's space has, with protocol kato.

        Waits while neighbours are too slow, and, for topics that are not subscribed to here, until a member has it. Raises
        UndeliverableError if none of a topic can be reached.
        """
        self._must_run()
        return await self._publishing.publish(*self._publishing.checked(payload, topics, content))

    async def publish_on(
        self, payload: bytes, topics: dict[int, str], content: Content = (), *, alone: bool = False
    ) -> str:
        """As `publish`, with ids of topics; `alone`: in no parcel with what else is said just then, so that it is counted by itself."""
        return await self._publishing.publish(payload, topics, content, alone=alone)

    def _say(self, event: contract.Event, said: Said) -> None:
        self._readers.hand_out(event, said, 0)
        self.published(event)
        self.driver.tell(Publish(event))

    # What the driver tells

    def _came_again(self, event: int) -> None:
        self.counts["copies"] += 1
        self.came_again(event)

    def _deliver(self, deliver: Deliver) -> None:
        letter = unseal(deliver.event.payload)
        assert letter is not None  # the gate has seen to that
        said = self.gate.wanted(deliver.event.id, letter.said)
        self.counts["delivered"] += len(said) - said.count(None)
        self._readers.hand_out(deliver.event, said, deliver.hops)
        for reader in self._readers.pressed(deliver.event.topics):
            self._lagging(reader)
        self.delivered(deliver.event, deliver.hops)

    def _lagging(self, slow: Slow) -> None:
        """Somebody cannot keep up: who has just sent something has to wait for it."""
        taking = self.driver.taking
        if isinstance(taking, contract.Received):
            self._press(slow, taking.sender)

    def _press(self, slow: Slow, sender: Contact) -> None:
        connection = self.transport.links.get(sender.id)
        if connection is not None and connection is not slow and self.pressure is not None:
            self.pressure.press(slow, connection)

    def _ease(self, slow: Slow) -> None:
        if self.pressure is not None:
            self.pressure.ease(slow)

    def _relieve(self, slow: Slow) -> None:
        if self.pressure is not None:
            self.pressure.relieve(slow)

    def _has_room(self, subscription: Subscription) -> None:
        self._readers.wake()
        if not subscription.is_behind:
            self._ease(subscription)
        elif not subscription.is_pressed:
            self._relieve(subscription)

    def _refuse(self, sender: Contact, event: int) -> None:
        self.driver.tell(Refuse(sender, event))

    def _ban(self, contact: Contact) -> None:
        self.transport.cut_off(contact.id, "rejected", "it sent what was rejected", BANNED)

    # How it does it

    def _machine(self) -> contract.Lasting:
        """Its chances, and the key by which it ranks others, are nobody else's to know, and others at every start."""
        seed = int.from_bytes(token_bytes(8), "big") >> 1
        options = self.options
        made = {NAME: stan_with, KATO: kato_with}
        make = PROTOCOLS[options.protocol].make
        if options.protocol in made:
            make = made[options.protocol](of_events=options.events)
        machine = make(Contact(self.identity.id, self.address), options.settings, seed, None)
        assert isinstance(machine, contract.Lasting)
        return machine

    def _unsubscribe(self, subscription: Subscription) -> None:
        changed = self._readers.remove(subscription)
        if self._running:
            self._follow(changed, {})
            self._has_room(subscription)  # what waited for it need not wait any more

    def _must_run(self) -> None:
        if not self._running:
            raise NotRunningError("this node is not running: start it with `async with`, or `await node.start()`.")

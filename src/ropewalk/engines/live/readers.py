"""Who reads events at a node: subscriptions by topic, what is handed to them, and who holds up whom."""

import asyncio
from collections.abc import Callable, Collection, Iterable

from ropewalk.engines.live.envelope import Said, is_signed
from ropewalk.engines.live.pace import STOOD_STILL
from ropewalk.engines.live.subscriptions import SlowConsumerError, Subscription
from ropewalk.protocols import contract
from ropewalk.protocols.content.filters import Content, Filter, is_wanted

ROOM = 5.0  # ours, seconds: how long publishing waits for who is slow


class Readers:
    """The subscriptions of one node."""

    def __init__(self) -> None:
        self.by_topic: dict[int, list[Subscription]] = {}
        self._emptied = asyncio.Event()  # somebody has read something, or is gone
        self._lost = 0  # events that subscriptions had no room for which are no more

    def add(self, subscription: Subscription) -> list[int]:
        """One more; topics of which more is wanted than before."""
        changed = []
        for topic in subscription.topics:
            before = self.wanted(topic)
            self.by_topic.setdefault(topic, []).append(subscription)
            changed += [topic] if self.wanted(topic) != before else []
        return changed

    def remove(self, subscription: Subscription) -> list[int]:
        """One less; topics of which less is wanted than before."""
        changed = []
        self._lost += subscription.dropped
        for topic in subscription.topics:
            before, known = self.wanted(topic), self.by_topic.get(topic, [])
            if subscription in known:
                known.remove(subscription)
            if not known:
                self.by_topic.pop(topic, None)
            changed += [topic] if self.wanted(topic) != before else []
        return changed

    @property
    def unread(self) -> int:
        """Events that subscriptions had no room for."""
        there = {id(each): each.dropped for readers in self.by_topic.values() for each in readers}
        return self._lost + sum(there.values())

    def wanted(self, topic: int) -> tuple[Filter, ...] | None:
        """What is wanted of a topic: what matches one of these, all if there are none; None: nothing."""
        readers = self.by_topic.get(topic)
        if not readers or any(not each.filters for each in readers):
            return None if not readers else ()
        return tuple(dict.fromkeys(filter_ for each in readers for filter_ in each.filters))

    def name(self, topic: int) -> str:
        """What a topic is called by who follows it here, if that is known."""
        return next((each.topics[topic] for each in self.by_topic.get(topic, ()) if each.topics[topic]), "")

    async def close(self) -> None:
        """End all of them."""
        for subscriptions in list(self.by_topic.values()):
            for subscription in list(subscriptions):
                await subscription.close()
        self.wake()

    def hand_out(self, event: contract.Event, said: Said, hops: int) -> None:
        """Give an event, and all that it says, to everybody who reads one of its topics, once."""
        told = contract.Event(
            event.id, event.publisher, event.topics, b"", event.content
        )  # its payload need not be kept
        for reader in self._reading(event.topics):
            wanted = not reader.filters or is_wanted(dict(event.content), reader.filters)
            if wanted and (not reader.signed or is_signed(event)):
                reader.put(told, said, hops)

    def _reading(self, topics: tuple[int, ...]) -> Collection[Subscription]:
        """Whoever reads one of these, once."""
        if len(topics) == 1:
            return self.by_topic.get(topics[0], ())
        return {id(each): each for topic in topics for each in self.by_topic.get(topic, ())}.values()

    def is_full(self, topics: Iterable[int], content: Content = (), coming: int = 0, coming_bytes: int = 0) -> bool:
        """Whether somebody who reads one of these, and wants what is said, has no room beyond what is on its way to it."""
        for topic in topics:
            for each in self.by_topic.get(topic, ()):
                if each.is_full(coming, coming_bytes) and (not each.filters or is_wanted(dict(content), each.filters)):
                    return True
        return False

    def pressed(self, topics: tuple[int, ...]) -> list[Subscription]:
        """Who reads one of these, and has so much to read that others have to wait."""
        return [each for each in self._reading(topics) if each.is_pressed]

    def wake(self) -> None:
        """Somebody has read something, or there is nothing to wait for any more."""
        self._emptied.set()

    async def room(self, topics: Iterable[int], content: Content, is_running: Callable[[], bool]) -> None:
        """Wait for readers that cannot keep up."""
        wanted, loop = tuple(topics), asyncio.get_running_loop()
        due = loop.time() + ROOM
        while is_running() and self.is_full(wanted, content):
            try:
                async with asyncio.timeout_at(due):
                    self._emptied.clear()
                    await self._emptied.wait()
            except TimeoutError:
                if loop.time() - due < STOOD_STILL:
                    raise SlowConsumerError(
                        f"a subscription at this very node has been full for {ROOM:g} s; read it, or choose another mode."
                    ) from None
                due = loop.time() + ROOM  # this node stood still: nobody could read meanwhile

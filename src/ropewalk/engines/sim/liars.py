"""Nodes that keep the protocol but for what they say about others: every walk that they touch names them and nobody else."""

from dataclasses import replace

from ropewalk.protocols.contract import Contact, Effect, Input, Node, Send
from ropewalk.protocols.stan.messages import Step


class Liar:
    """An honest node, with what it sends rewritten: walks and replies carry liars, and are passed on to no other end."""

    __slots__ = ("inner", "liars", "me")

    def __init__(self, inner: Node, liars: frozenset[Contact]) -> None:
        self.inner, self.liars, self.me = inner, liars, inner.me

    def handle(self, event: Input, now: float) -> list[Effect]:
        """See `contract.Node`."""
        return [self._twisted(effect) for effect in self.inner.handle(event, now)]

    def follows(self, topic: int) -> bool:
        """See `contract.Node`."""
        return self.inner.follows(topic)

    def held(self) -> dict[int, list[Contact]]:
        """See `contract.Node`."""
        return self.inner.held()

    def _twisted(self, effect: Effect) -> Effect:
        if isinstance(effect, Send) and isinstance(effect.message, Step) and effect.message.seen:
            return Send(effect.to, replace(effect.message, seen=self.liars))
        return effect

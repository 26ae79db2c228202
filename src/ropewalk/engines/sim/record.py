"""What a simulation leaves on record: who sent how much of what, and one hash of everything that happened."""

import hashlib
from dataclasses import fields, is_dataclass
from typing import Any, cast

from ropewalk.engines.sim.simulator import Observer, Process
from ropewalk.protocols.contract import (
    Contact,
    Effect,
    Input,
    Leave,
    LinkDown,
    LinkUp,
    Message,
    Received,
    Send,
    Subscribe,
    TimerFired,
    Unsubscribe,
    size_of,
)

LINK_WIDE = "keep-alive"  # the message that is about a link, whatever topics it names
PUBLISHED = ("walk", "reply")  # the messages that the paper's protocol has, and the batch engine counts


class Traffic(Observer):
    """Messages and bytes, by node and kind; and by topic those of the paper's protocol, with the ids that they carry."""

    def __init__(self) -> None:
        self.by_node: dict[int, dict[str, list[int]]] = {}  # node -> kind -> [messages, bytes]
        self.by_topic: dict[int, list[int]] = {}  # topic -> [messages, ids]

    def sent(self, sender: Process, send: Send, now: float, copies: int) -> None:  # noqa: ARG002
        """See `Observer`."""
        message = send.message
        kind = message.kind
        counts = self.by_node.setdefault(sender.contact.id, {}).setdefault(kind, [0, 0])
        counts[0] += 1
        counts[1] += size_of(message)
        if kind in PUBLISHED:
            (topic,) = message.topics
            counts = self.by_topic.setdefault(topic, [0, 0])
            counts[0] += 1
            counts[1] += message.contacts()

    def clear(self) -> None:
        """Begin anew, for the next stage; what was counted is whoever's it was given to."""
        self.by_node, self.by_topic = {}, {}


class Trace(Observer):
    """One hash over every input, in order: two histories are the same if their traces are.

    With `node` and `topic` only what that node is told and sends about that topic alone counts, and not in which order within a
    moment: where links take no time, one that was open already is announced before one that had to be opened.
    """

    def __init__(self, node: int | None = None, topic: int | None = None) -> None:
        self.node, self.topic = node, topic
        self._hash = hashlib.blake2b(digest_size=16)
        self._moment, self._at = 0, 0.0  # with a topic: the sum of all hashes of this moment

    @property
    def digest(self) -> str:
        """The hash so far."""
        self._close_moment()
        return self._hash.hexdigest()

    def sent(self, sender: Process, send: Send, now: float, copies: int) -> None:
        """See `Observer`."""
        if self.node in (sender.contact.id, None) and self._is_about(send.message):
            self._note(now, "sent", sender.contact.id, send.to.id, *_said(send.message), copies)

    def handled(self, process: Process, event: Input, effects: list[Effect], now: float) -> None:  # noqa: ARG002
        """See `Observer`."""
        node = process.contact.id
        if self.node not in (node, None):
            return
        match event:
            case Received(sender, message) if self._is_about(message):
                self._note(now, "received", node, sender.id, *_said(message))
            case TimerFired(timer) if self.topic in (getattr(timer, "topic", None), None):
                self._note(now, "timer", node, type(timer).__name__, getattr(timer, "topic", -1))
            case LinkUp(contact) if self.topic is None:
                self._note(now, "up", node, contact.id)
            case LinkDown(contact, cause) if self.topic is None:
                self._note(now, "down", node, contact.id, cause)
            case Subscribe() | Unsubscribe() if self.topic in (event.topic, None):
                self._note(now, "told", node, *_said(event))
            case Leave() if self.topic is None:
                self._note(now, "told", node, *_said(event))
            case _:
                pass

    def _is_about(self, message: Message) -> bool:
        if self.topic is None:
            return True
        return message.topics == (self.topic,) and message.kind != LINK_WIDE

    def _note(self, now: float, *said: object) -> None:
        if self.topic is None:
            self._hash.update(repr((now, *said)).encode())
            return
        if now != self._at:
            self._close_moment()
            self._at = now
        self._moment += int.from_bytes(hashlib.blake2b(repr(said).encode(), digest_size=8).digest())

    def _close_moment(self) -> None:
        if self._moment:
            self._hash.update(repr((self._at, self._moment)).encode())
            self._moment = 0


def _said(what: object) -> tuple[object, ...]:
    """A message, timer or input in words that do not depend on the order of a set."""
    return (type(what).__name__, *(_plain(getattr(what, field.name)) for field in fields(cast("Any", what))))


def _plain(value: object) -> object:
    if isinstance(value, Contact):
        return (value.id, value.address)
    if isinstance(value, frozenset):
        return sorted(_plain(each) for each in value)  # type: ignore[type-var]
    if isinstance(value, tuple):
        return tuple(_plain(each) for each in value)
    return _said(value) if is_dataclass(value) else value

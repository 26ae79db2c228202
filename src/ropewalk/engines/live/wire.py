"""Messages as bytes: every kind has a number, every field its place, every length a bound.

A message is a MessagePack array of its fields, in their order. What a field may hold follows from its type, and nothing
that breaks it comes through: numbers are from 0 to 2^63 - 1, texts, lists and payloads are bounded, a node is `[id, address]`.
Topics are told by numbers that the two ends of a connection agree on as they go: the sender numbers each from 0 up the
first time it comes up, says so in a frame of its own, and from then on writes -1 for number 0, -2 for number 1, and so on.
A topic beyond what can be numbered is written as it is.

**Skew.** Fields are only ever added at the end, with a default: who knows fewer skips them, who knows more takes the default. A new
kind of message has a number from 128 up if whoever does not know it may skip it; below that it needs a new version of the
protocol, on which both ends must agree before the first message (`handshake`).
"""

from collections.abc import Callable, Iterable
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from operator import attrgetter
from typing import Annotated, Any, cast, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

from ropewalk.errors import RunError
from ropewalk.protocols.content.filters import LIMIT, MOST_VALUE, Value
from ropewalk.protocols.contract import Contact, Event, Message
from ropewalk.protocols.dissemination.settings import MOST_PAYLOAD

KINDS = {  # never given to another; 128 and above may be skipped by who does not know them
    "walk": 32, "reply": 33, "relay": 34, "announce": 35, "withdraw": 36, "keep-alive": 37, "left": 38,
    "ask": 40, "pass": 41, "replace": 42, "swap": 44, "swap-back": 45,
    "push": 48, "have": 49, "want": 50, "spare": 51, "inject": 52, "taken": 53,
    "seek": 56, "found": 57, "serve": 58, "served": 59, "unserve": 60, "prove": 61, "proven": 62,
    "interests": 64, "publication": 65, "control": 66,
    "stabilise": 72, "neighbours": 73, "parted": 74, "hold": 75, "held": 76, "locate": 77, "located": 78, "stroll": 79, "met": 80,
    "graft": 84, "bear": 85, "prune": 86, "shed": 87, "lack": 88, "submit": 89, "keep": 90, "kept": 91, "accepted": 92,
    "joining": 104, "told": 105, "linking": 106, "alive": 107, "fallen": 108, "enrol": 109, "circle": 110,
    "gather": 96, "sample": 97, "query": 98, "beside": 99, "seated": 100, "enter": 101, "climb": 102, "reach": 103,
}  # fmt: skip
KIND_OF = {number: kind for kind, number in KINDS.items()}
OPTIONAL = 128
# what decoding raises; lists in lists in what is skipped end in the last of them
UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
MOST_ID = 2**63 - 1
MOST_NUMBERED = 4096  # ours: topics that have a number on one connection
MOST_LISTED = 8192  # ours: in any list; the longest that a node sends is of 4096
MOST_TEXT = 255  # ours: characters of an address, of which the longest is a host's name
MOST_SECONDS = 1e12  # ours: above any age that a message speaks of
MOST_CONTROL = 65_536  # ours, bytes: of a message without an event
MOST_MESSAGE = (
    MOST_PAYLOAD + 28_672
)  # of one with an event: what it carries, what it says by name, and all else about it

MOST_LISTS = (
    256  # ours: lists of topics whose numbers are remembered as a whole; events that come together are on the same
)
LONGEST_LIST = 8  # ours: topics in one of these


class WireError(RunError):
    """Bytes that nobody who keeps the rules sends."""


class TooLongError(WireError):
    """A message of this node's own that nobody would take."""


class Bounded(Contact):
    """A contact, as much of it as may be on the wire."""

    __slots__ = ()
    __annotations__ = {
        "id": Annotated[int, Meta(ge=0, le=MOST_ID)],
        "address": Annotated[str, Meta(max_length=MOST_TEXT)],
    }


class Numbering:
    """What topics are called at one end of a connection."""

    __slots__ = ("_lists",)

    def __init__(self) -> None:
        self._lists: dict[tuple[int, ...], tuple[int, ...]] = {}  # MOST_LISTS, each of LONGEST_LIST

    def __call__(self, topic: int) -> int:
        """One of them."""
        raise NotImplementedError

    def all(self, topics: tuple[int, ...]) -> tuple[int, ...]:
        """Each of them. What one is called does not change."""
        known = self._lists.get(topics)
        if known is None:
            known = tuple([self(topic) for topic in topics])
            if len(topics) <= LONGEST_LIST:
                if len(self._lists) >= MOST_LISTS:
                    self._lists.clear()
                self._lists[topics] = known
        return known


class Numbers(Numbering):
    """The numbers by which one end tells the other of topics."""

    __slots__ = ("by_topic", "fresh")

    def __init__(self) -> None:
        super().__init__()
        self.by_topic: dict[int, int] = {}  # at most MOST_NUMBERED
        self.fresh: list[int] = []  # numbered, in that order, and the other end has yet to be told

    def __call__(self, topic: int) -> int:
        """What is written for a topic."""
        number = self.by_topic.get(topic)
        if number is not None:
            return -1 - number
        if len(self.by_topic) == MOST_NUMBERED:
            return topic
        number = self.by_topic[topic] = len(self.by_topic)
        self.fresh.append(topic)
        return -1 - number


class Topics(Numbering):
    """What the other end's numbers stand for."""

    __slots__ = ("by_number",)

    def __init__(self) -> None:
        super().__init__()
        self.by_number: list[int] = []  # at most MOST_NUMBERED

    def learn(self, body: bytes) -> None:
        """The next numbers are of these."""
        try:
            fresh = _FRESH.decode(body)
        except UNREADABLE as error:
            raise WireError(f"topics cannot be read: {error}.") from None
        if len(self.by_number) + len(fresh) > MOST_NUMBERED:
            raise WireError(f"more than {MOST_NUMBERED} topics are numbered.")
        self.by_number += fresh

    def __call__(self, written: int) -> int:
        """The topic that something written stands for."""
        if written >= 0:
            return written
        number = -1 - written
        if number >= len(self.by_number):
            raise WireError(f"topic number {number} was never given to a topic.")
        return self.by_number[number]


Change = Callable[[Any, Numbering], Any]


class Codec:
    """Everything that the nodes of one protocol may tell each other, to bytes and back."""

    def __init__(self, messages: Iterable[type[Any]]) -> None:
        self._shapes = {KINDS[kind.kind]: _Shape(kind) for kind in messages}
        self._by_type = {shape.kind: shape for shape in self._shapes.values()}
        self.carriers = frozenset(number for number, shape in self._shapes.items() if shape.carries)
        self.carrying = tuple(shape.kind for shape in self._shapes.values() if shape.carries)

    def encode(self, message: Message, numbers: Numbers) -> tuple[int, bytes]:
        """The number of its kind, and the message; `numbers.fresh` must be told before it."""
        shape = self._by_type[type(message)]
        try:
            body = _ENCODER.encode(shape.out(message, numbers))
        except (OverflowError, TypeError) as error:
            raise WireError(f"a message of kind {message.kind} cannot be written: {error}.") from None
        if len(body) > shape.most:
            raise TooLongError(f"a message of kind {message.kind} has {len(body)} bytes, but may have {shape.most}.")
        return shape.number, body

    def decode(self, number: int, body: bytes, topics: Topics) -> Any | None:
        """The message; None if it is of a kind that may be skipped. Raises WireError for anything else."""
        shape = self._shapes.get(number)
        if shape is None:
            if number >= OPTIONAL:
                return None
            raise WireError(f"there is no message of kind {number}.")
        if len(body) > shape.most:
            raise WireError(f"a message of kind {number} has {len(body)} bytes, but may have {shape.most}.")
        try:
            return shape.back(shape.decode(body), topics)
        except UNREADABLE as error:
            raise WireError(f"a message of kind {number} cannot be read: {error}.") from None


@cache
def codec_of(messages: tuple[type[Any], ...]) -> Codec:
    """The codec of these, made once: the types that it makes are never given back, and nodes come and go."""
    return Codec(messages)


def fresh_topics(numbers: Numbers) -> bytes | None:
    """What the other end must be told before the next message, if anything."""
    if not numbers.fresh:
        return None
    body = _ENCODER.encode(numbers.fresh)
    numbers.fresh = []
    return body


class _Shape:
    """How one kind of message is laid out."""

    def __init__(self, kind: type[Any]) -> None:
        self.kind = kind
        self.number = KINDS[kind.kind]
        laid_out, self.out, self.back = _struct(kind)
        self.decode = msgspec.msgpack.Decoder(laid_out).decode
        self.carries = any(hint is Event for hint in get_type_hints(kind).values())
        self.most = MOST_MESSAGE if self.carries else MOST_CONTROL  # bytes


_ENCODER = msgspec.msgpack.Encoder()
_FRESH = msgspec.msgpack.Decoder(
    Annotated[list[Annotated[int, Meta(ge=0, le=MOST_ID)]], Meta(max_length=MOST_NUMBERED)]
)
Both = tuple[Change, Change] | None
"""How a value is changed on its way out, and back; None if it is not."""


def _struct(kind: type[Any]) -> tuple[type[msgspec.Struct], Change, Change]:
    """A dataclass as it is on the wire: its type there, how its fields get there, and how they come back."""
    hints = get_type_hints(kind, include_extras=True)
    laid_out: list[Any] = []
    changed: list[tuple[int, Change, Change]] = []  # places, and what is done to what is there
    for place, field in enumerate(fields(kind)):
        hint, both = _part(hints[field.name])
        changed += [(place, *both)] if both is not None else []
        laid_out.append((field.name, hint) if field.default is MISSING else (field.name, hint, field.default))
    taken = _taken([field.name for field in fields(kind)])
    as_tuple = msgspec.structs.astuple

    def out(value: Any, numbers: Numbering) -> Any:
        found = taken(value)
        if changed:
            found = list(found)
            for place, change, _ in changed:
                found[place] = change(found[place], numbers)
        return found

    def back(value: Any, topics: Numbering) -> Any:
        found = as_tuple(value)
        if not changed:
            return kind(*found)
        values = list(found)
        for place, _, change in changed:
            values[place] = change(values[place], topics)
        return kind(*values)

    return msgspec.defstruct(kind.__name__, laid_out, array_like=True), out, back


def _taken(names: list[str]) -> Callable[[Any], Any]:
    """Some fields of an object, in order."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: [getattr(value, name) for name in names]


def _part(hint: Any) -> tuple[Any, Both]:
    """The type of what is on the wire, and how it comes about."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return Annotated[int, Meta(ge=-MOST_NUMBERED, le=MOST_ID)], _NUMBERED
    if hint in _PLAIN:
        return _PLAIN[hint], None
    if is_dataclass(hint):
        laid_out, out, back = _struct(cast("type[Any]", hint))
        return laid_out, (out, back)
    if origin is frozenset:
        return Annotated[frozenset[_part(inner[0])[0]], Meta(max_length=MOST_LISTED)], None  # type: ignore[misc]
    if origin is tuple and inner[1:] == (...,):
        each, both = _part(inner[0])
        return Annotated[tuple[each, ...], Meta(max_length=MOST_LISTED)], _of_all(both)  # type: ignore[valid-type]
    if origin is tuple:
        found = [_part(each) for each in inner]
        return tuple[tuple(each for each, _ in found)], _of_each([both for _, both in found])  # type: ignore[misc]
    raise TypeError(f"nothing on the wire is a {hint}")


_PLAIN: dict[Any, Any] = {
    bool: bool,
    int: Annotated[int, Meta(ge=0, le=MOST_ID)],
    float: Annotated[float, Meta(ge=0.0, le=MOST_SECONDS)],
    str: Annotated[str, Meta(max_length=MOST_VALUE)],
    Value: Annotated[float, Meta(ge=-LIMIT, le=LIMIT)] | Annotated[str, Meta(max_length=MOST_VALUE)],
    bytes: Annotated[bytes, Meta(max_length=MOST_PAYLOAD)],
    Contact: Bounded,
}


def _one(value: int, numbering: Numbering) -> int:
    return numbering(value)


def _all(values: tuple[int, ...], numbering: Numbering) -> tuple[int, ...]:
    return numbering.all(values)


_NUMBERED: Both = (_one, _one)


def _of_all(both: Both) -> Both:
    if both is None:
        return None
    if both is _NUMBERED:
        return _all, _all
    out, back = both
    return (
        lambda values, numbers: [out(value, numbers) for value in values],
        lambda values, numbers: tuple([back(value, numbers) for value in values]),
    )


def _of_each(parts: list[Both]) -> Both:
    if not any(part is not None for part in parts):
        return None
    if len(parts) == 2 and parts[0] is None and parts[1] is not None:  # noqa: PLR2004  as every offer of an event is, of which one message may have hundreds
        return _second(parts[1][0]), _second(parts[1][1])

    def changed(values: tuple[Any, ...], numbers: Numbering, way: int) -> tuple[Any, ...]:
        pairs = zip(values, parts, strict=True)
        return tuple([value if both is None else both[way](value, numbers) for value, both in pairs])

    return (lambda values, numbers: changed(values, numbers, 0), lambda values, numbers: changed(values, numbers, 1))


def _second(change: Change) -> Change:
    """Of two the second one is changed."""

    def changed(values: tuple[Any, Any], numbers: Numbering) -> tuple[Any, Any]:
        first, second = values
        return first, change(second, numbers)

    return changed

"""Messages and frames that nobody who keeps the rules sends, made from those that somebody does: by fields, and blindly."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from random import Random
from typing import Any

import msgspec

from ropewalk.engines.live.frames import HEADER, LAST, MORE, NEVER_MIND, PIECE, PIECE_BYTES, TOPICS, frame
from ropewalk.engines.live.wire import KINDS, MOST_ID, MOST_LISTED, MOST_NUMBERED, Codec, WireError
from ropewalk.protocols.contract import Contact, Event

EDGES = (0, 1, 2, 3, 63, 64, 65, 255, 256, 2**31, 2**53, 2**62 - 1, 2**62, MOST_ID - 1, MOST_ID)
BEYOND = (-1, -MOST_NUMBERED, -MOST_NUMBERED - 1, MOST_ID + 1, 2**64 - 1)  # what only a frame made by hand can say
TEXTS = ("", "a:1", "127.0.0.1:1", "x" * 255, "x" * 256, "\0", "[::1]:7", "a" * 5000, "ünï:1")
FLOATS = (0.0, 1e-9, 1.0, 299.0, 1e12, 1e300, -1.0, float("inf"), float("nan"))
MOST_MADE = 2_000_000  # bytes of a frame: as much again as any may have
KEPT = 512  # messages of every kind, and numbers, that are remembered to be changed
LIKELY = 0.7  # how often something is taken that came up before
SELDOM = 0.1  # how often lists are very long: these take their time
LONG = (0, 1, 2, 8, 64, 65, 512, 513, 1024, 4096, 4097, MOST_LISTED, MOST_LISTED + 1)  # of lists


class Mutator:
    """Draws by one generator, from what was heard."""

    def __init__(self, codec: Codec, seed: int, known: tuple[Contact, ...]) -> None:
        self.codec, self.random, self.known = codec, Random(seed), known  # noqa: S311  a seed is to decide
        self.heard: dict[str, list[Any]] = {}  # by kind, at most KEPT each
        self.numbers: list[int] = [contact.id for contact in known]  # that came up, at most KEPT
        self.frames: list[bytes] = []  # that were made, at most KEPT
        self.made: dict[str, int] = {}  # how many, by way

    def hear(self, message: Any) -> None:
        """Something that was said among nodes that keep the rules, or to who does not."""
        self._keep(self.heard.setdefault(message.kind, []), message)
        self._note(message)

    def next(self) -> bytes:
        """Bytes to send: a frame or several, whole or not."""
        ways: list[tuple[int, Callable[[], bytes]]] = [
            (12, self._changed), (3, self._said_again), (3, self._flipped), (2, self._cut), (2, self._spliced),
            (1, self._rubbish), (1, self._topics), (1, self._pieces),
        ]  # fmt: skip
        (way,) = self.random.choices([each for _, each in ways], [share for share, _ in ways])
        made = way()
        self.made[way.__name__[1:]] = self.made.get(way.__name__[1:], 0) + 1
        self._keep(self.frames, made)
        return made

    # By fields

    def _changed(self) -> bytes:
        message = self._pick(self.heard[self._pick(list(self.heard))])
        names = [field.name for field in fields(message)]
        for _ in range(self.random.choice((1, 1, 1, 2, 3))):
            if names:
                name = self._pick(names)
                message = replace(message, **{name: self._value(getattr(message, name))})
        return self._encoded(message)

    def _said_again(self) -> bytes:
        """As it was, but late, from somebody else, or out of turn."""
        return self._encoded(self._pick(self.heard[self._pick(list(self.heard))]))

    def _encoded(self, message: Any) -> bytes:
        try:
            kind, body = self.codec.encode(message, _as_they_are)  # type: ignore[arg-type]
        except (WireError, AttributeError, ValueError):  # it has no shape that can be written as usual
            kind, body = KINDS[message.kind], self._by_hand(message)
        return frame(kind, body[:MOST_MADE])

    def _by_hand(self, message: Any) -> bytes:
        try:
            return msgspec.msgpack.encode([getattr(message, field.name) for field in fields(message)], enc_hook=_plain)
        except (OverflowError, TypeError, ValueError):
            return b"\x90"

    def _value(self, value: Any) -> Any:  # noqa: C901, PLR0911  one a type
        random = self.random
        match value:
            case bool():
                return not value
            case int():
                return random.choice((self._number, self._number, self._edge, lambda: value + random.choice((-1, 1))))()
            case float():
                return random.choice(FLOATS)
            case str():
                return random.choice(TEXTS)
            case bytes():
                return self._bytes(value)
            case frozenset():
                return frozenset(self._grown(tuple(value), self._contact))
            case tuple():
                return self._listed(value)
            case Contact():
                return self._contact()
            case Event():
                return self._event(value)
            case _ if is_dataclass(value) and not isinstance(value, type):
                name = self._pick([field.name for field in fields(value)])
                return replace(value, **{name: self._value(getattr(value, name))})
        return self._number()

    def _listed(self, value: tuple[Any, ...]) -> tuple[Any, ...]:
        if isinstance(value, Contact) or hasattr(value, "_replace"):  # it has a place for everything
            fresh = list(value)
            place = self.random.randrange(len(fresh))
            fresh[place] = self._value(fresh[place])
            return type(value)(*fresh)
        match self.random.randrange(5):
            case 0:
                return value[::-1]
            case 1:
                return value[: self.random.randrange(len(value) + 1)]
            case 2 if value:
                return value * self.random.choice((2, 3, 50))
            case 3 if value:
                place = self.random.randrange(len(value))
                return (*value[:place], self._value(value[place]), *value[place + 1 :])
        return tuple(self._grown(value, self._number))

    def _grown(self, value: tuple[Any, ...], other: Callable[[], Any]) -> list[Any]:
        count = self.random.choice(LONG if self.random.random() < SELDOM else LONG[:6])
        like = self._pick(value) if value else None
        few = [other() if like is None else self._value(like) for _ in range(min(count, 16))]
        if count > len(few):  # the rest differ in little, which is quick
            base = self.random.getrandbits(62)
            more = [base + place for place in range(count - len(few))]
            few += [Contact(each % MOST_ID, "x:1") for each in more] if isinstance(like, Contact) else []
            few += more if isinstance(like, int) else []
        return few

    def _event(self, event: Event) -> Event:
        name = self._pick(["id", "publisher", "topics", "payload", "content"])
        if name == "content":
            few = self.random.choice((0, 1, 2, 16, 17, 300))
            return replace(event, content=tuple((f"name {place}", float(place)) for place in range(few)))
        return replace(event, **{name: self._value(getattr(event, name))})

    def _bytes(self, value: bytes) -> bytes:
        random = self.random
        match random.randrange(4):
            case 0:
                return b""
            case 1:
                return value + random.randbytes(random.choice((1, 64, 300, 20_000)))
            case 2:
                return b"\1" + random.randbytes(random.choice((10, 103, 104, 200)))
        return _flip(value, random) if value else random.randbytes(8)

    def _contact(self) -> Contact:
        if self._is_likely():
            return self.known[self.random.randrange(len(self.known))]
        return Contact(self._number(), self.random.choice(TEXTS[:5]))

    def _number(self) -> int:
        return self._pick(self.numbers) if self._is_likely() else self.random.getrandbits(63)

    def _edge(self) -> int:
        return self.random.choice(EDGES if self._is_likely() else BEYOND)

    # Blindly

    def _flipped(self) -> bytes:
        return _flip(self._former(), self.random)

    def _cut(self) -> bytes:
        former = self._former()
        kind, body = former[HEADER - 1], former[HEADER:]
        return frame(kind, body[: self.random.randrange(len(body) + 1)])

    def _spliced(self) -> bytes:
        one, other = self._former()[HEADER:], self._former()
        place = self.random.randrange(len(one) + 1)
        return frame(other[HEADER - 1], (one[:place] + other[HEADER + min(place, len(other)) :])[:70_000])

    def _rubbish(self) -> bytes:
        random = self.random
        length = random.choice((0, 1, 3, 4, 5, 200, 3000))
        if self._is_likely():
            return random.randbytes(length)
        return frame(random.randrange(256), random.randbytes(length))

    def _topics(self) -> bytes:
        count, first = self.random.choice((0, 1, 100, MOST_NUMBERED, MOST_NUMBERED + 1)), self._number() >> 1
        return frame(TOPICS, msgspec.msgpack.encode(list(range(first, first + count))))

    def _pieces(self) -> bytes:
        random, made = self.random, b""
        for _ in range(random.choice((1, 2, 5))):
            size = random.choice((PIECE_BYTES, PIECE_BYTES, 0, 1, 100, PIECE_BYTES - 1))
            stream, kind = random.choice((0, 0, 1, 65_535)), random.choice((*KINDS.values(), 7, 200))
            place = random.choice((MORE, MORE, LAST, NEVER_MIND, 9))
            made += frame(PIECE, stream.to_bytes(2, "big") + bytes((kind, place)) + bytes(size))
        return made

    # What it knows

    def _former(self) -> bytes:
        former = self._pick(self.frames) if self.frames else b""
        return former if len(former) > HEADER else frame(self._pick(list(KINDS.values())), b"\x90")

    def _note(self, value: Any) -> None:
        match value:
            case bool() | float() | str() | bytes() | None:
                return
            case int():
                self._keep(self.numbers, value)
            case Contact():
                self._keep(self.numbers, value.id)
            case tuple() | frozenset():
                for each in sorted(value)[:4] if isinstance(value, frozenset) else value[:4]:
                    self._note(each)
            case _ if is_dataclass(value) and not isinstance(value, type):
                for field in fields(value):
                    self._note(getattr(value, field.name))

    def _keep(self, kept: list[Any], value: Any) -> None:
        if len(kept) < KEPT:
            kept.append(value)
        else:
            kept[self.random.randrange(KEPT)] = value

    def _is_likely(self) -> bool:
        return self.random.random() < LIKELY

    def _pick(self, values: Any) -> Any:
        return values[self.random.randrange(len(values))]


def _flip(data: bytes, random: Random) -> bytes:
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 8))):
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def _as_they_are(topic: int) -> int:
    return topic


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, field.name) for field in fields(value)]
    raise TypeError(f"a {type(value).__name__} cannot be written")

"""An event space, cut into cells: an event lies in one of them, and a filter touches some.

Paper: Kato et al. section III (cells of a regular grid) and IV (a space-filling curve for more than two attributes). Every
attribute is cut into intervals: numbers evenly, words by a list, or by their hash where nobody has a list. A regular grid takes
all combinations. The curve takes the first `curve` turns of Morton's: it halves one attribute after the other, so there are
2^curve cells whatever the number of attributes. Hilbert's curve, cut into as many equal stretches, has the same cells where every
attribute was halved equally often.

All nodes of a network must cut alike, so a space is part of a cell's id: cells of different spaces never meet.
"""

import json
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, product
from math import prod

from ropewalk.errors import UsageError
from ropewalk.ids import identify, weight
from ropewalk.protocols.content.filters import (
    CURVE,
    LIMIT,
    MOST_ATTRIBUTES,
    MOST_NAME,
    MOST_VALUE,
    Condition,
    Filter,
    Value,
    check_name,
    is_word,
    shortened,
)

MOST_INTERVALS = 1_000_000  # ours: of one attribute
MOST_CELLS = 4096  # ours: that the filters of one node may touch
MOST_NUMBERED = 2**63 - 1  # of a grid: cells are told by their numbers, which arrays have as 64 bits
MOST_TURNS = 48  # ours: of the curve

Span = range
"""Intervals of one attribute that a condition touches."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """One dimension of an event space."""

    name: str
    intervals: int
    low: float | None = None  # of numbers: where the first interval begins; None: it has words
    high: float | None = None  # likewise, where the last ends
    words: tuple[str, ...] = ()  # those with an interval of their own, ascending; others share by hash

    def __post_init__(self) -> None:
        check_name(self.name)
        if not 1 <= self.intervals <= MOST_INTERVALS:
            raise UsageError(
                f"attribute {self.name} has {shortened(str(self.intervals))} intervals, but must have from 1 to"
                f" {MOST_INTERVALS}."
            )
        if self.low is not None or self.high is not None:
            self._check_range()
        if self.words:
            self._check_words()

    def _check_range(self) -> None:
        if self.low is None or self.high is None or not -LIMIT < self.low <= self.high < LIMIT:
            raise UsageError(f"attribute {self.name} goes from {self.low} to {self.high}, which is no range.")
        if self.words:
            raise UsageError(f"attribute {self.name} has words or a range, not both.")
        if self.low == self.high and self.intervals > 1:
            raise UsageError(
                f"attribute {self.name} goes from {self.low} to {self.high}, so it must have 1 interval, not {self.intervals}."
            )

    def _check_words(self) -> None:
        if not all(map(is_word, self.words)):
            raise UsageError(
                f"attribute {self.name} has words that are longer than {MOST_VALUE} characters, or that UTF-8 cannot write."
            )
        if any(one >= other for one, other in pairwise(self.words)):
            raise UsageError(f"attribute {self.name} has words that must be in ascending order, each once.")
        if self.intervals != len(self.words):
            raise UsageError(
                f"attribute {self.name} has {len(self.words)} words, so it must have as many intervals, not {self.intervals}."
            )

    @property
    def is_number(self) -> bool:
        """Whether its values are numbers, or words."""
        return self.low is not None

    def interval(self, value: Value) -> int:
        """Where a value lies; numbers beyond an end, in the interval at that end."""
        if isinstance(value, str) == self.is_number:
            raise UsageError(f"attribute {self.name} is {shortened(str(value))!r}, but must be a {self._kind}.")
        if isinstance(value, str):
            at = bisect_left(self.words, value)
            return at if self.words[at : at + 1] == (value,) else identify(value) % self.intervals
        low, high = self.low or 0.0, self.high or 0.0
        if value <= low or high == low:
            return 0
        if value >= high:
            return self.intervals - 1
        return min(int((value - low) * self.intervals / (high - low)), self.intervals - 1)

    def span(self, condition: Condition | None) -> Span:
        """The intervals that a condition touches: all without one."""
        if condition is None:
            return range(self.intervals)
        if isinstance(condition, str):
            at = self.interval(condition)
            return range(at, at + 1)
        return range(self.interval(condition.low), self.interval(condition.high) + 1)

    @property
    def cut(self) -> tuple[str, int, tuple[float, ...], tuple[str, ...]]:
        """All that it is; numbers that are equal look alike."""
        ends = tuple(end + 0.0 for end in (self.low, self.high) if end is not None)  # -0.0 becomes 0.0
        return self.name, self.intervals, ends, self.words

    @property
    def _kind(self) -> str:
        return "number" if self.is_number else "word"

    def __str__(self) -> str:
        if self.words:
            return f"{self.name}={'|'.join(self.words)}"
        ends = f"{self.low!r}:{self.high!r}:" if self.is_number else ""
        return f"{self.name}:{ends}{self.intervals}"


@dataclass(frozen=True)
class Space:
    """All that events can say, in cells."""

    attributes: tuple[Attribute, ...]
    curve: int = 0  # turns of the curve; 0: a regular grid

    def __post_init__(self) -> None:
        names = [each.name for each in self.attributes]
        if not names or len(names) > MOST_ATTRIBUTES or len(set(names)) < len(names):
            raise UsageError(
                f"a space has from 1 to {MOST_ATTRIBUTES} attributes, each once, not {shortened(', '.join(names))!r}."
            )
        if not 0 <= self.curve <= MOST_TURNS:
            raise UsageError(f"curve is {shortened(str(self.curve))}, but must be from 0 to {MOST_TURNS} turns.")
        if self.cells > MOST_NUMBERED:
            raise UsageError(
                f"a grid of {self.cells:.0e} cells is too large: at most {MOST_NUMBERED:.0e} are allowed;"
                " use larger cells, or a curve."
            )

    @cached_property
    def cells(self) -> int:
        """How many there are."""
        return 2**self.curve if self.curve else prod(each.intervals for each in self.attributes)

    def cell_of(self, content: Mapping[str, Value]) -> int:
        """The id of the cell in which an event lies. It must have every attribute, and no other."""
        self._check(content)
        at = [each.interval(content[each.name]) for each in self.attributes]
        return self.id_of(self._turned(at) if self.curve else self._numbered(at))

    def cells_of(self, filter_: Filter) -> tuple[int, ...]:
        """The ids of the cells that a filter touches, in the order of the grid or the curve."""
        return tuple(self.id_of(each) for each in self.numbers_of(filter_))

    def all_cells_of(self, filters: Iterable[Filter]) -> tuple[int, ...]:
        """Those that several filters of one node touch, each once."""
        found = dict.fromkeys(cell for each in filters for cell in self.cells_of(each))
        if len(found) > MOST_CELLS:
            raise UsageError(f"filters touch {len(found)} cells, more than {MOST_CELLS}: use larger cells.")
        return tuple(found)

    def numbers_of(self, filter_: Filter) -> list[int]:
        """Cells that a filter touches, as numbers from 0 up."""
        conditions = dict(filter_.conditions)
        unknown = [name for name in conditions if name not in {each.name for each in self.attributes}]
        if unknown:
            raise UsageError(f"attribute {unknown[0]} is not in the space {shortened(str(self))}; use those that are.")
        spans = [each.span(conditions.get(each.name)) for each in self.attributes]
        if self.curve:
            return self._touched(spans)
        if prod(map(len, spans)) > MOST_CELLS:
            raise UsageError(
                f"a filter touches {prod(map(len, spans))} cells, more than {MOST_CELLS}: use larger cells."
            )
        return [self._numbered(at) for at in product(*spans)]

    def id_of(self, number: int) -> int:
        """What a cell is called by everybody who cuts alike."""
        return weight(self.id, number)

    @cached_property
    def id(self) -> int:
        """One number for how it is cut. Its text would not do: words may have what separates them there."""
        return identify(json.dumps([[each.cut for each in self.attributes], self.curve]))

    def _check(self, content: Mapping[str, Value]) -> None:
        for each in self.attributes:
            if each.name not in content:
                raise UsageError(
                    f"an event says nothing of {each.name}, but must: the space is {shortened(str(self))}."
                )
        if len(content) > len(self.attributes):
            other = next(name for name in content if name not in {each.name for each in self.attributes})
            raise UsageError(f"an event says something of {other}, which is not in the space {shortened(str(self))}.")

    def _numbered(self, at: Iterable[int]) -> int:
        number = 0
        for each, place in zip(self.attributes, at, strict=True):
            number = number * each.intervals + place
        return number

    # Along the curve: turn t halves attribute t mod n once more. Intervals are where halves are cut.

    def _turned(self, at: list[int]) -> int:
        number = 0
        sides = [(0, each.intervals) for each in self.attributes]
        for turn in range(self.curve):
            which = turn % len(sides)
            lower, upper, middle = *sides[which], _middle(*sides[which])
            above = at[which] >= middle
            sides[which] = (middle, upper) if above else (lower, middle)
            number = 2 * number + above
        return number

    def _touched(self, spans: list[Span]) -> list[int]:
        found: list[int] = []
        boxes = [(0, 0, [(0, each.intervals) for each in self.attributes])]
        while boxes:
            turn, number, sides = boxes.pop()
            if turn == self.curve:
                found.append(number)
                if len(found) > MOST_CELLS:
                    raise UsageError(f"a filter touches more than {MOST_CELLS} cells: use fewer turns of the curve.")
                continue
            which = turn % len(sides)
            lower, upper, middle = *sides[which], _middle(*sides[which])
            for above, side in ((True, (middle, upper)), (False, (lower, middle))):
                if side[0] < side[1] and spans[which].start < side[1] and side[0] < spans[which].stop:
                    halved = [side if place == which else each for place, each in enumerate(sides)]
                    boxes.append((turn + 1, 2 * number + above, halved))
        return found

    def __str__(self) -> str:
        said = ",".join(map(str, self.attributes))
        return f"{said},curve:{self.curve}" if self.curve else said


def _middle(lower: int, upper: int) -> int:
    """Where an interval or more is cut in two; one interval alone, so that the upper part is empty."""
    return (lower + upper + 1) // 2


def space_of(said: str, words: Mapping[str, Sequence[str]] | None = None) -> Space:
    """A space as people write it: `stock:64,price:0:100:16` (64 intervals for words, 16 for numbers from 0 to 100).

    `stock=ABC|XYZ` gives the words that have an interval of their own, `stock` alone says that these are known; `curve:20` at
    the end cuts by a curve.
    """
    if len(said) > MOST_ATTRIBUTES * (MOST_NAME + MOST_VALUE):
        raise UsageError(f"a space of {len(said)} characters is too long.")
    attributes, turns = [], []
    for part in said.split(","):
        name, *numbers = part.strip().split(":")
        if name == CURVE and len(numbers) == 1:
            turns.append(_whole(numbers[0], part))
        else:
            attributes.append(_attribute(part.strip(), name, numbers, words or {}))
    if len(turns) > 1:
        raise UsageError(f"space {shortened(said)!r} says {CURVE} more than once; say it once, at the end.")
    return Space(tuple(attributes), *turns)


def _attribute(part: str, name: str, numbers: list[str], known: Mapping[str, Sequence[str]]) -> Attribute:
    named, _, words = part.partition("=")
    if words or (not numbers and name in known):
        found = tuple(sorted(set(words.split("|") if words else known[name])))
        return Attribute(named, len(found), words=found)
    match numbers:
        case [intervals]:
            return Attribute(name, _whole(intervals, part))
        case [low, high, intervals]:
            return Attribute(name, _whole(intervals, part), _number(low, part), _number(high, part))
        case _:
            raise _unreadable(part)


def _whole(said: str, part: str) -> int:
    number = _number(said, part)
    if not number.is_integer():
        raise UsageError(f"{shortened(part)!r} has {shortened(said)}, which is no whole number.")
    return int(number)


def _number(said: str, part: str) -> float:
    try:
        number = float(said)
    except ValueError as error:
        raise _unreadable(part) from error
    if abs(number) < LIMIT:
        return number
    raise _unreadable(part)


def _unreadable(part: str) -> UsageError:
    return UsageError(
        f"{shortened(part)!r} is no attribute; say NAME:INTERVALS for words, NAME=WORD|WORD, or NAME:LOW:HIGH:INTERVALS for"
        " numbers."
    )

"""What an event says, and what somebody wants of it: conditions on named attributes, all of which must hold.

Paper: Kato et al. section III, definitions 1 to 3 (filters, coverage, mergers). Definition 2 is printed the wrong way round
(it lets the smaller filter cover the larger); its text and its figures mean what stands here.
"""

import keyword
import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ropewalk.errors import UsageError

Value = float | str
Content = tuple[tuple[str, Value], ...]
"""What an event says: attributes by name, in the order of their names."""

MOST_ATTRIBUTES = 16  # ours: of a space, and so of an event
MOST_NAME = 64  # ours, characters
MOST_VALUE = 256  # ours, characters
LIMIT = 1e300  # ours: of numbers in filters and spaces, so that nothing overflows where they are cut into intervals
CURVE = "curve"  # what a space says of itself, so no attribute is called that
SHOWN = 60  # ours: characters of somebody's text that an error repeats


class Range(NamedTuple):
    """Numbers from `low` to `high`, both of them included."""

    low: float = -math.inf
    high: float = math.inf


Condition = Range | str
"""A number within a range, or a word."""


class Filter(NamedTuple):
    """What somebody wants: every condition holds. Without any, all events."""

    conditions: tuple[tuple[str, Condition], ...] = ()  # in the order of their names, none twice

    def matches(self, content: Mapping[str, Value]) -> bool:
        """Whether an event is wanted."""
        return all(name in content and _holds(condition, content[name]) for name, condition in self.conditions)

    def covers(self, other: "Filter") -> bool:
        """Whether all that the other wants is wanted here, too (definition 2)."""
        theirs = dict(other.conditions)
        return all(name in theirs and _contains(condition, theirs[name]) for name, condition in self.conditions)

    def intersects(self, other: "Filter") -> bool:
        """Whether there can be an event that both want."""
        return met(self, other) is not None


def is_wanted(content: Mapping[str, Value], filters: Iterable[Filter]) -> bool:
    """Whether somebody wants an event: it matches one of these filters, or there are none."""
    wanted = True
    for each in filters:
        if each.matches(content):
            return True
        wanted = False
    return wanted


def met(one: Filter, other: Filter) -> Filter | None:
    """What both want; None if there is nothing."""
    found = dict(one.conditions)
    for name, condition in other.conditions:
        both = _both(found[name], condition) if name in found else condition
        if both is None:
            return None
        found[name] = both
    return Filter(tuple(sorted(found.items())))


def merged(filters: Iterable[Filter]) -> Filter:
    """The smallest filter that covers all of these (definition 3): conditions that all have, widened."""
    first, *others = filters
    found = dict(first.conditions)
    for other in others:
        theirs = dict(other.conditions)
        widened = {name: _either(found[name], theirs[name]) for name in found if name in theirs}
        found = {name: condition for name, condition in widened.items() if condition is not None}
    return Filter(tuple(sorted(found.items())))


def content_of(said: Mapping[str, object]) -> Content:
    """What an event says, checked."""
    found: dict[str, Value] = {}
    if len(said) > MOST_ATTRIBUTES:
        raise UsageError(f"an event has {len(said)} attributes, but must have at most {MOST_ATTRIBUTES}.")
    for name, value in said.items():
        check_name(name)
        found[name] = _checked(name, value)
    return tuple(sorted(found.items()))


def check_name(name: object) -> None:
    """Refuse what can be no attribute's name, in filters, events or spaces.

    Python's parser, which reads filters, knows its keywords from names, and takes some letters for others that look alike: so
    keywords are none, and letters are ASCII.
    """
    is_name = isinstance(name, str) and name.isascii() and name.isidentifier() and len(name) <= MOST_NAME
    if not is_name or name == CURVE or keyword.iskeyword(str(name)):
        raise UsageError(
            f"attribute {shortened(str(name))!r} must be a name of at most {MOST_NAME} letters from a to z, digits and"
            f" underscores, and neither {CURVE} nor a keyword of Python."
        )


def is_word(value: object) -> bool:
    """Whether somebody can say it: text that is not too long, and that UTF-8 can write."""
    if not isinstance(value, str) or len(value) > MOST_VALUE:
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def shortened(text: str) -> str:
    """What an error repeats of what it was told."""
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."


def _checked(name: str, value: object) -> Value:
    if isinstance(value, str) and is_word(value):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if abs(number) < LIMIT:
            return number
    raise UsageError(
        f"attribute {name} must be a number below {LIMIT:g}, or at most {MOST_VALUE} characters that UTF-8 can write."
    )


def _holds(condition: Condition, value: Value) -> bool:
    if isinstance(condition, str):
        return condition == value
    return not isinstance(value, str) and condition.low <= value <= condition.high


def _contains(one: Condition, other: Condition) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    return one.low <= other.low and other.high <= one.high


def _both(one: Condition, other: Condition) -> Condition | None:
    if isinstance(one, str) or isinstance(other, str):
        return one if one == other else None
    low, high = max(one.low, other.low), min(one.high, other.high)
    return Range(low, high) if low <= high else None


def _either(one: Condition, other: Condition) -> Condition | None:
    """Both and what lies between; None if only no condition at all covers them."""
    if isinstance(one, str) or isinstance(other, str):
        return one if one == other else None
    return Range(min(one.low, other.low), max(one.high, other.high))

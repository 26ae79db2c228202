"""Which cells many filters touch, at once. Words are numbers here: their places in a list of all words, ascending."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ropewalk.arrays.hashing import weights
from ropewalk.errors import UsageError
from ropewalk.protocols.content.filters import Condition, Filter, Range
from ropewalk.protocols.content.spaces import MOST_CELLS, Attribute, Space

Longs = NDArray[np.int64]
Floats = NDArray[np.float64]
Words = Mapping[str, Sequence[str]]
"""All words of an attribute, ascending, by its name."""


def touched(space: Space, words: Words, lows: Floats, highs: Floats) -> tuple[Longs, Longs]:
    """Of filters, a row each with a range for every attribute: pairs (row, id of a cell that it touches), by row."""
    if space.curve:
        rows, numbers = _by_curve(space, words, lows, highs)
    else:
        rows, numbers = _by_grid(space, words, lows, highs)
    return rows, ids_of(space, numbers)


def cells_of(space: Space, words: Words, points: Floats) -> Longs:
    """The ids of the cells in which events lie, a row each."""
    _, cells = touched(space, words, points, points)
    return cells


def ids_of(space: Space, numbers: Longs) -> Longs:
    """`Space.id_of`, for many cells."""
    return weights(np.full(numbers.size, space.id, np.int64), numbers)


def _by_grid(space: Space, words: Words, lows: Floats, highs: Floats) -> tuple[Longs, Longs]:
    firsts, counts = [], []
    for which, attribute in enumerate(space.attributes):
        known = words.get(attribute.name, ())
        first, last = (_intervals(attribute, known, ends[:, which]) for ends in (lows, highs))
        firsts.append(first)
        counts.append(np.maximum(last - first + 1, 0))  # none, should its end lie before its beginning
    sizes = np.prod(np.stack(counts), axis=0)  # at most as many as the space has cells, which 64 bits can count
    if sizes.max(initial=0) > MOST_CELLS:
        raise UsageError(f"a filter touches {sizes.max()} cells, more than {MOST_CELLS}: use larger cells.")
    rows = np.repeat(np.arange(lows.shape[0]), sizes)
    left = np.arange(rows.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    numbers, stride = np.zeros(rows.size, np.int64), 1
    for attribute, first, count in zip(space.attributes[::-1], firsts[::-1], counts[::-1], strict=True):
        numbers += stride * (first[rows] + left % count[rows])
        left //= count[rows]
        stride *= attribute.intervals
    return rows, numbers


def _intervals(attribute: Attribute, words: Sequence[str], ends: Floats) -> Longs:
    """`Attribute.interval`, for many values; whatever is without a limit reaches to the end."""
    if attribute.is_number:
        low, high = attribute.low or 0.0, attribute.high or 0.0
        scaled = (np.clip(ends, low, high) - low) * attribute.intervals / ((high - low) or 1.0)
        return np.minimum(scaled.astype(np.int64), attribute.intervals - 1)
    places = np.array([attribute.interval(word) for word in words], np.int64)
    inside = np.clip(ends, 0, max(len(words) - 1, 0)).astype(np.int64)
    found = places[inside] if places.size else inside
    return np.where(np.isposinf(ends), attribute.intervals - 1, np.where(np.isneginf(ends), 0, found))


def _by_curve(space: Space, words: Words, lows: Floats, highs: Floats) -> tuple[Longs, Longs]:
    found = [space.numbers_of(filter_of(space, words, *ends)) for ends in zip(lows, highs, strict=True)]
    rows = np.repeat(np.arange(len(found)), [len(each) for each in found])
    return rows, np.array([number for each in found for number in each], np.int64)


def filter_of(space: Space, words: Words, lows: Floats, highs: Floats) -> Filter:
    """One filter, as nodes know it."""
    conditions: dict[str, Condition] = {}
    for attribute, low, high in zip(space.attributes, lows.tolist(), highs.tolist(), strict=True):
        if not np.isneginf(low) or not np.isposinf(high):
            of_words = not attribute.is_number
            conditions[attribute.name] = words[attribute.name][int(low)] if of_words else Range(low, high)
    return Filter(tuple(sorted(conditions.items())))

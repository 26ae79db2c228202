"""What is wanted at a node by what events say: filters become cells, and so do events, by the space that all nodes share."""

from collections.abc import Mapping
from math import isfinite
from typing import Any, NamedTuple

from ropewalk.errors import UsageError
from ropewalk.protocols.content.expressions import filters_of
from ropewalk.protocols.content.filters import Condition, Content, Filter, Range, content_of
from ropewalk.protocols.content.spaces import Space, space_of
from ropewalk.protocols.kato.settings import NAME, Settings


class Wanted(NamedTuple):
    """What a subscription by content comes to."""

    filters: tuple[Filter, ...]
    cells: tuple[int, ...]


class Said(NamedTuple):
    """What an event by content comes to."""

    cell: int
    content: Content
    words: str  # for who is told that it did not get anywhere


def as_json(filter_: Filter) -> list[list[Any]]:
    """A filter, to be written: a range is a list, and an end that it has not is null."""
    found: list[list[Any]] = []
    for name, each in filter_.conditions:
        ends = each if isinstance(each, str) else [end if isfinite(end) else None for end in each]
        found.append([name, ends])
    return found


def filter_of(conditions: list[list[Any]]) -> Filter:
    """The same, read."""
    found: list[tuple[str, Condition]] = []
    for name, each in conditions:
        ends = (
            each
            if isinstance(each, str)
            else Range(*(of if end is None else end for end, of in zip(each, Range(), strict=True)))
        )
        found.append((name, ends))
    return Filter(tuple(found))


class Cutting:
    """How one node cuts what events say into cells."""

    def __init__(self, protocol: str, settings: Any) -> None:
        self.protocol = protocol
        space = settings.space if isinstance(settings, Settings) else ""
        self.space: Space | None = space_of(space) if space else None

    def wanted(self, where: str) -> Wanted:
        """The filters that somebody has written, and the cells that they touch."""
        if not isinstance(where, str):
            raise UsageError(f"where is a {type(where).__name__}, but must be a filter, as text.")
        space = self._must_cut("a filter")
        filters = filters_of(where)
        return Wanted(filters, space.all_cells_of(filters))

    def said(self, content: Mapping[str, object]) -> Said:
        """What an event says, and the cell in which it lies."""
        if not isinstance(content, Mapping):
            raise UsageError(f"content is a {type(content).__name__}, but must be attributes by name.")
        space = self._must_cut("content")
        said = content_of(content)
        return Said(space.cell_of(dict(said)), said, ", ".join(f"{name} = {value!r}" for name, value in said))

    def _must_cut(self, what: str) -> Space:
        if self.protocol != NAME:
            raise UsageError(f"{what} needs nodes that link by content: say --protocol {NAME}, not {self.protocol}.")
        if self.space is None:
            raise UsageError(
                f"{what} needs a space, the same at all nodes: say --space stock:64,price:0:100:16, for instance."
            )
        return self.space

"""What is wanted at a node by what events say: filters become cells, and so do events, by the space that all nodes share."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from ropewalk.errors import UsageError
from ropewalk.protocols.content.expressions import filters_of
from ropewalk.protocols.content.filters import Content, Filter, Range, content_of
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


def filter_of(conditions: list[tuple[str, Any]]) -> Filter:
    """A filter that was written as JSON: a range is a list there."""
    return Filter(tuple((name, Range(*each) if isinstance(each, list) else each) for name, each in conditions))


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
            raise UsageError(f"{what} needs nodes that link by content: say protocol {NAME}, not {self.protocol}.")
        if self.space is None:
            raise UsageError(
                f'{what} needs a space, the same at all nodes: say space="stock:64,price:0:100:16", for instance.'
            )
        return self.space

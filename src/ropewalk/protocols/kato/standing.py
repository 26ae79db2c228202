"""Where a node of the overlay by interests stands: what its tables tell."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One node, at some moment."""

    held: tuple[int, ...]  # whom it links to: covering, covered and neighbours, and those beside it on its ring
    covering: int
    covered: int
    neighbours: int
    holders: int  # who links to it
    incoming: int  # of these, whom it does not link to
    ring: int
    alike: int  # how many are in its group
    primary: bool
    cells: int
    bits: int
    received: int  # messages that brought events
    by_cell: int  # events that came for its cells, and that it did not want
    by_bits: int  # likewise, for its bits alone

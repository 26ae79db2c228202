"""Where a node stands on rings and trees: what there is to count about it, whoever drives it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Standing:
    """Of one node, at one moment; nodes are named by their ids."""

    held: tuple[int, ...]  # successors and fingers, on all its rings: who is held twice is named twice
    parents: dict[int, int | None]  # topic -> who is above it on the tree that events come down; None if nobody is
    roots: frozenset[int]  # of these topics, whose home it is
    follows: frozenset[int]

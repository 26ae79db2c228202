"""What nodes know of each other: who somebody is, what it wants, and what that means to who looks.

All that is compared is a number whose bits are what the looker's links must cover: bits of its own id, or its cells in order. So a
relation is told by a few operations on large numbers, whatever the reading.
"""

from dataclasses import dataclass
from typing import NamedTuple

from ropewalk.ids import xxhash64
from ropewalk.protocols.contract import Contact, Topic
from ropewalk.protocols.kato.ids import COMMON, COMMON_ID, node_id
from ropewalk.protocols.kato.settings import Settings


@dataclass(frozen=True, slots=True)
class Profile:
    """A node as others know it: its id among all nodes is its random id, too."""

    contact: Contact
    cells: tuple[Topic, ...]  # ascending, without the common one


class Sight(NamedTuple):
    """Another node, as one sees it."""

    profile: Profile
    shared: int  # what it has of the things that the looker's links must cover
    outside: int  # bits that it has and the looker has not; 0 where cells are compared
    covers: bool  # whether it has all that the looker has
    covered: bool  # whether the looker has all that it has
    id: int  # its semantic id

    @property
    def weight(self) -> int:
        """Bits that are set in its id."""
        return self.id.bit_count()


class Looker:
    """What one node wants, ready to be compared with what others want."""

    __slots__ = ("cells", "id", "name", "places", "profile", "settings", "things")

    def __init__(self, profile: Profile, settings: Settings) -> None:
        self.profile, self.settings = profile, settings
        self.id = node_id(profile.cells, settings.bits, settings.hashes)
        own = profile.cells if settings.common == "ignored" else (COMMON, *profile.cells)
        self.places = {cell: place for place, cell in enumerate(own)}
        self.cells = frozenset(profile.cells)
        self.name = self._named()  # the same for all who want the same, and nobody else
        # one bit for each thing that links must cover
        self.things = (1 << len(own)) - 1 if settings.cover == "cells" else self._counted(self.id)

    def sees(self, other: Profile) -> Sight:
        """Compare with another node."""
        theirs = node_id(other.cells, self.settings.bits, self.settings.hashes)
        if self.settings.cover == "bits":
            covers, covered = not self.id & ~theirs, not theirs & ~self.id
            return Sight(other, self._counted(theirs & self.id), theirs & ~self.id, covers, covered, theirs)
        common = [cell for cell in other.cells if cell in self.cells]
        shared = sum(1 << self.places[cell] for cell in common) | (1 if COMMON in self.places else 0)
        return Sight(other, shared, 0, len(common) == len(self.cells), len(common) == len(other.cells), theirs)

    def _named(self) -> int:
        if self.settings.cover == "bits":
            return xxhash64(self.id.to_bytes(self.settings.bits // 8, "little")) >> 1
        return xxhash64(*self.profile.cells) >> 1

    def _counted(self, id_: int) -> int:
        return id_ if self.settings.common == "wanted" else id_ & ~COMMON_ID


def is_alike(sight: Sight) -> bool:
    """Whether somebody wants the same, as far as can be told."""
    return sight.covers and sight.covered

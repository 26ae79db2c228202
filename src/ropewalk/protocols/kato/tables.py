"""Whom one node links to, of those it knows: covering, covered and neighbour links.

Paper: Kato III-A, Algorithms 1 and 2. Covered and neighbour links are picked on two ways round the circle of random ids, each from
the node's own on, keeping who has something that nobody before it on that way has.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from ropewalk.ids import MASK
from ropewalk.protocols.contract import Contact
from ropewalk.protocols.kato.profiles import Looker, Sight, is_alike

CIRCLE = (MASK >> 1) + 1  # ids are 63-bit


@dataclass(slots=True)
class Table:
    """The links of one node, by the ids of their other ends."""

    covering: dict[int, Contact] = field(default_factory=dict)  # the closest first
    covered: dict[int, Contact] = field(default_factory=dict)
    neighbours: dict[int, Contact] = field(default_factory=dict)

    def all(self) -> dict[int, Contact]:
        """Everybody."""
        return self.covering | self.covered | self.neighbours

    def strike(self, node: int) -> None:
        """Somebody is no link any more."""
        for held in (self.covering, self.covered, self.neighbours):
            held.pop(node, None)

    def joined(self, other: "Table") -> "Table":
        """Whoever is in either; who is of another kind in the second is of that kind."""
        fresh = other.all()

        def both(ours: dict[int, Contact], theirs: dict[int, Contact]) -> dict[int, Contact]:
            return {node: contact for node, contact in ours.items() if node not in fresh} | theirs

        return Table(
            both(self.covering, other.covering),
            both(self.covered, other.covered),
            both(self.neighbours, other.neighbours),
        )


def chosen(looker: Looker, known: Iterable[Sight]) -> Table:
    """The links that a node has, if it knows these."""
    own, settings = looker.profile.contact.id, looker.settings
    sights = sorted(
        (sight for sight in known if sight.profile.contact.id != own and not is_alike(sight)),
        key=lambda sight: (sight.profile.contact.id - own) % CIRCLE,
    )
    if not looker.things:
        return Table()
    above = sorted((sight for sight in sights if sight.covers), key=lambda each: (each.weight, each.profile.contact.id))
    below = [sight for sight in sights if sight.covered and sight.shared]
    beside = [sight for sight in sights if not sight.covers and not sight.covered and sight.shared]
    table = Table({sight.profile.contact.id: sight.profile.contact for sight in above[: settings.covering]})
    everything = (1 << settings.bits) - 1
    for order in (1, -1):
        _go_round(below[::order], looker.things, table.covered)
        if settings.neighbours == "text":
            _go_round(beside[::order], looker.things, table.neighbours)
        else:
            _go_round(beside[::order], everything & ~looker.id, table.neighbours, outside=True)
    return table


def _go_round(sights: Iterable[Sight], missing: int, found: dict[int, Contact], *, outside: bool = False) -> None:
    for sight in sights:
        if not missing:
            return
        has = sight.outside if outside else sight.shared
        if has & missing:
            missing &= ~has
            found[sight.profile.contact.id] = sight.profile.contact

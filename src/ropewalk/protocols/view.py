"""A node's neighbours on one topic, best first.

There is one view per topic. The overlay manager decides how many it may hold (`size`), link management who they are.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable

from ropewalk.protocols.contract import Contact

Weigh = Callable[[int], int]
"""How far down this node's list the node of some id stands: lower is better."""

HIGHEST = 2**63  # above every weight


class View:
    """At most `size` neighbours in the order of (weight, id); never the node itself, and nobody twice."""

    __slots__ = ("changes", "contacts", "ids", "me", "size", "weigh", "weights")

    def __init__(self, me: int, weigh: Weigh) -> None:
        self.me, self.weigh = me, weigh
        self.changes = 0  # so far: grows whenever who is in it changes
        self.size = 0  # grows and shrinks by the overlay manager alone
        self.contacts: list[Contact] = []
        self.ids: list[int] = []  # of the contacts
        self.weights: list[int] = []  # likewise

    def holds(self, node: int) -> bool:
        """Whether the node of this id is a neighbour."""
        return node in self.ids

    def newcomers(self, candidates: Iterable[Contact]) -> list[Contact]:
        """Those candidates that belong among the `size` best, in order; the neighbours there are do not count."""
        weigh, me, ids = self.weigh, self.me, self.ids
        if not self.size:
            return []
        limit = self.weights[self.size - 1] if len(ids) >= self.size else HIGHEST
        better: dict[int, tuple[int, int, Contact]] = {}
        for contact in candidates:
            node = contact.id
            weight = weigh(node)
            if weight <= limit and node != me and node not in ids:
                known = better.get(node)
                if known is None or contact < known[2]:  # one node, said to be in two places
                    better[node] = (weight, node, contact)
        if not better:
            return []
        ranked = sorted([*better.values(), *zip(self.weights, ids, self.contacts, strict=True)])
        return [contact for _, node, contact in ranked[: self.size] if node in better]

    def adopt(self, contact: Contact) -> Contact | None:
        """Take a neighbour in; who is left out instead, if the view is full: the worst, be it the new one."""
        self.changes += 1
        weight = self.weigh(contact.id)
        place = bisect_left(self.weights, weight)
        while place < len(self.weights) and self.weights[place] == weight and self.ids[place] < contact.id:
            place += 1
        self.weights.insert(place, weight)
        self.ids.insert(place, contact.id)
        self.contacts.insert(place, contact)
        if len(self.contacts) <= self.size:
            return None
        self.weights.pop()
        self.ids.pop()
        return self.contacts.pop()

    def drop(self, node: int) -> Contact | None:
        """Let the neighbour of this id go, and its place stay."""
        if node not in self.ids:
            return None
        self.changes += 1
        place = self.ids.index(node)
        del self.ids[place], self.weights[place]
        return self.contacts.pop(place)

    def rank_anew(self) -> None:
        """Put the neighbours into order again, after what they weigh has changed; who they are stays as it is."""
        ranked = sorted(
            (self.weigh(node), node, contact) for node, contact in zip(self.ids, self.contacts, strict=True)
        )
        self.weights = [weight for weight, _, _ in ranked]
        self.ids = [node for _, node, _ in ranked]
        self.contacts = [contact for _, _, contact in ranked]

    def worst(self) -> Contact | None:
        """The neighbour that would go first."""
        return self.contacts[-1] if self.contacts else None

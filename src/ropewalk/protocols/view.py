"""A node's neighbours on one topic, best first.

There is one view per topic. The overlay manager decides how many it may hold (`size`), link management who they are.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable

from ropewalk.protocols.contract import Contact

Weigh = Callable[[int], int]
"""How far down this node's list the node of some id stands: lower is better."""


class View:
    """At most `size` neighbours in the order of (weight, id); never the node itself, and nobody twice."""

    __slots__ = ("contacts", "me", "size", "weigh", "weights")

    def __init__(self, me: int, weigh: Weigh) -> None:
        self.me, self.weigh = me, weigh
        self.size = 0  # grows and shrinks by the overlay manager alone
        self.contacts: list[Contact] = []
        self.weights: list[int] = []  # of the contacts

    def holds(self, node: int) -> bool:
        """Whether the node of this id is a neighbour."""
        return any(contact.id == node for contact in self.contacts)

    def newcomers(self, candidates: Iterable[Contact]) -> list[Contact]:
        """Those candidates that belong among the `size` best, in order; the neighbours there are do not count."""
        weigh, me = self.weigh, self.me
        held, full = self.contacts, len(self.contacts) >= self.size
        if not self.size:
            return []
        limit = self.weights[self.size - 1] if full else None
        better: list[tuple[int, int, Contact]] = []
        for contact in candidates:
            weight = weigh(contact.id)
            if (limit is None or weight <= limit) and contact.id != me and not self.holds(contact.id):
                better.append((weight, contact.id, contact))
        if not better:
            return []
        fresh = {node for _, node, _ in better}
        better += [(weight, contact.id, contact) for weight, contact in zip(self.weights, held, strict=True)]
        better.sort()
        return [contact for _, node, contact in better[: self.size] if node in fresh]

    def adopt(self, contact: Contact) -> Contact | None:
        """Take a neighbour in; who is left out instead, if the view is full: the worst, be it the new one."""
        weight = self.weigh(contact.id)
        place = bisect_left(self.weights, weight)
        while place < len(self.weights) and self.weights[place] == weight and self.contacts[place].id < contact.id:
            place += 1
        self.weights.insert(place, weight)
        self.contacts.insert(place, contact)
        if len(self.contacts) <= self.size:
            return None
        self.weights.pop()
        return self.contacts.pop()

    def drop(self, node: int) -> Contact | None:
        """Let the neighbour of this id go, and its place stay."""
        for place, contact in enumerate(self.contacts):
            if contact.id == node:
                del self.contacts[place], self.weights[place]
                return contact
        return None

    def worst(self) -> Contact | None:
        """The neighbour that would go first."""
        return self.contacts[-1] if self.contacts else None

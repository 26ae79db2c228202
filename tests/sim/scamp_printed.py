"""SCAMP as printed, on plain dicts: what its unsubscription leaves of the views when nobody is told of replacements."""

from random import Random


class Printed:
    """Views and in-views of one overlay; messages arrive at once."""

    def __init__(self, copies: int, seed: int) -> None:
        self.copies, self.chance = copies, Random(seed)
        self.views: dict[int, list[int]] = {}
        self.in_views: dict[int, list[int]] = {}

    def subscribe(self, node: int) -> None:
        there = list(self.views)
        self.views[node], self.in_views[node] = [], []
        if not there:
            return
        contact = self.chance.choice(there)
        self.views[node].append(contact)
        self.in_views[contact].append(node)
        view = self.alive(contact)
        if not view:
            self._keep(contact, node)
        for target in view + [self.chance.choice(view) for _ in range(self.copies) if view]:
            self._pass_on(target, node)

    def _pass_on(self, at: int, newcomer: int) -> None:
        for _ in range(1000):
            view = self.alive(at)
            if (
                at != newcomer
                and newcomer not in self.views[at]
                and self.chance.random() < 1 / (1 + len(self.views[at]))
            ):
                self._keep(at, newcomer)
                return
            if not view:
                return
            at = self.chance.choice(view)

    def _keep(self, at: int, newcomer: int) -> None:
        self.views[at].append(newcomer)
        self.in_views[newcomer].append(at)

    def unsubscribe(self, node: int) -> None:
        """Tell all holders that are known but c + 1 to replace it by one of its view, and the last c + 1 to drop it."""
        view, holders = self.views.pop(node), self.in_views.pop(node)
        replaced = max(0, len(holders) - self.copies - 1)
        for place, holder in enumerate(holders):
            if holder not in self.views or node not in self.views[holder]:
                continue  # gone, or it has long replaced us: nobody said so
            self.views[holder].remove(node)
            if place < replaced and view:
                other = view[place % len(view)]
                if other != holder and other not in self.views[holder]:
                    self.views[holder].append(other)  # and nobody tells `other`

    def alive(self, node: int) -> list[int]:
        return [other for other in self.views[node] if other in self.views]

    def mean_view(self) -> float:
        return sum(len(self.alive(node)) for node in self.views) / len(self.views)

    def dead_share(self) -> float:
        """Of all entries, those that name somebody who is gone."""
        entries = sum(map(len, self.views.values()))
        return 1 - sum(len(self.alive(node)) for node in self.views) / entries

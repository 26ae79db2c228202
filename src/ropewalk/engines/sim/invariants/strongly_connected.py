"""After repair every member of a topic is reached from every other along views, where that is promised.

StaN alone promises it nowhere: link management lets go of whoever ranks low with all. Cyclon's tables name everybody now
and then, and visitors that rank the sources of walks (`learn`) find whom nobody holds. With both nobody stays lost, where
views have the room that the topic calls for (ln n + c): they stay as large as they were given, and two that hold each other
in views of one never hold a third that comes later. Where shared topics count (`shared`), whoever shares few ranks low with all,
and it is not promised. With SCAMP some are always about to be let in again. Announced links
carry events both ways, for which `Connected` is enough.
"""

from typing import ClassVar

from ropewalk.engines.sim.invariants.contract import Invariant
from ropewalk.engines.sim.population import Population


class StronglyConnected(Invariant):
    """Checked at rest, topic by topic among those that are there."""

    name: ClassVar[str] = "strongly connected"

    def at_rest(self, population: Population) -> str | None:
        """See `Invariant`."""
        settings = population.stan_settings
        if settings.manager != "cyclon" or not settings.learn or settings.shared:
            return None
        for topic, views in population.views().items():
            if not _have_room(population, topic, views):
                continue
            holders: dict[int, list[int]] = {node: [] for node in views}
            for node, view in views.items():
                for other in view:
                    if other in holders:
                        holders[other].append(node)
            for along, ways in (("views", views), ("views, backwards,", holders)):
                reached = _reached(next(iter(views)), ways) if views else 0
                if reached < len(views):
                    return f"along {along} one member of {topic} reaches {reached} of {len(views)}"
        return None


def _have_room(population: Population, topic: int, views: dict[int, list[int]]) -> bool:
    """Whether all views are of the size that they would be given now."""
    called_for = population.stan_settings.fan_out(len(views))
    return all(population.stan(node).topics[topic].overlay.view.size >= called_for for node in views)


def _reached(start: int, ways: dict[int, list[int]]) -> int:
    seen, edge = {start}, [start]
    while edge:
        for other in ways[edge.pop()]:
            if other in ways and other not in seen:
                seen.add(other)
                edge.append(other)
    return len(seen)

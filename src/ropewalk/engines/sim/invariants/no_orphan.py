"""When all is quiet nobody is alone on a topic that others follow: whatever cut it off, it has found back."""

from typing import ClassVar

from ropewalk.engines.sim.invariants.contract import Invariant
from ropewalk.engines.sim.population import Population


class NoOrphan(Invariant):
    """Checked at rest, topic by topic among those that are there."""

    name: ClassVar[str] = "no orphan"

    def at_rest(self, population: Population) -> str | None:
        """See `Invariant`."""
        for topic, views in population.views().items():
            held = {other for view in views.values() for other in view}
            for node, view in views.items():
                if len(views) > 1 and not view and node not in held:
                    return f"node {node} holds nobody on {topic} and is held by nobody, though {len(views) - 1} others follow it"
        return None

"""When nothing has gone wrong for a while, nobody holds who is gone, waits for anybody, or keeps a link that it does not use."""

from typing import ClassVar

from ropewalk.engines.sim.invariants.contract import Invariant
from ropewalk.engines.sim.population import Population

LINGERING = 2.5  # periods that a link may idle: one by its rule, one until somebody looks, and some for the way


class Quiescent(Invariant):
    """Checked at rest."""

    name: ClassVar[str] = "quiescence"

    def at_rest(self, population: Population) -> str | None:
        """See `Invariant`."""
        for node in population.simulator.processes:
            machine = population.stan(node)
            for topic, following in machine.topics.items():
                for contact in following.overlay.view.contacts:
                    if not population.is_there(contact.id) or topic not in population.follows[contact.id]:
                        return f"node {node} still holds {contact.id} on {topic}, which is gone"
                if following.overlay.coming:
                    return f"node {node} still waits for links to {list(following.overlay.coming)} on {topic}"
            waiting = [other for other, link in machine.neighbours.links.by_id.items() if link.outbox or not link.up]
            if waiting:
                return f"node {node} still tries to reach {waiting}"
            since = population.simulator.now - LINGERING * population.settings.period
            idle = [
                o for o, link in machine.neighbours.links.by_id.items() if not link.uses and link.idle_since < since
            ]
            if idle and population.settings.schedule == "timed":
                return f"node {node} still has links to {idle}, which it has not used for long"
        return None

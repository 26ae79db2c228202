"""Where nodes have timers, each has one for every topic that it follows and one to tidy up: none dies, none multiplies."""

from collections import Counter
from typing import ClassVar

from ropewalk.engines.sim.invariants.contract import Invariant
from ropewalk.engines.sim.population import Population
from ropewalk.protocols.stan.node import Open, Tidy


class OneTimerEach(Invariant):
    """Checked at rest, when the last timer of a subscription that ended has fired."""

    name: ClassVar[str] = "one timer each"

    def at_rest(self, population: Population) -> str | None:
        """See `Invariant`."""
        if population.settings.schedule != "timed":
            return None
        rounds: Counter[tuple[int, int]] = Counter()
        tidies: Counter[int] = Counter()
        for process, timer in population.simulator.timers():
            node = process.contact.id
            if isinstance(timer, Open):
                rounds[node, timer.topic] += 1
            tidies[node] += isinstance(timer, Tidy)
        for node in population.simulator.processes:
            topics = population.node(node).topics
            for topic in topics:
                if rounds[node, topic] != 1:
                    return f"node {node} has {rounds[node, topic]} timers for its walks on {topic}"
            if topics and tidies[node] != 1:
                return f"node {node} has {tidies[node]} timers to tidy up"
        return None

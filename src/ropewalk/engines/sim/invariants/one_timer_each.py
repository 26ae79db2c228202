"""Where nodes have timers, each has two for every topic that it follows (one if it does not walk) and one to tidy up: none dies, none multiplies."""

from collections import Counter
from typing import ClassVar

from ropewalk.engines.sim.invariants.contract import Invariant
from ropewalk.engines.sim.population import Population
from ropewalk.protocols.sampling.contract import Check
from ropewalk.protocols.stan.node import Tidy
from ropewalk.protocols.stan.walks import Open


class OneTimerEach(Invariant):
    """Checked at rest, when the last timer of a subscription that ended has fired."""

    name: ClassVar[str] = "one timer each"

    def at_rest(self, population: Population) -> str | None:
        """See `Invariant`."""
        if population.settings.schedule != "timed":
            return None
        rounds: Counter[tuple[int, int, type]] = Counter()
        tidies: Counter[int] = Counter()
        for process, timer in population.simulator.timers():
            node = process.contact.id
            if isinstance(timer, Open | Check):
                rounds[node, timer.topic, type(timer)] += 1
            tidies[node] += isinstance(timer, Tidy)
        for node in population.simulator.processes:
            machine = population.stan(node)
            topics = machine.topics
            for topic in topics:
                for kind in (Open, Check) if machine.walking else (Check,):
                    if rounds[node, topic, kind] != 1:
                        return f"node {node} has {rounds[node, topic, kind]} timers {kind.__name__} on {topic}"
            if topics and tidies[node] != 1:
                return f"node {node} has {tidies[node]} timers to tidy up"
        return None

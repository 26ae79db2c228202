"""When nothing has gone wrong for a while, nobody holds who is gone, waits for anybody, or keeps a link that it does not use."""

from collections.abc import Iterator
from typing import ClassVar

from ropewalk.engines.sim.invariants.contract import Invariant
from ropewalk.engines.sim.population import Population
from ropewalk.protocols.stan.node import Node

LONGEST_TRIAL = 2.5  # times its patience: two by its rule, and some for a node that was frozen
LINGERING = 2.5  # times what its rule says that a link may idle: once, once until somebody looks, and some for the way


class Quiescent(Invariant):
    """Checked at rest."""

    name: ClassVar[str] = "quiescence"

    def at_rest(self, population: Population) -> str | None:
        """See `Invariant`."""
        for node in population.simulator.processes:
            machine = population.stan(node)
            for what in (
                *_of_topics(machine, population),
                *_of_events(machine, population),
                *_of_links(machine, population),
            ):
                return f"node {node} still {what}"
        return None


def _of_topics(machine: Node, population: Population) -> Iterator[str]:
    for topic, following in machine.topics.items():
        for contact in following.overlay.view.contacts:
            if not population.is_there(contact.id) or topic not in population.follows[contact.id]:
                yield f"holds {contact.id} on {topic}, which is gone"
        if following.overlay.coming:
            yield f"waits for links to {list(following.overlay.coming)} on {topic}"


def _of_events(machine: Node, population: Population) -> Iterator[str]:
    if machine.injections.open:
        yield f"tries to get events in: {list(machine.injections.open)}"
    trials = machine.finding.proofs.trials.values() if machine.finding is not None else ()
    since = _end(population) - LONGEST_TRIAL * machine.of_discovery.patience
    for trial in trials:
        if trial.begun < since:
            yield f"waits for proofs on {trial.topic}"


def _of_links(machine: Node, population: Population) -> Iterator[str]:
    links, settings = machine.neighbours.links.by_id, population.stan_settings
    waiting = [other for other, link in links.items() if link.outbox or not link.up]
    if waiting:
        yield f"tries to reach {waiting}"
    end = _end(population)
    since = {True: end - LINGERING * settings.passing, False: end - LINGERING * settings.period}
    idle = [other for other, link in links.items() if not link.uses and link.idle_since < since[link.passing]]
    if idle and settings.schedule == "timed":
        yield f"has links to {idle}, which it has not used for long"


def _end(population: Population) -> float:
    """Until when nodes had their timers: whatever takes longer to arrive makes nobody late."""
    simulator = population.simulator
    return simulator.now if simulator.drained_at is None else simulator.drained_at

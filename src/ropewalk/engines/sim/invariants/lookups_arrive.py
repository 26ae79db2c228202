"""Whoever asks for a topic's home comes to the one node that it falls to, in a few steps."""

from typing import ClassVar

from ropewalk.engines.sim.invariants.contract import Invariant
from ropewalk.engines.sim.population import Population
from ropewalk.protocols.dht.places import key_of, place_of
from ropewalk.protocols.scribe.node import Node


class LookupsArrive(Invariant):
    """Checked at rest, from every node to every topic."""

    name: ClassVar[str] = "lookups arrive"

    def at_rest(self, population: Population) -> str | None:
        """See `Invariant`."""
        nodes = {id_: each.node for id_, each in population.simulator.processes.items() if isinstance(each.node, Node)}
        ids = sorted(nodes)
        for topic in population.members:
            key = key_of(topic)
            home = next((id_ for id_ in ids if place_of(id_) >= key), ids[0]) if ids else None
            for start in ids:
                steps, here = 0, start
                while (onward := nodes[here].control.ring.towards(key)) is not None and steps <= len(ids):
                    here, steps = onward.contact.id, steps + 1
                    if here not in nodes:
                        return f"the way from {start} to the home of {topic} goes over {here}, which is gone"
                if here != home:
                    return f"the way from {start} to the home of {topic} ends at {here}, not at {home}"
        return None

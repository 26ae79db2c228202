"""Events that are to be published in a simulation."""

from ropewalk.engines.publishing import PAYLOAD_BYTES, Drawn, drawn
from ropewalk.engines.sim.population import Act, Population
from ropewalk.protocols.contract import Event
from ropewalk.seeds import chance

PAYLOAD = b"x" * PAYLOAD_BYTES


def publications(population: Population, events: int, topics_per_event: int, begin: float, end: float) -> list[Act]:
    """So many events, spread evenly over a stretch of time; see `engines.publishing`."""
    seed = population.seed
    return acts_of(drawn(population.members, seed, events, topics_per_event, begin, end), seed)


def acts_of(events: list[Drawn], seed: int) -> list[Act]:
    """Events that were drawn, as what happens to their publishers."""
    return [
        Act(
            each.at,
            each.publisher,
            "publish",
            event=Event(chance(seed, "event", each.number), each.publisher, each.topics, PAYLOAD, each.content),
        )
        for each in events
    ]

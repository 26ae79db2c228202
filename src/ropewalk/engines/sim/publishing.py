"""Which events are published, when and by whom: all by chance, and all before anything has happened."""

from ropewalk.engines.sim.population import Act, Population
from ropewalk.protocols.contract import Event
from ropewalk.seeds import chance, pick, unit

PAYLOAD = b"x" * 256  # ours: a short message


def publications(population: Population, events: int, topics_per_event: int, begin: float, end: float) -> list[Act]:
    """So many events, spread evenly over a stretch of time.

    Each has a topic by chance, a publisher by chance among those that follow it, and more topics by chance of the
    publisher's own. A publisher that is not there at that moment publishes nothing.
    """
    seed, topics = population.seed, list(population.members)
    acts = []
    for number in range(events):
        topic = topics[pick(chance(seed, "event topic", number), len(topics))]
        members = population.members[topic]
        publisher = members[pick(chance(seed, "publisher", number), len(members))]
        drawn = {each: chance(seed, "also", number, each) for each in population.follows[publisher] if each != topic}
        others = sorted(drawn, key=lambda each: (drawn[each], each))[: topics_per_event - 1]
        event = Event(chance(seed, "event", number), publisher, (topic, *others), PAYLOAD)
        at = begin + (end - begin) * (number + unit(chance(seed, "published at", number))) / events
        acts.append(Act(at, publisher, "publish", event=event))
    return acts

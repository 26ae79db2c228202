"""Which events are published, when and by whom: all by chance, and all before anything has happened."""

from typing import NamedTuple

from ropewalk.protocols.content.filters import Content
from ropewalk.seeds import chance, pick, unit

SETTLED = 3.0  # periods: whoever has followed one of its topics for as long when an event is published must get it
QUIET = 2  # periods without events at the end: what was lost is asked for again
PAYLOAD_BYTES = 256  # ours: a short message


class Drawn(NamedTuple):
    """An event that is to be published."""

    at: float
    number: int  # from 0 up
    publisher: int
    topics: tuple[int, ...]
    content: Content = ()  # where topics are cells of a space


def stretch(period: float, rounds: int) -> tuple[float, float]:
    """When events are published: once there is somebody who must get them, and while there is time to."""
    return SETTLED * period, (rounds - QUIET) * period


def drawn(
    members: dict[int, list[int]], seed: int, events: int, topics_per_event: int, begin: float, end: float
) -> list[Drawn]:
    """So many events, spread evenly over a stretch of time.

    Each has a topic by chance, a publisher by chance among those that follow it, and more topics by chance of the
    publisher's own. A publisher that is not there at that moment publishes nothing.
    """
    follows: dict[int, list[int]] = {}
    for topic, nodes in members.items():
        for node in nodes:
            follows.setdefault(node, []).append(topic)
    topics = list(members)
    found = []
    for number in range(events):
        topic = topics[pick(chance(seed, "event topic", number), len(topics))]
        publisher = members[topic][pick(chance(seed, "publisher", number), len(members[topic]))]
        also = {each: chance(seed, "also", number, each) for each in follows[publisher] if each != topic}
        others = sorted(also, key=lambda each: (also[each], each))[: topics_per_event - 1]
        at = begin + (end - begin) * (number + unit(chance(seed, "published at", number))) / events
        found.append(Drawn(at, number, publisher, (topic, *others)))
    return found

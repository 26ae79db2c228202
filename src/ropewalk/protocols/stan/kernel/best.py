"""The best possible: every member knows all subscribers of its topics at once (StaN's supplement compares with it)."""

import numpy as np

from ropewalk.arrays.compiled import compiled
from ropewalk.protocols.stan.kernel.batch import Ints, Members, Overlays, Topics
from ropewalk.protocols.stan.kernel.threads import in_parts
from ropewalk.protocols.stan.kernel.weights import Ranking, keep, ranking, shortlist, weigh
from ropewalk.protocols.stan.settings import Settings

LOT = 256  # candidates ranked at a time


def omniscient(members: Members, overlays: Overlays, settings: Settings, seed: int, *, threads: int = 1) -> Overlays:
    """Views of the same sizes that hold the best of all members of the topic."""
    topics = Topics(members.topics, members.offsets, members.ids, overlays.starts)
    links = np.empty_like(overlays.links)
    ranks = ranking(members.ids, settings, seed)
    in_parts(members.ids.size, threads, lambda part: _best(topics, links, ranks, part))
    return Overlays(overlays.starts, links)


@compiled
def _best(topics: Topics, links: Ints, ranks: Ranking, members: tuple[int, int]) -> None:
    widest = np.int64(0)
    for member in range(members[0], members[1]):
        widest = max(widest, topics.starts[member + 1] - topics.starts[member])
    short = shortlist(widest + LOT, widest)
    topic = np.searchsorted(topics.offsets, members[0], side="right") - 1
    for member in range(members[0], members[1]):
        while topics.offsets[topic + 1] <= member:
            topic += 1
        first, size = topics.offsets[topic], topics.offsets[topic + 1] - topics.offsets[topic]
        begin, wanted = topics.starts[member], topics.starts[member + 1] - topics.starts[member]
        held = np.int64(0)
        for lot in range(0, size, LOT):
            count = min(LOT, size - lot)
            for at in range(held):
                short.candidates[at] = short.best[at]
            for at in range(count):
                short.candidates[held + at] = lot + at
            weigh(ranks, first, member - first, short, held + count)
            held = keep(short, held, held + count, member - first, wanted)
        for at in range(wanted):
            links[begin + at] = short.best[at]

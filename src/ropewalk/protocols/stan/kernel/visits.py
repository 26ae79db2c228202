"""What others learn from walks that pass through them: their source, and what they carry (StaN 2.4 names the second).

In lock step every member gathers, when the round closes, all walks that came by; each writes its own view only.
"""

import numpy as np
from numpy.typing import NDArray

from ropewalk.arrays.compiled import Long, compiled
from ropewalk.protocols.stan.kernel.batch import Ints, Longs, Topics, Views
from ropewalk.protocols.stan.kernel.walks import Rules, gather, hold, room, write
from ropewalk.protocols.stan.kernel.weights import Ranking, Shortlist, keep, weigh


@compiled
def arrivals(topics: Topics, paths: NDArray[np.int32]) -> tuple[Longs, Longs]:
    """The visits of each member: where its visits start, and for each visit (source row) * hops + hop."""
    hops = paths.shape[1]
    starts = np.zeros(topics.ids.size + 1, np.int64)
    for topic in range(topics.topics.size):
        first = topics.offsets[topic]
        for source in range(first, topics.offsets[topic + 1]):
            for hop in range(hops):
                if paths[source, hop] < 0:
                    break
                starts[first + paths[source, hop] + 1] += first + paths[source, hop] != source
    starts = np.cumsum(starts)
    visits, following = np.empty(starts[-1], np.int64), starts[:-1].copy()
    for topic in range(topics.topics.size):
        first = topics.offsets[topic]
        for source in range(first, topics.offsets[topic + 1]):
            for hop in range(hops):
                if paths[source, hop] < 0:
                    break
                visited = first + paths[source, hop]
                if visited != source:
                    visits[following[visited]] = source * hops + hop
                    following[visited] += 1
    return starts, visits


@compiled
def learn_together(
    topics: Topics,
    frozen: Views,
    fresh: Views,
    ranks: Ranking,
    rules: Rules,
    members: tuple[int, int],
    paths: NDArray[np.int32],
    came: tuple[Longs, Longs],
) -> None:
    """Members (from, to) rank what came by in a round, on top of their fresh views."""
    short = room(topics, rules)
    starts, visits = came
    hops = paths.shape[1]
    topic = np.searchsorted(topics.offsets, members[0], side="right") - 1
    for member in range(members[0], members[1]):
        while topics.offsets[topic + 1] <= member:
            topic += 1
        first = topics.offsets[topic]
        wanted = np.int64(fresh.wanted[member])
        for at in range(starts[member], starts[member + 1]):
            source, hop = visits[at] // hops, visits[at] % hops
            held = hold(topics.starts, fresh.lengths, fresh.links, short.candidates, member)
            found = held
            if rules.learn:
                short.candidates[found] = source - first
                found += 1
            if rules.snoop:
                found = _carried(topics, frozen, short, rules, first, paths[source], hop, found)
            weigh(ranks, first, member - first, short, found)
            length = keep(short, held, found, member - first, wanted)
            write(topics.starts, fresh.lengths, fresh.links, short.best, member, length)


@compiled
def _carried(
    topics: Topics, views: Views, short: Shortlist, rules: Rules, first: Long, path: Ints, hop: Long, found: Long
) -> np.int64:
    """Add what a walk carries when it arrives at its hop: whom it visited before, and their views."""
    starts, lengths, links, candidates = topics.starts, views.lengths, views.links, short.candidates
    for before in range(hop):
        found = gather(starts, lengths, links, candidates, first, path[before], found, rules.collect_views)
    return np.int64(found)

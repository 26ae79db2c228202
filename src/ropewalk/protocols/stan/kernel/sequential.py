"""Walks one after the other, each over the views that the ones before it left behind: nearer to what real nodes do."""

import numpy as np

from ropewalk.arrays.chance import drawn, pick
from ropewalk.arrays.compiled import Long, compiled
from ropewalk.arrays.hashing import mixed_long
from ropewalk.protocols.stan.kernel.batch import Flags, Ints, Longs, Topics, Views
from ropewalk.protocols.stan.kernel.walks import Cost, Rules, Walkers, gather, hold, room, write
from ropewalk.protocols.stan.kernel.weights import Ranking, Shortlist, keep, weigh


@compiled
def walk_in_turn(
    topics: Topics,
    views: Views,
    walkers: Walkers,
    changed: Flags,
    ranks: Ranking,
    rules: Rules,
    turn: tuple[np.uint64, int],
) -> Cost:
    """One round: per topic, members walk in the order of their chance for `turn` (state, round), ties by id.

    `changed` says whose view its own reply changed.
    """
    cost = Cost(np.zeros(topics.topics.size, np.int64), np.zeros(topics.topics.size, np.int64))
    short, ranked = room(topics, rules), room(topics, rules)
    stamps = np.full(np.max(np.diff(topics.offsets)), -1, np.int64)
    for topic in range(topics.topics.size):
        first, last = topics.offsets[topic], topics.offsets[topic + 1]
        topic_state = mixed_long(topics.topics[topic], turn[0])
        chances = np.empty(last - first, np.uint64)
        for member in range(first, last):
            chances[member - first] = drawn(mixed_long(np.int64(turn[1]), mixed_long(topics.ids[member], topic_state)))
        for me in np.argsort(chances, kind="mergesort"):  # stable: positions ascend with ids
            member = first + me
            walkers.replied[member] = False
            changed[member] = False
            if walkers.due[member] and views.lengths[member] > 0:
                messages, ids = _walk(
                    topics, views, walkers, changed, ranks, rules, topic, member, short, ranked, stamps
                )
                cost.messages[topic] += messages
                cost.ids[topic] += ids
    return cost


@compiled
def _walk(
    topics: Topics,
    views: Views,
    walkers: Walkers,
    changed: Flags,
    ranks: Ranking,
    rules: Rules,
    topic: Long,
    source: Long,
    carries: Shortlist,
    ranked: Shortlist,
    stamps: Longs,
) -> tuple[np.int64, np.int64]:
    """One walk from beginning to end, in which those it passes learn at once; messages sent, and ids in them."""
    first, name = topics.offsets[topic], topics.topics[topic]
    starts, lengths, links = topics.starts, views.lengths, views.links
    turn = np.int64(walkers.turns[source])
    walkers.turns[source] += 1
    walk_state = mixed_long(turn, mixed_long(topics.ids[source], mixed_long(name, rules.walk_state)))
    drop_state = mixed_long(turn, mixed_long(topics.ids[source], mixed_long(name, rules.drop_state)))
    at, found, distinct = source, np.int64(0), np.int64(0)
    messages, ids = np.int64(0), np.int64(0)
    next_hop = _picked(topics, views, at, walk_state, 0)
    stamp = (np.int64(walkers.turns[source]) << 32) | source
    for hop in range(rules.ttl + 1):
        messages += 1
        ids += distinct
        lost = rules.loss > 0 and drawn(mixed_long(np.int64(hop), drop_state)) < rules.loss
        if lost or not walkers.there[first + next_hop]:
            return messages, ids
        at, before = first + next_hop, found
        found = gather(starts, lengths, links, carries.candidates, first, next_hop, found, rules.collect_views)
        for place in range(before, found):
            distinct += stamps[carries.candidates[place]] != stamp
            stamps[carries.candidates[place]] = stamp
        ends = hop == rules.ttl or views.lengths[at] == 0
        if not ends:
            next_hop = _picked(topics, views, at, walk_state, hop + 1)
        if at != source and (rules.learn or rules.snoop):
            _learn(
                topics,
                views,
                ranks,
                rules,
                first,
                at,
                source,
                carries.candidates[: before if rules.snoop else 0],
                ranked,
            )
        if ends:
            break
    messages += 1
    ids += distinct
    if rules.loss > 0:
        reply_state = mixed_long(turn, mixed_long(topics.ids[source], mixed_long(name, rules.reply_state)))
        if drawn(reply_state) < rules.loss:
            return messages, ids
    walkers.replied[source] = True
    changed[source] = _kept(topics, views, ranks, first, source, carries.candidates[:found], ranked)
    return messages, ids


@compiled
def _picked(topics: Topics, views: Views, at: Long, state: np.uint64, hop: Long) -> np.int64:
    """Whom the member at this hop sends the walk to."""
    chosen = pick(mixed_long(np.int64(hop), state), np.int64(views.lengths[at]))
    return np.int64(views.links[topics.starts[at] + chosen])


@compiled
def _learn(
    topics: Topics,
    views: Views,
    ranks: Ranking,
    rules: Rules,
    first: Long,
    member: Long,
    source: Long,
    carried: Ints,
    short: Shortlist,
) -> None:
    """A member on the way ranks the source, and what the walk carried when it came."""
    seen = np.empty(carried.size + 1, np.int32)
    seen[0] = source - first if rules.learn else member - first  # itself: nobody ranks itself
    seen[1:] = carried
    _kept(topics, views, ranks, first, member, seen, short)


@compiled
def _kept(
    topics: Topics, views: Views, ranks: Ranking, first: Long, member: Long, others: Ints, short: Shortlist
) -> bool:
    """The member keeps the best of its view and the others; whether that changed its view."""
    starts, lengths, links, best = topics.starts, views.lengths, views.links, short.best
    held = hold(starts, lengths, links, short.candidates, member)
    short.candidates[held : held + others.size] = others
    weigh(ranks, first, member - first, short, held + others.size)
    length = keep(short, held, held + others.size, member - first, np.int64(views.wanted[member]))
    changed = length != held
    for at in range(held):
        changed |= links[starts[member] + at] != best[at]
    write(starts, lengths, links, best, member, length)
    return bool(changed)

"""Walks: which way they go, what is lost on it, and the lock-step round in which all walk over frozen views.

A walk of `source` on a topic draws its way from the labels (topic, source, turn, hop); turn counts the walks that the
source has started there. It visits up to ttl + 1 members. A message is lost with probability `loss`, or because whom it
was sent to has crashed; the walk is then lost, too, and so is its reply.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ropewalk.arrays.chance import drawn, pick
from ropewalk.arrays.compiled import Long, compiled, inlined
from ropewalk.arrays.hashing import mixed_long
from ropewalk.protocols.stan.kernel.batch import Flags, Ints, Longs, Topics, Views
from ropewalk.protocols.stan.kernel.weights import Ranking, Shortlist, keep, shortlist, weigh

BLOCK = 32  # walks whose ways are drawn together: each waits for memory at every hop, together they wait once
NOWHERE, LOST = -1, -2  # in place of a visit: no message was sent; the message was lost


class Rules(NamedTuple):
    """What is the same for every walk of a run."""

    ttl: int
    collect_views: bool
    learn: bool
    snoop: bool
    loss: np.uint64  # of 2^63
    walk_state: np.uint64
    drop_state: np.uint64
    reply_state: np.uint64
    count_ids: bool


class Walkers(NamedTuple):
    """Who walks in a round, and what became of it."""

    there: Flags  # who can be reached
    due: Flags
    turns: Ints  # walks started so far
    replied: Flags


class Cost(NamedTuple):
    """What a round cost, per topic."""

    messages: Longs
    ids: Longs


@compiled
def ways(
    topics: Topics,
    views: Views,
    walkers: Walkers,
    rules: Rules,
    topic: Long,
    first_member: Long,
    count: Long,
    paths: NDArray[np.int32],
) -> np.int64:
    """The ways of `count` members' walks, row by row into `paths`; how many messages were sent.

    Whoever does not walk gets an empty way. `replied` says whose reply comes back.
    """
    ids, starts, lengths, links = topics.ids, topics.starts, views.lengths, views.links
    there, due, turns, replied = walkers
    first, loss = topics.offsets[topic], rules.loss
    walk_state = mixed_long(topics.topics[topic], rules.walk_state)
    drop_state = mixed_long(topics.topics[topic], rules.drop_state)
    reply_state = mixed_long(topics.topics[topic], rules.reply_state)
    states, at = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.int64)
    drops, walking = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.bool_)
    messages = np.int64(0)
    for row in range(count):
        member = first_member + row
        turn = np.int64(turns[member])
        states[row] = mixed_long(turn, mixed_long(ids[member], walk_state))
        drops[row] = mixed_long(turn, mixed_long(ids[member], drop_state)) if loss > 0 else np.uint64(0)
        at[row] = member
        walking[row] = due[member] and lengths[member] > 0
        replied[member] = walking[row]
        turns[member] += walking[row]
    for hop in range(rules.ttl + 1):
        for row in range(count):
            paths[row, hop] = NOWHERE
            size = np.int64(lengths[at[row]])
            if not walking[row] or size == 0:
                continue
            messages += 1
            target = links[starts[at[row]] + pick(mixed_long(np.int64(hop), states[row]), size)]
            lost = loss > 0 and drawn(mixed_long(np.int64(hop), drops[row])) < loss
            if lost or not there[first + target]:
                paths[row, hop] = LOST
                walking[row] = False
                replied[first_member + row] = False
                continue
            paths[row, hop] = target
            at[row] = first + target
    for row in range(count):
        member = first_member + row
        messages += replied[member]
        if loss > 0 and replied[member]:
            state = mixed_long(np.int64(turns[member] - 1), mixed_long(ids[member], reply_state))
            replied[member] = drawn(state) >= loss
    return messages


@inlined
def hold(starts: Longs, lengths: Ints, links: Ints, candidates: Ints, member: Long) -> np.int64:
    """Begin the candidates with the member's own view; how many there are then."""
    begin, size = starts[member], np.int64(lengths[member])
    for at in range(size):
        candidates[at] = links[begin + at]
    return size


@inlined
def gather(
    starts: Longs, lengths: Ints, links: Ints, candidates: Ints, first: Long, visited: Long, count: Long, views: bool
) -> np.int64:
    """Add a visited member, and its view if views are collected, to the candidates; how many there are then."""
    candidates[count] = visited
    begin, size = starts[first + visited], np.int64(lengths[first + visited]) if views else np.int64(0)
    for at in range(size):
        candidates[count + 1 + at] = links[begin + at]
    return np.int64(count + 1 + size)


@inlined
def write(starts: Longs, lengths: Ints, links: Ints, best: Ints, member: Long, length: Long) -> None:
    """Make the best candidates the member's view."""
    begin = starts[member]
    for at in range(length):
        links[begin + at] = best[at]
    lengths[member] = length


@compiled
def room(topics: Topics, rules: Rules) -> Shortlist:
    """A shortlist wide enough for every walk of a batch."""
    widest = np.int64(0)
    for member in range(topics.ids.size):
        widest = max(widest, topics.starts[member + 1] - topics.starts[member])
    return shortlist((rules.ttl + 2) * (widest + 1) + 1, widest)


@compiled
def walk_together(
    topics: Topics,
    frozen: Views,
    fresh: Views,
    walkers: Walkers,
    ranks: Ranking,
    rules: Rules,
    members: tuple[int, int],
    all_paths: NDArray[np.int32],
) -> Cost:
    """The walks of a round by members (from, to): read the frozen views, write their own fresh ones only.

    Where others learn from walks, their ways are left in `all_paths` for `visits`; it has no rows if nobody does.
    """
    offsets, starts, lengths, links = topics.offsets, topics.starts, frozen.lengths, frozen.links
    fresh_lengths, fresh_links, replied = fresh.lengths, fresh.links, walkers.replied
    cost = Cost(np.zeros(topics.topics.size, np.int64), np.zeros(topics.topics.size, np.int64))
    short = room(topics, rules)
    candidates = short.candidates
    paths = np.empty((BLOCK, rules.ttl + 1), np.int32)
    stamps = np.full(np.max(np.diff(offsets)) if rules.count_ids else 0, -1, np.int64)
    begin = np.int64(members[0])
    topic = np.searchsorted(offsets, begin, side="right") - 1
    while begin < members[1]:
        while offsets[topic + 1] <= begin:
            topic += 1
        first, others = offsets[topic], offsets[topic + 1] - offsets[topic] - 1
        count = min(BLOCK, min(offsets[topic + 1], members[1]) - begin)
        cost.messages[topic] += ways(topics, frozen, walkers, rules, topic, begin, count, paths)
        for row in range(count):
            member = begin + row
            if rules.count_ids:
                cost.ids[topic] += carried(topics, frozen, rules, first, member, paths[row], stamps)
            if not replied[member] or lengths[member] == others:
                continue  # nothing comes back, or nobody else could
            held = hold(starts, lengths, links, candidates, member)
            found = held
            for hop in range(rules.ttl + 1):
                if paths[row, hop] < 0:
                    break
                found = gather(starts, lengths, links, candidates, first, paths[row, hop], found, rules.collect_views)
            weigh(ranks, first, member - first, short, found)
            length = keep(short, held, found, member - first, np.int64(frozen.wanted[member]))
            write(starts, fresh_lengths, fresh_links, short.best, member, length)
        if all_paths.size:
            all_paths[begin : begin + count] = paths[:count]
        begin += count
    return cost


@compiled
def carried(
    topics: Topics,
    views: Views,
    rules: Rules,
    first: Long,
    source: Long,
    path: NDArray[np.int32],
    stamps: Longs,
) -> np.int64:
    """The ids in all messages of a walk and its reply: each carries what was collected before it, nobody twice."""
    starts, lengths, links = topics.starts, views.lengths, views.links
    carries, total = np.int64(0), np.int64(0)
    for hop in range(rules.ttl + 1):
        visited = path[hop]
        if visited == NOWHERE:
            break
        total += carries  # the message to here; the first carries none
        if visited == LOST:
            return total
        fresh = stamps[visited] != source
        stamps[visited] = source
        carries += fresh
        if rules.collect_views:
            begin = starts[first + visited]
            for at in range(begin, begin + np.int64(lengths[first + visited])):
                other = links[at]
                carries += stamps[other] != source
                stamps[other] = source
    return total + carries  # the reply

"""How a member ranks the others of its topic: weights for many candidates at a time, and the best of them kept.

Weight kinds and their formulas are those of `stan.settings.Weight`; lower is better, ties go to the lower id, which is
the lower position.
"""

from typing import NamedTuple

import numpy as np

from ropewalk.arrays.chance import drawn, stream
from ropewalk.arrays.compiled import Long, compiled, inlined
from ropewalk.arrays.hashing import ONE, half, joined, mixed_long, seeded
from ropewalk.protocols.stan.kernel.batch import Ints, Longs, Topics, Views, Words
from ropewalk.protocols.stan.settings import Settings

HASHED, PAIR, TARGET, RING = range(4)
KINDS = {"printed": HASHED, "keyed": HASHED, "pair": PAIR, "target": TARGET, "ring": RING}
LOW_63 = np.uint64(2**63 - 1)


class Ranking(NamedTuple):
    """What weights are made of, per member: the two halves of its hash, as ranked and as ranking."""

    kind: int
    halves: Words
    states: Words
    ids: Longs


class Shortlist(NamedTuple):
    """Room for the candidates of one member, and for the best of them."""

    candidates: Ints
    halves: Words
    weights: Words
    best: Ints
    best_weights: Words


def ranking(ids: Longs, settings: Settings, seed: int) -> Ranking:
    """Prepare a batch for ranking."""
    keyed = settings.weight == "keyed"
    halves, states = _halves(ids, keyed, stream(seed, "key"))
    return Ranking(KINDS[settings.weight], halves, states, ids)


@compiled
def _halves(ids: Longs, keyed: bool, key_state: np.uint64) -> tuple[Words, Words]:
    halves, states = np.empty(ids.size, np.uint64), np.empty(ids.size, np.uint64)
    for member in range(ids.size):
        halves[member] = half(ids[member])
        key = np.int64(drawn(mixed_long(ids[member], key_state))) if keyed else ids[member]
        states[member] = seeded(key)
    return halves, states


@compiled
def shortlist(candidates: Long, widest: Long) -> Shortlist:
    """Room for that many candidates of a member, and for the widest view."""
    return Shortlist(
        np.empty(candidates, np.int32),
        np.empty(candidates, np.uint64),
        np.empty(candidates, np.uint64),
        np.empty(widest + 1, np.int32),
        np.empty(widest + 1, np.uint64),
    )


@compiled
def weigh(ranks: Ranking, first: Long, me: Long, short: Shortlist, count: Long) -> None:
    """The weights that member `me` of the topic whose members begin at `first` gives to the first `count` candidates."""
    # Fields of a tuple are fetched before loops: each time costs two updates of a reference count.
    candidates, gathered, weights = short.candidates, short.halves, short.weights
    halves, states, ids = ranks.halves, ranks.states, ranks.ids
    own = first + me
    if ranks.kind == HASHED:
        for at in range(count):
            gathered[at] = halves[np.uint64(first + candidates[at])]
        for at in range(count):
            weights[at] = joined(gathered[at], states[own]) >> ONE
    elif ranks.kind == PAIR:  # the lower id is hashed first, whoever asks
        for at in range(count):
            other = first + candidates[at]
            weights[at] = joined(halves[max(own, other)], states[min(own, other)]) >> ONE
    elif ranks.kind == TARGET:
        for at in range(count):
            weights[at] = states[first + candidates[at]] >> ONE
    else:
        for at in range(count):
            weights[at] = np.uint64(ids[first + candidates[at]] - ids[own]) & LOW_63


@compiled
def keep(short: Shortlist, held: Long, count: Long, me: Long, wanted: Long) -> np.int64:
    """Of `count` weighed candidates, whose first `held` are the ordered view of `me`, put the `wanted` best in order.

    They are then in `short.best`; how many is returned. Candidates may repeat and may name `me`.
    """
    candidates, weights = short.candidates, short.weights
    best, best_weights = short.best, short.best_weights
    for at in range(held):
        best[at], best_weights[at] = candidates[at], weights[at]
    if wanted == 0:
        return np.int64(0)
    worst = weights[held - 1] if held == wanted else LOW_63
    promising = held
    for at in range(held, count):  # without branches: most are not good enough, and which are is chance
        candidate, weight = candidates[at], weights[at]
        candidates[promising], weights[promising] = candidate, weight
        promising += (weight <= worst) & (candidate != me)
    length = held
    for at in range(held, promising):
        candidate, weight = candidates[at], weights[at]
        if length == wanted and not _before(weight, candidate, best_weights[length - 1], best[length - 1]):
            continue
        known = False
        for other in range(length):
            known |= best[other] == candidate
        if known:
            continue
        length = min(length + 1, wanted)
        place = length - 1
        while place > 0 and _before(weight, candidate, best_weights[place - 1], best[place - 1]):
            best[place], best_weights[place] = best[place - 1], best_weights[place - 1]
            place -= 1
        best[place], best_weights[place] = candidate, weight
    return np.int64(length)


@inlined
def _before(weight: np.uint64, candidate: np.int32, other_weight: np.uint64, other: np.int32) -> bool:
    return bool(weight < other_weight or (weight == other_weight and candidate < other))


@compiled
def order(topics: Topics, views: Views, ranks: Ranking) -> None:
    """Bring every view into its holder's order of (weight, id), in place."""
    widest = np.int64(np.max(views.lengths)) if views.lengths.size else np.int64(0)
    short = shortlist(widest, widest)
    offsets = topics.offsets
    for topic in range(offsets.size - 1):
        for member in range(offsets[topic], offsets[topic + 1]):
            order_one(topics, views, ranks, short, offsets[topic], member)


@compiled
def order_one(topics: Topics, views: Views, ranks: Ranking, short: Shortlist, first: Long, member: Long) -> None:
    """Bring the view of one member into order."""
    links, candidates, best = views.links, short.candidates, short.best
    begin, length = topics.starts[member], np.int64(views.lengths[member])
    for at in range(length):
        candidates[at] = links[begin + at]
    weigh(ranks, first, member - first, short, length)
    keep(short, 0, length, member - first, length)
    for at in range(length):
        links[begin + at] = best[at]

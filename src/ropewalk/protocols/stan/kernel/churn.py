"""Who goes and comes between rounds, and what that does to views.

Whether a node goes or comes is one chance per node and round, whatever its topics. Who leaves says so and is dropped at
once; who crashes stays in views until the round has closed. A joiner is handed a view of the topic's fan-out, drawn from
those that are there; nobody is told to hold it.
"""

from typing import NamedTuple

import numpy as np

from ropewalk.arrays.chance import drawn
from ropewalk.arrays.compiled import Long, compiled
from ropewalk.arrays.hashing import mixed_long
from ropewalk.protocols.stan.kernel.batch import Flags, Ints, Longs, Topics, Views
from ropewalk.protocols.stan.kernel.overlays import sample
from ropewalk.protocols.stan.kernel.weights import Ranking, order_one, shortlist


class Weather(NamedTuple):
    """How likely who goes and comes (of 2^63), and where their chances start."""

    crash: np.uint64
    leave: np.uint64  # crash or leave
    join: np.uint64
    churn_state: np.uint64
    join_state: np.uint64
    fan_out_steps: Longs


@compiled
def between_rounds(
    topics: Topics, views: Views, there: Flags, ranks: Ranking, weather: Weather, turn: Long
) -> tuple[Flags, Flags]:
    """Let nodes go and come before round `turn`: (who crashed just now, who joined just now)."""
    crashed, joined = np.zeros(there.size, np.bool_), np.zeros(there.size, np.bool_)
    left = np.zeros(there.size, np.bool_)
    for member in range(there.size):
        chance = drawn(mixed_long(np.int64(turn), mixed_long(topics.ids[member], weather.churn_state)))
        if there[member]:
            crashed[member] = chance < weather.crash
            left[member] = chance < weather.leave and not crashed[member]
            there[member] = not (crashed[member] or left[member])
            if not there[member]:
                views.lengths[member] = views.wanted[member] = 0
        elif chance < weather.join:
            there[member] = joined[member] = True
    forget(topics, views, left)
    _welcome(topics, views, there, joined, ranks, weather, turn)
    return crashed, joined


@compiled
def forget(topics: Topics, views: Views, gone: Flags) -> None:
    """Drop from all views whoever is gone."""
    for topic in range(topics.topics.size):
        first = topics.offsets[topic]
        for member in range(first, topics.offsets[topic + 1]):
            begin, kept = topics.starts[member], 0
            for at in range(views.lengths[member]):
                other = views.links[begin + at]
                views.links[begin + kept] = other
                kept += not gone[first + other]
            views.lengths[member] = kept


@compiled
def _welcome(
    topics: Topics, views: Views, there: Flags, joined: Flags, ranks: Ranking, weather: Weather, turn: Long
) -> None:
    """Hand every joiner a view of those that are there."""
    widest = np.int64(weather.fan_out_steps.size)
    short = shortlist(widest + 1, widest)
    drawn_view = np.empty(widest, np.int32)
    for topic in range(topics.topics.size):
        first, last = topics.offsets[topic], topics.offsets[topic + 1]
        present = np.flatnonzero(there[first:last])
        wanted = np.searchsorted(weather.fan_out_steps, present.size, side="right")
        topic_state = mixed_long(topics.topics[topic], weather.join_state)
        for place in range(present.size):
            member = first + present[place]
            if not joined[member]:
                continue
            state = mixed_long(np.int64(turn), mixed_long(topics.ids[member], topic_state))
            sample(drawn_view[:wanted], wanted, place, present.size, state)
            for at in range(wanted):
                views.links[topics.starts[member] + at] = present[drawn_view[at]]
            views.lengths[member] = views.wanted[member] = wanted
            order_one(topics, views, ranks, short, first, member)


@compiled
def compacted(topics: Topics, views: Views, there: Flags) -> tuple[Longs, Longs, Longs, Ints]:
    """Those that are there with their views: (rows, offsets, starts, links), positions counted among them."""
    rows = np.flatnonzero(there)
    offsets = np.zeros(topics.offsets.size, np.int64)
    position = np.empty(there.size, np.int32)
    for topic in range(topics.topics.size):
        count = 0
        for member in range(topics.offsets[topic], topics.offsets[topic + 1]):
            position[member] = count
            count += there[member]
        offsets[topic + 1] = offsets[topic] + count
    starts = np.zeros(rows.size + 1, np.int64)
    for row in range(rows.size):
        starts[row + 1] = starts[row] + views.lengths[rows[row]]
    links = np.empty(starts[-1], np.int32)
    for topic in range(topics.topics.size):
        first = topics.offsets[topic]
        for row in range(offsets[topic], offsets[topic + 1]):
            begin = topics.starts[rows[row]]
            for at in range(starts[row + 1] - starts[row]):
                links[starts[row] + at] = position[first + views.links[begin + at]]
    return rows, offsets, starts, links

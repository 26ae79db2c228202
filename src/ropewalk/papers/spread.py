"""How unevenly subscriptions are spread in a universe, as figures of several papers show it."""

import numpy as np

from ropewalk.papers.drawing import Point, thinned
from ropewalk.universes.distributions import Distribution, subscribers_per_topic, subscriptions_per_node
from ropewalk.universes.interests import Interests


def spread(interests: Interests) -> tuple[Distribution, Distribution]:
    """Subscribers by topic, subscriptions by node."""
    return subscribers_per_topic(interests), subscriptions_per_node(interests)


def per_doubling(distribution: Distribution) -> list[int]:
    """How many values lie in [m, 2m), [2m, 4m), ... from the smallest value m on."""
    doubling = np.floor(np.log2(distribution.values / distribution.values[0])).astype(np.int64)
    return [int(distribution.counts[doubling == number].sum()) for number in range(int(doubling[-1]) + 1)]


def at_least(distribution: Distribution) -> list[Point]:
    """(value, share of those at least as large): the curve of a log-log figure."""
    shares = distribution.counts[::-1].cumsum()[::-1] / distribution.size
    return thinned(list(zip(distribution.values.tolist(), shares.tolist(), strict=True)))

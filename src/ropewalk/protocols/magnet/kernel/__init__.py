"""Magnet on flat arrays: who sits where, which links there are, what every topic's tree costs.

Paper: Magnet (Girdzijauskas et al.), sections 2.2 and 3.1 to 3.4. Readings and departures stand in docs/papers/magnet.md.
"""

from typing import NamedTuple

from ropewalk.protocols.dht.kernel import Interests, Ring, Trees, oscar
from ropewalk.protocols.dht.kernel.interests import Ints
from ropewalk.protocols.magnet.kernel.joins import joined, weights_of
from ropewalk.protocols.magnet.kernel.trees import grown
from ropewalk.protocols.magnet.settings import Settings

__all__ = ["Overlay", "built", "grown", "joined", "trees_of"]


class Overlay(NamedTuple):
    """The skewed ring with everybody on it, and the order in which they came."""

    ring: Ring
    arrivals: Ints


def built(interests: Interests, settings: Settings, seed: int) -> Overlay:
    """Let everybody join, then choose fingers."""
    arrivals, order = joined(interests, settings, seed)
    weights = weights_of(interests, settings) if settings.choice == "similar" else None
    return Overlay(oscar.linked(interests, order, settings.degree, weights, seed), arrivals)


def trees_of(interests: Interests, overlay: Overlay, settings: Settings, seed: int, topics: Ints) -> Trees:
    """The trees of some topics."""
    return grown(interests, overlay.ring, overlay.arrivals, settings.grafting, seed, topics)

"""How many cards a topic must hand out to end up with the subscribers it should have (see `matching`).

A card that gives a node a topic it has already is lost, and the node draws another. That befalls popular topics and
nodes with many subscriptions: a topic that half of all cards belong to can still be followed by a node only once. So
popular topics need more cards than they have subscribers, and the others get fewer, as they win by what is drawn
instead. The numbers here are expectations over classes of nodes and of topics, found by repeated scaling.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ropewalk.workloads.power_law import Sizes

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]

SCALINGS = 300  # measured: nothing moves by more than 0.1 % after some 100
CLASSES_PER_E = 12.0  # of sizes, on a logarithmic scale: neighbours differ by 8 %
MOST_EXTRA = 50.0  # times as many cards as subscribers; only a topic that nearly everybody follows comes near
PARTS = 64  # of a card: coarse enough to be rounded alike on any machine


@dataclass(frozen=True, slots=True)
class Handed:
    """What topics hand out besides the cards they keep for their least: in parts of a card, by size as in `Sizes`."""

    parts: Longs
    counts: Longs
    free: int  # cards in all

    def starts(self) -> Longs:
        """The first card of each topic, the most popular first; at the end, how many cards there are."""
        reached = np.cumsum(np.repeat(self.parts, self.counts))
        if reached[-1] == 0:
            return np.zeros(reached.size + 1, np.int64)
        return np.concatenate((np.zeros(1, np.int64), reached * self.free // reached[-1]))


def handed_out(nodes: Sizes, topics: Sizes, least: int, loose: float) -> Handed:
    """Cards for these topics among these nodes, of which each topic keeps `least` and a share `loose` is shuffled."""
    wanted = (topics.values - least).astype(np.float64)
    free = int(np.sum(wanted * topics.counts))
    if free == 0:
        return Handed(np.zeros_like(topics.values), topics.counts, 0)
    places, numbers = _classes(nodes.values.astype(np.float64), nodes.counts)
    known = _Nodes(places * free / nodes.total, places * least / nodes.total, numbers)
    some = wanted > 0
    sought, sought_counts = _classes(wanted[some], topics.counts[some])
    extra = _scaled(known, sought, sought_counts, loose) / sought
    by_size = np.interp(np.log(np.maximum(wanted, 1.0)), np.log(sought[::-1]), extra[::-1])
    return Handed(np.rint(wanted * by_size * PARTS).astype(np.int64), topics.counts, free)


def lost_share(nodes: Sizes, topics: Sizes, least: int) -> float:
    """Of free cards, if all were shuffled and each topic handed out as many as it wants subscribers."""
    wanted = (topics.values - least).astype(np.float64)
    free = float(np.sum(wanted * topics.counts))
    if free == 0:
        return 0.0
    places, numbers = _classes(nodes.values * free / nodes.total, nodes.counts)
    some = wanted > 0
    sought, sought_counts = _classes(wanted[some], topics.counts[some])
    return 1.0 - float(numbers @ (1.0 - np.exp(-np.outer(places, sought) / free)) @ sought_counts) / free


@dataclass(frozen=True, slots=True)
class _Nodes:
    """Classes of nodes: free places of each, the chance that it keeps a given topic, and how many there are."""

    places: Floats
    keeps: Floats
    numbers: Floats


def _classes(values: Floats, counts: Longs) -> tuple[Floats, Floats]:
    """Means and numbers of those that are about the same; the largest first, as they came."""
    _, of = np.unique(-np.floor(np.log(values) * CLASSES_PER_E), return_inverse=True)
    numbers = np.bincount(of, counts).astype(np.float64)
    return np.bincount(of, counts * values) / numbers, numbers


def _scaled(nodes: _Nodes, sought: Floats, topics: Floats, loose: float) -> Floats:
    """Cards per topic of each class, such that it can expect the subscribers it sought."""
    free = float(np.sum(sought * topics))
    cards, eagerness = sought.copy(), np.ones(nodes.places.size)
    without = 1.0 - np.minimum(nodes.keeps, 1.0)
    unkept = float(np.sum(nodes.numbers * nodes.places * without)) / free
    for _ in range(SCALINGS):
        settled = (1.0 - loose) * cards  # these find different nodes, whoever they are
        has = np.minimum(settled / np.sum(nodes.numbers), 1.0)
        met = np.outer(eagerness * nodes.places, loose * cards / free)
        won = without[:, np.newaxis] * (1.0 - has) * (1.0 - np.exp(-met))
        filled = nodes.places * unkept * float(settled @ topics) / free + won @ topics
        eagerness *= np.divide(nodes.places, filled, out=np.ones_like(filled), where=filled > 0)
        cards = np.minimum(cards * sought / (settled * unkept + nodes.numbers @ won), MOST_EXTRA * sought)
        cards *= free / float(cards @ topics)
    return cards

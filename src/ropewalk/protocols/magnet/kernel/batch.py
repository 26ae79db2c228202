"""What Magnet's kernels take and give."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class Interests(NamedTuple):
    """Who follows what, by node and by topic; both are numbered by the rank of their ids."""

    node_ids: Longs  # ascending
    topic_ids: Longs  # ascending
    by_node: Longs  # where the topics of each node begin
    topics: Ints  # of every node, ascending
    by_topic: Longs  # where the nodes of each topic begin
    nodes: Ints  # of every topic, ascending
    rates: Floats  # of every topic: how much is published on it


class Ring(NamedTuple):
    """Nodes in the order of their places, clockwise, and the links of each."""

    order: Ints  # the node at each place
    places: Ints  # of each node
    starts: Longs  # where the links of each place begin
    links: Ints  # how far clockwise each of them leads, ascending; the first is the successor


class Trees(NamedTuple):
    """What is to be said of each topic's tree, and of each node in all of them."""

    nodes: Longs  # in it
    relays: Longs  # of them that do not follow the topic
    has_strange_root: Bools  # whether the home is one of those
    depth: Longs  # links from the home to the farthest
    hops: Longs  # links from the home, summed over those who follow
    grafts: Longs  # followers whose way in began elsewhere than at the home
    strays: Longs  # nodes in it that are on no greedy way from the home to a follower
    load: Floats  # of each node: what is published on topics that it relays and does not follow
    children: Longs  # of each node, over all trees


def interests_of(nodes: Longs, topics: Longs, rates: dict[int, float] | None = None) -> Interests:
    """From pairs of ids, in any order, none twice."""
    node_ids, node_ranks = np.unique(nodes, return_inverse=True)
    topic_ids, topic_ranks = np.unique(topics, return_inverse=True)
    node_order = np.lexsort((topic_ranks, node_ranks))
    topic_order = np.lexsort((node_ranks, topic_ranks))
    return Interests(
        node_ids,
        topic_ids,
        _starts(node_ranks, node_ids.size),
        topic_ranks[node_order].astype(np.int32),
        _starts(topic_ranks, topic_ids.size),
        node_ranks[topic_order].astype(np.int32),
        np.array([1.0 if rates is None else rates[topic] for topic in topic_ids.tolist()], np.float64),
    )


def _starts(ranks: NDArray[np.intp], count: int) -> Longs:
    return np.concatenate(([0], np.cumsum(np.bincount(ranks, minlength=count)))).astype(np.int64)

"""Who follows what, by node and by topic."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class Interests(NamedTuple):
    """Nodes and topics are numbered by the rank of their ids."""

    node_ids: Longs  # ascending
    topic_ids: Longs  # ascending
    by_node: Longs  # where the topics of each node begin
    topics: Ints  # of every node, ascending
    by_topic: Longs  # where the nodes of each topic begin
    nodes: Ints  # of every topic, ascending
    rates: Floats  # of every topic: how much is published on it


def interests_of(nodes: Longs, topics: Longs, rates: dict[int, float] | None = None) -> Interests:
    """From pairs of ids, in any order, none twice; rates by topic, 1 where nothing is known."""
    node_ids, node_ranks = np.unique(nodes, return_inverse=True)
    topic_ids, topic_ranks = np.unique(topics, return_inverse=True)
    node_order = np.lexsort((topic_ranks, node_ranks))
    topic_order = np.lexsort((node_ranks, topic_ranks))
    known = rates or {}
    return Interests(
        node_ids,
        topic_ids,
        _starts(node_ranks, node_ids.size),
        topic_ranks[node_order].astype(np.int32),
        _starts(topic_ranks, topic_ids.size),
        node_ranks[topic_order].astype(np.int32),
        np.array([known.get(topic, 1.0) for topic in topic_ids.tolist()], np.float64),
    )


def _starts(ranks: NDArray[np.intp], count: int) -> Longs:
    return np.concatenate(([0], np.cumsum(np.bincount(ranks, minlength=count)))).astype(np.int64)

"""Set G without Spark, for benchmarks of the simulator."""

from dataclasses import replace

import numpy as np

from ropewalk.ids import identify
from ropewalk.protocols.stan import kernel
from ropewalk.workloads.grid import SETS


def set_g(nodes: int, topics: int, seed: int) -> kernel.Members:
    """Who follows what, at this size."""
    node, topic = replace(SETS["G"], nodes=nodes, topics=topics).pairs(np.arange(nodes), seed)
    node_ids = np.array([identify(f"node-{number}") for number in range(nodes)])
    topic_ids = np.array([identify(f"topic-{number}") for number in range(topics)])
    node, topic = node_ids[node], topic_ids[topic]
    order = np.lexsort((node, topic))
    names, firsts = np.unique(topic[order], return_index=True)
    return kernel.Members(names, np.append(firsts, node.size).astype(np.int64), node[order])

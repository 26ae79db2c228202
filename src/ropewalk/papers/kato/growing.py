"""Networks that grow by nodes that join one after the other, as printed (Kato III-C).

Each knows one that is there and asks for what it has no links for; links are only ever added (`keeping` all, ids by bits), and
nobody goes. There is no discovery here: what comes of questions alone is what the paper is about.
"""

from typing import NamedTuple

import numpy as np

from ropewalk.engines.batch.content_sweep import ContentPoint
from ropewalk.engines.contents import Contents
from ropewalk.engines.sim.network import Latency, Network
from ropewalk.engines.sim.simulator import Observer, Process, Simulator
from ropewalk.protocols.contract import Contact, Send, Subscribe
from ropewalk.protocols.kato.kernel.links import COVERED, COVERING, NEIGHBOUR, Links
from ropewalk.protocols.kato.node import Node
from ropewalk.protocols.kato.settings import Settings
from ropewalk.seeds import chance, pick

PRINTED = Settings(keeping="all", period=1e5)  # without heartbeats
DELAY, APART = 0.05, 5.0  # seconds: of a message, and from one who joins to the next, who finds everything settled
ASKING = ("joining", "told")  # kinds of message by which questions are put and answered


class Grown(NamedTuple):
    """A network in which everybody has joined."""

    contents: Contents
    nodes: list[Node]  # by their random ids
    comers: list[Node]  # as they came
    asked: dict[int, int]  # by node: messages that questions of its own took, until it was settled


class Asked(Observer):
    """Counts messages of questions: there is one who asks at a time."""

    def __init__(self) -> None:
        self.by_comer: dict[int, int] = {}

    def comes(self, node: int) -> None:
        """Who asks from now on."""
        self.by_comer[node] = 0

    def sent(self, sender: Process, send: Send, now: float, copies: int) -> None:  # noqa: ARG002
        """See `Observer`."""
        self.by_comer[next(reversed(self.by_comer))] += send.message.kind in ASKING


def grown(point: ContentPoint) -> Grown:
    """Let all nodes of a universe join, in an order by chance."""
    contents, asked = point.contents(), Asked()
    interests, seed = contents.interests, point.seed
    ids, starts = interests.node_ids.tolist(), interests.by_node.tolist()
    cells = interests.topic_ids[interests.topics].tolist()
    wanted = {node: cells[starts[at] : starts[at + 1]] for at, node in enumerate(ids)}
    simulator = Simulator(Network([Latency(seed, DELAY)]), [asked])
    comers: list[Node] = []
    for node in sorted(ids, key=lambda node: (chance(seed, "arrival", node), node)):
        asked.comes(node)
        known = (comers[pick(chance(seed, "contact", node), len(comers))].me,) if comers else ()
        comers.append(Node(Contact(node), point.settings, seed))
        simulator.start(comers[-1])
        for cell in wanted[node]:
            simulator.tell(node, Subscribe(cell, known))
        simulator.run(until=simulator.now + APART)
    return Grown(contents, sorted(comers, key=lambda each: each.me.id), comers, asked.by_comer)


def links_of(found: Grown) -> Links:
    """The tables of all nodes, as the kernels know them."""
    places = {node.me.id: place for place, node in enumerate(found.nodes)}
    starts, others, kinds = [0], list[int](), list[int]()
    for node in found.nodes:
        table = node.neighbours.table
        for kind, held in ((COVERING, table.covering), (COVERED, table.covered), (NEIGHBOUR, table.neighbours)):
            others += [places[other] for other in held]
            kinds += [kind] * len(held)
        starts.append(len(others))
    return Links(np.array(starts, np.int64), np.array(others, np.int32), np.array(kinds, np.int32))

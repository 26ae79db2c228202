"""The overlay by interests as printed, on sets, dicts and a queue of single messages: everybody is looked at, nothing is summed up.

Kato III-A (whom nodes link to), III-B (where events go), III-C (who is primary). Nodes are numbers, in the order of random ids.
"""

from collections import Counter, deque
from typing import NamedTuple

from ropewalk.engines.contents import Contents
from ropewalk.protocols.kato import ids
from ropewalk.protocols.kato.kernel.links import COVERED, COVERING, NEIGHBOUR
from ropewalk.protocols.kato.settings import Settings
from ropewalk.seeds import chance

TURNED = {COVERING: COVERED, COVERED: COVERING, NEIGHBOUR: NEIGHBOUR}
FORWARD, MULTICAST = "FORWARD", "MULTICAST"


class Sent(NamedTuple):
    """A message on its way."""

    sender: int
    receiver: int
    mode: str
    links: int  # that the event has gone over, this one included


class Became(NamedTuple):
    """What became of one event."""

    counts: dict[str, int]  # by column of `spreads`
    received: Counter[int]  # messages, by node
    unwanted: Counter[int]  # 1 of each node that got it and does not want it


class Printed:
    """All nodes of a universe, with their links."""

    def __init__(self, contents: Contents, chosen: Settings, seed: int) -> None:
        self.contents, self.chosen = contents, chosen
        self.nodes = range(contents.interests.node_ids.size)
        self.cells = [self._cells_of(node) for node in self.nodes]
        self.ids = [ids.node_id(cells, chosen.bits, chosen.hashes) for cells in self.cells]
        self.things = [self._things_of(node) for node in self.nodes]
        self.rings: dict[frozenset[int], list[int]] = {}  # who has the same, in the order of arrival
        named = contents.interests.node_ids.tolist()
        for node in sorted(self.nodes, key=lambda each: chance(seed, "arrival", named[each])):
            self.rings.setdefault(self.things[node], []).append(node)
        self.primaries = [ring[0] for ring in self.rings.values()]
        self.links: list[dict[int, int]] = [self._linked(node) for node in self.nodes]
        self.mesh: list[dict[int, int]] = [{} for _ in self.nodes]  # links in both directions
        for node in self.nodes:
            for other, kind in self.links[node].items():
                self.mesh[node][other], self.mesh[other][node] = kind, TURNED[kind]

    def _cells_of(self, node: int) -> frozenset[int]:
        interests = self.contents.interests
        places = interests.topics[interests.by_node[node] : interests.by_node[node + 1]]
        return frozenset(interests.topic_ids[places].tolist())

    def _things_of(self, node: int) -> frozenset[int]:
        """What links must cover."""
        if self.chosen.cover == "bits":
            things = {place for place in range(self.chosen.bits) if self.ids[node] >> place & 1}
        else:
            things = set(self.cells[node]) | {ids.COMMON}
        return frozenset(things if self.chosen.common == "wanted" else things - {ids.COMMON})

    def ring_of(self, node: int) -> list[int]:
        """Who has the same as a node, itself among them."""
        return self.rings[self.things[node]]

    def _linked(self, node: int) -> dict[int, int]:
        """Algorithms 1 and 2, word by word."""
        things, own = self.things, self.things[node]
        if node not in self.primaries or not own:
            return {}
        others = [each for each in self.primaries if each != node]
        above = sorted((self.ids[each].bit_count(), each) for each in others if things[each] > own)
        found = {each: COVERING for _, each in above[: self.chosen.covering]}
        below = {each for each in others if things[each] < own}
        beside = {each for each in others if not things[each] >= own and each not in below and things[each] & own}
        outside = frozenset(range(self.chosen.bits)) - own
        for kind, known, wanted in (
            (COVERED, below, own),
            (NEIGHBOUR, beside, own if self.chosen.neighbours == "text" else outside),
        ):
            for way in (1, -1):
                missing = set(wanted)
                for step in range(1, len(self.nodes)):
                    other = (node + way * step) % len(self.nodes)
                    if other in known and things[other] & missing:
                        missing -= things[other]
                        found[other] = kind
        return found

    def matches(self, node: int, cell: int) -> bool:
        by_bits = ids.covers(self.ids[node], ids.event_id(cell, self.chosen.bits, self.chosen.hashes))
        return by_bits and (self.chosen.cover == "bits" or cell in self.cells[node])

    def wants(self, node: int, cell: int, point: list[float]) -> bool:
        starts, lows, highs = self.contents.wants
        if cell not in self.cells[node]:
            return False
        return any(
            all(low <= value <= high for low, value, high in zip(lows[one], point, highs[one], strict=True))
            for one in range(starts[node], starts[node + 1])
        )

    def published(self, publisher: int, cell: int, point: list[float]) -> Became:
        """Send an event, message by message."""
        received: Counter[int] = Counter()
        begin, way = self._way_in(publisher, cell)
        received.update(way)
        depths = {publisher: 0}
        if begin is not None:
            self._flood(begin, cell, len(way), depths, received)
        reached = {node: links for node, links in depths.items() if node != publisher and self.matches(node, cell)}
        wanting = {node for node in self.nodes if node != publisher and self.wants(node, cell, point)}
        got = [links for node, links in reached.items() if node in wanting]
        unwanted = [node for node in reached if node not in wanting]
        counts = {
            "wanted": len(wanting),
            "delivered": len(got),
            "by_cell": sum(cell in self.cells[node] for node in unwanted),
            "by_bits": sum(cell not in self.cells[node] for node in unwanted),
            "depth": sum(got),
            "deepest": max(got, default=0),
            "messages": received.total(),
            "routed": len(way),
            "lost": int(begin is None),
        }
        return Became(counts, received, Counter(unwanted))

    def _way_in(self, publisher: int, cell: int) -> tuple[int | None, list[int]]:
        """Who begins to spread an event, and to whom it went until then: round a ring to its primary, then ever nearer."""
        if self.matches(publisher, cell):
            return publisher, []
        ring, way = self.ring_of(publisher), []
        at = ring.index(publisher)
        while at:
            at = (at - 1 if 2 * ring.index(publisher) <= len(ring) else at + 1) % len(ring)
            way.append(ring[at])
        node = ring[0]
        while not self.matches(node, cell):
            known = sorted(self.mesh[node])
            matching = [other for other in known if self.matches(other, cell)]
            nearer = [other for other in known if self._away(other, cell) < self._away(node, cell)]
            if not nearer and not matching:
                return None, way
            node = matching[0] if matching else min(nearer, key=lambda other: self._away(other, cell))
            way.append(node)
        return node, way

    def _away(self, node: int, cell: int) -> float:
        event = ids.COMMON_ID | ids.event_id(cell, self.chosen.bits, self.chosen.hashes)
        return ids.distance(self.ids[node], self.cells[node], event, {cell}, self.chosen.bits)

    def _flood(self, begin: int, cell: int, links: int, depths: dict[int, int], received: Counter[int]) -> None:
        """Who gets it for the first time sends it on to all links that match, but not back to whom it came from."""
        depths[begin] = links
        queue = deque(self._sent_on(Sent(begin, begin, FORWARD, links), cell))
        while queue:
            message = queue.popleft()
            received[message.receiver] += 1
            if message.receiver not in depths:
                depths[message.receiver] = message.links
                queue.extend(self._sent_on(message, cell))

    def _sent_on(self, message: Sent, cell: int) -> list[Sent]:
        node, ring = message.receiver, self.ring_of(message.receiver)
        at = ring.index(node)
        beside = dict.fromkeys((ring[(at + 1) % len(ring)], ring[at - 1]))
        targets = [(other, message.mode) for other in beside if other != node]
        for other, kind in sorted(self.mesh[node].items()):
            everywhere = self.chosen.spread == "forward"
            if kind == COVERING and (everywhere or message.mode == FORWARD):
                targets.append((other, FORWARD))
            elif kind != COVERING:
                targets.append((other, FORWARD if everywhere else MULTICAST))
        return [
            Sent(node, other, mode, message.links + 1)
            for other, mode in targets
            if other != message.sender and self.matches(other, cell)
        ]

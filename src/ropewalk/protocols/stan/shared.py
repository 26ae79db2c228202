"""Which of its topics others have shown a node that they follow, too: whoever shares more of them is ranked higher.

Ours: the papers rank by a hash alone. One connection to who shares more topics serves more overlays. Nobody is asked: counted is
what a node says of itself anyway, when it announces that it holds this one on a topic, or proves that it knows one. What
others say about it does not count: liars could raise each other (ADR 27).
"""

from ropewalk.protocols.view import Weigh

COUNTED = (
    8  # ours: more shared topics than this count no more, so that following everything does not get somebody everywhere
)
MOST_SHARED = 16384  # ours: pairs of another node and a topic that it shares; a hundred topics with 160 nodes each
KEPT = (
    MOST_SHARED * 3 // 4
)  # ours: what is left when there are more, so that they are not ranked for every one that comes


class Shared:
    """What one node knows of others' topics, and how it ranks them by it."""

    __slots__ = ("alike", "pairs", "power", "topics_of")

    def __init__(self, power: int, alike: Weigh) -> None:
        self.power = power  # 0: nothing is kept, and shared topics do not count
        self.alike = alike  # how others are ranked, whatever they share
        self.topics_of: dict[int, dict[int, None]] = {}  # by node, none empty; together at most MOST_SHARED
        self.pairs = 0  # how many that are

    def weigh(self, other: int) -> int:
        """The weight by which others are ranked: one who is ranked shares a topic, known or not."""
        topics = self.topics_of.get(other)
        return self.alike(other) if topics is None else self.alike(other) // min(len(topics), COUNTED) ** self.power

    def learn(self, topic: int, node: int) -> list[int]:
        """This one follows a topic; who may be ranked in another way now."""
        if not self.power or topic in self.topics_of.get(node, {}):
            return []
        topics = self.topics_of.setdefault(node, {})
        topics[topic] = None
        self.pairs += 1
        changed = [node] if len(topics) <= COUNTED else []
        return changed + self._cut() if self.pairs > MOST_SHARED else changed

    def forget(self, topic: int, node: int) -> list[int]:
        """It follows the topic no longer; who may be ranked in another way now."""
        topics = self.topics_of.get(node, {})
        if topic not in topics:
            return []
        del topics[topic]
        self.pairs -= 1
        if not topics:
            del self.topics_of[node]
        return [node] if len(topics) < COUNTED else []

    def forget_topic(self, topic: int) -> list[int]:
        """It is followed here no longer, and so is shared with nobody."""
        return [changed for node in list(self.topics_of) for changed in self.forget(topic, node)]

    def forget_node(self, node: int) -> list[int]:
        """It is gone."""
        topics = self.topics_of.pop(node, {})
        self.pairs -= len(topics)
        return [node] if topics else []

    def _cut(self) -> list[int]:
        """Those who are ranked last are forgotten: they are the least likely to be neighbours."""
        ranked = sorted(self.topics_of, key=lambda node: (self.weigh(node), node))
        forgotten: list[int] = []
        while self.pairs > KEPT:
            forgotten += self.forget_node(ranked.pop())
        return forgotten

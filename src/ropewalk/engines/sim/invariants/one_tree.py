"""At rest every topic has one tree of each kind: all who follow it are on it, and every parent knows its children."""

from collections.abc import Iterable
from typing import ClassVar

from ropewalk.engines.sim.invariants.contract import Invariant, Moment
from ropewalk.engines.sim.population import Population
from ropewalk.protocols.scribe.node import Node as ScribeNode
from ropewalk.protocols.trees.branches import Branch, Trees


class OneTree(Invariant):
    """Nobody is its own parent's parent; at rest from everybody on a tree one comes to its home."""

    name: ClassVar[str] = "one tree"

    def after(self, moment: Moment) -> str | None:
        """See `Invariant`."""
        me = moment.node.me.id
        for trees in moment.node.kinds_of_trees() if isinstance(moment.node, ScribeNode) else ():
            for topic, branch in trees.by_topic.items():
                if branch.parent is not None and (branch.parent.id in branch.children or branch.parent.id == me):
                    return f"has {branch.parent.id} above and below it on {topic}, in trees {trees.number}"
                if me in branch.children:
                    return f"is its own child on {topic}, in trees {trees.number}"
        return None

    def at_rest(self, population: Population) -> str | None:
        """See `Invariant`."""
        by_kind: dict[int, dict[int, Trees]] = {}
        for id_, process in population.simulator.processes.items():
            for trees in process.node.kinds_of_trees() if isinstance(process.node, ScribeNode) else ():
                by_kind.setdefault(trees.number, {})[id_] = trees
        for known in by_kind.values():
            for id_, trees in known.items():
                followed = [topic for topic in population.members if trees.follows(topic)]
                wrong = _wrong_with(id_, trees, known, followed, population.simulator.now)
                if wrong is not None:
                    return f"in trees {trees.number}, {wrong}"
        return None


def _wrong_with(node: int, trees: Trees, known: dict[int, Trees], followed: list[int], now: float) -> str | None:
    for topic in followed:
        if topic not in trees.by_topic:
            return f"node {node} follows {topic} and is not on its tree"
    for topic, branch in trees.by_topic.items():
        # a child may be on its way for a period, and the heartbeat that sees that there is none comes a period later
        grown = branch.began_at < now - 2 * trees.ring_settings.period
        if not branch.children and topic not in followed and grown:
            return f"node {node} is on the tree of {topic} for nobody"
        wrong = _wrong_below(node, topic, branch, known) or _wrong_above(node, topic, known)
        if wrong is not None:
            return wrong
    return None


def _wrong_below(node: int, topic: int, branch: Branch, known: dict[int, Trees]) -> str | None:
    for child in branch.children:
        below = known[child].by_topic.get(topic) if child in known else None
        if below is None or below.parent is None or below.parent.id != node:
            return f"node {node} has {child} as its child on {topic}, which has another parent"
    return None


def _wrong_above(node: int, topic: int, known: dict[int, Trees]) -> str | None:
    """From parent to parent one comes to the home."""
    here = node
    for _ in known:
        above = known[here].by_topic.get(topic)
        if above is None or (above.parent is None and not known[here].ways.is_root(topic)):
            return f"node {here} is on the tree of {topic}, and has no parent"
        if above.parent is None:
            return None
        if known[here].ways.is_root(topic):
            return f"node {here} is the home of {topic}, and has a parent"
        if above.parent.id not in known or here not in _children(known[above.parent.id], topic):
            return f"node {here} has {above.parent.id} as its parent on {topic}, which does not know it"
        here = above.parent.id
    return f"node {node} is in a circle on {topic}"


def _children(trees: Trees, topic: int) -> Iterable[int]:
    branch = trees.by_topic.get(topic)
    return branch.children if branch is not None else ()

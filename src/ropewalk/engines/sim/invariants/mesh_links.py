"""Whoever is in a mesh or fan-out is linked and has said that it follows the topic; links are counted as they are used."""

from typing import ClassVar

from ropewalk.engines.sim.invariants.contract import Invariant, Moment
from ropewalk.protocols.baselines.gossipsub.node import Node


class MeshLinks(Invariant):
    """Checked for every link of a gossipsub node."""

    name: ClassVar[str] = "mesh links"

    def after(self, moment: Moment) -> str | None:
        """See `Invariant`."""
        node = moment.node
        return _wrong_with(node) if isinstance(node, Node) else None


def _wrong_with(node: Node) -> str | None:
    neighbours, meshes = node.neighbours, node.meshes
    if list(meshes.by_topic) != list(neighbours.mine):
        return f"follows {list(neighbours.mine)}, and has meshes for {list(meshes.by_topic)}"
    fed = meshes.by_topic | {topic: fanout.members for topic, fanout in meshes.fanouts.items()}
    for topic, members in fed.items():
        for other in members:
            if not neighbours.links.is_up(other) or topic not in neighbours.told.get(other, {}):
                return f"sends events on {topic} to {other}, which is not linked, or has not said that it follows it"
    for other, link in neighbours.links.by_id.items():
        told = neighbours.told.get(other)
        uses = sum(topic in neighbours.mine for topic in told) if told is not None else int(link.up)
        if link.uses != uses:
            return f"counts {link.uses} uses of its link to {other}, but there are {uses}"
    listed = sum(map(len, neighbours.followers.values()))
    if listed != sum(map(len, neighbours.told.values())):
        return "does not know who follows what"
    return None

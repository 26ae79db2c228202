"""What a gossipsub node remembers has a bound, whatever others send it, and so has everything that it sends."""

from collections.abc import Iterator
from typing import ClassVar

from ropewalk.engines.sim.invariants.contract import Invariant, Moment
from ropewalk.protocols.baselines.gossipsub import settings as bounds
from ropewalk.protocols.baselines.gossipsub.node import Node
from ropewalk.protocols.contract import MOST_NEIGHBOURS, Send
from ropewalk.protocols.links import OUTBOX

Count = tuple[str, int, int]  # what is counted, how many there are, how many there may be


class GossipsubBounds(Invariant):
    """Checked for the node's memory and for what it wants sent."""

    name: ClassVar[str] = "gossipsub bounded"

    def after(self, moment: Moment) -> str | None:
        """See `Invariant`."""
        node = moment.node
        for what, count, most in (*_memory(node), *_sent(moment)) if isinstance(node, Node) else ():
            if count > most:
                return f"{what}: {count}, of {most} allowed"
        return None


def _memory(node: Node) -> Iterator[Count]:
    yield "events kept", len(node.cache.kept), bounds.MOST_KEPT
    yield "windows", len(node.cache.windows), node.settings.windows
    yield "events in windows that are not kept", sum(map(len, node.cache.windows)) - len(node.cache.kept), 0
    yield "ids seen", max(len(node.seen.times), len(node.delivered.times)), bounds.MOST_SEEN
    yield "fan-outs", len(node.meshes.fanouts), bounds.MOST_FANOUTS
    yield "backoffs", len(node.meshes.backoffs), bounds.MOST_BACKOFFS
    for topic, mesh in node.meshes.by_topic.items():
        yield f"mesh on {topic}", len(mesh), MOST_NEIGHBOURS
    for topic, fanout in node.meshes.fanouts.items():
        yield f"fan-out on {topic}", len(fanout.members), node.settings.degree
    for other, topics in node.neighbours.told.items():
        yield f"topics of {other}", len(topics), bounds.MOST_FOLLOWED
    for other, link in node.neighbours.links.by_id.items():
        yield f"messages kept for {other}", len(link.outbox or ()), OUTBOX


def _sent(moment: Moment) -> Iterator[Count]:
    for effect in moment.effects:
        if isinstance(effect, Send):
            yield f"ids in a {effect.message.kind}", effect.message.contacts(), bounds.MOST_SAID

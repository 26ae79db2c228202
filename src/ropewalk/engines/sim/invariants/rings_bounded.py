"""What a node on rings remembers has a bound, whatever others send it, and so has everything that it sends."""

from collections.abc import Iterator
from typing import ClassVar

from ropewalk.engines.sim.invariants.contract import Invariant, Moment
from ropewalk.protocols.contract import Send
from ropewalk.protocols.dht import messages as ring_messages
from ropewalk.protocols.dht import ring as rings
from ropewalk.protocols.dht import settings as of_rings
from ropewalk.protocols.links import OUTBOX
from ropewalk.protocols.magnet import messages as magnet_messages
from ropewalk.protocols.magnet.node import Node as MagnetNode
from ropewalk.protocols.scribe.node import Node as ScribeNode
from ropewalk.protocols.trees import messages as tree_messages
from ropewalk.protocols.trees import settings as of_trees

Count = tuple[str, int, int]  # what is counted, how many there are, how many there may be


class RingsBounded(Invariant):
    """Checked for the node's memory and for what it wants sent."""

    name: ClassVar[str] = "rings bounded"

    def after(self, moment: Moment) -> str | None:
        """See `Invariant`."""
        node = moment.node
        if not isinstance(node, ScribeNode):
            return None
        for what, count, most in (*_of_rings(node), *_of_trees(node), *_of_events(node)):
            if count > most:
                return f"{what}: {count}, of {most} allowed"
        for effect in moment.effects:
            if isinstance(effect, Send) and not _is_sound(effect.message):
                return f"sends what nobody who keeps the rules sends: {effect.message}"
        return None


def _of_rings(node: ScribeNode) -> Iterator[Count]:
    for ring in node.rings():
        yield "successors", len(ring.successors), ring.settings.successors
        yield "fingers", len(ring.fingers), of_rings.MOST_FINGERS
        yield "holders", len(ring.holders), of_rings.MOST_HOLDERS
        yield "nodes that could not be reached", len(ring.avoided), rings.MOST_AVOIDED
    lookups = [node.control.lookups, *([node.placing.lookups] if isinstance(node, MagnetNode) else [])]
    for each in lookups:
        yield "questions", max(len(each.open), len(each.parked)), of_rings.MOST_QUESTIONS
        yield "nodes remembered", len(each.remembered), of_rings.MOST_REMEMBERED
        yield "answers not looked at", len(each.found), 0
    for link in node.links.by_id.values():
        yield "messages that wait for a link", len(link.outbox or ()), OUTBOX


def _of_trees(node: ScribeNode) -> Iterator[Count]:
    for trees in node.kinds_of_trees():
        yield "topics on whose trees it is", len(trees.by_topic), of_trees.MOST_BRANCHES + len(node.topics)
        for branch in trees.by_topic.values():
            yield "children", len(branch.children), of_trees.MOST_CHILDREN
    if isinstance(node, MagnetNode):
        yield "topics with samples from below", len(node.membership.gathered), of_trees.MOST_BRANCHES + len(node.topics)
        yield "topics whose events are counted", len(node.membership.counted), of_trees.MOST_BRANCHES
        for known in node.membership.gathered.values():
            yield "children's samples", len(known), of_trees.MOST_CHILDREN


def _of_events(node: ScribeNode) -> Iterator[Count]:
    events = node.events
    for shelf in (events.kept, events.replicas):
        yield "events kept", len(shelf.by_key), of_trees.MOST_KEPT
        yield "bytes of events", shelf.bytes, of_trees.MOST_KEPT_BYTES
    listed = {id_ for known in events.by_topic.values() for id_ in known}
    yield "events listed that are not kept", len(listed - events.kept.by_key.keys()), 0
    yield "events kept for homes", max(len(events.kept_for), len(events.returned)), 2 * of_trees.MOST_KEPT
    yield "events at home", len(events.at_home), of_trees.MOST_KEPT
    yield "ids", max(len(events.seen), len(events.delivered)), of_trees.MOST_SEEN
    yield "events of its own", len(events.submitted), of_trees.MOST_SUBMITTED
    yield "bytes of its own", events.submitted_bytes, of_trees.MOST_KEPT_BYTES


def _is_sound(message: object) -> bool:
    if isinstance(message, ring_messages.Message):
        return ring_messages.is_sound(message)
    if isinstance(message, tree_messages.Message):
        return tree_messages.is_sound(message)
    return isinstance(message, magnet_messages.Message) and magnet_messages.is_sound(message)

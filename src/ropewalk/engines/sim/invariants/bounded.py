"""Everything that a node remembers has a bound, and so has everything that it sends."""

from collections.abc import Iterator
from typing import ClassVar, get_args

from ropewalk.engines.sim.invariants.contract import Invariant, Moment
from ropewalk.protocols.contract import MOST_NEIGHBOURS, Send
from ropewalk.protocols.discovery import settings as discovery
from ropewalk.protocols.discovery.node import Node as Discovery
from ropewalk.protocols.discovery.proofs import Proofs
from ropewalk.protocols.dissemination.messages import Message as EventMessage
from ropewalk.protocols.dissemination.settings import MOST_IDS, MOST_TOPICS
from ropewalk.protocols.links import OUTBOX
from ropewalk.protocols.sampling.cyclon import node as cyclon
from ropewalk.protocols.sampling.scamp import node as scamp
from ropewalk.protocols.stan.following import MOST_GONE, Following
from ropewalk.protocols.stan.neighbours import MOST_DOUBTED, MOST_HOLDERS
from ropewalk.protocols.stan.node import MOST_TURNS
from ropewalk.protocols.stan.shared import MOST_SHARED
from ropewalk.protocols.stan.walks import MOST_PER_HOP, MOST_WAYS

EVENTS = get_args(EventMessage)
Count = tuple[str, int, int]  # what is counted, how many there are, how many there may be


class Bounded(Invariant):
    """Checked for the node's memory and for what it wants sent."""

    name: ClassVar[str] = "every queue bounded"

    def after(self, moment: Moment) -> str | None:
        """See `Invariant`."""
        for what, count, most in _counts(moment):
            if count > most:
                return f"{what}: {count}, of {most} allowed"
        return None


def _counts(moment: Moment) -> Iterator[Count]:
    node = moment.stan
    yield "ways back", max(len(node.walks.ways), len(node.walks.old_ways)), MOST_WAYS
    yield "topics of the past", len(node.turns), MOST_TURNS
    yield "nodes in doubt", len(node.neighbours.doubted), MOST_DOUBTED
    yield "shared topics", sum(map(len, node.neighbours.shared.topics_of.values())), MOST_SHARED
    for other, link in node.neighbours.links.by_id.items():
        if link.outbox:
            yield f"messages kept for {other}", len(link.outbox), OUTBOX
    for topic, following in node.topics.items():
        yield from ((f"{what} on {topic}", count, most) for what, count, most in _of_topic(following))
    if node.finding is not None:
        yield from _of_discovery(node.finding.discovery)
        yield from _of_proofs(node.finding.proofs)
    longest = max((node.settings.ttl + 1) * (MOST_PER_HOP + 1), len(node.topics))
    for effect in moment.effects:
        if isinstance(effect, Send):
            most = MOST_IDS + MOST_TOPICS if isinstance(effect.message, EVENTS) else longest
            yield f"contacts in a {effect.message.kind}", effect.message.contacts(), most


def _of_topic(following: Following) -> Iterator[Count]:
    overlay, manager = following.overlay, following.manager
    yield "places", overlay.view.size, MOST_NEIGHBOURS
    yield "holders", len(overlay.held_by), MOST_HOLDERS
    yield "neighbours to come", len(overlay.coming), MOST_NEIGHBOURS
    yield "departures", len(following.gone), MOST_GONE
    if isinstance(manager, cyclon.Node):
        yield "addresses", len(manager.table), manager.settings.table_size
    if isinstance(manager, scamp.Node):
        yield "requests", len(manager.seen), scamp.MOST_REQUESTS
        yield "remembered nodes", len(manager.known), scamp.KNOWN


def _of_discovery(finding: Discovery) -> Iterator[Count]:
    leases = finding.leases
    yield "tags", len(leases.by_tag), discovery.MOST_TAGS
    yield "members kept for a tag", max(map(len, leases.by_tag.values()), default=0), discovery.MOST_SERVING
    yield "topics that were looked up in vain", len(finding.misled), discovery.MOST_TOPICS_MISLED
    yield "lookups", len(finding.running), discovery.MOST_LOOKUPS
    yield "contacts in a bucket", max(map(len, finding.routes.buckets.values()), default=0), finding.settings.bucket
    for lookup in finding.running.values():
        yield "questions of a lookup", lookup.asked, discovery.MOST_ASKED
        yield "contacts of a lookup", len(lookup.candidates), discovery.MOST_ASKED + discovery.MOST_KNOWN


def _of_proofs(proofs: Proofs) -> Iterator[Count]:
    yield "nodes in doubt about a topic", len(proofs.doubted), discovery.MOST_DOUBTED
    for trial in proofs.trials.values():
        yield "nodes on trial", len(trial.named), discovery.MOST_TRIED
        yield "times that one was asked", max(trial.open.values()), discovery.TRIES

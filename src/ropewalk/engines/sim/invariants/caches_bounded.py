"""What a node keeps of events, and about them, has a bound, whatever others send it.

Nor does it keep anything about topics and neighbours of the past: once per period it forgets them.
"""

from collections.abc import Iterator
from typing import ClassVar

from ropewalk.engines.sim.invariants.contract import Invariant, Moment
from ropewalk.protocols.baselines.flood import Flood
from ropewalk.protocols.contract import Contact, TimerFired, bytes_of
from ropewalk.protocols.dissemination import settings as bounds
from ropewalk.protocols.dissemination.injection import Injections
from ropewalk.protocols.dissemination.node import Node as Events
from ropewalk.protocols.stan.node import Tidy

Count = tuple[str, int, int]  # what is counted, how many there are, how many there may be
Neighbours = dict[int, dict[int, Contact]]  # topic -> with whom a node is linked on it


class CachesBounded(Invariant):
    """Checked for every node whose events are part of it: by trees and advertisements, or flooded."""

    name: ClassVar[str] = "caches bounded"

    def __init__(self) -> None:
        self._around: Neighbours = {}  # of a node that is about to tidy up; it may find links broken afterwards

    def before(self, moment: Moment) -> None:
        """See `Invariant`."""
        if _is_tidying(moment):
            node = moment.stan
            self._around = {topic: node.neighbours.around(topic) or {} for topic in node.topics}

    def after(self, moment: Moment) -> str | None:
        """See `Invariant`."""
        for what, count, most in self._counts(moment):
            if count > most:
                return f"{what}: {count}, of {most} allowed"
        return None

    def _counts(self, moment: Moment) -> Iterator[Count]:
        events = moment.stan.events
        yield from of_injections(moment.stan.injections)
        if isinstance(events, Flood):
            yield from _of_flood(events)
        if isinstance(events, Events):
            yield from of_events(events)
            if _is_tidying(moment):
                yield from _of_the_past(events, self._around)


def _is_tidying(moment: Moment) -> bool:
    return isinstance(moment.event, TimerFired) and isinstance(moment.event.timer, Tidy)


def of_events(events: Events) -> Iterator[Count]:
    """What is kept of events."""
    yield "events kept", len(events.kept), bounds.MOST_KEPT
    size = sum(bytes_of(kept.event) for kept in events.kept.values())
    yield "bytes of events kept", max(size, events.kept_bytes), bounds.MOST_KEPT_BYTES
    yield "ids seen", len(events.seen), bounds.MOST_SEEN
    yield "events wanted", len(events.asking.wanted), bounds.MOST_WANTED
    yield "events wanted of one", max(events.asking.first_from.values(), default=0), bounds.MOST_FROM_ONE
    yield "events wanted, by who was first", abs(sum(events.asking.first_from.values()) - len(events.asking.wanted)), 0
    yield "topics of which it is known what came last", len(events.mending.latest), bounds.MOST_LIVELY
    yield "events to advertise that are not kept", len(events.pending.keys() - events.kept.keys()), 0
    for event, wanted in events.asking.wanted.items():
        yield f"advertisers of {event}", len(wanted.advertisers), bounds.MOST_ADVERTISERS


def _of_the_past(events: Events, around: Neighbours) -> Iterator[Count]:
    trees = events.trees
    known = trees.eager.keys() | trees.missed.keys() | trees.doubted.keys()
    yield "topics that are no longer followed", len(known - around.keys()), 0
    yield "events that came last and are not kept", len({*events.mending.latest.values()} - events.kept.keys()), 0
    for topic, nodes in trees.eager.items():
        yield f"nodes that are no neighbours on {topic}", len(nodes.keys() - around[topic].keys()), 0
    for event, kept in events.kept.items():
        near = {node for topic in kept.event.topics for node in around.get(topic, ())}
        yield f"nodes that are no neighbours, and have {event}", len(kept.shown.keys() - near), 0


def of_injections(injections: Injections) -> Iterator[Count]:
    """What is kept of those that have yet to get in."""
    yield "events that are not in yet", len(injections.open), bounds.MOST_INJECTED
    yield "topics whose members are remembered", len(injections.entrances), bounds.MOST_ENTRANCES


def _of_flood(events: Flood) -> Iterator[Count]:
    yield "ids seen", len(events.seen), bounds.MOST_SEEN
    yield "ids delivered", len(events.delivered), bounds.MOST_SEEN

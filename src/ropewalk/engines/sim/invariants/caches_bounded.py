"""What a node keeps of events, and about them, has a bound, whatever others send it."""

from collections.abc import Iterator
from typing import ClassVar

from ropewalk.engines.sim.invariants.contract import Invariant, Moment
from ropewalk.protocols.baselines.flood import Flood
from ropewalk.protocols.dissemination import settings as bounds
from ropewalk.protocols.dissemination.node import Node as Events

Count = tuple[str, int, int]  # what is counted, how many there are, how many there may be


class CachesBounded(Invariant):
    """Checked for every node whose events are part of it: by trees and advertisements, or flooded."""

    name: ClassVar[str] = "caches bounded"

    def after(self, moment: Moment) -> str | None:
        """See `Invariant`."""
        events = moment.stan.events
        counts: Iterator[Count] = iter(())
        if isinstance(events, Events):
            counts = _counts(events)
        elif isinstance(events, Flood):
            counts = _of_flood(events)
        for what, count, most in counts:
            if count > most:
                return f"{what}: {count}, of {most} allowed"
        return None


def _counts(events: Events) -> Iterator[Count]:
    yield "events kept", len(events.kept), bounds.MOST_KEPT
    yield "ids seen", len(events.seen), bounds.MOST_SEEN
    yield "events wanted", len(events.wanted), bounds.MOST_WANTED
    yield "events to advertise that are not kept", len(events.pending.keys() - events.kept.keys()), 0
    for event, wanted in events.wanted.items():
        yield f"advertisers of {event}", len(wanted.advertisers), bounds.MOST_ADVERTISERS


def _of_flood(events: Flood) -> Iterator[Count]:
    yield "ids seen", len(events.seen), bounds.MOST_SEEN
    yield "ids delivered", len(events.delivered), bounds.MOST_SEEN

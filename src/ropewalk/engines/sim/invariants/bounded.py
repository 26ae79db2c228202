"""Everything that a node remembers has a bound, and so has everything that it sends."""

from typing import ClassVar

from ropewalk.engines.sim.invariants.contract import Invariant, Moment
from ropewalk.protocols.contract import Send
from ropewalk.protocols.links import OUTBOX
from ropewalk.protocols.sampling.cyclon import node as cyclon
from ropewalk.protocols.sampling.scamp import node as scamp
from ropewalk.protocols.stan.following import MOST_GONE, Following
from ropewalk.protocols.stan.neighbours import MOST_NEIGHBOURS
from ropewalk.protocols.stan.node import MOST_PER_HOP, MOST_WAYS


class Bounded(Invariant):
    """Checked for the node's memory and for what it wants sent."""

    name: ClassVar[str] = "every queue bounded"

    def after(self, moment: Moment) -> str | None:
        """See `Invariant`."""
        node = moment.node
        if max(len(node.ways), len(node.old_ways)) > MOST_WAYS:
            return f"remembers {len(node.ways)} and {len(node.old_ways)} ways back, of {MOST_WAYS} allowed"
        for other, link in node.neighbours.links.by_id.items():
            if len(link.outbox or ()) > OUTBOX:
                return f"keeps {len(link.outbox or ())} messages for {other}, of {OUTBOX} allowed"
        for topic, following in node.topics.items():
            wrong = _of_topic(following)
            if wrong is not None:
                return f"{wrong} on {topic}"
        most = max((node.settings.ttl + 1) * (MOST_PER_HOP + 1), len(node.topics))
        for effect in moment.effects:
            if isinstance(effect, Send) and effect.message.contacts() > most:
                return f"sends a {effect.message.kind} that names {effect.message.contacts()}, of {most} allowed"
        return None


def _of_topic(following: Following) -> str | None:
    if following.overlay.view.size > MOST_NEIGHBOURS:
        return f"may hold {following.overlay.view.size}, of {MOST_NEIGHBOURS} allowed,"
    if len(following.gone) > MOST_GONE:
        return f"remembers {len(following.gone)} who are gone, of {MOST_GONE} allowed,"
    return _of_manager(following.manager)


def _of_manager(manager: object) -> str | None:
    match manager:
        case cyclon.Node() if len(manager.table) > manager.settings.table_size:
            return f"has {len(manager.table)} addresses, of {manager.settings.table_size} allowed"
        case scamp.Node() if len(manager.seen) > scamp.MOST_REQUESTS:
            return f"counts {len(manager.seen)} requests, of {scamp.MOST_REQUESTS} allowed"
        case scamp.Node() if len(manager.known) > scamp.KNOWN:
            return f"remembers {len(manager.known)} nodes, of {scamp.KNOWN} allowed"
        case _:
            return None

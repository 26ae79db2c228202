"""What a node of the overlay by interests remembers has a bound, whatever others send it, and so has everything that it sends."""

from collections.abc import Iterator
from typing import ClassVar, get_args

from ropewalk.engines.sim.invariants.caches_bounded import Count, of_events, of_injections
from ropewalk.engines.sim.invariants.contract import Invariant, Moment
from ropewalk.protocols.content.spaces import MOST_CELLS
from ropewalk.protocols.contract import Send
from ropewalk.protocols.discovery.settings import MOST_SEEDS
from ropewalk.protocols.kato import departed, neighbours
from ropewalk.protocols.kato.finding import MOST_OPEN
from ropewalk.protocols.kato.messages import MOST_ALIKE, MOST_STRUCK, Message, is_sound
from ropewalk.protocols.kato.node import Node
from ropewalk.protocols.links import OUTBOX


class InterestsBounded(Invariant):
    """Checked for the node's memory and for what it wants sent."""

    name: ClassVar[str] = "interests bounded"

    def after(self, moment: Moment) -> str | None:
        """See `Invariant`."""
        node = moment.node
        if not isinstance(node, Node):
            return None
        for what, count, most in (*_of_links(node), *of_events(node.events), *of_injections(node.injections)):
            if count > most:
                return f"{what}: {count}, of {most} allowed"
        for effect in moment.effects:
            if (
                isinstance(effect, Send)
                and isinstance(effect.message, get_args(Message))
                and not is_sound(effect.message)
            ):
                return f"sends what nobody who keeps the rules sends: {effect.message}"
        return None


def _of_links(node: Node) -> Iterator[Count]:
    known = node.neighbours
    held = known.table.all()
    yield "links to nobody", len((held.keys() | known.incoming.keys()) - known.around.keys()), 0
    yield "neighbours for nothing", len(known.around.keys() - held.keys() - known.incoming.keys()), 0
    yield "members that are links as well", len(known.around.keys() & node.alike.orders.keys()), 0
    yield "links of who has a primary", len(known.around) if known.primary is not None else 0, 0
    yield "nodes that link to it", len(known.incoming), neighbours.MOST_INCOMING
    yield "nodes asked", max(len(known.asked), len(known.standing)), neighbours.MOST_ASKED
    yield "nodes passed over", len(known.passed_over), neighbours.MOST_PASSED_OVER
    yield "cells looked at", len(known.near_by), MOST_CELLS
    yield "departures", len(node.departed.until), departed.MOST_REMEMBERED
    yield "members", max(len(node.alike.orders), len(node.alike.heard)), MOST_ALIKE
    yield "members that are gone", len(node.alike.struck), MOST_STRUCK
    yield "cells", len(node.topics), MOST_CELLS
    yield "ways in", len(node.finding.seeds), MOST_SEEDS
    yield "open questions", len(node.finding.open), MOST_OPEN
    yield "news not looked at", len(known.met) + len(known.alike), 0
    for link in node.links.by_id.values():
        yield "messages that wait for a link", len(link.outbox or ()), OUTBOX

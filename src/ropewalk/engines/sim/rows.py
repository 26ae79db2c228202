"""Events of a simulation, as rows of tables."""

from ropewalk.engines.played import Delivery, Publication
from ropewalk.engines.sim.deliveries import Deliveries


def rows_of_events(deliveries: Deliveries, owed: set[tuple[int, int]]) -> tuple[list[Publication], list[Delivery]]:
    """What was published, and what was delivered to whom; `owed` are (event, node) that had to be."""
    known = deliveries.ledger.published.values()
    published = [
        Publication(
            each.event.id,
            each.event.publisher,
            each.event.topics,
            len(each.event.payload),
            each.at,
            each.event.content,
        )
        for each in known
    ]
    latest = {  # of a node that came back and got it anew, the last
        (each.event.id, node.me.id): delivery for each in known for node, delivery in each.delivered.items()
    }
    delivered = [
        Delivery(*key, delivery.hops, delivery.at, delivery.copies, owed=key in owed)
        for key, delivery in latest.items()
    ]
    return published, delivered

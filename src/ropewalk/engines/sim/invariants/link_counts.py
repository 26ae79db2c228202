"""A link is used exactly as often as topics use it, in either direction; at rest both ends agree on it."""

from typing import ClassVar

from ropewalk.engines.sim.invariants.contract import Invariant, Moment
from ropewalk.engines.sim.population import Population


class LinkCounts(Invariant):
    """Checked for every link of the node; at rest both ends must also agree on who holds whom."""

    name: ClassVar[str] = "link counts"

    def after(self, moment: Moment) -> str | None:
        """See `Invariant`."""
        uses = dict.fromkeys(moment.stan.neighbours.links.by_id, 0)
        holds = dict.fromkeys(uses, 0)
        for topic, following in moment.stan.topics.items():
            for contact in [*following.overlay.view.contacts, *following.overlay.held_by.values()]:
                if contact.id not in uses:
                    return f"is linked with {contact.id} on {topic} without a link"
                uses[contact.id] += 1
            for holder in following.overlay.held_by:
                holds[holder] += 1
        for other, link in moment.stan.neighbours.links.by_id.items():
            if link.uses != uses[other]:
                return f"counts {link.uses} uses of its link to {other}, but there are {uses[other]}"
            if link.held_on != holds[other]:
                return f"believes that {other} holds it on {link.held_on} topics, but there are {holds[other]}"
            if uses[other] and not link.up:
                return f"uses its link to {other} before it is up"
        coming = {(other, topic) for topic, each in moment.stan.topics.items() for other in each.overlay.coming}
        awaited = {(other, topic) for other, topics in moment.stan.neighbours.awaited.items() for topic in topics}
        if coming != awaited:
            return f"waits for links to {sorted(awaited)}, but for {sorted(coming)} there is a use"
        return None

    def at_rest(self, population: Population) -> str | None:
        """See `Invariant`."""
        there = population.simulator.processes
        for node, process in there.items():
            known = {other for other, link in population.stan(node).neighbours.links.by_id.items() if link.up}
            if known != set(process.linked):
                return f"node {node} has links {sorted(process.linked)}, but knows of {sorted(known)}"
            for topic, following in population.stan(node).topics.items():
                for contact in following.overlay.view.contacts:
                    other = population.stan(contact.id).topics.get(topic) if contact.id in there else None
                    if other is None or node not in other.overlay.held_by:
                        return f"node {node} holds {contact.id} on {topic}, which does not know it"
                for holder in following.overlay.held_by:
                    theirs = population.stan(holder).topics.get(topic) if holder in there else None
                    if theirs is None or not theirs.overlay.view.holds(node):
                        return f"node {node} believes that {holder} holds it on {topic}, which is not so"
        return None

"""Whoever had followed one of an event's topics for three periods when it was published, and stays, gets it in the end."""

from typing import ClassVar

from ropewalk.engines.sim.deliveries import Ledger
from ropewalk.engines.sim.invariants.contract import Invariant, Moment
from ropewalk.engines.sim.population import Population


class EverybodyGetsIt(Invariant):
    """Checked at rest."""

    name: ClassVar[str] = "everybody gets it"

    def __init__(self) -> None:
        self._ledger = Ledger()

    def before(self, moment: Moment) -> None:
        """See `Invariant`."""
        self._ledger.before(moment.node, moment.event, moment.now)

    def after(self, moment: Moment) -> None:
        """See `Invariant`."""
        self._ledger.after(moment.node, moment.effects, moment.now)

    def at_rest(self, population: Population) -> str | None:
        """See `Invariant`."""
        for published, node in self._ledger.due(population):
            if node not in published.delivered:
                return f"node {node.me.id} has not got {published.event.id} on {published.event.topics}"
        return None

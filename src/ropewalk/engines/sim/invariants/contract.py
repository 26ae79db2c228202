"""What an invariant is: asked after every input about the node that took it in, and about everybody when all is quiet."""

from typing import ClassVar

from ropewalk.engines.sim.population import Population
from ropewalk.engines.sim.simulator import Process
from ropewalk.protocols.contract import Effect, Input
from ropewalk.protocols.stan.node import Node


class Invariant:
    """Answers with what is wrong, in words, or with None. It keeps what it must remember from one input to the next."""

    name: ClassVar[str]

    def before(self, population: Population, process: Process, node: Node, event: Input) -> None:
        """A node is about to take an input in."""

    def after(
        self, population: Population, process: Process, node: Node, event: Input, effects: list[Effect]
    ) -> str | None:
        """A node took an input in, and answered with effects that are yet to be done."""

    def at_rest(self, population: Population) -> str | None:
        """Nothing has gone wrong for so long that everything should be in order."""

"""What an invariant is: asked after every input about the node that took it in, and about everybody when all is quiet."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ropewalk.engines.sim.population import Population, stan_of
from ropewalk.protocols.contract import Effect, Input, Node
from ropewalk.protocols.stan.node import Node as StanNode


@dataclass(frozen=True, slots=True)
class Moment:
    """A node, the input that it takes in, and what it answered; that is yet to be done."""

    node: Node
    event: Input
    now: float
    effects: Sequence[Effect] = ()

    @property
    def stan(self) -> StanNode:
        """The node, where all are StaN's."""
        return stan_of(self.node)


class Invariant:
    """Answers with what is wrong, in words, or with None. It keeps what it must remember from one input to the next."""

    name: ClassVar[str]

    def before(self, moment: Moment) -> None:
        """A node is about to take an input in."""

    def after(self, moment: Moment) -> str | None:
        """A node took an input in."""

    def at_rest(self, population: Population) -> str | None:
        """Nothing has gone wrong for so long that everything should be in order."""

"""No message tells a node that another follows a topic which it does not follow itself (StAN, the property of its title).

Who has followed a topic may still be told about it by those that do not know yet that it has gone.
"""

from typing import ClassVar

from ropewalk.engines.sim.invariants.contract import Invariant
from ropewalk.engines.sim.population import Population
from ropewalk.engines.sim.simulator import Process
from ropewalk.protocols.contract import Effect, Input, Send, Subscribe
from ropewalk.protocols.stan.messages import KeepAlive
from ropewalk.protocols.stan.node import Node


class NoDisclosure(Invariant):
    """Checked for everything that is sent; who ever followed what is noted as it happens."""

    name: ClassVar[str] = "no disclosure"

    def __init__(self) -> None:
        self._followed: dict[int, set[int]] = {}  # topic -> who follows it or did

    def before(self, population: Population, process: Process, node: Node, event: Input) -> None:  # noqa: ARG002
        """See `Invariant`."""
        if isinstance(event, Subscribe):
            self._followed.setdefault(event.topic, set()).add(node.me.id)

    def after(
        self,
        population: Population,  # noqa: ARG002
        process: Process,  # noqa: ARG002
        node: Node,  # noqa: ARG002
        event: Input,  # noqa: ARG002
        effects: list[Effect],
    ) -> str | None:
        """See `Invariant`."""
        for effect in effects:
            if not isinstance(effect, Send):
                continue
            message = effect.message
            for topic in message.topics if isinstance(message, KeepAlive) else (message.topic,):
                if effect.to.id not in self._followed.get(topic, ()):
                    return f"tells {effect.to.id}, which never followed {topic}, about it by a {message.kind}"
        return None

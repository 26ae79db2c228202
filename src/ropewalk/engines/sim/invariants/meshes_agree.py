"""Where nothing is lost, whoever is in a node's mesh has that node in its own."""

from typing import ClassVar

from ropewalk.engines.sim.invariants.contract import Invariant
from ropewalk.engines.sim.population import Population


class MeshesAgree(Invariant):
    """Checked at rest."""

    name: ClassVar[str] = "meshes agree"

    def at_rest(self, population: Population) -> str | None:
        """See `Invariant`."""
        for topic, held in population.views().items():
            for node, mesh in held.items():
                for other in mesh:
                    if node not in held.get(other, ()):
                        return f"node {node} has {other} in its mesh on {topic}, which has not"
        return None

"""Every overlay manager by name."""

from ropewalk.protocols.contract import Contact
from ropewalk.protocols.sampling.contract import Left, Manager, ManagerName, Overlay
from ropewalk.protocols.sampling.cyclon import node as cyclon
from ropewalk.protocols.sampling.given import node as given
from ropewalk.protocols.sampling.scamp import node as scamp

Message = Left | scamp.Message | cyclon.Message


def manager_of(
    name: ManagerName, me: Contact, overlay: Overlay, seed: int, connectivity: float, *, two_way: bool
) -> Manager:
    """The manager of one topic at one node; `two_way`: links are used both ways."""
    match name:
        case "given":
            return given.Node(overlay)
        case "scamp":
            return scamp.Node(me, overlay, scamp.Settings.for_connectivity(connectivity, two_way=two_way), seed)
        case "cyclon":
            return cyclon.Node(me, overlay, cyclon.Settings(), seed)

"""Every overlay manager by name."""

from ropewalk.protocols.contract import Contact
from ropewalk.protocols.sampling.contract import Left, Manager, ManagerName, Overlay
from ropewalk.protocols.sampling.cyclon import node as cyclon
from ropewalk.protocols.sampling.given import node as given
from ropewalk.protocols.sampling.scamp import node as scamp

Message = Left | scamp.Message | cyclon.Message


def manager_of(name: ManagerName, me: Contact, overlay: Overlay, seed: int, connectivity: float) -> Manager:
    """The manager of one topic at one node."""
    match name:
        case "given":
            return given.Node(overlay)
        case "scamp":
            return scamp.Node(me, overlay, scamp.Settings.for_connectivity(connectivity), seed)
        case "cyclon":
            return cyclon.Node(me, overlay, cyclon.Settings(), seed)

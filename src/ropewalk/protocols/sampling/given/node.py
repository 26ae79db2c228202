"""Views from a table, and nobody to manage them: what StaN's simulations start from (StaN 3.3, StAN 3).

A neighbour that is gone leaves its place empty, and the next walk's reply fills it. Whoever unsubscribes says so to those
that hold it.
"""

from ropewalk.protocols.contract import Effect, Input, Received, Subscribe, Unsubscribe
from ropewalk.protocols.sampling.contract import Forget, Grow, Left, Overlay, Post, Request


class Node:
    """Hands over the view that comes with the subscription."""

    def __init__(self, overlay: Overlay) -> None:
        self.overlay = overlay

    def handle(self, event: Input, now: float) -> list[Effect | Request]:
        """See `sampling.contract.Manager`."""
        match event:
            case Subscribe():
                return [Grow(contact) for contact in event.contacts]
            case Unsubscribe():
                return [Post(holder, Left(event.topic)) for holder in self.overlay.held_by.values()]
            case Received(sender, Left()):
                return [Forget(sender.id)]
            case _:
                return []

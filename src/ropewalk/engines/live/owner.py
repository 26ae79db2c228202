"""What a connection belongs to, and tells what becomes of it."""

from typing import TYPE_CHECKING, Any, Protocol

from ropewalk.engines.live.endings import Counts, Ending
from ropewalk.engines.live.frames import Waiting
from ropewalk.engines.live.handshake import Other, Terms
from ropewalk.engines.live.pace import PassedOver
from ropewalk.engines.live.reading import Reading
from ropewalk.engines.live.wire import Codec
from ropewalk.protocols.contract import Contact

if TYPE_CHECKING:
    from ropewalk.engines.live.connection import Connection


class Owner(Protocol):
    """What a connection belongs to."""

    terms: Terms
    codec: Codec
    counts: Counts
    certificate: bytes  # of this node, as TLS shows it
    lagging_from: int  # bytes that wait to be sent on one, from where on those from whom they come have to wait
    passed_over: PassedOver
    reading: Reading
    waiting: Waiting

    def recognised(self, connection: "Connection", other: Other) -> None:
        """Its handshake is through: a caller is to be let in or not; whoever was called is there."""

    def arrived(self, connection: "Connection") -> None:
        """Somebody calls; its handshake begins."""

    def received(self, connection: "Connection", messages: list[Any]) -> None:
        """Messages have come together."""

    def slowed(self, connection: "Connection") -> None:
        """Much waits to be sent on it."""

    def eased(self, connection: "Connection") -> None:
        """Little does again."""

    def eased_a_little(self, connection: "Connection") -> None:
        """So much less waits that who sends it here need not wait any more."""

    def lagged(self, connection: "Connection") -> None:
        """So much waits that who sends it here has to wait; `eased_a_little` or `eased` follows."""

    def holds(self, more: int) -> None:
        """So many bytes more of messages that have not come whole, or less."""

    def ended(self, connection: "Connection", ending: Ending) -> None:
        """It is no more, and its owner has not asked for that."""

    def vanished(self, connection: "Connection") -> None:
        """Its socket is closed."""

    def linked_with(self, node: int) -> Contact | None:
        """Whether there is a link with a node already."""

"""What nodes write about themselves (`engines.live.telemetry`), read back: one type for each table, with bounds on everything."""

from typing import Annotated

import msgspec

Id = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
Time = Annotated[float, msgspec.Meta(ge=0, lt=1e12)]  # seconds since 1970
Words = Annotated[str, msgspec.Meta(max_length=512)]
Ids = Annotated[list[Id], msgspec.Meta(max_length=65_536)]

Filters = Annotated[list[object], msgspec.Meta(max_length=65_536)]


class Row(msgspec.Struct, frozen=True, tag_field="table"):
    """One line."""


class OfNode(Row, frozen=True):
    """A line that shows that its node lives."""

    node: Id
    at: Time


class Came(OfNode, frozen=True, tag="nodes"):
    """A node starts, or leaves."""

    up: bool = True
    address: Words = ""
    protocol: Words = ""


class Named(Row, frozen=True, tag="names"):
    """What a topic is called."""

    topic: Id
    name: Words


class Followed(OfNode, frozen=True, tag="subscriptions"):
    """A node follows a topic, or does so no longer."""

    topic: Id = 0
    follows: bool = True
    name: Words = ""
    filters: Filters = []  # what it wants of the topic's events, if not all


class Held(OfNode, frozen=True, tag="held"):
    """A node's neighbours on a topic."""

    topic: Id = 0
    neighbours: Ids = []


class Linked(OfNode, frozen=True, tag="linked"):
    """Connections that a node has got, and has lost."""

    up: Ids = []
    down: Ids = []


class Ended(OfNode, frozen=True, tag="endings"):
    """A link is no more, or could not be had."""

    neighbour: Id = 0
    cause: Words = ""
    why: Words = ""


class Published(Row, frozen=True, tag="publications"):
    """An event."""

    event: Id
    at: Time
    publisher: Id
    topics: Ids = []
    size: int = 0


class Delivered(OfNode, frozen=True, tag="deliveries"):
    """An event at a node."""

    event: Id = 0
    hops: int = 0
    source: Id | None = msgspec.field(name="from", default=None)


class Links(OfNode, frozen=True, tag="links"):
    """Once per stage: of these it is only taken that the node lives."""


class Connections(OfNode, frozen=True, tag="connections"):
    """Likewise."""


class Standings(OfNode, frozen=True, tag="standings"):
    """Likewise."""


class Traffic(OfNode, frozen=True, tag="traffic"):
    """Likewise."""


class Copies(Row, frozen=True, tag="copies"):
    """Of no interest here."""


Any = (
    Came | Named | Followed | Held | Linked | Ended | Published | Delivered
    | Links | Connections | Standings | Traffic | Copies
)  # fmt: skip
_decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(Any)


def row_of(line: bytes) -> Any | None:
    """What a line says; None if it is no row."""
    try:
        return _decoder.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def time_of(row: Any) -> float:
    """When it was; 0 if it is of all times."""
    return getattr(row, "at", 0.0)


def no_later(row: Any, now: float) -> Any:
    """The row; as of now, if its node's clock is ahead."""
    return msgspec.structs.replace(row, at=now) if time_of(row) > now else row

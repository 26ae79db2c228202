"""A picture from made-up rows, and what a page makes of what it is told."""

import json
from typing import Any

from ropewalk.dashboard.picture import Picture
from ropewalk.dashboard.rows import row_of

NEWS = 77


def said(table: str, **about: Any) -> Any:
    row = row_of(json.dumps({"table": table, "life": 0} | about).encode())
    assert row is not None, about
    return row


def came(node: int, at: float = 1.0, **more: Any) -> Any:
    return said("nodes", node=node, at=at, up=True, **more)


def picture_of(*rows: Any, until: float = 0.0) -> Picture:
    picture = Picture()
    for row in rows:
        picture.take(row)
    picture.advance(until)
    return picture


def two_linked() -> list[Any]:
    return [
        came(1),
        came(2),
        said("subscriptions", node=1, topic=NEWS, at=1.1, follows=True, name="news"),
        said("subscriptions", node=2, topic=NEWS, at=1.1, follows=True),
        said("held", node=1, at=2, topic=NEWS, neighbours=[2]),
        said("linked", node=1, at=2, up=[2], down=[]),
        said("linked", node=2, at=2, up=[1], down=[]),
    ]


class Told:
    """What a page knows."""

    def __init__(self) -> None:
        self.version = 0
        self.parts: dict[str, dict[Any, Any]] = {}

    def take(self, told: dict[str, Any]) -> None:
        told = json.loads(json.dumps(told))
        if told["whole"]:
            self.parts = {}
        for name in ("nodes", "links", "events", "points", "news", "members", "overlay"):
            known = self.parts.setdefault(name, {})
            for key in told.get(f"{name}_gone", ()):
                known.pop(tuple(key), None)
            for *key, value in told.get(name, ()):
                known[tuple(key)] = value
        self.version = told["version"]

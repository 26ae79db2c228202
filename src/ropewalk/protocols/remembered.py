"""Ids of what has come, and when: so many, and the eldest first to go.

The eldest key of a plain dict is found behind the places of all that went before it, and an ordered one is gone through by the collector of
garbage, entry by entry, whenever that looks at everything: 20 ms for the 65,536 ids of one node. So the order is kept apart, as bytes.
"""

from array import array

LEAST = 1024  # ours: places of those that are gone, before they are given back


class Remembered:
    """Those of one node."""

    __slots__ = ("_at", "_gone", "_order", "most")

    def __init__(self, most: int) -> None:
        self.most = most
        self._at: dict[int, float] = {}  # `most`
        self._order = array("q")  # the eldest first; twice as many
        self._gone = 0  # of these, those in front that are not remembered any more

    def __contains__(self, id_: int) -> bool:
        """Whether it has come."""
        return id_ in self._at

    def __len__(self) -> int:
        """How many are remembered."""
        return len(self._at)

    def add(self, id_: int, now: float) -> float | None:
        """It has come; when that came which has to go for it, if anything has."""
        if id_ in self._at:
            return None
        self._at[id_] = now
        self._order.append(id_)
        return self._forget_eldest() if len(self._at) > self.most else None

    def forget(self, before: float) -> None:
        """All that had come by then."""
        while self._at and self._at[self._order[self._gone]] <= before:
            self._forget_eldest()

    def clear(self) -> None:
        """All of it."""
        self._at.clear()
        del self._order[:]
        self._gone = 0

    def _forget_eldest(self) -> float:
        at = self._at.pop(self._order[self._gone])
        self._gone += 1
        if self._gone > max(LEAST, len(self._order) // 2):
            del self._order[: self._gone]
            self._gone = 0
        return at

"""What is known, by key, with when it last changed: so whoever knew it at some version is told only what is different since."""

from typing import Generic, TypeVar

MOST_GONE = 4096  # ours: entries that are no more and still remembered; who has missed more is told everything anew
K = TypeVar("K")
V = TypeVar("V")


class Versions:
    """Counts changes, of all ledgers that share it."""

    __slots__ = ("now",)

    def __init__(self) -> None:
        self.now = 0

    def next(self) -> int:
        """One change more."""
        self.now += 1
        return self.now


class Ledger(Generic[K, V]):
    """Entries in the order in which they last changed."""

    __slots__ = ("_entries", "_floor", "_gone", "_versions")

    def __init__(self, versions: Versions) -> None:
        self._versions = versions
        self._entries: dict[K, tuple[int, V]] = {}
        self._gone: dict[K, int] = {}
        self._floor = 0  # what went before this version is forgotten

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: K) -> bool:
        return key in self._entries

    def get(self, key: K) -> V | None:
        """What is known of it."""
        found = self._entries.get(key)
        return None if found is None else found[1]

    def put(self, key: K, value: V) -> None:
        """This is known from now on; nothing changes if it was."""
        before = self._entries.get(key)
        if before is not None:
            if before[1] == value:
                return
            del self._entries[key]  # so that it comes last
        self._gone.pop(key, None)
        self._entries[key] = (self._versions.next(), value)

    def drop(self, key: K) -> None:
        """It is no more."""
        if self._entries.pop(key, None) is None:
            return
        self._gone[key] = self._versions.next()
        if len(self._gone) > MOST_GONE:
            oldest = next(iter(self._gone))
            self._floor = self._gone.pop(oldest)

    def remembers(self, version: int) -> bool:
        """Whether all that changed since then can still be told."""
        return version >= self._floor

    def since(self, version: int) -> tuple[dict[K, V], list[K]]:
        """What was put and what was dropped since then, the earliest first."""
        put: list[tuple[K, V]] = []
        for key in reversed(self._entries):
            changed, value = self._entries[key]
            if changed <= version:
                break
            put.append((key, value))
        gone: list[K] = []
        for key in reversed(self._gone):
            if self._gone[key] <= version:
                break
            gone.append(key)
        return dict(reversed(put)), gone[::-1]


class Links(Ledger[tuple[int, int], int]):
    """Pairs of nodes, the lower number first: that one says so is 1, that the other does 2, both 3."""

    __slots__ = ()

    def say(self, node: int, other: int, *, there: bool) -> None:
        """One end says whether there is a link: there is, as long as one of them says so."""
        pair, mine = (min(node, other), max(node, other)), 1 if node < other else 2
        said = self.get(pair) or 0
        said = said | mine if there else said & ~mine
        if said:
            self.put(pair, said)
        else:
            self.drop(pair)

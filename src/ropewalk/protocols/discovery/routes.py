"""Whom a node knows, by how far away their ids are: many that are near, some that are far, as in Kademlia.

Paper: Maymounkov, Mazieres, "Kademlia: a peer-to-peer information system based on the XOR metric", IPTPS 2002, section
2.2. Two ids are as far apart as their bitwise difference, read as a number. For each length that this number can have
there is a bucket of a few contacts. Whoever is in one stays for as long as it answers: those who have been there for long
are the likeliest to stay, and nobody can flood the buckets of others with new ids.

Only who has sent something is ever in here. Whom others name is a rumour, until it answers.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import nsmallest

from ropewalk.protocols.contract import Contact
from ropewalk.protocols.discovery.tags import ID_BITS
from ropewalk.seeds import chance, pick

NEVER = float("inf")


@dataclass(slots=True)
class Route:
    """A contact that has been heard of."""

    contact: Contact
    heard_at: float
    doubted_at: float = NEVER  # since when it is in doubt: it left something unanswered, or its link broke

    @property
    def doubtful(self) -> bool:
        """Whether the last that was tried with it failed."""
        return self.doubted_at != NEVER


class Routes:
    """The routing table of one node: at most 63 buckets of `bucket` contacts each."""

    __slots__ = ("bucket", "buckets", "me")

    def __init__(self, me: int, bucket: int) -> None:
        self.me, self.bucket = me, bucket
        self.buckets: dict[int, dict[int, Route]] = {}  # by length of distance; in each, least recently heard of first

    def __len__(self) -> int:
        """How many are known."""
        return sum(len(bucket) for bucket in self.buckets.values())

    def __iter__(self) -> Iterator[Route]:
        """Everybody who is known."""
        for bucket in self.buckets.values():
            yield from bucket.values()

    def get(self, node: int) -> Contact | None:
        """What is known of a node by itself, so that no rumour can say otherwise where it is."""
        route = self._bucket(node).get(node)
        return None if route is None else route.contact

    def heard(self, contact: Contact, now: float) -> None:
        """Somebody has sent something: it is there.

        Where a bucket is full, the least recently heard of that is in doubt makes room; if none is, nobody does.
        """
        if contact.id == self.me:
            return
        bucket = self._bucket(contact.id)
        if contact.id not in bucket and len(bucket) >= self.bucket:
            doubtful = next((node for node, route in bucket.items() if route.doubtful), None)
            if doubtful is None:
                return
            del bucket[doubtful]
        bucket.pop(contact.id, None)
        bucket[contact.id] = Route(contact, now)
        self.buckets.setdefault(self._length(contact.id), bucket)

    def doubt(self, contact: Contact, now: float) -> None:
        """Its link broke: it may be gone."""
        route = self._route(contact)
        if route is not None and not route.doubtful:
            route.doubted_at = now

    def failed(self, contact: Contact, asked_at: float, now: float) -> None:
        """It has not answered: it is in doubt, or gone if it was asked because of that."""
        route = self._route(contact)
        if route is not None and asked_at >= route.doubted_at:
            self.drop(contact.id)
        else:
            self.doubt(contact, now)

    def drop(self, node: int) -> None:
        """It is gone."""
        bucket = self._bucket(node)
        bucket.pop(node, None)
        if not bucket:
            self.buckets.pop(self._length(node), None)

    def closest(self, target: int, count: int, *, sure: bool = False) -> list[Contact]:
        """Those closest to an id, the closest first, and those in doubt last, or not at all if it must be sure."""
        sound = [route.contact for route in self if not route.doubtful]
        found = nsmallest(count, sound, key=lambda contact: contact.id ^ target)
        if not sure and len(found) < count:
            doubtful = [route.contact for route in self if route.doubtful]
            found += nsmallest(count - len(found), doubtful, key=lambda contact: contact.id ^ target)
        return found

    def stalest(self) -> Contact | None:
        """Whom to ask whether it is still there: the longest in doubt, else the least recently heard of."""
        found = min(self, key=lambda route: (route.doubted_at, route.heard_at), default=None)
        return None if found is None else found.contact

    def somewhere(self, seed: int, turn: int) -> int:
        """An id by chance, as likely in any bucket that can have somebody in it (Kademlia 2.3 goes by all of them)."""
        nearest = min(self.buckets, default=ID_BITS)
        length = nearest + pick(chance(seed, "bucket", self.me, turn), ID_BITS + 1 - nearest)
        rest = chance(seed, "somewhere", self.me, turn) & ((1 << (length - 1)) - 1)
        return self.me ^ (1 << (length - 1) | rest)

    def _route(self, contact: Contact) -> Route | None:
        """What is known of it, if it is there where it is said to be: what happens elsewhere is not its fault."""
        route = self._bucket(contact.id).get(contact.id)
        return route if route is not None and route.contact == contact else None

    def _bucket(self, node: int) -> dict[int, Route]:
        """The bucket that it belongs to; an empty one that is not kept, if there is none."""
        return self.buckets.get(self._length(node), {})

    def _length(self, node: int) -> int:
        return (node ^ self.me).bit_length()
